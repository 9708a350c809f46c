//! What can go wrong with a log.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use segue_event::{CodecError, Position, Seq, SessionId};

use crate::ClaimKey;

/// An error of a log: what happened, where, and what can be done.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct LogError(Box<Detail>);

/// What kind of error it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LogErrorKind {
    /// A session does not stand where the commit expects it.
    WrongSeq,
    /// A key is taken.
    ClaimTaken,
    /// Another process is writing.
    Busy,
    /// No space is left; nothing was written.
    Full,
    /// A write failed earlier, and this process may only read until it opens the log again; or the log was opened
    /// for reading.
    ReadOnly,
    /// The record is damaged.
    Corrupt,
    /// A limit was exceeded.
    TooLarge,
    /// A commit has no events.
    Empty,
    /// The store was written by a version that this build does not know.
    Version,
    /// There is no store at the place.
    NotFound,
    /// The place for a new store holds something else; nothing there was touched.
    Occupied,
    /// The operating system refused something.
    Io,
}

/// A session that does not stand where a commit expects it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrongSeq {
    /// The session.
    pub session: SessionId,
    /// The number that the commit wanted for its first event.
    pub expected: Seq,
    /// The newest event there is; none if the session does not exist.
    pub head: Option<Seq>,
}

#[derive(Clone, Debug, thiserror::Error)]
enum Detail {
    #[error("session {} stands at {}, not before {}: read on and try again", .0.session, show_head(.0.head), .0.expected)]
    WrongSeq(WrongSeq),
    #[error("claim {key} is taken by the commit at position {position}")]
    ClaimTaken { key: ClaimKey, position: Position },
    #[error("{} is writing to this store; gave up after {} ms", show_owner(*.owner), .waited.as_millis())]
    Busy { owner: Option<u32>, waited: Duration },
    #[error("no space left while {doing}; nothing was written")]
    Full { doing: String },
    #[error(
        "read-only since a write failed ({reason}); what was acknowledged is safe, open the store again to go on"
    )]
    ReadOnly { reason: String },
    #[error("the log was opened for reading")]
    OpenedForReading,
    #[error("damaged at byte {offset} of {}: {what}", .file.display())]
    Corrupt { file: PathBuf, offset: u64, what: String },
    #[error("{what} is {actual}; the limit is {max}")]
    TooLarge { what: &'static str, actual: usize, max: usize },
    #[error(transparent)]
    Codec(CodecError),
    #[error("a commit needs at least one event for each session that it names")]
    Empty,
    #[error("{what} has format {found}; this build reads up to {supported}: use a newer one")]
    Version { what: String, found: u32, supported: u32 },
    #[error("there is no store at {}", .0.display())]
    NotFound(PathBuf),
    #[error(
        "{} is no store and holds something else{}; nothing was touched: choose a new or empty folder",
        .folder.display(), show_found(.found)
    )]
    Occupied { folder: PathBuf, found: String },
    #[error("{} is not empty{}; nothing was touched: choose a new or empty folder", .folder.display(), show_found(.found))]
    NotEmpty { folder: PathBuf, found: String },
    #[error("{doing}: {source}")]
    Io { doing: String, source: Arc<io::Error> },
}

fn show_head(head: Option<Seq>) -> String {
    head.map_or_else(|| "its beginning".to_owned(), |seq| seq.to_string())
}

fn show_owner(owner: Option<u32>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

fn show_found(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" ({name})") }
}

impl LogError {
    /// What kind of error it is.
    pub fn kind(&self) -> LogErrorKind {
        match &*self.0 {
            Detail::WrongSeq(_) => LogErrorKind::WrongSeq,
            Detail::ClaimTaken { .. } => LogErrorKind::ClaimTaken,
            Detail::Busy { .. } => LogErrorKind::Busy,
            Detail::Full { .. } => LogErrorKind::Full,
            Detail::ReadOnly { .. } | Detail::OpenedForReading => LogErrorKind::ReadOnly,
            Detail::Corrupt { .. } => LogErrorKind::Corrupt,
            Detail::TooLarge { .. } => LogErrorKind::TooLarge,
            Detail::Codec(error) if error.is_too_large() => LogErrorKind::TooLarge,
            Detail::Codec(_) => LogErrorKind::Corrupt,
            Detail::Empty => LogErrorKind::Empty,
            Detail::Version { .. } => LogErrorKind::Version,
            Detail::NotFound(_) => LogErrorKind::NotFound,
            Detail::Occupied { .. } | Detail::NotEmpty { .. } => LogErrorKind::Occupied,
            Detail::Io { .. } => LogErrorKind::Io,
        }
    }

