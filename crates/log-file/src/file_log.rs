//! The log in a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use segue_event::{BlobId, KindSet, Position, Seq, SeqRange, SessionId};
use segue_log::{
    ClaimKey, Commit, Committed, Depth, Direction, EventLog, Head, LogError, LogSize, PreparedCommit,
    Progress, RawEvents, Report, SessionListing, SessionPage, Sift, SiftedEvents, Wakeups,
};

use crate::blob;
use crate::commit::Committers;
use crate::layout::{Layout, Presence};
use crate::limits::POLL_INTERVAL;
use crate::options::Options;
use crate::read::{LogEvents, SessionEvents};
use crate::sift::SiftedFrames;
use crate::size::size;
use crate::store::Store;
use crate::verify;
use crate::view::Entry;

/// An event log in a folder of its own.
///
/// Opening writes nothing, and makes nothing. The folder is made, and the lock is taken, with the first commit.
/// Several processes write in turn: the lock is given back when another waits for it, and when nothing was committed
/// for a while. A commit is refused as busy only after the wait that the options set.
///
/// Commits that did not wait are seen by this process at once, by others when they are durable.
///
/// A log with damage in acknowledged commits can be read: what is whole is found, and a read that meets the damage
/// gets [`segue_log::LogErrorKind::Corrupt`] with the place. An event that was lost at the very end of a session is
/// noticed when the whole log is read, and by a check, but not when only that session is read. Such a log refuses
/// commits with the same error, since neither the heads of sessions nor the claims are known for sure any more. A
/// writer that starts from its index does not look again at what the index covers; damage there is told to whoever
/// reads it, and by a check.
#[derive(Debug)]
pub struct FileLog {
    store: Arc<Store>,
    committers: Committers,
    access: Access,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    ReadAndWrite,
    ReadOnly,
}

impl FileLog {
    /// Opens the log in a folder, which need not be there yet.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::Version`] if a newer build wrote it, [`segue_log::LogErrorKind::Corrupt`] if
    /// the folder holds segments but not their format, [`segue_log::LogErrorKind::Occupied`] if it holds something
    /// else, or [`segue_log::LogErrorKind::Io`].
    pub fn open(path: impl Into<PathBuf>, options: Options) -> Result<Self, LogError> {
        let layout = Layout::new(path.into());
        layout.look_for_room()?;
        Ok(Self::new(layout, options, Access::ReadAndWrite))
    }

    /// Opens the log in a folder for reading, beside whoever writes to it.
    ///
    /// # Errors
    /// As [`Self::open`], and [`segue_log::LogErrorKind::NotFound`] if there is no log.
    pub fn open_reader(path: impl Into<PathBuf>) -> Result<Self, LogError> {
        let layout = Layout::new(path.into());
        if layout.look()? != Presence::There {
            return Err(LogError::not_found(layout.root()));
        }
        Ok(Self::new(layout, Options::default(), Access::ReadOnly))
    }

    /// Makes an empty log in a folder unless there is one, and opens it.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn create(path: impl Into<PathBuf>, options: Options) -> Result<Self, LogError> {
        let layout = Layout::new(path.into());
        layout.create()?;
        Ok(Self::new(layout, options, Access::ReadAndWrite))
    }

    /// Opens the log in a folder of a disk other than this machine's; the lock and the index stay on the real one.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_on(
        disk: Arc<dyn crate::Disk>,
        path: impl Into<PathBuf>,
        options: Options,
    ) -> Result<Self, LogError> {
        let layout = Layout::on(disk, path.into());
        layout.look_for_room()?;
        Ok(Self::new(layout, options, Access::ReadAndWrite))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.store.layout.root()
    }

    /// The session that another was continued from, as the first event of the latter says.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn predecessor(&self, successor: SessionId) -> Result<Option<SessionId>, LogError> {
        Ok(self.store.view()?.edges.get(&successor).copied())
    }

    fn new(layout: Layout, options: Options, access: Access) -> Self {
        Self { store: Arc::new(Store::new(layout, options)), committers: Committers::default(), access }
    }

    fn check_writable(&self) -> Result<(), LogError> {
        match self.access {
            Access::ReadAndWrite => Ok(()),
            Access::ReadOnly => Err(LogError::opened_for_reading()),
        }
    }
}

impl Drop for FileLog {
    fn drop(&mut self) {
        self.committers.close(&self.store);
    }
}

impl EventLog for FileLog {
    fn commit(&self, commit: Commit) -> Result<Committed, LogError> {
        let prepared = PreparedCommit::new(commit)?;
        self.check_writable()?;
        self.committers.commit(&self.store, prepared)
    }

    fn read_kinds(
        &self,
        session: SessionId,
        range: SeqRange,
        direction: Direction,
        kinds: KindSet,
    ) -> Result<RawEvents, LogError> {
        drop(self.store.view()?);
        Ok(Box::new(SessionEvents::new(&self.store, session, range, direction, kinds)))
    }

    fn read_log(&self, from: Position) -> Result<RawEvents, LogError> {
        drop(self.store.view()?);
        Ok(Box::new(LogEvents::new(&self.store, from)))
    }

    fn sift(&self, sift: &Sift) -> Result<SiftedEvents, LogError> {
        drop(self.store.view()?);
        Ok(Box::new(SiftedFrames::new(&self.store, sift)))
    }

    fn head(&self, session: SessionId) -> Result<Option<Head>, LogError> {
        Ok(self.store.view()?.head(session))
    }

    fn first(&self, session: SessionId) -> Result<Option<Seq>, LogError> {
        Ok(self.store.view()?.sessions.get(&session).map(Entry::first_seq))
    }

    fn end(&self) -> Result<Option<Position>, LogError> {
        Ok(self.store.view()?.end.next.previous())
    }

    fn sessions(&self, page: SessionPage) -> Result<Vec<SessionListing>, LogError> {
        Ok(self.store.view()?.listings(page))
    }

    fn claimed(&self, key: &ClaimKey) -> Result<Option<Position>, LogError> {
        Ok(self.store.view()?.claims.get(key).copied())
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<BlobId, LogError> {
        self.check_writable()?;
        blob::put(&self.store.layout, bytes)
    }

    fn blob(&self, id: &BlobId) -> Result<Option<Bytes>, LogError> {
        blob::get(&self.store.layout, id)
    }

    fn subscribe(&self) -> Wakeups {
        // Even while this process writes, the next turn may be another's.
        self.store.subscribers.subscribe().or_every(POLL_INTERVAL)
    }

    fn settle(&self) -> Result<(), LogError> {
        self.committers.settle(&self.store)
    }

    fn size(&self) -> Result<LogSize, LogError> {
        size(&self.store.layout, &*self.store.view()?)
    }

    fn known_damage(&self) -> Option<LogError> {
        match self.store.view() {
            Ok(view) => view.damages.first().map(crate::view::Damage::error),
            Err(error) => Some(error),
        }
    }

    fn verify(&self, depth: Depth, progress: &mut dyn FnMut(Progress)) -> Result<Report, LogError> {
        verify::verify(self, &self.store, depth, progress)
    }
}
