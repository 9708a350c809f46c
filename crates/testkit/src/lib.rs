//! For tests of what is built on Segue.
//!
//! * [`FixedHost`]: a clock and ids that are the same in every run;
//! * [`strategies`]: proptest strategies for events, transcripts, requests and hostile text;
//! * [`Scenario`]: a fixture that people can read and write, run on any log ([`Scenario::run`]);
//! * [`replay()`]: a fixture folder run on every kind of log and compared to its snapshots.
//!
//! Only ever a dev-dependency.

mod fixed_host;
mod prompts;
mod replay;
mod runner;
mod scenario;
mod scripted;
mod scripted_model;
mod show;
pub mod strategies;

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