    /// For [`LogErrorKind::WrongSeq`]: where the session stands.
    pub fn as_wrong_seq(&self) -> Option<WrongSeq> {
        match &*self.0 {
            Detail::WrongSeq(wrong) => Some(*wrong),
            _ => None,
        }
    }

    /// For [`LogErrorKind::ClaimTaken`]: the first position of the commit that took the key.
    pub fn taken_at(&self) -> Option<Position> {
        match &*self.0 {
            Detail::ClaimTaken { position, .. } => Some(*position),
            _ => None,
        }
    }

    /// For [`LogErrorKind::Busy`]: the process that writes, if it could be told.
    pub fn owner(&self) -> Option<u32> {
        match &*self.0 {
            Detail::Busy { owner, .. } => *owner,
            _ => None,
        }
    }

    /// For [`LogErrorKind::Corrupt`]: the file and the byte where the damage begins, if it lies in a file.
    pub fn damaged_at(&self) -> Option<(&Path, u64)> {
        match &*self.0 {
            Detail::Corrupt { file, offset, .. } => Some((file, *offset)),
            _ => None,
        }
    }
}

/// For implementations of the port.
impl LogError {
    /// A session does not stand where the commit expects it.
    pub fn wrong_seq(wrong: WrongSeq) -> Self {
        Detail::WrongSeq(wrong).into()
    }

    /// A key is taken.
    pub fn claim_taken(key: ClaimKey, position: Position) -> Self {
        Detail::ClaimTaken { key, position }.into()
    }

    /// Another process is writing, and `waited` was not long enough.
    pub fn busy(owner: Option<u32>, waited: Duration) -> Self {
        Detail::Busy { owner, waited }.into()
    }

    /// No space is left; nothing was written.
    pub fn full(doing: impl Into<String>) -> Self {
        Detail::Full { doing: doing.into() }.into()
    }

    /// A write failed earlier.
    pub fn read_only(reason: impl Into<String>) -> Self {
        Detail::ReadOnly { reason: reason.into() }.into()
    }

    /// The log was opened for reading.
    pub fn opened_for_reading() -> Self {
        Detail::OpenedForReading.into()
    }

    /// The record is damaged at a byte of a file.
    pub fn corrupt(file: impl Into<PathBuf>, offset: u64, what: impl Into<String>) -> Self {
        Detail::Corrupt { file: file.into(), offset, what: what.into() }.into()
    }

    /// A limit was exceeded.
    pub fn too_large(what: &'static str, actual: usize, max: usize) -> Self {
        Detail::TooLarge { what, actual, max }.into()
    }

    /// A commit has no events.
    pub fn empty() -> Self {
        Detail::Empty.into()
    }

    /// An event cannot be encoded or decoded.
    pub fn codec(error: CodecError) -> Self {
        Detail::Codec(error).into()
    }

    /// `what` was written by a version that this build does not know.
    pub fn version(what: impl Into<String>, found: u32, supported: u32) -> Self {
        Detail::Version { what: what.into(), found, supported }.into()
    }

    /// There is no store at the place.
    pub fn not_found(place: impl Into<PathBuf>) -> Self {
        Detail::NotFound(place.into()).into()
    }

    /// The folder for a new store holds something else, such as what is named `found`.
    pub fn occupied(folder: impl Into<PathBuf>, found: impl Into<String>) -> Self {
        Detail::Occupied { folder: folder.into(), found: found.into() }.into()
    }

    /// The folder for something new is not empty, but holds something, such as what is named `found`.
    pub fn not_empty(folder: impl Into<PathBuf>, found: impl Into<String>) -> Self {
        Detail::NotEmpty { folder: folder.into(), found: found.into() }.into()
    }

    /// The operating system refused something; a full disk becomes [`LogErrorKind::Full`].
    pub fn io(doing: impl Into<String>, source: io::Error) -> Self {
        let doing = doing.into();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::full(doing),
            _ => Detail::Io { doing, source: Arc::new(source) }.into(),
        }
    }
}

impl From<Detail> for LogError {
    fn from(detail: Detail) -> Self {
        Self(Box::new(detail))
    }
}
