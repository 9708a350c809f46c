//! Searching through the events of many sessions at once, newest first.
//!
//! The sessions' runs are walked backward together, frame by frame. In a sealed segment its filter says which of them
//! need not be looked at; the others are read where they stand, and their bodies are held to the sieve before anybody
//! else sees them.

use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use segue_event::{Position, RawEvent, SeqRange, SessionId};
use segue_log::{LogError, Sift, Sifted, Stretch};

use crate::columns::Columns;
use crate::filter::{block_end, block_of};
use crate::frame::Frame;
use crate::limits::SIFT_QUIET_FRAMES;
use crate::place::{Place, SEGMENT_HEADER_BYTES, SegmentNumber};
use crate::store::Store;
use crate::view::{Run, View};

/// What a search comes across, newest first.
pub(crate) struct SiftedFrames {
    store: Arc<Store>,
    sift: Sift,
    cursors: Vec<Cursor>,
    /// The next frame of each cursor that has one, the last frame first.
    due: BinaryHeap<(Place, usize)>,
    /// For each segment that was met the blocks in which something may pass; none if all may.
    candidates: BTreeMap<SegmentNumber, Option<Columns>>,
    /// The events of the frame that was read last, the newest at the end.
    ready: Vec<RawEvent>,
    told: Told,
}

/// What was not told yet.
#[derive(Default)]
struct Told {
    ruled_out: u64,
    quiet_frames: u32,
}

/// How far the search has come in one session.
struct Cursor {
    session: SessionId,
    range: SeqRange,
    /// So many of the session's runs are left.
    left: usize,
}

impl SiftedFrames {
    pub(crate) fn new(store: &Arc<Store>, sift: &Sift) -> Self {
        let mut search = Self {
            store: Arc::clone(store),
            sift: sift.clone(),
            cursors: Vec::new(),
            due: BinaryHeap::new(),
            candidates: BTreeMap::new(),
            ready: Vec::new(),
            told: Told::default(),
        };
        let known = store.known();
        // Frames from here on hold nothing that is wanted.
        let behind = known.places.range(sift.before..).next().map(|(_, place)| *place);
        search.cursors = sift.stretches.iter().map(|stretch| Cursor::new(&known, *stretch, behind)).collect();
        (0..search.cursors.len()).for_each(|index| search.make_due(&known, index));
        drop(known);
        search
    }

    /// Goes back in one session to the next run that is to be read.
    fn make_due(&mut self, known: &View, index: usize) {
        let Some(cursor) = self.cursors.get_mut(index) else { return };
        let mut runs =
            Runs { sift: &self.sift, candidates: &mut self.candidates, known, told: &mut self.told };
        if let Some(place) = runs.go_back(cursor) {
            self.due.push((place, index));
        }
    }

    /// Reads the next frame; none if there is none left.
    fn next_frame(&mut self) -> Option<Result<Position, LogError>> {
        let (place, first) = self.due.pop()?;
        let store = Arc::clone(&self.store);
        let known = store.known();
        let segment = known.spans.get(&place.segment).map(|span| Arc::clone(&span.segment));
        let check = known.check(place);
        // Reading may wait for the disk; nobody else should.
        drop(known);
        let frame = segment?.settled_frame(place.offset, check);
        let known = store.known();
        let mut index = first;
        loop {
            if let Ok(frame) = &frame {
                self.take_runs(&known, index, frame);
            }
            self.skip_frame(&known, index, place);
            self.make_due(&known, index);
            match self.due.peek() {
                Some((next, _)) if *next == place => {}
                _ => break,
            }
            (_, index) = self.due.pop()?;
        }
        self.ready.sort_unstable_by_key(|event| event.position);
        Some(frame.map(|frame| frame.header.first))
    }

    /// Takes what passes of a session's runs in a frame.
    fn take_runs(&mut self, known: &View, index: usize, frame: &Frame) {
        let Some(cursor) = self.cursors.get(index) else { return };
        let Some(runs) = known.sessions.get(&cursor.session).map(|entry| &entry.runs) else { return };
        let candidates = self.candidates.get(&frame.place.segment).and_then(Option::as_ref);
        for at in (0..cursor.left).rev() {
            let Some(run) = runs.get(at).filter(|run| run.place() == frame.place) else { break };
            let until = runs.get(at + 1).filter(|next| next.place() == frame.place).map(|next| next.event);
            let block = block_of(run);
            if run.kinds.meets(self.sift.kinds)
                && candidates.is_none_or(|columns| columns.last_up_to(block) == Some(block))
            {
                let events = frame.events_from(run.index, run.event);
                let events = events.take_while(|event| until.is_none_or(|until| event.offset < until));
                let wanted =
                    events.map(|event| event.raw).filter(|raw| cursor.holds(raw) && self.sift.takes(raw));
                self.ready.extend(wanted);
            }
        }
    }

