//! Searching through the events of many sessions at once, in the order of the log.
//!
//! The sessions' runs are walked together, frame by frame. In a sealed segment its filter says which of them need not
//! be looked at; the others are read where they stand, and their bodies are held to the sieve before anybody else sees
//! them.

use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use std::sync::Arc;

use segue_event::{KindSet, Position, RawEvent, SeqRange, SessionId, TranscriptEvent};
use segue_log::{Direction, Fate, LogError, Sift, Sifted, Stretch};

use crate::filter::Candidates;
use crate::frame::Frame;
use crate::limits::SIFT_QUIET_FRAMES;
use crate::place::{Place, SegmentNumber};
use crate::store::Store;
use crate::view::{Run, View};

/// What a search comes across, in the order of the log or against it.
pub(crate) struct SiftedFrames {
    store: Arc<Store>,
    sift: Sift,
    cursors: Vec<Cursor>,
    due: BinaryHeap<Due>,
    /// For each segment that was met the runs in which something may pass; none if all may.
    candidates: BTreeMap<SegmentNumber, Option<Candidates>>,
    /// The events of the frame that was read last; the next one is at the end.
    ready: Vec<RawEvent>,
    told: Told,
}

/// The next frame of a session; the one that comes first has the highest rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    rank: u64,
    place: Place,
    cursor: usize,
}

/// What was not told yet.
#[derive(Default)]
struct Told {
    searched: u64,
    ruled_out: u64,
    quiet_frames: u32,
}

/// How far the search has come in one session.
struct Cursor {
    session: SessionId,
    range: SeqRange,
    /// Which of the session's runs are left.
    left: Range<usize>,
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
        let bounds = Bounds::of(&known, sift);
        search.cursors = sift.stretches.iter().map(|stretch| Cursor::new(&known, *stretch, bounds)).collect();
        (0..search.cursors.len()).for_each(|index| search.make_due(&known, index));
        drop(known);
        search
    }

    /// Goes on in one session to the next run that is to be read.
    fn make_due(&mut self, known: &View, index: usize) {
        let Some(cursor) = self.cursors.get_mut(index) else { return };
        let mut runs =
            Runs { sift: &self.sift, candidates: &mut self.candidates, known, told: &mut self.told };
        let Some(place) = runs.go_on(cursor) else { return };
        let rank = (u64::from(place.segment.0) << 32) + place.offset;
        let rank = match self.sift.direction {
            Direction::Forward => !rank,
            Direction::Backward => rank,
        };
        self.due.push(Due { rank, place, cursor: index });
    }

    /// Reads the next frame and tells how far the search has come with it; none if there is none left.
    fn next_frame(&mut self) -> Option<Result<Position, LogError>> {
        let Due { place, cursor: first, .. } = self.due.pop()?;
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
            self.take_runs(&known, index, place, frame.as_ref().ok());
            self.make_due(&known, index);
            match self.due.peek() {
                Some(next) if next.place == place => {}
                _ => break,
            }
            index = self.due.pop()?.cursor;
        }
        self.ready.sort_unstable_by_key(|event| event.position);
        if self.sift.direction == Direction::Forward {
            self.ready.reverse();
        }
        Some(frame.map(|frame| match self.sift.direction {
            Direction::Forward => frame.header.first.plus(u64::from(frame.header.events)),
            Direction::Backward => frame.header.first,
        }))
    }

    /// Takes what passes of a session's runs in a frame, all of which are behind the cursor then.
    fn take_runs(&mut self, known: &View, index: usize, place: Place, frame: Option<&Frame>) {
        let Self { sift, cursors, candidates, ready, told, .. } = self;
        let Some(cursor) = cursors.get_mut(index) else { return };
        let Some(runs) = known.sessions.get(&cursor.session).map(|entry| &entry.runs) else { return };
        let candidates = candidates.get(&place.segment).and_then(Option::as_ref);
        while let Some(at) = cursor.next_run(sift.direction)
            && let Some(run) = runs.get(at).filter(|run| run.place() == place)
        {
            cursor.pass_over(sift.direction);
            let Some(frame) = frame else { continue };
            let may_pass = candidates.is_none_or(|candidates| candidates.may_hold(run));
            if !run.kinds.meets(sift.kinds) || !may_pass {
                continue;
            }
            let until = runs.get(at + 1).filter(|next| next.place() == place).map(|next| next.event);
            let events = frame.events_from(run.index, run.event);
            let events = events.take_while(|event| until.is_none_or(|until| event.offset < until));
            for raw in events.map(|event| event.raw).filter(|raw| cursor.holds(raw)) {
                match sift.fate(&raw) {
                    Fate::Taken => ready.push(raw),
                    Fate::Ruled => told.searched += raw.body.len() as u64,
                    Fate::Outside => {}
                }
            }
        }
    }

    fn tell(&mut self, reached: Position) -> Sifted {
        let Told { searched, ruled_out, .. } = std::mem::take(&mut self.told);
        Sifted::Passed { reached, searched, ruled_out }
    }

    fn tell_all(&mut self) -> Option<Sifted> {
        let end = match self.sift.direction {
            Direction::Forward => self.sift.to.next(),
            Direction::Backward => Position::FIRST,
        };
        (self.told.searched + self.told.ruled_out > 0).then(|| self.tell(end))
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
                Some(Ok(reached)) if self.ready.is_empty() => {
                    self.told.quiet_frames += 1;
                    if self.told.quiet_frames >= SIFT_QUIET_FRAMES {
                        return Some(Ok(self.tell(reached)));
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Some(Err(error)),
                None => return self.tell_all().map(Ok),
            }
        }
    }
}

