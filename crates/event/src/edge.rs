//! How one session comes from another.

use serde::{Deserialize, Serialize};

use crate::{ContinuationId, EventHash, Fresh, Manifest, RunId, Seq, SessionId, Timestamp};

/// The durable transition from a predecessor to its successor. It stands in the successor's first event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// The transition's own id.
    pub continuation: ContinuationId,
    /// The session that was continued.
    pub predecessor: SessionId,
    /// The predecessor's title when it was continued.
    pub predecessor_title: String,
    /// The newest event of the predecessor that the successor can know of.
    pub predecessor_head: EventRef,
    /// The first session of the chain.
    pub origin: SessionId,
    /// Who asked for the transition: together with the predecessor the key under which it happens once.
    pub initiator: Initiator,
    /// When.
    pub created_at: Timestamp,
    /// What kind of transition it is, and what belongs to that kind.
    pub transition: Transition,
}

impl Edge {
    /// What kind of transition it is.
    pub const fn kind(&self) -> EdgeKind {
        match &self.transition {
            Transition::Continue(_) => EdgeKind::Continue,
            Transition::Fresh(_) => EdgeKind::Fresh,
            Transition::Delegate(_) => EdgeKind::Delegate,
            Transition::Fork => EdgeKind::Fork,
        }
    }

    /// What was handed over by an agent or a person; none where nobody wrote a handoff.
    pub const fn handover(&self) -> Option<&Handover> {
        match &self.transition {
            Transition::Continue(handover) => Some(handover),
            Transition::Fresh(_) | Transition::Delegate(_) | Transition::Fork => None,
        }
    }

    /// What the successor's first context was built from; none where the successor did not take over the conversation.
    pub const fn manifest(&self) -> Option<&Manifest> {
        match &self.transition {
            Transition::Continue(handover) => Some(&handover.manifest),
            Transition::Fresh(fresh) => Some(&fresh.manifest),
            Transition::Delegate(_) | Transition::Fork => None,
        }
    }
}

/// What happened between two sessions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// The conversation was carried over at a semantic boundary, with a handoff.
    Continue(Box<Handover>),
    /// A run gave a task to a session of its own.
    Delegate(Delegation),
    /// A person goes on from an earlier point: the session holds the events up to the predecessor's head by
    /// reference, and its own numbers begin behind it.
    Fork,
    /// The context was full, and the runtime began a fresh session with a pointer, without a handoff.
    Fresh(Box<Fresh>),
}

/// What a successor was given, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Handover {
    /// The message of the predecessor that the successor answers.
    pub initiating: EventRef,
    /// Why the conversation was carried over.
    pub reason: Reason,
    /// What the successor's first context was built from.
    pub manifest: Manifest,
}

/// A task that a run gave to a session of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Delegation {
    /// The run that works on the task.
    pub run: RunId,
    /// The run that waits for it.
    pub parent: RunId,
}

/// What kind of transition an edge is. All of them form one graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// Carried over at a semantic boundary, with a handoff.
    Continue,
    /// Begun anew by the runtime, with a pointer.
    Fresh,
    /// A task that a run gave away.
    Delegate,
    /// Gone on with from an earlier point.
    Fork,
}

impl EdgeKind {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Fresh => "fresh",
            Self::Delegate => "delegate",
            Self::Fork => "fork",
        }
    }
}

/// Points at one event, by place and by id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct EventRef {
    /// The event's number in its session.
    pub seq: Seq,
    /// The event's id.
    pub event: EventHash,
}

/// Who asked for a transition. The same initiator gets the same successor, however often it asks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Initiator {
    /// A model, by a tool call within a run.
    Tool {
        /// The run in which it was called.
        run: RunId,
        /// The call: its place in the session as `[message.block]`, or the provider's id where there is no place.
        call: String,
    },
    /// A person, with an id of the request that the caller chose.
    Person {
        /// The request.
        request: String,
    },
    /// The runtime, by the record with which it armed a fresh session.
    Runtime {
        /// That record, in the predecessor.
        armed: EventRef,
    },
}

/// Why a conversation is continued in a fresh session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The person turned to something else.
    TopicChange,
    /// One phase of the work is done and the next begins.
    PhaseChange,
    /// The session strayed and is brought back to its purpose.
    Refocus,
    /// The context is nearly full.
    ContextPressure,
    /// A person asked for it.
    UserRequest,
    /// Something else.
    Other,
}

impl Reason {
    /// Every reason, in the order in which they are listed to models.
    pub const ALL: [Self; 6] = [
        Self::TopicChange,
        Self::PhaseChange,
        Self::Refocus,
        Self::ContextPressure,
        Self::UserRequest,
        Self::Other,
    ];

    /// The word that models and people write for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TopicChange => "topic_change",
            Self::PhaseChange => "phase_change",
            Self::Refocus => "refocus",
            Self::ContextPressure => "context_pressure",
            Self::UserRequest => "user_request",
            Self::Other => "other",
        }
    }

    /// Finds the reason for a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}
