//! What a projection is compiled from.

use segue_event::{ContinuationId, PlanTransfer, Position, Reason, Recommended, Seq, SeqRange, SessionId};
use segue_frame::{Entry, Part};

use crate::{Admitted, RECENT_TEXT_CHARS_MAX};

/// Everything a projection is compiled from. What has to be read from a log was read before.
#[derive(Clone, Debug)]
pub struct Input {
    /// Where the successor comes from.
    pub origin: Origin,
    /// The handoff, the sources and the budget, with their sizes checked.
    pub admitted: Admitted,
    /// The cited ranges of sessions, in the order of the sources.
    pub cited: Vec<CitedRange>,
    /// What the runtime recommends beside them, the best first, at most as many as the recipe takes.
    pub recommended: Vec<RecommendedRange>,
    /// The predecessor's transcript before the initiating message.
    pub recent: Recent,
    /// The newest event of the predecessor.
    pub head: Seq,
    /// The predecessor's own handoff, if it has one.
    pub earlier: Option<EarlierHandoff>,
    /// What becomes of the predecessor's plan.
    pub plan: PlanTransfer,
    /// The newest event of the log.
    pub compiled_at: Option<Position>,
}

/// Where a successor comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The transition.
    pub continuation: ContinuationId,
    /// Why.
    pub reason: Reason,
    /// The first session of the chain.
    pub first: SessionId,
    /// The session that is continued.
    pub predecessor: SessionId,
    /// What that is called.
    pub predecessor_title: String,
    /// The message that the successor answers, in the predecessor.
    pub initiating: Seq,
}

/// A cited range of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CitedRange {
    /// The index of the source, from 0.
    pub source: u32,
    /// The session.
    pub thread: SessionId,
    /// The events.
    pub range: SeqRange,
    /// What was read there.
    pub cited: Cited,
}

/// A range of a session that the runtime recommends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecommendedRange {
    /// Which one, and why.
    pub recommended: Recommended,
    /// What was read there; too large beyond [`crate::RECOMMENDED_BYTES_MAX`].
    pub cited: Cited,
}

/// What was read of a cited range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cited {
    /// All entries of the range, oldest first.
    Entries(Vec<Entry>),
    /// It is larger than can be shown; reading stopped.
    TooLarge,
}

/// The predecessor's transcript before the initiating message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recent {
    /// The newest entries, newest first, as many as the recipe takes or there are.
    pub entries: Vec<CutEntry>,
    /// The predecessor's own projection, which is no exchange.
    pub projection: Option<Seq>,
    /// What stood in place of a context among these entries, which is none either.
    pub stand_ins: Vec<Seq>,
}

/// An entry of which only as much is held as recent exchanges show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CutEntry {
    /// The event's number.
    pub seq: Seq,
    /// The texts, cut at [`RECENT_TEXT_CHARS_MAX`] characters, each with the number of
    /// characters that it has more.
    pub parts: Vec<(Part, usize)>,
}

impl CutEntry {
    /// Cuts the texts of an entry.
    pub fn of(entry: Entry) -> Self {
        let cut = |mut part: Part| {
            let Some((end, _)) = part.text.char_indices().nth(RECENT_TEXT_CHARS_MAX) else {
                return (part, 0);
            };
            let rest = part.text.split_off(end);
            part.text.shrink_to_fit();
            (part, rest.chars().count())
        };
        Self { seq: entry.seq, parts: entry.parts.into_iter().map(cut).collect() }
    }
}

/// The handoff that the predecessor itself was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlierHandoff {
    /// The session where it stands.
    pub thread: SessionId,
    /// Its event there.
    pub seq: Seq,
    /// How many decisions it lists.
    pub decisions: usize,
    /// How many cautions.
    pub cautions: usize,
    /// How many open questions.
    pub open_questions: usize,
}
