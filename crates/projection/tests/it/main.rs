//! Integration tests of the projection compiler.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod exact;
mod layout;
mod transcripts;
