//! The log in memory: the reference for all others, and the one for tests and short-lived agents.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;
use segue_event::{BlobId, HEADER_BYTES, KindSet, Position, RawEvent, Seq, SeqRange, SessionId};

use crate::limits::BLOB_BYTES_MAX;
use crate::{
    ClaimKey, Commit, Committed, Depth, Direction, EventLog, Head, LogError, LogSize, Meter, PreparedCommit,
    Progress, RawEvents, Report, SessionListing, SessionPage, Sift, SiftedEvents, Subscribers, Wakeups,
    sift_by_reading, verify_chains,
};

/// A log that lives and dies with the process. "Durable" means no more here than "in memory".
#[derive(Debug, Default)]
pub struct MemoryLog {
    state: Arc<RwLock<State>>,
    subscribers: Subscribers,
}

#[derive(Debug, Default)]
struct State {
    events: Vec<RawEvent>,
    /// For each session the indexes of its events, in order.
    sessions: BTreeMap<SessionId, Vec<usize>>,
    claims: BTreeMap<ClaimKey, Position>,
    blobs: BTreeMap<BlobId, Bytes>,
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }
}

impl State {
    fn session_event(&self, session: SessionId, seq: Seq) -> Option<&RawEvent> {
        let index = usize::try_from(seq.get().checked_sub(self.first(session)?.get())?).ok()?;
        self.events.get(*self.sessions.get(&session)?.get(index)?)
    }

    fn first(&self, session: SessionId) -> Option<Seq> {
        Some(self.events.get(*self.sessions.get(&session)?.first()?)?.header.seq)
    }

    fn head(&self, session: SessionId) -> Option<Head> {
        let event = self.events.get(*self.sessions.get(&session)?.last()?)?;
        Some(Head { seq: event.header.seq, hash: event.header.hash })
    }

    fn at(&self, position: Position) -> Option<&RawEvent> {
        self.events.get(usize::try_from(position.get() - 1).ok()?)
    }

    fn end(&self) -> Option<Position> {
        self.events.last().map(|event| event.position)
    }

    fn listing(&self, session: SessionId, indexes: &[usize]) -> Option<SessionListing> {
        let first = self.events.get(*indexes.first()?)?.position;
        Some(SessionListing { session, first, head: self.head(session)? })
    }
}

impl EventLog for MemoryLog {
    fn commit(&self, commit: Commit) -> Result<Committed, LogError> {
        let prepared = PreparedCommit::new(commit)?;
        let mut state = self.state.write();
        let next = state.end().map_or(Position::FIRST, Position::next);
        let placed = prepared.place(
            next,
            |session| Ok(state.head(session)),
            |key| Ok(state.claims.get(key).copied()),
        )?;
        for event in placed.events {
            let index = state.events.len();
            state.sessions.entry(event.header.session).or_default().push(index);
            state.events.push(event);
        }
        state.claims.extend(placed.claims.into_iter().map(|key| (key, placed.committed.first)));
        drop(state);
        self.subscribers.wake();
        Ok(placed.committed)
    }

    fn read_kinds(
        &self,
        session: SessionId,
        range: SeqRange,
        direction: Direction,
        kinds: KindSet,
    ) -> Result<RawEvents, LogError> {
        let ends = |state: &State| Some((state.first(session)?, state.head(session)?));
        let Some((first, head)) = ends(&self.state.read()) else {
            return Ok(Box::new(std::iter::empty()));
        };
        let Some(range) = SeqRange::new(range.from.max(first), range.to.min(head.seq)) else {
            return Ok(Box::new(std::iter::empty()));
        };
        let state = Arc::clone(&self.state);
        let event =
            move |number| Seq::new(number).and_then(|seq| state.read().session_event(session, seq).cloned());
        let wanted = move |event: &RawEvent| kinds.may_hold(event.kind());
        let numbers = range.from.get()..=range.to.get();
        Ok(match direction {
            Direction::Forward => Box::new(numbers.map_while(event).filter(wanted).map(Ok)),
            Direction::Backward => Box::new(numbers.rev().map_while(event).filter(wanted).map(Ok)),
        })
    }

    fn read_log(&self, from: Position) -> Result<RawEvents, LogError> {
        let end = self.end()?.map_or(0, Position::get);
        let state = Arc::clone(&self.state);
        Ok(Box::new((from.get()..=end).map_while(move |number| {
            Position::new(number).and_then(|position| state.read().at(position).cloned()).map(Ok)
        })))
    }

    fn sift(&self, sift: &Sift) -> Result<SiftedEvents, LogError> {
        sift_by_reading(self, sift)
    }

    fn head(&self, session: SessionId) -> Result<Option<Head>, LogError> {
        Ok(self.state.read().head(session))
    }

    fn first(&self, session: SessionId) -> Result<Option<Seq>, LogError> {
        Ok(self.state.read().first(session))
    }

    fn end(&self) -> Result<Option<Position>, LogError> {
        Ok(self.state.read().end())
    }

    fn sessions(&self, page: SessionPage) -> Result<Vec<SessionListing>, LogError> {
        let state = self.state.read();
        let mut listings: Vec<_> = state
            .sessions
            .iter()
            .filter_map(|(session, indexes)| state.listing(*session, indexes))
            .filter(|listing| page.before.is_none_or(|before| listing.first < before))
            .collect();
        listings.sort_by_key(|listing| std::cmp::Reverse(listing.first));
        listings.truncate(page.limit);
        Ok(listings)
    }

    fn claimed(&self, key: &ClaimKey) -> Result<Option<Position>, LogError> {
        Ok(self.state.read().claims.get(key).copied())
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<BlobId, LogError> {
        if bytes.len() > BLOB_BYTES_MAX {
            return Err(LogError::too_large("a blob's size in bytes", bytes.len(), BLOB_BYTES_MAX));
        }
        let id = BlobId::of(bytes);
        self.state.write().blobs.entry(id).or_insert_with(|| Bytes::copy_from_slice(bytes));
        Ok(id)
    }

    fn blob(&self, id: &BlobId) -> Result<Option<Bytes>, LogError> {
        Ok(self.state.read().blobs.get(id).cloned())
    }

    fn subscribe(&self) -> Wakeups {
        self.subscribers.subscribe()
    }

    fn settle(&self) -> Result<(), LogError> {
        Ok(())
    }

    fn size(&self) -> Result<LogSize, LogError> {
        let state = self.state.read();
        let bytes = |event: &RawEvent| (HEADER_BYTES + event.body.len()) as u64;
        let written_bytes = state.events.iter().map(bytes).sum();
        Ok(LogSize {
            events: state.events.len() as u64,
            sessions: state.sessions.len() as u64,
            written_bytes,
            stored_bytes: written_bytes,
            compressed_bytes: 0,
            blobs: state.blobs.len() as u64,
            blob_bytes: state.blobs.values().map(|blob| blob.len() as u64).sum(),
            index_bytes: 0,
        })
    }

    fn known_damage(&self) -> Option<LogError> {
        None
    }

    fn verify(&self, _: Depth, progress: &mut dyn FnMut(Progress)) -> Result<Report, LogError> {
        let mut meter = Meter::new(self.state.read().events.len() as u64, progress);
        let report = verify_chains(self, &mut meter)?;
        meter.finish();
        Ok(report)
    }
}
