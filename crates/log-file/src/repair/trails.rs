//! What is known of each session while a damaged log is looked through from its beginning.

use std::collections::{BTreeMap, VecDeque};

use segue_event::chain::{self, Tip};
use segue_event::{EventHash, EventHeader, Kind, Position, RawEvent, Seq, SessionId};

/// How many headers of lost events are remembered that may not be what they say.
const SIGHTS_KEPT: usize = 64;

/// The newest event of a session that is known to be whole, and what the next one may be chained to.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) seq: Option<Seq>,
    pub(super) ids: Vec<EventHash>,
}

impl Known {
    /// A session of which nothing is known yet.
    pub(super) fn nothing() -> Self {
        Self { seq: None, ids: vec![chain::START] }
    }

    /// Behind an event.
    pub(super) fn after(event: &RawEvent) -> Self {
        let ids = match Tip::after(event) {
            Tip::Event(id) => vec![id],
            Tip::Lost { mark, event } => std::iter::once(mark).chain(event).collect(),
        };
        Self { seq: Some(event.header.seq), ids }
    }

    /// The number of the next event.
    pub(super) fn next(&self) -> Seq {
        self.seq.map_or(Seq::FIRST, Seq::next)
    }
}

/// The header of an event that is not whole, at its position.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub(super) position: Position,
    pub(super) header: EventHeader,
    /// The id that the event has if nothing but the id in its header is damaged.
    pub(super) mended: Option<EventHash>,
}

/// A number that a session has and no whole event bears, and where that event stood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Missing {
    pub(super) session: SessionId,
    pub(super) seq: Seq,
    /// The first and the last position that it can have had.
    pub(super) from: Position,
    pub(super) to: Position,
    /// Where a header seems to be the event's.
    pub(super) sighted: Option<Position>,
}

/// What a whole event says of the sights before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Finding {
    /// The event that was sighted there has this place in a session, and the id that its header has.
    Confirmed { position: Position, session: SessionId, seq: Seq },
    /// Only the id was damaged: the event is whole with this one.
    Mended { position: Position, id: EventHash },
}

/// The number of the first event of a session of which nothing is known but this one.
///
/// What starts a session is its first event: that of a fork has a number behind the event it goes on from. Where more
/// events would be missing than were lost, it is a fork whose start was lost, and that alone is known to be missing.
fn due_first(event: &RawEvent, room: u64) -> Seq {
    let seq = event.header.seq;
    if event.kind() == Kind::SessionStarted {
        seq
    } else if seq.get() - 1 > room && room > 0 {
        seq.previous().unwrap_or(Seq::FIRST)
    } else {
        Seq::FIRST
    }
}

#[derive(Debug)]
struct Trail {
    known: Known,
    /// The position of the newest whole event.
    at: Option<Position>,
    /// Headers of this session that came after it, at the numbers that were due.
    sights: Vec<Sight>,
}

/// All sessions.
#[derive(Debug, Default)]
pub(super) struct Trails {
    sessions: BTreeMap<SessionId, Trail>,
    /// The newest sights, whatever their headers say.
    recent: VecDeque<Sight>,
    pub(super) missing: Vec<Missing>,
    pub(super) findings: Vec<Finding>,
}

/// A session has more numbers without an event than positions without one.
#[derive(Debug)]
pub(super) struct Contradiction;

impl Trails {
    pub(super) fn has(&self, session: SessionId) -> bool {
        self.sessions.contains_key(&session)
    }

    /// What is known of a session, and the newest sight behind that.
    pub(super) fn known(&self, session: SessionId) -> (Known, Option<&Sight>) {
        match self.sessions.get(&session) {
            Some(trail) => (trail.known.clone(), trail.sights.last()),
            None => (Known::nothing(), None),
        }
    }

    /// Remembers the header of an event that is not whole.
    pub(super) fn sight(&mut self, sight: Sight) {
        if let Some(trail) = self.sessions.get_mut(&sight.header.session) {
            let due = trail.sights.last().map_or_else(|| trail.known.next(), |last| last.header.seq.next());
            if sight.header.seq == due {
                trail.sights.push(sight.clone());
            }
        }
        if self.recent.len() == SIGHTS_KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(sight);
    }

    /// Takes in a whole event; `room` tells how many positions have been without one so far.
    pub(super) fn pass(&mut self, event: &RawEvent, room: u64) -> Result<(), Contradiction> {
        let EventHeader { session, seq, .. } = event.header;
        let trail = self.sessions.remove(&session);
        let due = trail.as_ref().map_or_else(|| due_first(event, room), |trail| trail.known.next());
        if seq > due {
            if seq.get() - due.get() > room {
                return Err(Contradiction);
            }
            let sights = trail.as_ref().map_or(&[][..], |trail| trail.sights.as_slice());
            self.find_missing(event, due, trail.as_ref().and_then(|trail| trail.at), sights);
        }
        let known = Known::after(event);
        self.sessions.insert(session, Trail { known, at: Some(event.position), sights: Vec::new() });
        Ok(())
    }

    /// The numbers before an event, from `due` on, were lost.
    fn find_missing(&mut self, event: &RawEvent, due: Seq, after: Option<Position>, sights: &[Sight]) {
        let EventHeader { session, seq, .. } = event.header;
        let from = after.map_or(Position::FIRST, Position::next);
        let to = event.position.previous().unwrap_or(Position::FIRST);
        let confirmed = self.confirm(event, sights);
        for number in due.get()..seq.get() {
            let Some(number) = Seq::new(number) else { continue };
            let sighted = match confirmed.filter(|_| number.next() == seq) {
                Some(position) => Some(position),
                None => sights.iter().find(|sight| sight.header.seq == number).map(|sight| sight.position),
            };
            self.missing.push(Missing { session, seq: number, from, to, sighted });
        }
    }

    /// Where the event before this one was sighted, if this one is chained to it.
    fn confirm(&mut self, event: &RawEvent, sights: &[Sight]) -> Option<Position> {
        let EventHeader { session, seq, .. } = event.header;
        let seq = seq.previous()?;
        let own = sights.last().filter(|sight| sight.header.seq == seq);
        let body = blake3::hash(&event.body);
        let is_after = |id: &EventHash| chain::link(id, &event.header, &body) == event.header.hash;
        for sight in own.into_iter().chain(self.recent.iter().rev()) {
            let position = sight.position;
            if is_after(&sight.header.hash) {
                self.findings.push(Finding::Confirmed { position, session, seq });
                return Some(position);
            }
            if let Some(id) = sight.mended.filter(is_after) {
                self.findings.push(Finding::Mended { position, id });
                return Some(position);
            }
        }
        None
    }

    /// The numbers behind the newest whole event of each session that were sighted.
    pub(super) fn sighted_at_the_end(&self) -> impl Iterator<Item = Missing> {
        self.sessions.iter().flat_map(|(session, trail)| {
            trail.sights.iter().map(|sight| {
                let (seq, at) = (sight.header.seq, sight.position);
                Missing { session: *session, seq, from: at, to: at, sighted: Some(at) }
            })
        })
    }

    /// The newest whole event of a session: its number and position.
    pub(super) fn newest(&self, session: SessionId) -> Option<(Seq, Position)> {
        let trail = self.sessions.get(&session)?;
        Some((trail.known.seq?, trail.at?))
    }
}
