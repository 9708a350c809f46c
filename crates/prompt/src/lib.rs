//! What a model is told beside the transcript.
//!
//! A [`Prompt`] is what a model is given: fixed parts, the transcript ([`Transcript`]), and what is told anew
//! every turn. Each prompt that is given out has a receipt ([`Prompt::receipt`]).
//!
//! Per turn, rendered fresh at the end of the prompt and never stored: [`plan_state`], [`context_usage`],
//! [`session_status`], [`missing_attachments`], [`obligations`], in this order. Once for all: what a continuation is ([`SYSTEM_PART`]) and the contract of the
//! verb ([`continue_session`]) and of the other built-in tools ([`tools`], [`recall_tools`]).
//!
//! For agents whose harness compacts their context, [`handoff_note`]: what was in progress, told once.
//!
//! Pure functions on values; nothing here does I/O.

mod assembled;
mod blocks;
mod contract;
pub mod handoff_note;
mod meter;
mod prompt;
pub mod recall_tools;
pub mod tools;
mod transcript;
mod verb;
mod windows;

pub use assembled::Transcript;
pub use blocks::{
    Due, MissingAttachment, Owed, TaskResult, context_usage, delegated_result, missing_attachments,
    obligations, plan_state, session_status,
};
pub use contract::ToolContract;
pub use meter::{ContextMeter, ContextParts, Pressure};
pub use prompt::{Difference, PartName, Prompt, PromptPart, RENDERER, ReceiptFor};
pub use transcript::{
    Change, PromptContent, PromptEvent, PromptMessage, PromptRole, TranscriptBuilder, TranscriptDigest,
};
pub use verb::{SYSTEM_PART, continue_session};
pub use windows::Windows;
