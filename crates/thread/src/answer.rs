//! What a search found, and where it looked.

use segue_event::{Position, Seq, SessionId, Timestamp};
use segue_frame::Who;

use crate::{Chain, Cursor};

/// What a search found, and where it looked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The findings, in the order that was asked for.
    pub hits: Vec<Hit>,
    /// Where was looked. "Not found" holds only where this is complete.
    pub coverage: Coverage,
    /// Where to go on; none if the search is complete.
    pub cursor: Option<Cursor>,
}

/// A text that holds what was searched for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    /// The session.
    pub thread: SessionId,
    /// The event.
    pub seq: Seq,
    /// Which of the event's texts, from 0.
    pub part: u32,
    /// Whose text.
    pub who: Who,
    /// When it was said.
    pub time: Timestamp,
    /// The byte of the text where the first match begins.
    pub offset: u64,
    /// How many matches the text has, counted up to [`MATCHES_COUNTED_MAX`](crate::MATCHES_COUNTED_MAX). Where it has
    /// none as it is written, those in what its JSON strings mean.
    pub matches: u64,
    /// The first match with some context, exactly as it stands in the text; of a match beyond
    /// [`MATCH_SHOWN_BYTES_MAX`](crate::MATCH_SHOWN_BYTES_MAX) the beginning.
    pub excerpt: String,
    /// The byte of the text where the excerpt begins.
    pub excerpt_offset: u64,
    /// The size of the whole text in bytes.
    pub text_bytes: u64,
    /// What became of it later, as far as the record shows.
    pub fate: Vec<LaterFate>,
}

/// What became of a tool call after it was made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LaterFate {
    /// What happened.
    pub what: Superseded,
    /// The event of the same session that shows it.
    pub seq: Seq,
}

/// How a tool call does not stand any more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Superseded {
    /// It failed.
    Failed,
    /// Somebody did not allow it.
    Refused,
    /// A later edit undid it.
    Reverted,
    /// The file that it changed was changed again.
    EditedAgain,
}

impl Superseded {
    /// The words for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Reverted => "reverted",
            Self::EditedAgain => "edited again",
        }
    }
}

/// How far a search looked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coverage {
    /// Sessions that were searched to their beginning, earlier pages of the same search included. With the oldest
    /// findings first none counts before all do.
    pub threads_searched: usize,
    /// Sessions that are to be searched.
    pub threads: usize,
    /// Bytes that were looked through for this page.
    pub bytes_searched: u64,
    /// Bytes of the log that the store's filters ruled out for this page, so that they were not even read.
    pub bytes_ruled_out: u64,
    /// How often the search met damage in the record, or a text that is too large, and could not look, earlier pages
    /// of the same search included.
    pub damaged: u64,
    /// Whether everything was searched, earlier pages of the same search included, and could be.
    pub complete: bool,
    /// The newest position that the search takes in; none if the log is empty.
    pub up_to: Option<Position>,
}

impl Answer {
    pub(crate) fn begun(chain: &Chain, up_to: Option<Position>, damaged: u64) -> Self {
        let coverage = Coverage {
            threads_searched: 0,
            threads: chain.sessions().len(),
            bytes_searched: 0,
            bytes_ruled_out: 0,
            damaged,
            complete: false,
            up_to,
        };
        Self { hits: Vec::new(), coverage, cursor: None }
    }
}
