//! Events about runs: an agent's work on a session, from being queued to its end.

use serde::{Deserialize, Serialize};

use crate::{ContinuationId, RunId, Seq, SessionId};

/// A run was queued.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunQueued {
    /// The run.
    pub run: RunId,
    /// How urgent it is.
    pub lane: Lane,
    /// The message that asks for it, in the same session.
    pub trigger: Seq,
    /// The run that delegated it; none for a person's turn.
    pub parent: Option<RunId>,
    /// From 1; requeueing after a crash counts on.
    pub attempt: u32,
}

/// How urgent a run is: interactive ones go first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Somebody waits for the answer.
    Interactive,
    /// Nobody waits.
    Background,
}

/// A run was started by a host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunStarted {
    /// The run.
    pub run: RunId,
    /// The attempt, as it was queued.
    pub attempt: u32,
    /// The boot id of the host that runs it.
    pub host: String,
}

/// A run ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunEnded {
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub outcome: RunOutcome,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// It did what it was asked.
    Succeeded,
    /// It carried the conversation into a successor, which goes on with the work.
    Continued(Continued),
    /// It failed, with the reason.
    Failed(String),
    /// Somebody stopped it.
    Cancelled,
}

/// Where a continued run's work goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Continued {
    /// The successor.
    pub session: SessionId,
    /// The transition.
    pub continuation: ContinuationId,
}
