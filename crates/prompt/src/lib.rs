//! What a model is told beside the transcript.
//!
//! Per turn, rendered fresh at the end of the prompt and never stored: [`plan_state`], [`context_usage`],
//! [`session_status`], in this order. Once for all: what a continuation is ([`SYSTEM_PART`]) and the contract of the
//! verb ([`continue_session`]).
//!
//! Pure functions on values; nothing here does I/O.

mod blocks;
mod meter;
mod verb;

pub use blocks::{context_usage, plan_state, session_status};
pub use meter::{ContextMeter, Pressure};
pub use verb::{SYSTEM_PART, ToolContract, continue_session};
