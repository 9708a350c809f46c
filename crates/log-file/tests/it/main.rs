//! The embedded log as its users see it.

#![expect(clippy::unwrap_used, reason = "a failed assumption is a failed test")]
#![expect(clippy::indexing_slicing, reason = "a wrong length is a failed test")]

mod beside;
mod conformance;
mod following;
mod foreign;
mod forks;
mod index;
mod kill;
mod recovery;
mod repair;
mod sample;
mod settled;
mod turns;
mod upkeep;
