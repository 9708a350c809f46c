//! For tests: a log that tells what is about to be written, so that a test can act at that moment, or refuse it.

use bytes::Bytes;
use segue_event::{BlobId, KindSet, Position, Seq, SeqRange, SessionId};
use segue_log::{
    ClaimKey, Commit, Committed, Depth, Direction, EventLog, Head, LogError, LogSize, MemoryLog, Progress,
    RawEvents, Report, SessionListing, SessionPage, Sift, SiftedEvents, Wakeups,
};

/// What is about to be written.
pub(crate) enum Write<'w> {
    /// A blob.
    Blob,
    /// A commit.
    Commit(&'w Commit),
}

type Watcher<'a> = Box<dyn Fn(Write<'_>) -> Result<(), LogError> + Send + Sync + 'a>;

/// A log in memory with somebody who watches it.
pub(crate) struct WatchedLog<'a> {
    pub(crate) inner: &'a MemoryLog,
    watcher: Watcher<'a>,
}

impl<'a> WatchedLog<'a> {
    /// A log whose writes `watcher` sees, and fails by an error, before they are done.
    pub(crate) fn new(
        inner: &'a MemoryLog,
        watcher: impl Fn(Write<'_>) -> Result<(), LogError> + Send + Sync + 'a,
    ) -> Self {
        Self { inner, watcher: Box::new(watcher) }
    }
}

impl EventLog for WatchedLog<'_> {
    fn commit(&self, commit: Commit) -> Result<Committed, LogError> {
        (self.watcher)(Write::Commit(&commit))?;
        self.inner.commit(commit)
    }

    fn read_kinds(
        &self,
        session: SessionId,
        range: SeqRange,
        direction: Direction,
        kinds: KindSet,
    ) -> Result<RawEvents, LogError> {
        self.inner.read_kinds(session, range, direction, kinds)
    }

    fn sift(&self, sift: &Sift) -> Result<SiftedEvents, LogError> {
        self.inner.sift(sift)
    }

    fn read_log(&self, from: Position) -> Result<RawEvents, LogError> {
        self.inner.read_log(from)
    }

    fn head(&self, session: SessionId) -> Result<Option<Head>, LogError> {
        self.inner.head(session)
    }

    fn first(&self, session: SessionId) -> Result<Option<Seq>, LogError> {
        self.inner.first(session)
    }

    fn end(&self) -> Result<Option<Position>, LogError> {
        self.inner.end()
    }

    fn sessions(&self, page: SessionPage) -> Result<Vec<SessionListing>, LogError> {
        self.inner.sessions(page)
    }

    fn claimed(&self, key: &ClaimKey) -> Result<Option<Position>, LogError> {
        self.inner.claimed(key)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<BlobId, LogError> {
        (self.watcher)(Write::Blob)?;
        self.inner.put_blob(bytes)
    }

    fn blob(&self, id: &BlobId) -> Result<Option<Bytes>, LogError> {
        self.inner.blob(id)
    }

    fn subscribe(&self) -> Wakeups {
        self.inner.subscribe()
    }

    fn settle(&self) -> Result<(), LogError> {
        self.inner.settle()
    }

    fn known_damage(&self) -> Option<LogError> {
        self.inner.known_damage()
    }

    fn size(&self) -> Result<LogSize, LogError> {
        self.inner.size()
    }

    fn verify(&self, depth: Depth, progress: &mut dyn FnMut(Progress)) -> Result<Report, LogError> {
        self.inner.verify(depth, progress)
    }
}
