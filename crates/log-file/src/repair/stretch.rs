//! Damaged bytes in which events are looked for.
//!
//! An event counts as whole if its id recomputes from the id of the event before it in its session. That one is
//! known, or it is damaged itself and the id in its header, or the one that it would have, is tried. So each event
//! that is found is proven by a hash, wherever it stands and whatever is wrong around it.
//!
//! A hash is no signature: who knows the ids of a store can put something into a body that looks like the next event.
//! Bodies are only searched where an event does not lead to the next one; and where more events are found than there
//! were, those that were searched for do not count.

use std::collections::BTreeMap;

use bytes::Bytes;
use segue_event::{
    ContinuationEvent, EventHash, EventHeader, HEADER_BYTES, Kind, Position, RawEvent, SessionId, Transition,
    chain,
};

use crate::frame::FRAME_MAGIC;
use crate::repair::trails::{Known, Trails};

/// The ids of how many damaged events are tried for one whose session is not known to be there.
const STRAYS_KEPT: usize = 8;

/// How many times the size of a stretch is hashed at most in looking for events where none is known to begin.
const HASHED_TIMES_MAX: u64 = 8;

/// An event, or the header of one, that was found in a stretch.
#[derive(Clone, Debug)]
pub(super) struct Sighting {
    /// In which of several stretches it was found.
    pub(super) stretch: usize,
    /// Where it begins and ends in the stretch.
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) header: EventHeader,
    pub(super) nature: Nature,
    /// Whether it begins exactly where the one before it ends, or the stretch begins.
    pub(super) joined: Joined,
}

/// Whether an event that was found is whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Nature {
    Whole,
    /// It is not; but it would be with this id instead of the one in its header.
    Damaged {
        mended: Option<EventHash>,
    },
}

/// Whether there are bytes between two events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Joined {
    Directly,
    /// Something may have stood between them.
    Apart,
}

/// What is known of a session within a stretch.
#[derive(Clone, Debug)]
struct Local {
    /// Its newest whole event.
    whole: Known,
    /// The damaged event behind that.
    damaged: Option<Known>,
}

impl Local {
    /// Whether a header can be one of this session, with one field damaged at most.
    fn may_have(&self, header: &EventHeader) -> bool {
        let is_there = self.whole.seq.is_some() || self.damaged.is_some();
        is_there || header.seq.get() == 1 || header.kind.name().is_some()
    }
}

/// Looks for events in a stretch.
pub(super) struct Search<'a> {
    trails: &'a Trails,
    bytes: Bytes,
    sessions: BTreeMap<SessionId, Local>,
    strays: Vec<EventHash>,
    /// How many events there can be.
    room: u64,
    budget: u64,
}

/// What is thought of bytes that may be an event.
enum Judgement {
    Whole,
    Damaged(Option<EventHash>),
    /// They look like nothing.
    Nothing,
}

impl<'a> Search<'a> {
    pub(super) fn new(trails: &'a Trails, bytes: &Bytes, room: u64) -> Self {
        let budget = (bytes.len() as u64).saturating_mul(HASHED_TIMES_MAX);
        let bytes = bytes.clone();
        Self { trails, bytes, sessions: BTreeMap::new(), strays: Vec::new(), room, budget }
    }

    /// All that is found, in order; `at` is where the first event should begin. That may be one more than there can be.
    pub(super) fn run(mut self, mut at: usize) -> Vec<Sighting> {
        let mut found: Vec<Sighting> = Vec::new();
        let mut joined = Joined::Directly;
        while found.len() as u64 <= self.room {
            if self.bytes.get(at..).is_some_and(|rest| rest.starts_with(&FRAME_MAGIC)) {
                at += crate::frame::FRAME_HEADER_BYTES as usize;
                continue;
            }
            if let Some(sighting) = self.look_at(at, joined) {
                (at, joined) = (sighting.end, Joined::Directly);
                found.push(sighting);
                continue;
            }
            // The length of a damaged event may be wrong as well.
            let from = match found.last() {
                Some(Sighting { at: last, nature: Nature::Damaged { .. }, .. })
                    if joined == Joined::Directly =>
                {
                    last + 1
                }
                _ => at + 1,
            };
            let Some(next) = self.next_whole(from) else { break };
            if let Some(last) = found.last_mut().filter(|last| last.nature != Nature::Whole) {
                last.end = next;
            }
            (at, joined) = (next, Joined::Apart);
        }
        found
    }

