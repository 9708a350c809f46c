//! What of a session is worth citing, kept up in memory between calls.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_continuation::SessionState;
use segue_event::{Fold as _, KindSet, Recommended, Seq, SeqRange, SessionId, TranscriptEvent};
use segue_log::{Direction, EventLog, LogError, read_through};
use segue_projection::{Audit, Worth};

use crate::limits::{LOOK_BACK_EVENTS, WORTH_KEPT_MAX};
use crate::reader::agent_of;

/// The folds of the sessions that were asked about, each as far as it was asked; that which was asked last is the last.
///
/// An answer is the same with and without them: it rests on the newest [`LOOK_BACK_EVENTS`] events alone.
#[derive(Default)]
pub(crate) struct WorthKept(Mutex<VecDeque<Kept>>);

struct Kept {
    session: SessionId,
    through: Seq,
    worth: Worth,
}

impl WorthKept {
    /// What is worth citing of a session up to an event, the best first, as far as its agent may read it.
    pub(crate) fn recommend(
        &self,
        log: &dyn EventLog,
        state: &SessionState,
        head: Seq,
    ) -> Result<Vec<Recommended>, LogError> {
        let worth = self.keep_up(log, state, head)?;
        let mut readable = Vec::new();
        for recommended in worth.recommend(look_back(head)) {
            if is_readable(log, state, &recommended)? {
                readable.push(recommended);
            }
        }
        Ok(readable)
    }

    /// Takes what has come since, so that it costs nothing when it is needed.
    pub(crate) fn keep_up(
        &self,
        log: &dyn EventLog,
        state: &SessionState,
        head: Seq,
    ) -> Result<Worth, LogError> {
        // Taken out while the log is read, so that nobody waits; who comes meanwhile starts anew.
        let kept = self.take(state.session).filter(|kept| kept.through <= head);
        let (from, mut worth) = match kept {
            Some(Kept { through, worth, .. }) => (through.next().max(look_back(head)), worth),
            None => (look_back(head), fresh(state)),
        };
        if let Some(range) = SeqRange::new(from, head) {
            fold(log, range, &mut worth, state.session)?;
        }
        self.keep(Kept { session: state.session, through: head, worth: worth.clone() });
        Ok(worth)
    }

    fn take(&self, session: SessionId) -> Option<Kept> {
        let mut all = self.kept();
        let at = all.iter().position(|kept| kept.session == session)?;
        all.remove(at)
    }

    fn keep(&self, kept: Kept) {
        let mut all = self.kept();
        all.retain(|other| other.session != kept.session);
        if all.len() >= WORTH_KEPT_MAX {
            all.pop_front();
        }
        all.push_back(kept);
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        // No fold is changed in there, so whoever panicked left none half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fresh(state: &SessionState) -> Worth {
    let handover = state.edge.as_ref().and_then(|edge| edge.handover());
    let audit = handover.map(|handover| Audit::of(&handover.manifest));
    let left_out: Vec<_> = audit.iter().flat_map(Audit::left_out).collect();
    Worth::new(state.session, left_out)
}

fn fold(log: &dyn EventLog, range: SeqRange, worth: &mut Worth, session: SessionId) -> Result<(), LogError> {
    let transcript = KindSet::of::<TranscriptEvent>();
    for raw in read_through(log, session, range, Direction::Forward, transcript)? {
        if let Some(recorded) = raw?.decode_as::<TranscriptEvent>().map_err(LogError::codec)? {
            worth.apply(&recorded);
        }
    }
    Ok(())
}

/// The first of the newest events up to `head`.
fn look_back(head: Seq) -> Seq {
    Seq::new(head.get().saturating_sub(LOOK_BACK_EVENTS - 1)).unwrap_or(Seq::FIRST)
}

/// What a tool says that it read is believed only where the agent can read it.
fn is_readable(
    log: &dyn EventLog,
    state: &SessionState,
    recommended: &Recommended,
) -> Result<bool, LogError> {
    let thread = recommended.thread;
    if thread == state.session {
        return Ok(true);
    }
    let is_own = agent_of(log, thread)?.as_ref() == Some(&state.agent);
    Ok(is_own && log.head(thread)?.is_some_and(|head| recommended.range.to <= head.seq))
}

#[cfg(test)]
mod tests {
    use segue_event::{AgentId, Author, Lane, Message, Role};
    use segue_log::MemoryLog;

    use super::*;
    use crate::{NewSession, Setup, SystemHost, Workspace};

    #[test]
    fn what_is_asked_about_again_and_again_is_kept_whatever_else_is_asked() {
        let kept = WorthKept::default();
        let session = |number: u8| SessionId::from_bytes([number; 16]);
        let keep = |number| {
            let worth = Worth::new(session(number), []);
            kept.keep(Kept { session: session(number), through: Seq::FIRST, worth });
        };
        for number in 1..200 {
            keep(0);
            keep(number);
            assert!(kept.kept().len() <= WORTH_KEPT_MAX);
        }
        assert!(kept.take(session(0)).is_some());
        assert!(kept.take(session(1)).is_none());
    }

    #[test]
    fn a_turn_keeps_it_up_with_every_prompt() {
        let workspace = Workspace::on(MemoryLog::new(), SystemHost);
        let session = workspace.start_session(NewSession::of(AgentId::new("coder").unwrap())).unwrap();
        let message = Message::text(Role::User, Author::User, "No, not so.");
        workspace.send(session, &message, Lane::Interactive).unwrap();
        let mut turn = workspace.turn(session, &Setup::default()).unwrap().unwrap();
        turn.prompt().unwrap();
        let kept = workspace.worth.take(session).unwrap();
        assert_eq!(kept.through, workspace.log.head(session).unwrap().unwrap().seq);
        assert_eq!(kept.worth.recommend(Seq::FIRST).len(), 1);
    }
}
