//! Events about runs: an agent's work on a session, from being queued to its end.

use serde::{Deserialize, Serialize};

use crate::{CallRef, ContinuationId, Message, RunId, Seq, SessionId};

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
    /// The JSON Schema, as text, of the result that the run owes; none for a run that owes none.
    pub result_schema: Option<String>,
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
    /// The tasks whose results it is told with this start, by their runs.
    pub told: Vec<RunId>,
}

/// A run waits for the tasks that it delegated.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunWaiting {
    /// The run.
    pub run: RunId,
}

/// A run gave a task to a session of its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChildDelegated {
    /// The run that waits for the task.
    pub run: RunId,
    /// The session that was made for it.
    pub child: SessionId,
    /// The run that works on it.
    pub child_run: RunId,
    /// The tool call that asked for it; none where the host did.
    pub call: Option<CallRef>,
}

/// A run gave the result that it owed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ResultReturned {
    /// The run.
    pub run: RunId,
    /// The result as JSON text.
    pub value: String,
}

/// A run wanted to end, and was reminded of what it owes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ObligationsAsked {
    /// The run.
    pub run: RunId,
}

/// A message came while a run was at work; it is no message of the transcript until a turn takes it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MessageQueued {
    /// The message.
    pub message: Message,
}

/// A queued message found its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QueuedMessageTaken {
    /// Where it was queued, in the same session.
    pub queued: Seq,
    /// Where it went.
    pub to: TakenTo,
}

/// Where a queued message went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakenTo {
    /// Into the transcript, as the event before this one.
    Turn,
    /// Along into the successor of the session.
    Successor(SessionId),
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

/// A host took over the queue of runs: it alone recovers runs whose host is gone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeaseTaken {
    /// The host: the id of its start.
    pub host: String,
}
