//! Searching through events of many sessions at once, in the order of the log, without reading what cannot be wanted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use segue_event::{Kind, KindSet, Position, RawEvent};

use crate::limits::SIFT_QUIET_EVENTS;
use crate::{Direction, EventLog, LogError, RawEvents, Sieve, Stretch};

/// Which events are looked for.
#[derive(Clone, Debug)]
pub struct Sift {
    /// Where: events of these sessions that stand in them themselves. No session is in it twice.
    pub stretches: Vec<Stretch>,
    /// From this position on.
    pub from: Position,
    /// Up to this position.
    pub to: Position,
    /// Whether the oldest or the newest come first.
    pub direction: Direction,
    /// Only events of these kinds.
    pub kinds: KindSet,
    /// What an event must hold. Those that tell of damage pass whatever it says.
    pub sieve: Sieve,
}

/// Kinds of events that tell of what could not be kept as text; they pass every sieve.
pub const TELLING: KindSet = KindSet::one(Kind::Lost).with(Kind::Unreadable);

/// What becomes of an event of one of the stretches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It may be wanted.
    Taken,
    /// It is of a wanted kind, and does not hold what it must.
    Ruled,
    /// It is not looked for at all.
    Outside,
}

impl Sift {
    /// What becomes of an event, if it is in one of the stretches.
    pub fn fate(&self, event: &RawEvent) -> Fate {
        let kind = event.kind();
        if !(self.from..=self.to).contains(&event.position) || !self.kinds.may_hold(kind) {
            Fate::Outside
        } else if TELLING.may_hold(kind) || self.sieve.passes(kind, &event.body) {
            Fate::Taken
        } else {
            Fate::Ruled
        }
    }

    /// How far a search has come that has looked at the event at a position.
    fn behind(&self, position: Position) -> Position {
        match self.direction {
            Direction::Forward => position.next(),
            Direction::Backward => position,
        }
    }
}

/// What a search comes across.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sifted {
    /// An event that may be wanted.
    Event(RawEvent),
    /// How far the search has come.
    Passed {
        /// Forward, only events from here on are left; backward, only events before it.
        reached: Position,
        /// Bytes of events that were searched since the last time, and hold nothing wanted.
        searched: u64,
        /// Bytes of the log that a filter ruled out since the last time, so that they were not even read.
        ruled_out: u64,
    },
}

/// What a search comes across, in order; each is read when it is taken.
pub type SiftedEvents = Box<dyn Iterator<Item = Result<Sifted, LogError>> + Send>;

/// Searches by reading every event: what an implementation of the log does that knows no better.
///
/// # Errors
/// As [`EventLog::read_kinds`].
pub fn sift_by_reading(log: &dyn EventLog, sift: &Sift) -> Result<SiftedEvents, LogError> {
    let mut streams = BinaryHeap::new();
    for Stretch { session, range } in &sift.stretches {
        let rest = log.read_kinds(*session, *range, sift.direction, sift.kinds)?;
        streams.extend(Stream::next_of(rest, sift.direction));
    }
    let sift = sift.clone();
    let mut told = Told::default();
    Ok(Box::new(std::iter::from_fn(move || {
        while let Some(Stream { next, rest, direction }) = streams.pop() {
            streams.extend(Stream::next_of(rest, direction));
            match next.map(|event| (sift.fate(&event), event)) {
                Ok((Fate::Taken, event)) => return Some(Ok(Sifted::Event(event))),
                Ok((Fate::Ruled, event)) => {
                    told.searched += event.body.len() as u64;
                    told.events += 1;
                    if told.events == SIFT_QUIET_EVENTS {
                        return Some(Ok(told.passed(sift.behind(event.position))));
                    }
                }
                Ok((Fate::Outside, _)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        let end = match sift.direction {
            Direction::Forward => sift.to.next(),
            Direction::Backward => Position::FIRST,
        };
        (told.searched > 0).then(|| Ok(told.passed(end)))
    })))
}

/// What was not told yet.
#[derive(Default)]
struct Told {
    searched: u64,
    events: u32,
}

impl Told {
    fn passed(&mut self, reached: Position) -> Sifted {
        let Self { searched, .. } = std::mem::take(self);
        Sifted::Passed { reached, searched, ruled_out: 0 }
    }
}

/// The events of one stretch, the next of which is known.
struct Stream {
    next: Result<RawEvent, LogError>,
    rest: RawEvents,
    direction: Direction,
}

impl Stream {
    fn next_of(mut rest: RawEvents, direction: Direction) -> Option<Self> {
        rest.next().map(|next| Self { next, rest, direction })
    }

    /// What cannot be read comes first: it is told at once.
    fn rank(&self) -> u64 {
        match (&self.next, self.direction) {
            (Err(_), _) => u64::MAX,
            (Ok(event), Direction::Forward) => !event.position.get(),
            (Ok(event), Direction::Backward) => event.position.get(),
        }
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
