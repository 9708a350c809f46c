//! What can go wrong with reading.

use segue_event::{Seq, SessionId};
use segue_log::LogError;

/// An error of reading: what happened, and what can be done.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ThreadError(Detail);

/// What kind of error it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ThreadErrorKind {
    /// There is no such session.
    SessionNotFound,
    /// The session has no such event, or nothing of it can be shown.
    EntryNotFound,
    /// A text has no such byte.
    BehindText,
    /// A chain has more sessions than are walked.
    ChainTooLong,
    /// A query cannot be searched for.
    BadQuery,
    /// A cursor is no cursor.
    CursorInvalid,
    /// A cursor belongs to another search.
    CursorMismatch,
    /// A cursor belongs to another state of the record.
    CursorStale,
    /// The log could not be read.
    Log,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Detail {
    #[error("there is no session {0}")]
    SessionNotFound(SessionId),
    #[error("session {0} has nothing to show at {1}")]
    EntryNotFound(SessionId, Seq),
    #[error("text {} of event {} has {bytes} bytes; there is no byte {}", .place.part, .place.seq, .place.offset)]
    BehindText { place: crate::TextPlace, bytes: u64 },
    #[error("session {0} has more than {max} ancestors, which is more than are walked", max = crate::Chain::SESSIONS_MAX)]
    ChainTooLong(SessionId),
    #[error("{0}")]
    BadQuery(String),
    #[error("this is no cursor: pass on exactly what the last answer gave, or none to search from the start")]
    CursorInvalid,
    #[error("the cursor belongs to another query or another session: search again without it")]
    CursorMismatch,
    #[error("the cursor belongs to a record that this store does not hold: search again without it")]
    CursorStale,
    #[error(transparent)]
    Log(#[from] LogError),
}

impl ThreadError {
    /// What kind of error it is.
    pub fn kind(&self) -> ThreadErrorKind {
        match &self.0 {
            Detail::SessionNotFound(_) => ThreadErrorKind::SessionNotFound,
            Detail::EntryNotFound(..) => ThreadErrorKind::EntryNotFound,
            Detail::BehindText { .. } => ThreadErrorKind::BehindText,
            Detail::ChainTooLong(_) => ThreadErrorKind::ChainTooLong,
            Detail::BadQuery(_) => ThreadErrorKind::BadQuery,
            Detail::CursorInvalid => ThreadErrorKind::CursorInvalid,
            Detail::CursorMismatch => ThreadErrorKind::CursorMismatch,
            Detail::CursorStale => ThreadErrorKind::CursorStale,
            Detail::Log(_) => ThreadErrorKind::Log,
        }
    }

    /// For [`ThreadErrorKind::Log`]: the log's own error.
    pub fn as_log_error(&self) -> Option<&LogError> {
        match &self.0 {
            Detail::Log(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LogError> for ThreadError {
    fn from(error: LogError) -> Self {
        Self(Detail::Log(error))
    }
}

impl From<Detail> for ThreadError {
    fn from(detail: Detail) -> Self {
        Self(detail)
    }
}
