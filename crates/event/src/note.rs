//! Events about handoff notes: what an agent was working on when its harness compacted its context.

use serde::{Deserialize, Serialize};

use crate::{EventRef, MessageOrigin, RunId, Seq, SessionId};

/// A note was taken when a context was compacted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NoteTaken {
    /// The compaction, by a key that the harness chose: one compaction has one note.
    pub compaction: String,
    /// Why the context was compacted.
    pub reason: CompactionReason,
    /// What it says.
    pub body: NoteBody,
    /// The note of the same compaction, in the same session, in whose place this one stands; it stays in the record.
    pub replaces: Option<Seq>,
}

/// What a note says, and where that came from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteBody {
    /// Lines of what the agent said last.
    Bullets {
        /// The lines, the newest last.
        bullets: Vec<String>,
        /// The messages that they were made from, the newest last.
        messages: Vec<Seq>,
    },
    /// The summary that the harness made when it compacted, as it was.
    Summary(String),
}

/// Why a harness compacted a context.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// The context came near to the model's window.
    Threshold,
    /// The context was larger than the model's window.
    Overflow,
    /// A person asked for it.
    Manual,
    /// The harness did not say.
    Unknown,
}

impl CompactionReason {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Threshold, Self::Overflow, Self::Manual, Self::Unknown];

    /// The word for it: `threshold`, `overflow`, `manual` or `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
            Self::Manual => "manual",
            Self::Unknown => "unknown",
        }
    }

    /// Finds the reason for a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// A note was given to an agent. It stands in the session where that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NoteGiven {
    /// The session in which the note was taken.
    pub session: SessionId,
    /// The note.
    pub note: EventRef,
    /// The run whose prompts show it; none where a harness put it into a prompt of its own.
    pub run: Option<RunId>,
}

/// A harness was told to send a follow-up, so that the agent goes on after a compaction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NudgeSent {
    /// The compaction, by the harness's key.
    pub compaction: String,
    /// The text to be sent.
    pub text: String,
    /// The newest message of the user by then, where it was said first; none if there was none. After it there is no
    /// other nudge.
    pub after: Option<MessageOrigin>,
}
