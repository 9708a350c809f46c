//! Giving a note to the agent, once.

use segue_event::{
    AgentId, EdgeKind, EventRef, Kind, KindSet, NoteBody, NoteEvent, NoteGiven, RunId, SeqRange,
    SessionEvent, SessionId, SessionStarted,
};
use segue_log::{Commit, Direction, EventLog, Expected, LogError, NewEvent, first_event};

use super::Note;
use super::taking::note_from;
use crate::error::Detail;
use crate::limits::NOTE_ANCESTORS_MAX;
use crate::{Error, Workspace, claims};

impl Workspace {
    /// Gives the newest note of a session, or of the session that it goes on from, to a harness that puts it into a
    /// prompt of its own. None if there is none, or it was given already: each note is given once, to one caller,
    /// whoever asks at the same time. What was taken before the newest note is not given any more.
    ///
    /// A note never reaches a session of another agent or working directory, a fork, or a task.
    ///
    /// # Errors
    /// If there is no such session, or the log failed.
    pub fn give_note(&self, session: SessionId) -> Result<Option<Note>, Error> {
        self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let own = newest_note(&*self.log, session, SeqRange::ALL)?;
        let newest = if own.is_some() { own } else { self.inherited_note(session)? };
        let Some(note) = newest else { return Ok(None) };
        if self.is_given(&note)? {
            return Ok(None);
        }
        let key = claims::note_given(note.session, &note.taken.compaction)?;
        let events = vec![NewEvent::new(self.host.now(), note_given(&note, None))];
        let given = self.log.commit(Commit::new().append(session, Expected::AtHead, events).claim(key));
        match given.map_err(Error::from) {
            Ok(_) => Ok(Some(note)),
            Err(error) if error.is_contention() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The newest note in the line of sessions that one goes on from, as far as that is of the same agent and working
    /// directory. What was taken in a session after it was continued is its own.
    pub(crate) fn inherited_note(&self, session: SessionId) -> Result<Option<Note>, Error> {
        let log = &*self.log;
        let Some(started) = started(log, session)? else { return Ok(None) };
        let owner = Owner::of(&started);
        let mut edge = started.edge;
        for _ in 0..NOTE_ANCESTORS_MAX {
            let Some(here) = edge.filter(|edge| !is_aside(edge.kind())) else { return Ok(None) };
            let Some(before) = self::started(log, here.predecessor)? else { return Ok(None) };
            if Owner::of(&before) != owner {
                return Ok(None);
            }
            let known = SeqRange::up_to(here.predecessor_head.seq);
            if let Some(note) = newest_note(log, here.predecessor, known)? {
                return Ok(Some(note));
            }
            edge = before.edge;
        }
        Ok(None)
    }

    /// Whether the note of a compaction was given to somebody.
    pub(crate) fn is_given(&self, note: &Note) -> Result<bool, LogError> {
        Ok(self.log.claimed(&claims::note_given(note.session, &note.taken.compaction)?)?.is_some())
    }
}

/// Whose a session is: notes stay with the same agent in the same working directory.
#[derive(PartialEq, Eq)]
struct Owner {
    agent: AgentId,
    working_directory: String,
}

impl Owner {
    fn of(started: &SessionStarted) -> Self {
        Self { agent: started.agent.clone(), working_directory: started.working_directory.clone() }
    }
}

/// Whether the session at the end of such an edge does something else than to go on with the work.
const fn is_aside(kind: EdgeKind) -> bool {
    matches!(kind, EdgeKind::Delegate | EdgeKind::Fork)
}

/// The event that gives a note, to a run or to a harness.
pub(crate) fn note_given(note: &Note, run: Option<RunId>) -> NoteGiven {
    NoteGiven { session: note.session, note: note.at, run }
}

/// What a note says that was given; none if it is lost to damage.
pub(crate) fn body_of_note(log: &dyn EventLog, given: &NoteGiven) -> Result<Option<NoteBody>, LogError> {
    Ok(note_at(log, given.session, given.note)?.map(|note| note.taken.body))
}

/// A note by its place.
pub(crate) fn note_at(
    log: &dyn EventLog,
    session: SessionId,
    at: EventRef,
) -> Result<Option<Note>, LogError> {
    let note = newest_note(log, session, SeqRange::one(at.seq))?;
    Ok(note.filter(|note| note.at == at))
}

/// The newest note that was taken in a session itself within a range.
fn newest_note(log: &dyn EventLog, session: SessionId, range: SeqRange) -> Result<Option<Note>, LogError> {
    for raw in log.read_kinds(session, range, Direction::Backward, KindSet::one(Kind::NoteTaken))? {
        let recorded = raw?.decode_as::<NoteEvent>().map_err(LogError::codec)?;
        if let Some(note) = recorded.and_then(note_from) {
            return Ok(Some(note));
        }
    }
    Ok(None)
}

fn started(log: &dyn EventLog, session: SessionId) -> Result<Option<SessionStarted>, LogError> {
    let Some(raw) = first_event(log, session)? else { return Ok(None) };
    let recorded = raw.decode_as::<SessionEvent>().map_err(LogError::codec)?;
    Ok(recorded.and_then(|recorded| match recorded.event {
        SessionEvent::SessionStarted(started) => Some(started),
        _ => None,
    }))
}
