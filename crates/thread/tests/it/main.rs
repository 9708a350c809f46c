//! Integration tests of reading and recall.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod paging;
mod recalling;
