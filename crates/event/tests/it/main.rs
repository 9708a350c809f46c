//! Integration tests of the vocabulary.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod golden;
mod round_trip;
