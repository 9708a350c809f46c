//! For tests of what is built on Segue. Only ever a dev-dependency.
#![doc = ""]
#![doc = include_str!("../README.md")]

mod compacting;
mod fixed_host;
mod prompts;
mod replay;
mod runner;
mod scenario;
mod scripted;
mod scripted_model;
mod show;
pub mod strategies;

/// The suite that every log must pass: fixed cases for each promise of the port, and random histories.
pub use segue_log::conformance;

pub use fixed_host::FixedHost;
pub use replay::{LogKind, ReplayError, Replayed, replay, replay_on};
pub use runner::{Importer, NoImporter, Run, RunError};
pub use scenario::{Call, Caller, Line, PlanLine, Scenario, ScenarioError, ScriptedAnswer, Step, Then};
pub use scripted_model::{ModelError, ScriptedModel};
pub use show::View;

/// The example of `docs/testing.md`, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing.md")]
struct Testing;