    /// The event at a place, which the one before it leads to.
    fn look_at(&mut self, at: usize, joined: Joined) -> Option<Sighting> {
        let Some((event, end)) = self.read(at) else { return self.look_at_header(at, joined) };
        let header = event.header;
        let nature = match self.judge(&event) {
            Judgement::Whole => {
                let known = Local { whole: Known::after(&event), damaged: None };
                self.sessions.insert(header.session, known);
                Nature::Whole
            }
            Judgement::Damaged(mended) => {
                self.remember(&header, mended);
                Nature::Damaged { mended }
            }
            Judgement::Nothing => return None,
        };
        Some(Sighting { stretch: 0, at, end, header, nature, joined })
    }

    /// An event whose length cannot be right.
    fn look_at_header(&mut self, at: usize, joined: Joined) -> Option<Sighting> {
        let (header, end) = self.read_header(at)?;
        let local = self.local(header.session);
        let is_due = local.damaged.as_ref().unwrap_or(&local.whole).next() == header.seq;
        if !is_due || !local.may_have(&header) {
            return None;
        }
        self.remember(&header, None);
        Some(Sighting { stretch: 0, at, end, header, nature: Nature::Damaged { mended: None }, joined })
    }

    /// The next place from `from` on where a whole event begins.
    fn next_whole(&mut self, from: usize) -> Option<usize> {
        let last = self.bytes.len().checked_sub(HEADER_BYTES)?;
        for at in from..=last {
            if !self.is_possible(at) {
                continue;
            }
            let Some((event, _)) = self.read(at) else { continue };
            if !self.is_worth_hashing(&event.header) {
                continue;
            }
            self.budget = self.budget.checked_sub(event.body.len() as u64 + HEADER_BYTES as u64)?;
            match self.judge(&event) {
                Judgement::Whole => return Some(at),
                Judgement::Damaged(mended) => self.stray(&event.header, mended),
                Judgement::Nothing => {}
            }
        }
        None
    }

    /// Whether a number of an event can stand where it would, which is so in hardly any text.
    fn is_possible(&self, at: usize) -> bool {
        const SEQ: usize = 20;
        let seq = self.bytes.get(at + SEQ..at + SEQ + 8).and_then(|bytes| bytes.first_chunk());
        seq.is_some_and(|bytes| (1..1 << 48).contains(&u64::from_le_bytes(*bytes)))
    }

    fn is_worth_hashing(&self, header: &EventHeader) -> bool {
        let local = self.local(header.session);
        let due = local.whole.next();
        let is_start = local.whole.seq.is_none() && header.kind == Kind::SessionStarted;
        let is_near = is_start || (header.seq >= due && header.seq.get() - due.get() <= self.room);
        is_near && local.may_have(header)
    }

    fn read(&self, at: usize) -> Option<(RawEvent, usize)> {
        let (header, begin) = self.read_header(at)?;
        let end = begin.checked_add(header.body_bytes as usize).filter(|end| *end <= self.bytes.len())?;
        let body = self.bytes.slice(begin..end);
        Some((RawEvent { header, position: Position::FIRST, body }, end))
    }

    fn read_header(&self, at: usize) -> Option<(EventHeader, usize)> {
        let begin = at.checked_add(HEADER_BYTES)?;
        Some((EventHeader::from_bytes(self.bytes.get(at..begin)?.first_chunk()?)?, begin))
    }

