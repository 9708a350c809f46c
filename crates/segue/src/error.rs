//! What can go wrong with a workspace.

use std::path::PathBuf;

use segue_event::{CallSite, ContinuationId, RunId, Seq, SessionId};
use segue_log::{FORKS_MAX, LogError, LogErrorKind};
use segue_thread::{ThreadError, ThreadErrorKind};

/// An error of a workspace: what happened, and what can be done.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Detail);

/// What kind of error it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such session, or it is outside the scope.
    SessionNotFound,
    /// The session was not continued from another.
    NotContinued,
    /// A stored continuation was made within other limits than this build has.
    BeyondCaps,
    /// Others kept changing the session; try again.
    Contended,
    /// The session has no such event.
    EventNotFound,
    /// The session stands at the end of a row of as many forks as can be.
    TooManyForks,
    /// No prompt was given out there.
    NoReceipt,
    /// The run is over, or there is none.
    NoOpenRun,
    /// A host's tool has the name of another one.
    ToolNameTaken,
    /// The run has not failed, or there is none.
    NotFailed,
    /// Another host has the lease of the queue.
    NotLeaseHolder,
    /// The turn waits for results of tools.
    ResultsAwaited,
    /// No call that is open stands there.
    NoSuchCall,
    /// A file of handoff notes could not be read or written.
    HandoffFile,
    /// Reading failed, as the thread crate has it.
    Thread(ThreadErrorKind),
    /// The log failed, as the log crate has it.
    Log(LogErrorKind),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Detail {
    #[error("there is no session {0}")]
    SessionNotFound(SessionId),
    #[error("session {0} was not continued from another one")]
    NotContinued(SessionId),
    #[error(
        "continuation {0} was made within other limits than this build has: use the version that made it"
    )]
    BeyondCaps(ContinuationId),
    #[error("session {session} kept changing; gave up after {tries} tries: try again")]
    Contended { session: SessionId, tries: u32 },
    #[error("session {0} has no event {1}")]
    EventNotFound(SessionId, Seq),
    #[error("session {0} is the last of {FORKS_MAX} forks in a row: continue it, or fork an earlier one")]
    TooManyForks(SessionId),
    #[error("no prompt was given out in session {0} up to event {1}")]
    NoReceipt(SessionId, Seq),
    #[error("run {0} is over, or there is no such run")]
    NoOpenRun(RunId),
    #[error("there is more than one tool `{0}`: give the host's own another name")]
    ToolNameTaken(String),
    #[error("run {0} has not failed: only one that failed or was cancelled is tried again")]
    NotFailed(RunId),
    #[error("the queue belongs to {0}: take the lease before recovering runs")]
    NotLeaseHolder(String),
    #[error("run {0} waits for results of tools: answer its calls first")]
    ResultsAwaited(RunId),
    #[error("no open call stands at message {} block {}", .0.message, .0.block)]
    NoSuchCall(CallSite),
    #[error("{}: {_1}", .0.display())]
    HandoffFile(PathBuf, #[source] std::io::Error),
    #[error(transparent)]
    Thread(ThreadError),
    #[error(transparent)]
    Log(LogError),
}

impl Error {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Detail::SessionNotFound(_) => ErrorKind::SessionNotFound,
            Detail::NotContinued(_) => ErrorKind::NotContinued,
            Detail::BeyondCaps(_) => ErrorKind::BeyondCaps,
            Detail::Contended { .. } => ErrorKind::Contended,
            Detail::EventNotFound(..) => ErrorKind::EventNotFound,
            Detail::TooManyForks(_) => ErrorKind::TooManyForks,
            Detail::NoReceipt(..) => ErrorKind::NoReceipt,
            Detail::NoOpenRun(_) => ErrorKind::NoOpenRun,
            Detail::ToolNameTaken(_) => ErrorKind::ToolNameTaken,
            Detail::NotFailed(_) => ErrorKind::NotFailed,
            Detail::NotLeaseHolder(_) => ErrorKind::NotLeaseHolder,
            Detail::ResultsAwaited(_) => ErrorKind::ResultsAwaited,
            Detail::NoSuchCall(_) => ErrorKind::NoSuchCall,
            Detail::HandoffFile(..) => ErrorKind::HandoffFile,
            Detail::Thread(error) => match (error.kind(), error.as_log_error()) {
                (ThreadErrorKind::SessionNotFound, _) => ErrorKind::SessionNotFound,
                (_, Some(error)) => ErrorKind::Log(error.kind()),
                (kind, None) => ErrorKind::Thread(kind),
            },
            Detail::Log(error) => ErrorKind::Log(error.kind()),
        }
    }

    /// The log's own error, where the log failed.
    pub fn as_log_error(&self) -> Option<&LogError> {
        match &self.0 {
            Detail::Log(error) => Some(error),
            Detail::Thread(error) => error.as_log_error(),
            _ => None,
        }
    }
}

impl From<Detail> for Error {
    fn from(detail: Detail) -> Self {
        Self(detail)
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        Self(Detail::Log(error))
    }
}

impl From<ThreadError> for Error {
    fn from(error: ThreadError) -> Self {
        Self(Detail::Thread(error))
    }
}
