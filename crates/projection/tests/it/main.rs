//! Integration tests of the projection compiler.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod exact;
mod layout;
mod pointer;
mod transcripts;
mod worth;
