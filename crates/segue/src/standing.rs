//! How a session stands, kept up while something is done to it in several steps.

use segue_continuation::{SessionState, StateEvent};
use segue_event::{Fold as _, KindSet, SeqRange, SessionId};
use segue_log::{Direction, EventLog, Head, LogError};

use crate::Error;
use crate::error::Detail;
use crate::workspace::session_state_up_to;

/// A session's state and head. Folding it costs what the session is long, keeping it up only what has come since.
#[derive(Clone)]
pub(crate) struct Standing {
    pub(crate) state: SessionState,
    pub(crate) head: Head,
}

impl Standing {
    pub(crate) fn of(log: &dyn EventLog, session: SessionId) -> Result<Self, Error> {
        let head = log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let state = session_state_up_to(log, session, head.seq)?.ok_or(Detail::SessionNotFound(session))?;
        Ok(Self { state, head })
    }

    /// Takes what has come since.
    pub(crate) fn catch_up(&mut self, log: &dyn EventLog) -> Result<(), LogError> {
        let session = self.state.session;
        let Some(head) = log.head(session)?.filter(|head| head.seq > self.head.seq) else { return Ok(()) };
        let Some(range) = SeqRange::new(self.head.seq.next(), head.seq) else { return Ok(()) };
        let kinds = KindSet::of::<StateEvent>();
        for raw in log.read_kinds(session, range, Direction::Forward, kinds)? {
            if let Some(recorded) = raw?.decode_as::<StateEvent>().map_err(LogError::codec)? {
                self.state.apply(&recorded);
            }
        }
        self.head = head;
        Ok(())
    }
}
