//! What a process knows of a log: an index in memory over whole frames up to an end.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::sync::Arc;

use segue_event::{EventHeader, Kind, KindSet, Position, Seq, SessionId};
use segue_log::{ClaimKey, Head, LogError, SessionListing, SessionPage};

use crate::frame::Outline;
use crate::limits::{PLACE_BYTES, RUN_EVENTS};
use crate::place::{Place, SEGMENT_HEADER_BYTES, SegmentNumber};
use crate::running::RunningHash;
use crate::segment::{Check, Segment, SegmentHeader};
use crate::wire::to_u32;

/// Everything in a log up to an end; grows as the log does.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) spans: BTreeMap<SegmentNumber, Span>,
    pub(crate) sessions: BTreeMap<SessionId, Entry>,
    pub(crate) by_first: BTreeMap<Position, SessionId>,
    pub(crate) claims: BTreeMap<ClaimKey, Position>,
    /// Some frames by their first position: those nearest behind each multiple of a number of bytes.
    pub(crate) places: BTreeMap<Position, Place>,
    /// For each session that was continued from another, that other.
    pub(crate) edges: BTreeMap<SessionId, SessionId>,
    pub(crate) end: End,
    pub(crate) counts: Counts,
    /// How much is in the segments before the last.
    pub(crate) counts_before: Counts,
    pub(crate) damages: Vec<Damage>,
    pub(crate) notes: Vec<String>,
    /// Frames before this place are known from footers or the index; their checksums are still to be checked.
    pub(crate) checked_from: Place,
}

/// A segment and how far it reaches.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) segment: Arc<Segment>,
    pub(crate) end: u64,
}

/// Where a view ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct End {
    /// The byte behind the last frame; none while there is no segment.
    pub(crate) place: Option<Place>,
    /// The last frame.
    pub(crate) frame: Option<Place>,
    pub(crate) next: Position,
    pub(crate) group: u64,
    pub(crate) running: RunningHash,
}

/// How much is in a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) body_bytes: u64,
    /// The frames, headers and all.
    pub(crate) log_bytes: u64,
}

impl Counts {
    fn minus(self, other: Self) -> Self {
        Self {
            events: self.events.saturating_sub(other.events),
            body_bytes: self.body_bytes.saturating_sub(other.body_bytes),
            log_bytes: self.log_bytes.saturating_sub(other.log_bytes),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            events: self.events + other.events,
            body_bytes: self.body_bytes + other.body_bytes,
            log_bytes: self.log_bytes + other.log_bytes,
        }
    }
}

/// One session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) first: Position,
    pub(crate) head: Head,
    pub(crate) runs: Vec<Run>,
}

impl Entry {
    /// The number of the session's own first event.
    ///
    /// Only the start of a session, or a mark that it was lost, can stand at its beginning, and only that of a forked one
    /// has another number than 1. Where something else comes first, the beginning is damaged.
    pub(crate) fn first_seq(&self) -> Seq {
        let beginnings = KindSet::one(Kind::SessionStarted).with(Kind::Lost);
        let starts = |run: &&Run| run.kinds.meets(beginnings);
        self.runs.first().filter(starts).map_or(Seq::FIRST, |run| run.seq)
    }
}

/// Where some events of a session stand: those from `seq` on in one frame, up to the next run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) seq: Seq,
    pub(crate) segment: u32,
    /// The byte where the frame begins.
    pub(crate) frame: u32,
    /// The byte where the event begins.
    pub(crate) event: u32,
    /// The event's number in the frame, from 0.
    pub(crate) index: u32,
    /// The kinds of the run's events.
    pub(crate) kinds: KindSet,
}

impl Run {
    pub(crate) fn place(&self) -> Place {
        Place { segment: SegmentNumber(self.segment), offset: u64::from(self.frame) }
    }
}

/// Bytes of acknowledged commits that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    pub(crate) segment: Arc<Segment>,
    pub(crate) offset: u64,
    /// Where whole frames begin again, or the segment ends.
    pub(crate) until: u64,
    pub(crate) what: String,
}

impl Damage {
    pub(crate) fn error(&self) -> LogError {
        self.segment.corrupt(self.offset, &self.what)
    }
}

impl Default for End {
    fn default() -> Self {
        Self { place: None, frame: None, next: Position::FIRST, group: 0, running: RunningHash::default() }
    }
}

impl View {
    /// The view of a log without events.
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    /// Goes over to a new segment that nothing is in yet.
    pub(crate) fn begin(&mut self, span: Span) {
        self.counts_before = self.counts;
        self.end.place = Some(Place { segment: span.segment.number, offset: span.end });
        self.spans.insert(span.segment.number, span);
    }

    /// Goes over to a segment as if nothing came before it but what its header says.
    pub(crate) fn begin_alone(&mut self, segment: &Arc<Segment>, header: &SegmentHeader) {
        let SegmentHeader { first: next, running, group, .. } = *header;
        self.end = End { next, running, group, ..self.end };
        self.begin(Span { segment: Arc::clone(segment), end: SEGMENT_HEADER_BYTES });
    }

