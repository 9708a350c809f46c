//! Writing the new log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use segue_event::{
    BlobId, ByteRange, EventHash, HEADER_BYTES, Lost, Position, Prepared, RawEvent, SessionId, Timestamp,
    chain,
};
use segue_log::limits::{COMMIT_BYTES_MAX, COMMIT_EVENTS_MAX};
use segue_log::{ClaimKey, Committed, LogError, Meter, Placed, named_blobs};

use crate::layout::Layout;
use crate::place::SegmentNumber;
use crate::repair::plan::{Mark, Plan};
use crate::repair::survey::{Found, Patch, Step};
use crate::segment::{Check, Segment};
use crate::store::Store;
use crate::tail::{Failure, Sync, Tail};

/// What was written.
#[derive(Default)]
pub(super) struct Written {
    pub(super) events: u64,
    pub(super) claims: u64,
    /// Blobs that the events name.
    pub(super) named: BTreeSet<BlobId>,
}

/// Reads the old log once more and writes the new one as planned.
pub(super) struct Rebuild<'a> {
    old: &'a Layout,
    /// The segment that was read last.
    segment: Option<Segment>,
    store: Arc<Store>,
    tail: Tail,
    heads: BTreeMap<SessionId, EventHash>,
    /// When the newest event was written.
    time: Timestamp,
    written: Written,
}

impl<'a> Rebuild<'a> {
    pub(super) fn new(old: &'a Layout, store: &Arc<Store>) -> Result<Self, LogError> {
        let tail = Tail::open(store, &mut crate::tail::Rest::default())?;
        let (store, heads, time) = (Arc::clone(store), BTreeMap::new(), Timestamp::default());
        Ok(Self { old, segment: None, store, tail, heads, time, written: Written::default() })
    }

    /// Writes everything, durably.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::Full`], [`segue_log::LogErrorKind::Io`], or
    /// [`segue_log::LogErrorKind::Corrupt`] if the old log is no longer as it was.
    pub(super) fn run(mut self, plan: &Plan, meter: &mut Meter<'_>) -> Result<Written, LogError> {
        for step in &plan.steps {
            match step {
                Step::Whole { segment, from, until } => self.copy(*segment, *from, *until, meter)?,
                Step::Patch(patch) => self.patch(patch, &plan.lost)?,
            }
        }
        let sealed = self.tail.flush(&self.store).and_then(|()| self.tail.seal(&self.store));
        sealed.map_err(|failure| self.failed(failure))?;
        drop(self.tail.end_turn(&self.store, crate::lock::Manners::AtOnce));
        Ok(self.written)
    }

    fn copy(
        &mut self,
        number: SegmentNumber,
        from: u64,
        until: u64,
        meter: &mut Meter<'_>,
    ) -> Result<(), LogError> {
        let mut at = from;
        while at < until {
            let frame = self.segment(number)?.settled_frame(at, Check::Done)?;
            let events: Vec<_> = frame.events().map(|located| located.raw).collect();
            let outline = frame.outline();
            self.write(events, outline.map(|outline| outline.claims).unwrap_or_default())?;
            meter.advance(frame.end() - at);
            at = frame.end();
        }
        Ok(())
    }

    /// Writes what is left of some positions: one commit from each claim on, and no larger than a commit may be.
    fn patch(&mut self, patch: &Patch, lost: &BTreeMap<Position, Mark>) -> Result<(), LogError> {
        let (mut events, mut bytes) = (Vec::new(), 0);
        let mut claims = Vec::new();
        let mut position = patch.first;
        while position < patch.end {
            let event = match (patch.found.get(&position), lost.get(&position)) {
                (Some(found), _) => self.found(position, *found)?,
                (None, Some(mark)) => self.mark(position, mark)?,
                (None, None) => {
                    return Err(LogError::corrupt(self.old.segments(), 0, "a position has no event"));
                }
            };
            let claimed = patch.claims.get(&position);
            let size = event.body.len();
            let is_full = events.len() >= COMMIT_EVENTS_MAX || bytes + size > COMMIT_BYTES_MAX;
            if (is_full || claimed.is_some()) && !events.is_empty() {
                self.write(std::mem::take(&mut events), std::mem::take(&mut claims))?;
                bytes = 0;
            }
            claims.extend(claimed.into_iter().flatten().cloned());
            self.heads.insert(event.header.session, event.header.hash);
            self.time = event.header.time;
            bytes += size;
            events.push(event);
            position = position.next();
        }
        self.write(events, claims)
    }

    fn found(&mut self, position: Position, found: Found) -> Result<RawEvent, LogError> {
        let Found { place, header } = found;
        let offset = place.offset + HEADER_BYTES as u64;
        let body = self.segment(place.segment)?.copy_remains(offset, header.body_bytes.into());
        Ok(RawEvent { header, position, body })
    }

    fn mark(&self, position: Position, mark: &Mark) -> Result<RawEvent, LogError> {
        let Mark { session, seq, hole, was, time } = *mark;
        let lost = Lost {
            reason: hole.reason.to_owned(),
            segment: hole.segment.0,
            bytes: ByteRange { start: hole.from, end: hole.until },
            was,
        };
        let prepared = Prepared::new(time.unwrap_or(self.time), &lost.into()).map_err(LogError::codec)?;
        let before = self.heads.get(&session).unwrap_or(&chain::START);
        Ok(prepared.place(session, seq, before, position))
    }

    fn write(&mut self, events: Vec<RawEvent>, claims: Vec<ClaimKey>) -> Result<(), LogError> {
        let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(()) };
        let committed = Committed { first: first.position, last: last.position, extents: Vec::new() };
        self.time = last.header.time;
        self.written.events += events.len() as u64;
        self.written.claims += claims.len() as u64;
        for event in &events {
            self.heads.insert(event.header.session, event.header.hash);
            self.name_blobs(event);
        }
        let placed = Placed { events, claims, committed };
        self.tail.write(&self.store, &[&placed], Sync::Later).map_err(|failure| self.failed(failure))
    }

    fn name_blobs(&mut self, event: &RawEvent) {
        if let Ok(recorded) = event.decode() {
            self.written.named.extend(named_blobs(&recorded));
        }
    }

    fn segment(&mut self, number: SegmentNumber) -> Result<&Segment, LogError> {
        let segment = match self.segment.take().filter(|segment| segment.number == number) {
            Some(segment) => segment,
            None => Segment::open_remains(self.old, number)?,
        };
        Ok(self.segment.insert(segment))
    }

    fn failed(&self, failure: Failure) -> LogError {
        match failure {
            Failure::NoRoom(error) => error,
            Failure::Broken(reason) => {
                let doing = format!("writing {}", self.store.layout.root().display());
                LogError::io(doing, std::io::Error::other(reason))
            }
        }
    }
}