    fn skip_frame(&mut self, known: &View, index: usize, place: Place) {
        let Some(cursor) = self.cursors.get_mut(index) else { return };
        let runs = known.sessions.get(&cursor.session).map(|entry| entry.runs.as_slice()).unwrap_or_default();
        while cursor.left > 0 && runs.get(cursor.left - 1).is_some_and(|run| run.place() == place) {
            cursor.left -= 1;
        }
    }

    fn tell(&mut self, before: Position) -> Sifted {
        let Told { ruled_out, .. } = std::mem::take(&mut self.told);
        Sifted::Passed { before, ruled_out }
    }
}

impl Iterator for SiftedFrames {
    type Item = Result<Sifted, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.ready.pop() {
                self.told.quiet_frames = 0;
                return Some(Ok(Sifted::Event(event)));
            }
            match self.next_frame() {
                Some(Ok(first)) if self.ready.is_empty() => {
                    self.told.quiet_frames += 1;
                    if self.told.quiet_frames >= SIFT_QUIET_FRAMES {
                        return Some(Ok(self.tell(first)));
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Some(Err(error)),
                None if self.told.ruled_out > 0 => return Some(Ok(self.tell(Position::FIRST))),
                None => return None,
            }
        }
    }
}

impl Cursor {
    /// Begins at the end of a stretch, and before frames that hold nothing wanted.
    fn new(known: &View, stretch: Stretch, behind: Option<Place>) -> Self {
        let Stretch { session, range } = stretch;
        let runs = known.sessions.get(&session).map(|entry| entry.runs.as_slice()).unwrap_or_default();
        let in_range = runs.partition_point(|run| run.seq <= range.to);
        let before = behind.map_or(in_range, |behind| runs.partition_point(|run| run.place() < behind));
        Self { session, range, left: in_range.min(before) }
    }

    fn holds(&self, event: &RawEvent) -> bool {
        event.header.session == self.session && self.range.contains(event.header.seq)
    }
}

/// What it takes to find the next run of a session.
struct Runs<'a> {
    sift: &'a Sift,
    candidates: &'a mut BTreeMap<SegmentNumber, Option<Columns>>,
    known: &'a View,
    told: &'a mut Told,
}

impl Runs<'_> {
    /// Leaves out the runs in which nothing can be wanted, from the newest on; the frame of the first other one.
    fn go_back(&mut self, cursor: &mut Cursor) -> Option<Place> {
        let runs = &self.known.sessions.get(&cursor.session)?.runs;
        loop {
            let (run, older) = runs.get(..cursor.left)?.split_last()?;
            let is_before = runs.get(cursor.left).is_some_and(|next| next.seq <= cursor.range.from);
            if is_before {
                cursor.left = 0;
                return None;
            }
            if !run.kinds.meets(self.sift.kinds) {
                cursor.left -= 1;
                continue;
            }
            let segment = run.place().segment;
            let block = block_of(run);
            let target = match self.candidates(segment) {
                None => return Some(run.place()),
                Some(columns) => columns.last_up_to(block),
            };
            if target == Some(block) {
                return Some(run.place());
            }
            // Nothing from behind the block that may hold something up to here.
            let end = target.map_or(SEGMENT_HEADER_BYTES, block_end);
            let is_left = |run: &Run| run.place().segment < segment || u64::from(run.event) < end;
            cursor.left = older.partition_point(is_left);
            self.told.ruled_out += u64::from(run.event).saturating_sub(end);
        }
    }

    fn candidates(&mut self, segment: SegmentNumber) -> Option<&Columns> {
        let (known, sift) = (self.known, self.sift);
        let look = || {
            let span = known.spans.get(&segment)?;
            let is_open = known.end.place.is_some_and(|end| end.segment == segment);
            let filter = span.segment.filter(span.end).filter(|_| !is_open)?;
            Some(filter.candidates(&span.segment, span.end, &sift.sieve))
        };
        self.candidates.entry(segment).or_insert_with(look).as_ref()
    }
}
