//! Integration tests of the facade.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod any_order;
mod attachments;
mod context;
mod continuing;
mod crash;
mod delegating;
mod desk;
mod driving;
mod examples;
mod forking;
mod fresh;
mod fresh_crash;
mod handoff_folder;
mod kill;
mod notes;
mod oracle;
mod properties;
mod queue;
mod races;
mod recalling;
mod recommending;
mod recompiling;
mod refusals;
mod scopes;
mod stage;
mod tasks;
mod turn;
