//! Reading inside a scope.

use std::sync::Arc;

use segue_continuation::{Lineage, SessionState};
use segue_event::{
    AgentId, ContinuationEvent, Event, Fold as _, Kind, KindSet, Message, Position, Recommended, Role, Seq,
    SeqRange, SessionEvent, SessionId,
};
use segue_frame::Entry;
use segue_log::{
    Direction, EventLog, Head, LogError, LogErrorKind, SessionListing, SessionPage, first_event, read_through,
};
use segue_prompt::ContextMeter;
use segue_thread::{Chain, Limit, Page, ThreadError, edge_into, entry, read_range};

use crate::Error;
use crate::error::Detail;
use crate::queue::lease_session;
use crate::recommending::WorthKept;
use crate::turn::meter;
use crate::workspace::{session_state, session_state_up_to};

/// What a caller may read. Whatever lies outside reads as not found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One session and its ancestors.
    Chain(SessionId),
    /// The sessions of one agent.
    Agent(AgentId),
    /// The sessions of one working directory.
    Project(String),
    /// Everything.
    Workspace,
}

/// Reads sessions inside a scope. Reading writes nothing.
pub struct Reader {
    pub(crate) log: Arc<dyn EventLog>,
    worth: Arc<WorthKept>,
    scope: Scope,
}

/// A session as a list shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Overview {
    /// The session.
    pub session: SessionId,
    /// How it stands; none if the record is damaged where that would be told.
    pub state: Option<SessionState>,
    /// Its newest event.
    pub head: Head,
    /// The place of its first event; lists go on from here.
    pub first: Position,
}

impl Reader {
    pub(crate) fn new(log: Arc<dyn EventLog>, worth: Arc<WorthKept>, scope: Scope) -> Self {
        Self { log, worth, scope }
    }

    /// The state of a session.
    ///
    /// # Errors
    /// If there is no such session in the scope, or the log cannot be read.
    pub fn state(&self, session: SessionId) -> Result<SessionState, Error> {
        self.check(session)?;
        Ok(session_state(&*self.log, session)?.ok_or(Detail::SessionNotFound(session))?)
    }

