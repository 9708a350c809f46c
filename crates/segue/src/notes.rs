//! Handoff notes: what an agent was working on when its harness compacted its context.
//!
//! For agents whose harness compacts; the record itself is never shortened. A note is taken at a compaction
//! ([`take_note`](crate::Workspace::take_note)), stands in a file for people ([`HandoffFolder`](crate::HandoffFolder)), and is given to
//! the agent once: by [`Turn`](crate::Turn) at the end of the prompts of the run that answers the user's next message,
//! or by a harness with [`give_note`](crate::Workspace::give_note). [`follow_up`](crate::Workspace::follow_up) says whether the agent is asked to go on by
//! itself.

mod board;
mod giving;
mod nudging;
mod taking;

use segue_event::{CompactionReason, EventRef, NoteTaken, SessionId, Timestamp};
use segue_prompt::handoff_note::{HandoffEntry, Retry, compaction_handoff};

pub(crate) use board::NoteBoard;
pub(crate) use giving::{body_of_note, note_at, note_given};
pub use taking::Consolidated;

/// A compaction, as the harness tells of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compaction {
    /// What tells it apart from others of the same session: it has one note, however often it is told.
    pub key: String,
    /// Why the context was compacted.
    pub reason: CompactionReason,
    /// Whether the harness goes on by itself.
    pub retry: Retry,
}

/// A note that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The session in which it was taken.
    pub session: SessionId,
    /// Where it stands there.
    pub at: EventRef,
    /// When it was taken.
    pub time: Timestamp,
    /// The note.
    pub taken: NoteTaken,
}

impl Note {
    /// What the agent is told: a block under the heading `## Compaction Handoff`.
    pub fn handoff(&self) -> String {
        compaction_handoff(&self.taken.body)
    }

    /// The note as an entry of a file for people.
    pub fn entry(&self) -> HandoffEntry {
        HandoffEntry::of(self.time, &self.taken)
    }
}