/// Between which frames there can be anything that is wanted.
#[derive(Clone, Copy)]
struct Bounds {
    /// Not before this one.
    from: Option<Place>,
    /// Before this one.
    behind: Option<Place>,
}

impl Bounds {
    fn of(known: &View, sift: &Sift) -> Self {
        let from = known.places.range(..=sift.from).next_back().map(|(_, place)| *place);
        let behind = known.places.range(sift.to.next()..).next().map(|(_, place)| *place);
        Self { from, behind: behind.filter(|_| sift.to.next() > sift.to) }
    }
}

impl Cursor {
    fn new(known: &View, stretch: Stretch, bounds: Bounds) -> Self {
        let Stretch { session, range } = stretch;
        let runs = known.sessions.get(&session).map(|entry| entry.runs.as_slice()).unwrap_or_default();
        let before = |place: Place| runs.partition_point(|run| run.place() < place);
        // The run with the first event of the range may begin before it.
        let first = runs.partition_point(|run| run.seq <= range.from).saturating_sub(1);
        let end = runs.partition_point(|run| run.seq <= range.to);
        let from = bounds.from.map_or(0, before);
        let behind = bounds.behind.map_or(runs.len(), before);
        Self { session, range, left: first.max(from)..end.min(behind) }
    }

    /// The number of the run that comes next.
    fn next_run(&self, direction: Direction) -> Option<usize> {
        match direction {
            Direction::Forward => (!self.left.is_empty()).then_some(self.left.start),
            Direction::Backward => (!self.left.is_empty()).then(|| self.left.end - 1),
        }
    }

    fn pass_over(&mut self, direction: Direction) {
        match direction {
            Direction::Forward => self.left.start += 1,
            Direction::Backward => self.left.end -= 1,
        }
    }

    fn holds(&self, event: &RawEvent) -> bool {
        event.header.session == self.session && self.range.contains(event.header.seq)
    }
}

/// What it takes to find the next run of a session.
struct Runs<'a> {
    sift: &'a Sift,
    candidates: &'a mut BTreeMap<SegmentNumber, Option<Candidates>>,
    known: &'a View,
    told: &'a mut Told,
}

impl Runs<'_> {
    /// Passes over the runs in which nothing can be wanted; the frame of the first other one.
    fn go_on(&mut self, cursor: &mut Cursor) -> Option<Place> {
        let runs = &self.known.sessions.get(&cursor.session)?.runs;
        loop {
            let run = runs.get(cursor.next_run(self.sift.direction)?)?;
            if !run.kinds.meets(self.sift.kinds) {
                cursor.pass_over(self.sift.direction);
                continue;
            }
            let direction = self.sift.direction;
            let border = match self.candidates(run.place().segment) {
                Some(candidates) if !candidates.may_hold(run) => match direction {
                    Direction::Forward => candidates.first_from(run).unwrap_or(u64::MAX),
                    Direction::Backward => candidates.last_up_to(run).unwrap_or(0),
                },
                _ => return Some(run.place()),
            };
            self.jump(runs, run, border, cursor);
        }
    }

    /// Passes over everything up to a byte of a run's segment.
    fn jump(&mut self, runs: &[Run], run: &Run, byte: u64, cursor: &mut Cursor) {
        let segment = run.place().segment;
        let left = runs.get(cursor.left.clone()).unwrap_or_default();
        let is_before = |other: &Run| {
            other.place().segment < segment
                || other.place().segment == segment && u64::from(other.event) < byte
        };
        let border = cursor.left.start + left.partition_point(is_before);
        let passed = match self.sift.direction {
            Direction::Forward => cursor.left.start..border,
            Direction::Backward => border..cursor.left.end,
        };
        self.told.ruled_out += bytes_between(runs, &passed);
        match self.sift.direction {
            Direction::Forward => cursor.left.start = border,
            Direction::Backward => cursor.left.end = border,
        }
    }

    fn candidates(&mut self, segment: SegmentNumber) -> Option<&Candidates> {
        let (known, sift) = (self.known, self.sift);
        let look = || {
            // A filter knows of texts only.
            if !sift.kinds.is_within(KindSet::of::<TranscriptEvent>()) {
                return None;
            }
            let span = known.spans.get(&segment)?;
            let is_open = known.end.place.is_some_and(|end| end.segment == segment);
            let filter = span.segment.filter(span.end).filter(|_| !is_open)?;
            Some(filter.candidates(&span.segment, span.end, &sift.sieve))
        };
        self.candidates.entry(segment).or_insert_with(look).as_ref()
    }
}

/// How many bytes of the log lie between the first and the last of some runs of one segment.
fn bytes_between(runs: &[Run], passed: &Range<usize>) -> u64 {
    let passed = runs.get(passed.clone()).unwrap_or_default();
    let ends = passed.first().zip(passed.last());
    ends.map_or(0, |(first, last)| u64::from(last.event - first.event))
}
