//! Searching through events of many sessions at once, newest first, without reading those that cannot be wanted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use segue_event::{Kind, KindSet, Position, RawEvent};

use crate::{Direction, EventLog, LogError, RawEvents, Sieve, Stretch};

/// Which events are looked for.
#[derive(Clone, Debug)]
pub struct Sift {
    /// Where: events of these sessions that stand in them themselves. No session is in it twice.
    pub stretches: Vec<Stretch>,
    /// Only events before this position.
    pub before: Position,
    /// Only events of these kinds.
    pub kinds: KindSet,
    /// What an event must hold. Those that tell of damage pass whatever it says.
    pub sieve: Sieve,
}

/// Kinds of events that tell of what could not be kept as text; they pass every sieve.
pub const TELLING: KindSet = KindSet::one(Kind::Lost).with(Kind::Unreadable);

impl Sift {
    /// Whether an event passes, if it is in one of the stretches.
    pub fn takes(&self, event: &RawEvent) -> bool {
        let kind = event.kind();
        event.position < self.before
            && self.kinds.may_hold(kind)
            && (TELLING.may_hold(kind) || self.sieve.passes(kind, &event.body))
    }
}

/// What a search comes across.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sifted {
    /// An event that may be wanted.
    Event(RawEvent),
    /// Only events before this position are left.
    Passed {
        /// Where the search stands.
        before: Position,
        /// Bytes of the log that were ruled out since the last time without being read.
        ruled_out: u64,
    },
}

/// What a search comes across, newest first; each is read when it is taken.
pub type SiftedEvents = Box<dyn Iterator<Item = Result<Sifted, LogError>> + Send>;

/// Searches by reading every event: what an implementation of the log does that knows no better.
///
/// # Errors
/// As [`EventLog::read_kinds`].
pub fn sift_by_reading(log: &dyn EventLog, sift: &Sift) -> Result<SiftedEvents, LogError> {
    let mut streams = BinaryHeap::new();
    for Stretch { session, range } in &sift.stretches {
        let rest = log.read_kinds(*session, *range, Direction::Backward, sift.kinds)?;
        streams.extend(Stream::next_of(rest));
    }
    let sift = sift.clone();
    let events = std::iter::from_fn(move || {
        let Stream { newest, rest } = streams.pop()?;
        streams.extend(Stream::next_of(rest));
        Some(newest)
    });
    let takes =
        move |event: &Result<RawEvent, LogError>| event.as_ref().map_or(true, |event| sift.takes(event));
    Ok(Box::new(events.filter(takes).map(|event| event.map(Sifted::Event))))
}

/// The events of one stretch, the newest of which is known.
struct Stream {
    newest: Result<RawEvent, LogError>,
    rest: RawEvents,
}

impl Stream {
    fn next_of(mut rest: RawEvents) -> Option<Self> {
        rest.next().map(|newest| Self { newest, rest })
    }

    /// What cannot be read comes first: it is told at once.
    fn rank(&self) -> Position {
        self.newest.as_ref().map_or(Position::FIRST.plus(u64::MAX), |event| event.position)
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Stream {}

impl PartialOrd for Stream {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Stream {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}
