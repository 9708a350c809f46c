//! Fresh sessions without a handoff: what stands in place of a full context, and how a successor comes of it.

use serde::{Deserialize, Serialize};

use crate::{ContinuationId, Continued, EventRef, Manifest, MessageOrigin, Seq, Timestamp};

/// From here on a model sees this in place of what was said before. The record keeps all of that.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ContextCompacted {
    /// What stands there: a pointer as it is, a summary as its author wrote it.
    pub text: String,
    /// The first event that the model still sees behind it; none where it sees nothing of what came before.
    pub kept_from: Option<Seq>,
    /// Who wrote it.
    pub by: CompactedBy,
}

/// Who wrote what stands in place of a context.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactedBy {
    /// The runtime, which points at the record and sums nothing up.
    Pointer {
        /// The id that the pointer names; a fresh session that comes of it has it too.
        continuation: ContinuationId,
        /// What it was built from.
        manifest: Box<Manifest>,
    },
    /// A harness or its model, which summed up.
    Summary {
        /// Which one.
        author: String,
    },
}

/// What makes a context give way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FreshTrigger {
    /// It passed the threshold while a run was at work.
    MidRun,
    /// It was past the threshold when a run was done.
    RunEnd,
    /// It was past the threshold before a run asked its model.
    BeforePrompt,
    /// The provider refused it as too long.
    Overflow,
    /// A person asked for it.
    Person {
        /// An id of the request, which the caller chose.
        request: String,
    },
}

impl FreshTrigger {
    /// The word for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::MidRun => "mid_run",
            Self::RunEnd => "run_end",
            Self::BeforePrompt => "before_prompt",
            Self::Overflow => "overflow",
            Self::Person { .. } => "person",
        }
    }
}

/// A fresh session is about to be started; the pointer that it begins with stands already.
///
/// Who finds this after a crash finishes what was begun, once, while there is time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FreshArmed {
    /// The pointer, in the same session.
    pub pointer: EventRef,
    /// What made the context give way.
    pub trigger: FreshTrigger,
    /// Until when the session can be started.
    pub until: Timestamp,
}

/// What became of a fresh session that was armed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FreshSettled {
    /// Where it was armed, in the same session.
    pub armed: Seq,
    /// What became of it.
    pub outcome: FreshOutcome,
}

/// What became of a fresh session that was armed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FreshOutcome {
    /// It was started.
    Started(Continued),
    /// It was given up, with the reason: the session goes on with its pointer.
    GivenUp(String),
}

/// What a fresh session was begun with, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fresh {
    /// What made the predecessor's context give way.
    pub trigger: FreshTrigger,
    /// The pointer, in the predecessor.
    pub pointer: EventRef,
    /// Where it was armed, in the predecessor.
    pub armed: EventRef,
    /// The request that the pointer states, wherever it was made; none if nobody asked for anything yet.
    pub request: Option<MessageOrigin>,
    /// What the pointer was built from.
    pub manifest: Manifest,
}
