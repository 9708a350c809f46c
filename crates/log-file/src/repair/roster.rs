//! Who stood where in a sealed segment, as its footer tells.

use std::collections::{BTreeMap, BTreeSet};

use segue_event::{EventHash, Position, Seq, SessionId};
use segue_log::ClaimKey;

use crate::footer::Footer;
use crate::repair::trails::Missing;
use crate::view::{Entry, Run};

/// The events of some segments, and the claims that were made there.
#[derive(Debug, Default)]
pub(super) struct Roster {
    /// By session and the number of a run's first event.
    runs: BTreeMap<(SessionId, Seq), Stay>,
    claims: BTreeMap<Position, Vec<ClaimKey>>,
    /// The newest event of each session in each segment.
    heads: BTreeSet<(SessionId, Seq, EventHash)>,
    /// The first position that is told of, and the one behind the last, of each segment.
    covered: Vec<(Position, Position)>,
}

/// The events of one session in one frame, or some of them.
#[derive(Clone, Copy, Debug)]
struct Stay {
    count: u64,
    /// The exact position of the first.
    first: Position,
    /// The last position in the frame.
    last: Position,
}

/// A run in a frame, with the number of its events.
struct Counted {
    session: SessionId,
    run: Run,
    count: u64,
}

impl Roster {
    /// Takes in what a footer tells.
    pub(super) fn add(&mut self, footer: Footer) {
        let mut frames: BTreeMap<u32, Vec<Counted>> = BTreeMap::new();
        for (session, entry) in &footer.part.sessions {
            self.heads.insert((*session, entry.head.seq, entry.head.hash));
            for counted in counted(*session, entry) {
                frames.entry(counted.run.frame).or_default().push(counted);
            }
        }
        let mut first = footer.first();
        self.covered.push((first, footer.part.end.next));
        for runs in frames.values() {
            let events = runs.iter().map(|counted| counted.count).sum::<u64>();
            let last = first.plus(events.saturating_sub(1));
            for Counted { session, run, count } in runs {
                let stay = Stay { count: *count, first: first.plus(run.index.into()), last };
                self.runs.insert((*session, run.seq), stay);
            }
            first = first.plus(events);
        }
        for (key, position) in footer.part.claims {
            self.claims.entry(position).or_default().push(key);
        }
    }

    /// Where an event stood, more exactly than is known otherwise.
    pub(super) fn narrow(&self, missing: Missing) -> Missing {
        let key = (missing.session, missing.seq);
        let run = self.runs.range(..=key).next_back().filter(|((session, _), _)| *session == missing.session);
        let Some(((_, first), stay)) = run else { return missing };
        let index = missing.seq.get() - first.get();
        if index >= stay.count {
            return missing;
        }
        let from = stay.first.plus(index);
        let behind = stay.count - index - 1;
        let to = if index == 0 { from } else { Position::new(stay.last.get() - behind).unwrap_or(from) };
        Missing { from: missing.from.max(from), to: missing.to.min(to), ..missing }
    }

    /// The claims of the commits that began from `first` on and before `end`; none if nothing is told of them.
    pub(super) fn claims(&self, first: Position, end: Position) -> Option<BTreeMap<Position, Vec<ClaimKey>>> {
        let is_covered = self.covered.iter().any(|(from, to)| *from <= first && end <= *to);
        is_covered.then(|| self.claims.range(first..end).map(|(at, keys)| (*at, keys.clone())).collect())
    }

    /// Whether an event was the newest of its session when a segment was left, and had that id.
    pub(super) fn is_head(&self, session: SessionId, seq: Seq, id: &EventHash) -> bool {
        self.heads.contains(&(session, seq, *id))
    }

    /// The newest number of each session that is told of.
    pub(super) fn heads(&self) -> BTreeMap<SessionId, Seq> {
        let newest = |((session, first), stay): (&(SessionId, Seq), &Stay)| {
            Some((*session, Seq::new(first.get() + stay.count - 1)?))
        };
        self.runs.iter().filter_map(newest).collect()
    }
}

fn counted(session: SessionId, entry: &Entry) -> impl Iterator<Item = Counted> {
    let ends = entry.runs.iter().skip(1).map(|run| run.seq).chain([entry.head.seq.next()]);
    let count = move |(run, end): (&Run, Seq)| {
        let count = end.get().checked_sub(run.seq.get()).filter(|count| *count > 0)?;
        Some(Counted { session, run: *run, count })
    };
    entry.runs.iter().zip(ends).filter_map(count)
}
