//! Integration tests of reading and recall.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fetching;
mod finding;
mod paging;
mod recalling;
