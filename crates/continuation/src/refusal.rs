//! Why a continuation was refused, in words that an agent can act on.

use segue_event::{Reason, SeqRange};

use crate::caps::AGENT_SUCCESSORS_MAX;

/// Why a continuation was refused. Nothing was created.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The same call was refused before; a call has one answer.
    #[error("{text}")]
    AnsweredBefore {
        /// The answer that is recorded.
        text: String,
    },
    /// The arguments are no JSON object.
    #[error("the arguments are {found}, not a JSON object: call again with an object")]
    NotAnObject {
        /// What was found.
        found: String,
    },
    /// The arguments are larger than [`crate::caps::REQUEST_BYTES_MAX`].
    #[error(
        "the arguments have {bytes} bytes; at most {max} are read: shorten the handoff and cite sources instead"
    )]
    RequestTooLarge {
        /// Their size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// A field that must be there is not.
    #[error("`{field}` is missing: {hint}")]
    Missing {
        /// The field.
        field: String,
        /// What it is for.
        hint: &'static str,
    },
    /// A field has a shape that cannot be understood.
    #[error("`{field}` is {found}; expected {expected}")]
    WrongShape {
        /// The field.
        field: String,
        /// What was found.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The reason is none of those there are.
    #[error("`{word}` is no reason; use one of {}", reasons())]
    UnknownReason {
        /// What was given.
        word: String,
    },
    /// A text is longer than its limit.
    #[error("`{field}` has {bytes} bytes; at most {max} fit: shorten it")]
    TooLong {
        /// The field.
        field: String,
        /// Its size in bytes.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// More sources than a handoff can cite.
    #[error("{count} sources are cited; at most {max} can be: keep those that matter most")]
    TooManySources {
        /// How many.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// The rendered handoff is larger than its share of the budget.
    #[error(
        "the handoff has {bytes} bytes when rendered; at most {max} fit: shorten it, and cite sources instead of copying them"
    )]
    HandoffTooLarge {
        /// Its rendered size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The rendered sources are larger than their share of the budget.
    #[error(
        "the sources have {bytes} bytes when rendered; at most {max} fit: cite fewer, or say less about each"
    )]
    SourcesTooLarge {
        /// Their rendered size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The run waits for children.
    #[error("{count} delegated tasks of this turn are not finished: wait for their results, then continue")]
    ChildrenParked {
        /// How many.
        count: usize,
    },
    /// The run was delegated by another.
    #[error(
        "this run was delegated by another one: only the run of a person's turn can continue; return your result"
    )]
    DelegatedRun,
    /// The run owes a typed result.
    #[error("this run owes a typed result: return it; only a run without one can continue")]
    TypedRun,
    /// There is no such run, or it has ended.
    #[error("the run has ended or never was: a continuation ends the turn of a run that is going on")]
    NoRun,
    /// The same batch of tool calls holds an earlier continuation.
    #[error(
        "an earlier call of this batch already continues the session: one is enough, and its successor answers"
    )]
    SecondContinue,
    /// Agents made as many successors of this session as they can.
    #[error(
        "agents have continued this session {AGENT_SUCCESSORS_MAX} times, which is the most: go on in one of the successors"
    )]
    TooManySuccessors,
    /// No message of a user or trigger is there.
    #[error("nothing to continue: no message of a user or a trigger is in this session yet")]
    NothingToContinue,
    /// The newest message was itself copied by a continuation.
    #[error(
        "nothing new was said since this session was continued from another: answer the message here; continuing again would loop"
    )]
    NothingNew,
    /// A cited session cannot be read.
    #[error("source {index}: session {thread} is not found among your own: cite one of your sessions")]
    SourceNotFound {
        /// Which source, from 1.
        index: usize,
        /// The session as it was given.
        thread: String,
    },
    /// A cited range lies beyond what is there.
    #[error(
        "source {index}: events {range} are cited, but the newest is {head}: cite 1 <= from <= to <= {head}"
    )]
    SourceBeyondHead {
        /// Which source, from 1.
        index: usize,
        /// The range that was cited.
        range: SeqRange,
        /// The newest event of that session.
        head: u64,
    },
    /// A memory source is cited and there is no such file, or no memory at all.
    #[error("source {index}: {path} is not in the agent's memory: cite a file that exists below ~/memory/")]
    MemoryNotFound {
        /// Which source, from 1.
        index: usize,
        /// The path as it was given.
        path: String,
    },
}

impl Refusal {
    /// A stable word for the kind of refusal, in kebab case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AnsweredBefore { .. } => "answered-before",
            Self::NotAnObject { .. } => "not-an-object",
            Self::RequestTooLarge { .. } => "request-too-large",
            Self::Missing { .. } => "missing",
            Self::WrongShape { .. } => "wrong-shape",
            Self::UnknownReason { .. } => "unknown-reason",
            Self::TooLong { .. } => "too-long",
            Self::TooManySources { .. } => "too-many-sources",
            Self::HandoffTooLarge { .. } => "handoff-too-large",
            Self::SourcesTooLarge { .. } => "sources-too-large",
            Self::ChildrenParked { .. } => "children-parked",
            Self::DelegatedRun => "delegated-run",
            Self::TypedRun => "typed-run",
            Self::NoRun => "no-run",
            Self::SecondContinue => "second-continue",
            Self::TooManySuccessors => "too-many-successors",
            Self::NothingToContinue => "nothing-to-continue",
            Self::NothingNew => "nothing-new",
            Self::SourceNotFound { .. } => "source-not-found",
            Self::SourceBeyondHead { .. } => "source-beyond-head",
            Self::MemoryNotFound { .. } => "memory-not-found",
        }
    }
}

fn reasons() -> String {
    Reason::ALL.map(Reason::as_str).join(", ")
}
