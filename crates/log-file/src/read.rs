//! Reading events out of segments, one after the other, without copying their bodies.

use std::iter::Peekable;
use std::sync::Arc;

use segue_event::{KindSet, Position, RawEvent, Seq, SeqRange, SessionId};
use segue_log::{Direction, LogError};

use crate::frame::{EventCursor, Frame};
use crate::limits::RUNS_TOGETHER_MAX;
use crate::place::{Place, SEGMENT_HEADER_BYTES};
use crate::segment::{Check, Segment};
use crate::store::Store;
use crate::view::{Run, View};

/// The events of one session. Reading forward holds one event ready, reading backward those of one run.
pub(crate) struct SessionEvents {
    store: Arc<Store>,
    session: SessionId,
    /// What is still to come, both ends included.
    left: Option<SeqRange>,
    direction: Direction,
    kinds: KindSet,
    /// The next run to be read, and one more than it when reading backward.
    run: usize,
    /// The frame that was read last.
    frame: Option<Frame>,
    ready: Ready,
}

/// A run, with everything that is needed to read it.
struct Located {
    run: Run,
    segment: Arc<Segment>,
    check: Check,
    /// The byte where the next run of the session begins, if that is in the same frame.
    until: Option<u32>,
}

/// The events of a run that were not given out yet.
enum Ready {
    /// Each is looked for when it is due: by then its caller has read the one before it, and what follows is in the
    /// processor's cache.
    Forward(Box<Peekable<RunEvents>>),
    Backward(Vec<RawEvent>),
}

impl Default for Ready {
    fn default() -> Self {
        Self::Backward(Vec::new())
    }
}

impl Ready {
    fn peek(&mut self) -> Option<Seq> {
        match self {
            Self::Forward(events) => events.peek(),
            Self::Backward(events) => events.last(),
        }
        .map(|raw| raw.header.seq)
    }

    fn pop(&mut self) -> Option<RawEvent> {
        match self {
            Self::Forward(events) => events.next(),
            Self::Backward(events) => events.pop(),
        }
    }
}

/// The events of one run that are wanted, oldest first.
struct RunEvents {
    events: EventCursor,
    /// The byte where the next run of the session begins, if that is in the same frame.
    until: Option<u32>,
    session: SessionId,
    range: SeqRange,
}

impl Iterator for RunEvents {
    type Item = RawEvent;

    fn next(&mut self) -> Option<RawEvent> {
        let Self { events, until, session, range } = self;
        events
            .by_ref()
            .take_while(|event| until.is_none_or(|until| event.offset < until))
            .map(|event| event.raw)
            .find(|raw| raw.header.session == *session && range.contains(raw.header.seq))
    }
}

impl SessionEvents {
    /// The events within `range`, as far as the session has them.
    pub(crate) fn new(
        store: &Arc<Store>,
        session: SessionId,
        range: SeqRange,
        direction: Direction,
        kinds: KindSet,
    ) -> Self {
        let known = store.known();
        let entry = known.sessions.get(&session);
        let left = entry
            .and_then(|entry| SeqRange::new(range.from.max(entry.first_seq()), range.to.min(entry.head.seq)));
        let after = |seq: Seq| entry.map_or(0, |entry| entry.runs.partition_point(|run| run.seq <= seq));
        let run = match direction {
            Direction::Forward => after(range.from).saturating_sub(1),
            Direction::Backward => left.map_or(0, |left| after(left.to)),
        };
        Self {
            store: Arc::clone(store),
            session,
            left,
            direction,
            kinds,
            run,
            frame: None,
            ready: Ready::default(),
        }
    }

    fn take_ready(&mut self, left: SeqRange) -> Option<Result<RawEvent, LogError>> {
        let next = self.ready.peek()?;
        let due = match self.direction {
            Direction::Forward => left.from,
            Direction::Backward => left.to,
        };
        if next != due {
            // Said once; then what is there is read on.
            self.left = match self.direction {
                Direction::Forward => SeqRange::new(next, left.to),
                Direction::Backward => SeqRange::new(left.from, next),
            };
            return Some(Err(self.gap(due)));
        }
        self.left = match self.direction {
            Direction::Forward => SeqRange::new(next.next(), left.to),
            Direction::Backward => next.previous().and_then(|to| SeqRange::new(left.from, to)),
        };
        self.ready.pop().map(Ok)
    }

    /// The next run in the direction of reading that may hold what is wanted; none behind the last.
    fn next_run(&mut self) -> Option<Located> {
        let store = Arc::clone(&self.store);
        let known = store.known();
        let runs = &known.sessions.get(&self.session)?.runs;
        let index = loop {
            let index = match self.direction {
                Direction::Forward => self.run,
                Direction::Backward => self.run.checked_sub(1)?,
            };
            let run = *runs.get(index)?;
            if run.kinds.meets(self.kinds) {
                break index;
            }
            self.pass_over(index, &run, runs.get(index + 1))?;
        };
        let (first, last) = self.together(runs, index);
        let run = *runs.get(first)?;
        let next = runs.get(last + 1).filter(|next| next.place() == run.place());
        let until = next.map(|next| next.event);
        let segment = Arc::clone(&known.spans.get(&run.place().segment)?.segment);
        let check = known.check(run.place());
        drop(known);
        self.run = match self.direction {
            Direction::Forward => last + 1,
            Direction::Backward => first,
        };
        Some(Located { run, segment, check, until })
    }

