//! Integration tests of the command line.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod desk;
mod documents;
mod failures;
mod forking;
mod fresh;
mod reading;
mod repairing;
mod replaying;
