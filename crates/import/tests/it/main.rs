//! What importing owes: every line kept, nothing twice, every source given back byte for byte.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected has failed"
)]

mod arbitrary;
mod bad_input;
mod corpus;
mod desk;
mod growth;
mod meanwhile;
mod race;
mod tree;
#[path = "../../src/watched_log.rs"]
mod watched_log;