    fn judge(&self, event: &RawEvent) -> Judgement {
        let header = &event.header;
        let local = self.local(header.session);
        let body = blake3::hash(&event.body);
        let is_after = |id: &EventHash| chain::link(id, header, &body) == header.hash;
        let follows = |known: &Known| known.next() == header.seq && known.ids.iter().any(is_after);
        if follows(&local.whole) || local.damaged.as_ref().is_some_and(follows) {
            return Judgement::Whole;
        }
        if local.whole.seq.is_none() && fork_base(event).is_some_and(|base| is_after(&base)) {
            return Judgement::Whole;
        }
        if header.seq > local.whole.next() && self.strays.iter().any(is_after) {
            return Judgement::Whole;
        }
        if !local.may_have(header) {
            return Judgement::Nothing;
        }
        let before = if local.whole.next() == header.seq { local.whole.ids.last() } else { None };
        Judgement::Damaged(before.map(|before| chain::link(before, header, &body)))
    }

    fn remember(&mut self, header: &EventHeader, mended: Option<EventHash>) {
        self.stray(header, mended);
        let mut local = self.local(header.session);
        let due = local.damaged.as_ref().unwrap_or(&local.whole).next();
        if header.seq == due {
            let ids = std::iter::once(header.hash).chain(mended).collect();
            local.damaged = Some(Known { seq: Some(header.seq), ids });
            self.sessions.insert(header.session, local);
        }
    }

    fn stray(&mut self, header: &EventHeader, mended: Option<EventHash>) {
        self.strays.splice(..0, std::iter::once(header.hash).chain(mended));
        self.strays.truncate(STRAYS_KEPT);
    }

    fn local(&self, session: SessionId) -> Local {
        if let Some(local) = self.sessions.get(&session) {
            return local.clone();
        }
        let (whole, sight) = self.trails.known(session);
        let damaged = sight.map(|sight| Known {
            seq: Some(sight.header.seq),
            ids: std::iter::once(sight.header.hash).chain(sight.mended).collect(),
        });
        Local { whole, damaged }
    }
}

/// The id of the event that a forked session goes on from, if this one is its start.
fn fork_base(event: &RawEvent) -> Option<EventHash> {
    if event.kind() != Kind::SessionStarted {
        return None;
    }
    let edge = event.decode_as::<ContinuationEvent>().ok()??.event.into_edge()?;
    let is_base = edge.transition == Transition::Fork && edge.predecessor_head.seq.next() == event.header.seq;
    is_base.then_some(edge.predecessor_head.event)
}

/// Whether what was found ends where the events do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Behind {
    Nothing,
    /// Events may have stood there.
    Something,
}

/// What stands between events that were found apart from each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Between {
    /// At least one event: they stand in one frame.
    Events,
    /// Events, or the end of a frame and the beginning of another.
    Anything,
}

/// Leaves out what is found beyond the `count` events that there were.
pub(super) fn trim(found: &mut Vec<Sighting>, count: u64) {
    while found.len() as u64 > count && found.pop_if(|last| last.nature != Nature::Whole).is_some() {}
    if found.len() as u64 > count {
        let searched = found.iter().position(|sighting| sighting.joined == Joined::Apart);
        found.truncate(searched.unwrap_or(0));
    }
}

/// Gives what was found its places among `count` events; what has no certain place is left out.
pub(super) fn align(
    found: Vec<Sighting>,
    count: u64,
    between: Between,
    behind: Behind,
) -> Vec<(u64, Sighting)> {
    let number = found.len() as u64;
    let Some(lost) = count.checked_sub(number) else { return Vec::new() };
    let apart = |(_, sighting): &(u64, &Sighting)| sighting.joined == Joined::Apart;
    let mut gaps: Vec<u64> = (0..).zip(&found).filter(apart).map(|(index, _)| index).collect();
    let inner = gaps.len() as u64;
    if behind == Behind::Something {
        gaps.push(number);
    }
    let (first, last) = (gaps.first().copied().unwrap_or(number), gaps.last().copied().unwrap_or(number));
    let place = |index: u64| {
        if lost == 0 || index < first {
            Some(index)
        } else if gaps.len() <= 1 || (index >= last && behind == Behind::Nothing) {
            Some(index + lost)
        } else if inner == lost && between == Between::Events {
            // One event was lost in each.
            Some(index + gaps.iter().filter(|gap| **gap <= index).count() as u64)
        } else {
            None
        }
    };
    (0..).zip(found).filter_map(|(index, sighting)| Some((place(index)?, sighting))).collect()
}