    /// Takes in what the last segment adds, known from its footer or from the index.
    pub(crate) fn join(&mut self, part: Self) {
        for (session, added) in part.sessions {
            match self.sessions.entry(session) {
                MapEntry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.head = added.head;
                    known.runs.extend(added.runs);
                }
                MapEntry::Vacant(new) => {
                    self.by_first.insert(added.first, session);
                    new.insert(added);
                }
            }
        }
        self.claims.extend(part.claims);
        self.edges.extend(part.edges);
        self.places.extend(part.places);
        self.counts = self.counts.plus(part.counts);
        self.end = part.end;
        let Some(place) = part.end.place else { return };
        // The frames' checksums were not looked at.
        self.checked_from = place;
        if let Some(span) = self.spans.get_mut(&place.segment) {
            span.end = place.offset;
        }
    }

    /// Forgets what is in the log, and keeps where that stands and what is wrong with it.
    pub(crate) fn forget_contents(&mut self) {
        (self.sessions, self.by_first) = <_>::default();
        (self.claims, self.places, self.edges) = <_>::default();
    }

    /// Reads a segment from the compressed file from now on, if that holds the same frames.
    pub(crate) fn exchange_segment(&mut self, segment: Arc<Segment>) {
        if let Some(span) = self.spans.get_mut(&segment.number)
            && segment.stands_for(&span.segment, span.end)
        {
            span.segment = segment;
        }
    }

    /// How much is in the segment in which the view ends.
    pub(crate) fn counts_of_last_segment(&self) -> Counts {
        self.counts.minus(self.counts_before)
    }

    /// The frames of all segments before the last, in bytes.
    pub(crate) fn log_bytes_before_last_segment(&self) -> u64 {
        self.counts_before.log_bytes
    }

    /// The next sealed segment behind a number that is stored as it was written; from the first on behind the last.
    pub(crate) fn next_plain(&self, behind: SegmentNumber) -> Option<&Arc<Segment>> {
        let open = self.end.place?.segment;
        let plain = |from| {
            let sealed = self.spans.range(from..).take_while(move |(number, _)| **number < open);
            sealed.map(|(_, span)| &span.segment).find(|segment| segment.is_plain())
        };
        plain(behind.next()).or_else(|| plain(SegmentNumber::FIRST))
    }

    /// The segment in which the view ends.
    pub(crate) fn last_segment(&self) -> Option<Span> {
        self.spans.get(&self.end.place?.segment).cloned()
    }

    /// Takes in the frame that follows.
    pub(crate) fn take(&mut self, outline: Outline) {
        let Outline { place, end, group, first, events, claims, edges } = outline;
        for ((header, offset), index) in events.iter().zip(0..) {
            self.take_event(place, header, &Spot { position: first.plus(index), offset: *offset, index });
        }
        self.claims.extend(claims.into_iter().map(|key| (key, first)));
        self.edges.extend(edges);
        self.counts.events += events.len() as u64;
        self.counts.body_bytes += events.iter().map(|(header, _)| u64::from(header.body_bytes)).sum::<u64>();
        self.counts.log_bytes += end - place.offset;
        self.remember_place(first, place);
        let next = first.plus(events.len() as u64);
        self.end = End {
            place: Some(Place { offset: end, ..place }),
            frame: Some(place),
            next,
            group,
            running: self.end.running,
        };
        if let Some(span) = self.spans.get_mut(&place.segment) {
            span.end = end;
        }
    }

    fn take_event(&mut self, frame: Place, header: &EventHeader, spot: &Spot) {
        self.end.running = self.end.running.then(&header.hash);
        let head = Head { seq: header.seq, hash: header.hash };
        let entry = self.sessions.entry(header.session).or_insert_with(|| {
            self.by_first.insert(spot.position, header.session);
            Entry { first: spot.position, head, runs: Vec::new() }
        });
        entry.head = head;
        let (segment, byte) = (frame.segment.0, to_u32(frame.offset));
        let continues = entry.runs.last().is_some_and(|run| {
            (run.segment, run.frame) == (segment, byte) && header.seq.get() - run.seq.get() < RUN_EVENTS
        });
        let kinds = KindSet::one(header.kind);
        match entry.runs.last_mut() {
            Some(run) if continues => run.kinds = run.kinds.with(header.kind),
            _ => {
                let (event, index) = (spot.offset, to_u32(spot.index));
                entry.runs.push(Run { seq: header.seq, segment, frame: byte, event, index, kinds });
            }
        }
    }

    fn remember_place(&mut self, first: Position, place: Place) {
        let near = self.places.last_key_value().is_some_and(|(_, last)| {
            last.segment == place.segment && place.offset - last.offset < PLACE_BYTES
        });
        if !near {
            self.places.insert(first, place);
        }
    }

    /// Whether a frame's checksum has been checked by this process.
    pub(crate) fn check(&self, place: Place) -> Check {
        if place < self.checked_from { Check::Once } else { Check::Done }
    }

    pub(crate) fn head(&self, session: SessionId) -> Option<Head> {
        self.sessions.get(&session).map(|entry| entry.head)
    }

    pub(crate) fn listings(&self, page: SessionPage) -> Vec<SessionListing> {
        let listing = |session: &SessionId| {
            let entry = self.sessions.get(session)?;
            Some(SessionListing { session: *session, first: entry.first, head: entry.head })
        };
        match page.before {
            Some(before) => {
                let newest = self.by_first.range(..before).rev();
                newest.filter_map(|(_, session)| listing(session)).take(page.limit).collect()
            }
            None => self.by_first.values().rev().filter_map(listing).take(page.limit).collect(),
        }
    }
}

/// Where an event stands in its frame and in the log.
struct Spot {
    position: Position,
    offset: u32,
    index: u64,
}
