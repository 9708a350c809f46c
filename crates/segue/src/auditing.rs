//! What became of the sources of a continuation.

use std::collections::BTreeSet;

use segue_event::{Edge, Fold as _, Kind, KindSet, SeqRange, SessionId, TranscriptEvent};
use segue_log::{Direction, EventLog, LogError};
use segue_projection::Audit;

use crate::error::Detail;
use crate::successors::successors;
use crate::{Error, Reader};

/// The sources of a continuation, and how often they were read back.
#[derive(Clone, PartialEq, Debug)]
pub struct Audited {
    /// The transition.
    pub edge: Edge,
    /// Its sources, with the readings of all [`Self::sessions`].
    pub audit: Audit,
    /// The sessions whose readings are counted: the successor, and what goes on from it, as far as the scope reaches.
    pub sessions: Vec<SessionId>,
}

impl Reader {
    /// What became of each source of the continuation that made a session: shown or left out, and how often tools gave
    /// it again since, in the successor and in the sessions that go on from it.
    ///
    /// It reads every result of a tool in these sessions.
    ///
    /// # Errors
    /// If there is no such session in the scope, it was not continued from another, or the log cannot be read.
    pub fn audit(&self, successor: SessionId) -> Result<Audited, Error> {
        let edge = self.state(successor)?.edge.ok_or(Detail::NotContinued(successor))?;
        let manifest = edge.manifest().ok_or(Detail::NotContinued(successor))?;
        let mut audit = Audit::of(manifest);
        let sessions = self.going_on_from(successor)?;
        for session in &sessions {
            count_readings(&*self.log, *session, &mut audit)?;
        }
        Ok(Audited { edge, audit, sessions })
    }

    /// A session and those that took over its conversation, one after the other, as far as the scope reaches.
    fn going_on_from(&self, session: SessionId) -> Result<Vec<SessionId>, Error> {
        let (mut open, mut seen, mut sessions) = (vec![session], BTreeSet::new(), Vec::new());
        while let Some(session) = open.pop() {
            // A cycle, which no writer of ours makes, ends here.
            if !seen.insert(session) || !self.is_inside(session)? {
                continue;
            }
            sessions.push(session);
            let next = successors(&*self.log, session)?.into_iter().rev();
            open.extend(next.filter(|(_, edge)| edge.manifest().is_some()).map(|(session, _)| session));
        }
        Ok(sessions)
    }
}

fn count_readings(log: &dyn EventLog, session: SessionId, audit: &mut Audit) -> Result<(), LogError> {
    let results = KindSet::one(Kind::ToolResult);
    for raw in log.read_kinds(session, SeqRange::ALL, Direction::Forward, results)? {
        if let Some(recorded) = raw?.decode_as::<TranscriptEvent>().map_err(LogError::codec)? {
            audit.apply(&recorded);
        }
    }
    Ok(())
}