    /// The state of a session as it was behind one of its events.
    ///
    /// Where the session holds that event of another by reference, it is that one's state.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn state_at(&self, session: SessionId, at: Seq) -> Result<SessionState, Error> {
        self.check(session)?;
        Ok(session_state_up_to(&*self.log, session, at)?.ok_or(Detail::SessionNotFound(session))?)
    }

    /// The sessions, newest first: those that began before `before`, at most `limit`.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn sessions(&self, before: Option<Position>, limit: usize) -> Result<Vec<Overview>, Error> {
        let listings = self.listings(before, limit)?;
        listings.into_iter().map(|listing| self.overview(listing)).collect()
    }

    /// The sessions of the log, newest first, without their states; the same pages as [`Self::sessions`] has.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn listings(&self, before: Option<Position>, limit: usize) -> Result<Vec<SessionListing>, Error> {
        let mut inside = Vec::new();
        let mut page = SessionPage { before, limit };
        while inside.len() < limit {
            let listings = self.log.sessions(page)?;
            let Some(last) = listings.last() else { break };
            page.before = Some(last.first);
            for listing in listings {
                // Where the leases of the queue stand is no session of anybody's.
                if listing.session != lease_session() && self.is_inside(listing.session)? {
                    inside.push(listing);
                }
            }
        }
        inside.truncate(limit);
        Ok(inside)
    }

    /// How full the context of a session's model is, by the newest counts of its provider; none while nobody knows: before
    /// the first answer, and if the provider counts nothing or the window is unknown.
    ///
    /// # Errors
    /// If there is no such session in the scope, or the log cannot be read.
    pub fn context(
        &self,
        session: SessionId,
        window_tokens: Option<u64>,
    ) -> Result<Option<ContextMeter>, Error> {
        self.check(session)?;
        let counted = KindSet::one(Kind::Message).with(Kind::ContextCompacted);
        for raw in read_through(&*self.log, session, SeqRange::ALL, Direction::Backward, counted)? {
            match raw?.decode().map_err(LogError::codec)?.event {
                Event::Message(Message { role: Role::Assistant, usage: Some(usage), .. }) => {
                    return Ok(meter(Some(&usage), window_tokens));
                }
                // What was counted before is there no more.
                Event::ContextCompacted(_) => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Entries of a session, page by page.
    ///
    /// # Errors
    /// If there is no such session in the scope, or the log cannot be read.
    pub fn read(&self, session: SessionId, range: SeqRange, limit: Limit) -> Result<Page, Error> {
        self.check(session)?;
        Ok(read_range(&*self.log, session, range, limit)?)
    }

    /// One entry, exactly.
    ///
    /// # Errors
    /// If there is no such session in the scope, no such entry, or the log cannot be read.
    pub fn entry(&self, session: SessionId, seq: Seq) -> Result<Entry, Error> {
        self.check(session)?;
        Ok(entry(&*self.log, session, seq)?)
    }

    /// What of a session is worth citing in a handoff, the best first, judged by its newest
    /// [`LOOK_BACK_EVENTS`](crate::limits::LOOK_BACK_EVENTS) events without a model: corrections and denials, errors,
    /// decisions, changes of files, and what was read back often. These are heuristics for English.
    ///
    /// # Errors
    /// If there is no such session in the scope, or the log cannot be read.
    pub fn recommend(&self, session: SessionId) -> Result<Vec<Recommended>, Error> {
        let state = self.state(session)?;
        let head = self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let mut inside = Vec::new();
        for recommended in self.worth.recommend(&*self.log, &state, head.seq)? {
            if self.is_inside(recommended.thread)? {
                inside.push(recommended);
            }
        }
        Ok(inside)
    }

    /// Every edge of the workspace between sessions of the scope, as far as the record is whole.
    ///
    /// # Errors
    /// If the log cannot be read. Damage is passed over; [`Self::known_damage`] tells of it.
    pub fn lineage(&self) -> Result<Lineage, Error> {
        let end = self.log.end()?.unwrap_or(Position::FIRST);
        self.lineage_at(end)
    }

    /// The same as it was behind a position of the log.
    ///
    /// # Errors
    /// As [`Self::lineage`].
    pub fn lineage_at(&self, at: Position) -> Result<Lineage, Error> {
        let mut lineage = Lineage::new();
        for raw in self.log.read_log(Position::FIRST)? {
            if raw.as_ref().is_ok_and(|raw| raw.position > at) {
                break;
            }
            let recorded = raw.and_then(|raw| raw.decode_as::<ContinuationEvent>().map_err(LogError::codec));
            let Some(recorded) = readable(recorded)?.flatten() else { continue };
            let is_inside = match &recorded.event {
                ContinuationEvent::Continued(edge) => self.is_inside(edge.predecessor)?,
                ContinuationEvent::WentBack(_) => true,
            };
            if is_inside && self.is_inside(recorded.session)? {
                lineage.apply(&recorded);
            }
        }
        Ok(lineage)
    }

    /// The first damage of the record that reading has come across so far.
    pub fn known_damage(&self) -> Option<LogError> {
        self.log.known_damage()
    }

    fn overview(&self, listing: SessionListing) -> Result<Overview, Error> {
        let SessionListing { session, first, head } = listing;
        let state = readable(session_state(&*self.log, session))?.flatten();
        Ok(Overview { session, state, head, first })
    }

    pub(crate) fn check(&self, session: SessionId) -> Result<(), Error> {
        let is_there = self.is_inside(session)? && self.log.head(session)?.is_some();
        if is_there { Ok(()) } else { Err(Detail::SessionNotFound(session).into()) }
    }

    pub(crate) fn is_inside(&self, session: SessionId) -> Result<bool, ThreadError> {
        match &self.scope {
            Scope::Workspace => Ok(true),
            Scope::Agent(agent) => Ok(agent_of(&*self.log, session)?.as_ref() == Some(agent)),
            Scope::Project(folder) => {
                let started = start_of(&*self.log, session)?;
                Ok(started.is_some_and(|started| started.working_directory == *folder))
            }
            Scope::Chain(newest) => {
                let chain = Chain::walk(*newest, &|at| Ok(edge_into(&*self.log, at)?))?;
                Ok(chain.sessions().any(|at| at == session))
            }
        }
    }
}

/// What was read; none where the record is damaged.
fn readable<T>(result: Result<T, LogError>) -> Result<Option<T>, LogError> {
    match result {
        Err(error) if error.kind() == LogErrorKind::Corrupt => Ok(None),
        other => other.map(Some),
    }
}

/// Whose a session is; none if there is no such session.
pub(crate) fn agent_of(log: &dyn EventLog, session: SessionId) -> Result<Option<AgentId>, LogError> {
    Ok(start_of(log, session)?.map(|started| started.agent))
}

fn start_of(log: &dyn EventLog, session: SessionId) -> Result<Option<segue_event::SessionStarted>, LogError> {
    let Some(first) = first_event(log, session)? else { return Ok(None) };
    let recorded = first.decode_as::<SessionEvent>().map_err(LogError::codec)?;
    Ok(recorded.and_then(|recorded| match recorded.event {
        SessionEvent::SessionStarted(started) => Some(started),
        _ => None,
    }))
}