    /// The first and the last of the runs that are read in one go from one on: neighbours in a frame, all wanted.
    fn together(&self, runs: &[Run], index: usize) -> (usize, usize) {
        let place = runs.get(index).map(Run::place);
        let belongs = |run: &&Run| Some(run.place()) == place && run.kinds.meets(self.kinds);
        let count = match self.direction {
            Direction::Forward => {
                let behind = runs.get(index + 1..).unwrap_or_default();
                behind.iter().take(RUNS_TOGETHER_MAX).take_while(belongs).count()
            }
            Direction::Backward => {
                let before = runs.get(..index).unwrap_or_default();
                before.iter().rev().take(RUNS_TOGETHER_MAX).take_while(belongs).count()
            }
        };
        match self.direction {
            Direction::Forward => (index, index + count),
            Direction::Backward => (index - count, index),
        }
    }

    /// Leaves out a run; none if nothing is left behind it.
    fn pass_over(&mut self, index: usize, run: &Run, next: Option<&Run>) -> Option<()> {
        let left = self.left?;
        self.left = match self.direction {
            Direction::Forward => next.and_then(|next| SeqRange::new(next.seq.max(left.from), left.to)),
            Direction::Backward => {
                run.seq.previous().and_then(|to| SeqRange::new(left.from, to.min(left.to)))
            }
        };
        self.run = match self.direction {
            Direction::Forward => index + 1,
            Direction::Backward => index,
        };
        self.left.map(drop)
    }

    fn read_run(&mut self, located: &Located, left: SeqRange) -> Result<(), LogError> {
        let Located { run, segment, check, until } = located;
        // The runs of a large commit stand in one frame, which is taken out of its blocks and checked once.
        let frame = match self.frame.take().filter(|frame| frame.place == run.place()) {
            Some(frame) => frame,
            None => segment.settled_frame(u64::from(run.frame), *check)?,
        };
        self.frame = Some(frame.clone());
        let events = frame.events_from(run.index, run.event);
        let events = RunEvents { events, until: *until, session: self.session, range: left };
        self.ready = match self.direction {
            Direction::Forward => Ready::Forward(Box::new(events.peekable())),
            Direction::Backward => Ready::Backward(events.collect()),
        };
        Ok(())
    }

    fn gap(&self, due: Seq) -> LogError {
        let known = self.store.known();
        let what = format!("event {due} of session {} is missing", self.session);
        if let Some(damage) = known.damages.first() {
            return damage.segment.corrupt(damage.offset, &format!("{}; {what}", damage.what));
        }
        match known.last_segment() {
            Some(span) => span.segment.corrupt(SEGMENT_HEADER_BYTES, &what),
            None => LogError::corrupt(self.store.layout.root(), 0, what),
        }
    }
}

impl Iterator for SessionEvents {
    type Item = Result<RawEvent, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let left = self.left?;
            match self.take_ready(left) {
                Some(Ok(event)) if !self.kinds.may_hold(event.kind()) => continue,
                Some(event) => return Some(event),
                None => {}
            }
            let Some(located) = self.next_run() else {
                // Nothing is left if the rest was passed over; else something that is due was not there.
                return self.left.take().map(|left| Err(self.gap(left.from)));
            };
            let left = self.left?;
            if let Err(error) = self.read_run(&located, left) {
                return Some(Err(error));
            }
        }
    }
}

/// The events of all sessions in log order, frame by frame.
pub(crate) struct LogEvents {
    store: Arc<Store>,
    from: Position,
    /// The position behind the last event that is wanted.
    end: Position,
    /// The next frame; none behind the last.
    place: Option<Place>,
    frame: Option<EventCursor>,
}

impl LogEvents {
    /// The events from `from` to the present end.
    pub(crate) fn new(store: &Arc<Store>, from: Position) -> Self {
        let known = store.known();
        let near = known.places.range(..=from).next_back().map(|(_, place)| *place);
        let first = || known.spans.keys().next().map(|segment| begin(*segment));
        let end = known.end.next;
        let place = near.or_else(first).filter(|_| from < end);
        Self { store: Arc::clone(store), from, end, place, frame: None }
    }

    /// Goes on to the next frame; the error says what is wrong there, and the frame after it comes next.
    fn next_frame(&mut self, place: Place) -> Result<(), LogError> {
        let known = self.store.known();
        let here = |damage: &&crate::view::Damage| {
            damage.segment.number == place.segment && damage.offset == place.offset
        };
        if let Some(damage) = known.damages.iter().find(here) {
            self.place = Some(Place { offset: damage.until, ..place });
            return Err(damage.error());
        }
        let Some(span) = known.spans.get(&place.segment).filter(|span| place.offset < span.end) else {
            self.place = next_segment(&known, place);
            return Ok(());
        };
        let (segment, check) = (Arc::clone(&span.segment), known.check(place));
        // Reading may wait for the disk; nobody else should.
        drop(known);
        match segment.settled_frame(place.offset, check) {
            Ok(frame) => {
                self.place = Some(Place { offset: frame.end(), ..place });
                self.frame = Some(frame.events());
                Ok(())
            }
            Err(error) => {
                self.place = self.store.known().places.values().find(|later| **later > place).copied();
                Err(error)
            }
        }
    }
}

impl Iterator for LogEvents {
    type Item = Result<RawEvent, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.frame.as_mut().and_then(EventCursor::next) {
                if event.raw.position >= self.end {
                    (self.frame, self.place) = (None, None);
                } else if event.raw.position >= self.from {
                    return Some(Ok(event.raw));
                }
                continue;
            }
            self.frame = None;
            let place = self.place?;
            if let Err(error) = self.next_frame(place) {
                return Some(Err(error));
            }
        }
    }
}

fn begin(segment: crate::place::SegmentNumber) -> Place {
    Place { segment, offset: SEGMENT_HEADER_BYTES }
}

fn next_segment(view: &View, place: Place) -> Option<Place> {
    view.spans.range(place.segment.next()..).next().map(|(segment, _)| begin(*segment))
}
