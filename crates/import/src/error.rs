//! What can go wrong with an import or an export as a whole. A line that cannot be read is no error.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use segue_event::SessionId;
use segue_log::LogError;

use crate::ImportReport;

/// Why a source could not be imported or a session not be exported: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ImportError(Box<Failed>);

#[derive(Debug)]
struct Failed {
    detail: Detail,
    committed: Option<ImportReport>,
}

/// What kind of error it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// There is nothing at the path.
    NotFound,
    /// The path names something that is no file.
    NotAFile,
    /// The operating system does not let this user read.
    Permission,
    /// Reading the source failed otherwise.
    Source,
    /// The log refused or failed.
    Log,
    /// Other importers were faster again and again.
    Contended,
    /// The source has been rewritten more often than is told apart.
    TooManyVersions,
    /// The session was not imported, or what stands in the record does not give a whole source.
    NotExportable,
    /// Writing an export failed.
    Output,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Detail {
    #[error("nothing is at {}: check the path", .0.display())]
    NotFound(PathBuf),
    #[error("{} is no file: name a transcript, or import the folder as a tree", .0.display())]
    NotAFile(PathBuf),
    #[error("{} may not be read: {source}; run as a user who may", .path.display())]
    Permission { path: PathBuf, source: io::Error },
    #[error("reading {} failed: {source}; what was imported before stays, import again to go on", .path.display())]
    Source { path: PathBuf, source: io::Error },
    #[error("importing {} stopped: {source}", .path.display())]
    Log { path: PathBuf, source: LogError },
    #[error("the record of session {session} cannot be read: {source}")]
    Record { session: SessionId, source: LogError },
    #[error("other importers of {} were faster {attempts} times: import again when they are done", .path.display())]
    Contended { path: PathBuf, attempts: u32 },
    #[error("{} has been rewritten {versions} times, which is as often as is told apart", .path.display())]
    TooManyVersions { path: PathBuf, versions: u32 },
    #[error("session {session} cannot be exported: {why}")]
    NotExportable { session: SessionId, why: String },
    #[error("writing the export failed: {0}")]
    Output(io::Error),
}

impl ImportError {
    /// What kind of error it is.
    pub fn kind(&self) -> ImportErrorKind {
        match &self.0.detail {
            Detail::NotFound(_) => ImportErrorKind::NotFound,
            Detail::NotAFile(_) => ImportErrorKind::NotAFile,
            Detail::Permission { .. } => ImportErrorKind::Permission,
            Detail::Source { .. } => ImportErrorKind::Source,
            Detail::Log { .. } | Detail::Record { .. } => ImportErrorKind::Log,
            Detail::Contended { .. } => ImportErrorKind::Contended,
            Detail::TooManyVersions { .. } => ImportErrorKind::TooManyVersions,
            Detail::NotExportable { .. } => ImportErrorKind::NotExportable,
            Detail::Output(_) => ImportErrorKind::Output,
        }
    }

    /// For [`ImportErrorKind::Log`]: the log's own error.
    pub fn as_log_error(&self) -> Option<&LogError> {
        match &self.0.detail {
            Detail::Log { source, .. } | Detail::Record { source, .. } => Some(source),
            _ => None,
        }
    }

    /// What this import had written into the record before it failed, and stays there; none if that is nothing.
    ///
    /// Importing again goes on behind it.
    pub fn committed(&self) -> Option<&ImportReport> {
        self.0.committed.as_ref()
    }

    /// Adds what was written before.
    pub(crate) fn after(mut self, earlier: Option<ImportReport>) -> Self {
        self.0.committed = match self.0.committed.take() {
            Some(report) => Some(report.after(earlier)),
            None => earlier.filter(|earlier| earlier.events > 0),
        };
        self
    }

    /// An error of the operating system about a source.
    pub(crate) fn source(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Detail::NotFound(path),
            io::ErrorKind::IsADirectory => Detail::NotAFile(path),
            io::ErrorKind::PermissionDenied => Detail::Permission { path, source },
            _ => Detail::Source { path, source },
        }
        .into()
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.detail.fmt(f)
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.detail.source()
    }
}

impl From<Detail> for ImportError {
    fn from(detail: Detail) -> Self {
        Self(Box::new(Failed { detail, committed: None }))
    }
}
