//! The port: what an implementation owes.

use bytes::Bytes;
use segue_event::{BlobId, EventHash, KindSet, Position, RawEvent, Seq, SeqRange, SessionId};

use crate::{ClaimKey, Commit, Committed, LogError, Progress, Report, Sift, SiftedEvents, Wakeups};

/// Events in the order in which they were asked for; each is read when it is taken.
pub type RawEvents = Box<dyn Iterator<Item = Result<RawEvent, LogError>> + Send>;

/// An append-only log of events.
///
/// Blocking and safe to share between threads. What a call has returned, every later call sees.
/// Reading never writes.
pub trait EventLog: Send + Sync {
    /// Writes a batch: all of it, or nothing.
    ///
    /// When it returns, the commit survives a power loss, unless the commit said that it does not wait.
    ///
    /// # Errors
    /// [`LogErrorKind::WrongSeq`](crate::LogErrorKind::WrongSeq) if a session stands elsewhere,
    /// [`ClaimTaken`](crate::LogErrorKind::ClaimTaken), [`TooLarge`](crate::LogErrorKind::TooLarge),
    /// [`Empty`](crate::LogErrorKind::Empty), [`Busy`](crate::LogErrorKind::Busy) while another process writes,
    /// [`Full`](crate::LogErrorKind::Full), [`ReadOnly`](crate::LogErrorKind::ReadOnly) after a failed write, and
    /// [`Io`](crate::LogErrorKind::Io). After any of them the log is as it was.
    fn commit(&self, commit: Commit) -> Result<Committed, LogError>;

    /// The session's own events within `range` whose kind is in `kinds`; empty for a session that does not exist.
    ///
    /// What a forked session holds by reference is not among them; see [`read_through`](crate::read_through).
    ///
    /// Events of other kinds may be passed over without being read, however many they are.
    ///
    /// # Errors
    /// [`Corrupt`](crate::LogErrorKind::Corrupt) where the record is damaged, with the place; also as an item.
    fn read_kinds(
        &self,
        session: SessionId,
        range: SeqRange,
        direction: Direction,
        kinds: KindSet,
    ) -> Result<RawEvents, LogError>;

    /// The events of one session within `range`.
    ///
    /// # Errors
    /// As [`Self::read_kinds`].
    fn read(&self, session: SessionId, range: SeqRange, direction: Direction) -> Result<RawEvents, LogError> {
        self.read_kinds(session, range, direction, KindSet::ALL)
    }

    /// The events of all sessions from `from` to the end the log has at the time of the call, in log order.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn read_log(&self, from: Position) -> Result<RawEvents, LogError>;

    /// The events of some sessions that may hold what is looked for, by position.
    ///
    /// Every event of the stretches that holds what the sieve asks for is among them; others can be.
    /// [`sift_by_reading`](crate::sift_by_reading) does for any implementation.
    ///
    /// # Errors
    /// As [`Self::read_kinds`]; also as an item, behind which the search goes on.
    fn sift(&self, sift: &Sift) -> Result<SiftedEvents, LogError>;

    /// The newest event of a session; none if the session does not exist.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn head(&self, session: SessionId) -> Result<Option<Head>, LogError>;

    /// The number of a session's own first event: 1, or for a forked one the number behind the event that it goes on
    /// from; none if the session does not exist.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn first(&self, session: SessionId) -> Result<Option<Seq>, LogError>;

    /// The newest position of the log; none while it is empty.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn end(&self) -> Result<Option<Position>, LogError>;

    /// The sessions, newest first by their first event, page by page.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn sessions(&self, page: SessionPage) -> Result<Vec<SessionListing>, LogError>;

    /// The first position of the commit that took a key; none while it is free.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn claimed(&self, key: &ClaimKey) -> Result<Option<Position>, LogError>;

    /// Keeps bytes under their hash, durably; the same bytes are kept once.
    ///
    /// # Errors
    /// [`TooLarge`](crate::LogErrorKind::TooLarge), [`Full`](crate::LogErrorKind::Full) or
    /// [`Io`](crate::LogErrorKind::Io).
    fn put_blob(&self, bytes: &[u8]) -> Result<BlobId, LogError>;

    /// The bytes of a blob; none if it is not there.
    ///
    /// # Errors
    /// [`Corrupt`](crate::LogErrorKind::Corrupt) if the bytes do not have that hash, or [`Io`](crate::LogErrorKind::Io).
    fn blob(&self, id: &BlobId) -> Result<Option<Bytes>, LogError>;

    /// Signals whenever the log may have grown. A signal can come for nothing; none is missed.
    fn subscribe(&self) -> Wakeups;

    /// Brings what this process wrote into its most compact form, now instead of in the background.
    ///
    /// For the end of a long write, such as an import. Commits go on meanwhile; nothing changes for readers.
    ///
    /// # Errors
    /// [`Full`](crate::LogErrorKind::Full) or [`Io`](crate::LogErrorKind::Io); the log is as good as before.
    fn settle(&self) -> Result<(), LogError>;

    /// How much the log holds, and how much room it takes.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn size(&self) -> Result<LogSize, LogError>;

    /// The first damage that reading has come across so far; none if everything read was whole.
    ///
    /// Of [`Corrupt`](crate::LogErrorKind::Corrupt) kind, or what else keeps the log from being read.
    fn known_damage(&self) -> Option<LogError>;

    /// Checks the record.
    ///
    /// `progress` is told how many events were read, out of how many; those that are read twice count twice. It is
    /// called at most some hundred times, the first time before anything was read, the last time at the total.
    ///
    /// # Errors
    /// Only where checking itself is impossible; what is wrong with the record is in the report.
    fn verify(&self, depth: Depth, progress: &mut dyn FnMut(Progress)) -> Result<Report, LogError>;
}

/// Which way a session is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Oldest first.
    Forward,
    /// Newest first.
    Backward,
}

/// How thoroughly a log is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// That everything is there and whole.
    Quick,
    /// Also every hash, every body, and every blob that an event names.
    Full,
}

/// The newest event of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// Its number.
    pub seq: Seq,
    /// Its id.
    pub hash: EventHash,
}

/// One session in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionListing {
    /// The session.
    pub session: SessionId,
    /// The place of its first event.
    pub first: Position,
    /// Its newest event.
    pub head: Head,
}

/// Which sessions are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionPage {
    /// Only sessions that began before this position; none: from the newest on.
    pub before: Option<Position>,
    /// At most this many.
    pub limit: usize,
}

/// How much a log holds, and how much room it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogSize {
    /// Events.
    pub events: u64,
    /// Sessions that they belong to.
    pub sessions: u64,
    /// Bytes of the commits as they were written.
    pub written_bytes: u64,
    /// Bytes that they take now.
    pub stored_bytes: u64,
    /// How much of that is compressed.
    pub compressed_bytes: u64,
    /// Blobs.
    pub blobs: u64,
    /// Bytes that the blobs take.
    pub blob_bytes: u64,
    /// Bytes of what can be rebuilt.
    pub index_bytes: u64,
}
