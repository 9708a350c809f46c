//! What a command says when it could not do what was asked.

use std::path::Path;

use segue::log::LogErrorKind;
use segue::thread::{ThreadError, ThreadErrorKind};
use segue::{Error, ErrorKind};
use segue_import::{ImportError, ImportErrorKind};
use serde_json::json;

use crate::exit::Exit;
use crate::output::{Answer, Format};

/// Why a command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// A stable word, in kebab case.
    kind: &'static str,
    message: String,
    hint: &'static str,
    /// What was done before, which is for stdout all the same.
    so_far: Option<Box<Answer>>,
}

impl Failure {
    pub(crate) fn new(
        exit: Exit,
        kind: &'static str,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self { exit, kind, message: message.into(), hint, so_far: None }
    }

    /// A file that could not be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        let exit =
            if error.kind() == std::io::ErrorKind::NotFound { Exit::NotFound } else { Exit::Unhealthy };
        Self::new(exit, "file", format!("{doing} {}: {error}", path.display()), "")
    }

    /// The same failure of a command that had done a part already.
    pub(crate) fn after(self, so_far: Answer) -> Self {
        Self { so_far: Some(Box::new(so_far)), ..self }
    }

    /// What was done before, if the command has something to say of it.
    pub(crate) fn so_far(&self) -> Option<&Answer> {
        self.so_far.as_deref()
    }

    /// What is written to stderr.
    pub(crate) fn text(&self, format: Format) -> String {
        match format {
            Format::Text if self.hint.is_empty() => format!("error: {}\n", self.message),
            Format::Text => format!("error: {}\nhint: {}\n", self.message, self.hint),
            Format::Json => {
                let error = json!({
                    "code": self.exit.code(),
                    "kind": self.kind,
                    "message": self.message,
                    "hint": self.hint,
                    "retryable": self.exit == Exit::Busy,
                });
                format!("{}\n", json!({"schema_version": 1, "error": error}))
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error.kind() {
            ErrorKind::SessionNotFound => Self::new(
                Exit::NotFound,
                "session-not-found",
                message,
                "`segue sessions` lists what is there",
            ),
            ErrorKind::NotContinued => Self::new(Exit::NotFound, "not-continued", message, ""),
            ErrorKind::EventNotFound => Self::new(
                Exit::NotFound,
                "event-not-found",
                message,
                "`segue show THREAD` lists the events that are there",
            ),
            ErrorKind::NoReceipt => Self::new(
                Exit::NotFound,
                "no-receipt",
                message,
                "`segue replay --session THREAD` lists the prompts that were given out",
            ),
            ErrorKind::TooManyForks => Self::new(Exit::Usage, "too-many-forks", message, ""),
            ErrorKind::Contended => Self::new(Exit::Busy, "contended", message, ""),
            ErrorKind::Thread(kind) => of_thread(kind, message),
            ErrorKind::Log(kind) => of_log(kind, message),
            _ => Self::new(Exit::Unhealthy, "other", message, ""),
        }
    }
}

impl From<ThreadError> for Failure {
    fn from(error: ThreadError) -> Self {
        Error::from(error).into()
    }
}

impl From<segue::log::LogError> for Failure {
    fn from(error: segue::log::LogError) -> Self {
        Error::from(error).into()
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        let message = error.to_string();
        match (error.as_log_error(), error.kind()) {
            (Some(log), _) => of_log(log.kind(), message),
            (None, ImportErrorKind::NotFound) => Self::new(Exit::NotFound, "file-not-found", message, ""),
            (None, _) => Self::new(Exit::Unhealthy, "import", message, ""),
        }
    }
}

fn of_thread(kind: ThreadErrorKind, message: String) -> Failure {
    match kind {
        ThreadErrorKind::EntryNotFound => Failure::new(Exit::NotFound, "entry-not-found", message, ""),
        ThreadErrorKind::BadQuery => Failure::new(Exit::Usage, "bad-query", message, ""),
        ThreadErrorKind::CursorInvalid => Failure::new(Exit::Usage, "cursor-invalid", message, ""),
        ThreadErrorKind::CursorMismatch => Failure::new(Exit::Usage, "cursor-mismatch", message, ""),
        ThreadErrorKind::CursorStale => Failure::new(Exit::Usage, "cursor-stale", message, ""),
        _ => Failure::new(Exit::Unhealthy, "thread", message, ""),
    }
}

fn of_log(kind: LogErrorKind, message: String) -> Failure {
    match kind {
        LogErrorKind::NotFound => Failure::new(
            Exit::NotFound,
            "store-not-found",
            message,
            "`segue import PATH` makes one; --store or SEGUE_STORE names another",
        ),
        LogErrorKind::Corrupt => Failure::new(
            Exit::Corrupt,
            "corrupt",
            message,
            "`segue verify` lists what is damaged, the rest stays readable, and `segue repair` makes a sound store of it",
        ),
        LogErrorKind::Version => Failure::new(Exit::Version, "version", message, ""),
        LogErrorKind::Busy => Failure::new(Exit::Busy, "busy", message, "try again when it is done"),
        LogErrorKind::Full => Failure::new(Exit::Unhealthy, "disk-full", message, "make room and try again"),
        LogErrorKind::TooLarge => Failure::new(Exit::Usage, "too-large", message, ""),
        LogErrorKind::Occupied => Failure::new(Exit::Usage, "not-a-store", message, ""),
        _ => Failure::new(Exit::Unhealthy, "log", message, ""),
    }
}
