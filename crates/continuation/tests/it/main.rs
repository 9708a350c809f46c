//! Integration tests of the continuation crate.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod decision_table;
mod lineage;
mod misplaced_keys;
mod refusals;
