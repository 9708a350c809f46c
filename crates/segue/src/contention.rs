//! Looking again when somebody else wrote first.

use segue_event::SessionId;
use segue_log::LogErrorKind;

use crate::Error;
use crate::error::Detail;
use crate::limits::TRIES_MAX;

/// Tries until nobody else wrote to the session first, at most [`TRIES_MAX`] times.
pub(crate) fn until_first<T>(
    session: SessionId,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    for _ in 0..TRIES_MAX {
        match attempt() {
            Err(error) if error.is_contention() => {}
            other => return other,
        }
    }
    Err(Detail::Contended { session, tries: TRIES_MAX }.into())
}

impl Error {
    /// Whether somebody else wrote first, so that looking again helps.
    pub(crate) fn is_contention(&self) -> bool {
        self.as_log_error()
            .is_some_and(|error| matches!(error.kind(), LogErrorKind::WrongSeq | LogErrorKind::ClaimTaken))
    }
}
