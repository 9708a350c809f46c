//! Integration tests of the testkit: what it gives to others has to hold itself.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod scripted_model;
mod strategies;
