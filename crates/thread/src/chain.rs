//! A session, its predecessor, and so on to the origin.

use std::collections::BTreeSet;

use segue_event::{ContinuationEvent, Edge, SeqRange, SessionId};
use segue_log::{Direction, EventLog, LogError};

use crate::ThreadError;
use crate::error::Detail;

/// A session and its ancestors, newest first. A delegated task begins a chain of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain(Vec<SessionId>);

/// Answers with the edge into a session, wherever it is looked up.
pub type EdgeLookup<'a> = &'a dyn Fn(SessionId) -> Result<Option<Edge>, ThreadError>;

impl Chain {
    /// The most sessions that a chain can have; a longer one is an error, never cut.
    pub const SESSIONS_MAX: usize = 1_000_000;

    /// Walks from a session to its origin, by the first event of each.
    ///
    /// # Errors
    /// If there is no such session, the chain has more than [`Self::SESSIONS_MAX`], or the log cannot be read.
    pub fn of(log: &dyn EventLog, session: SessionId) -> Result<Self, ThreadError> {
        if log.head(session)?.is_none() {
            return Err(Detail::SessionNotFound(session).into());
        }
        Self::walk(session, &|at| Ok(edge_into(log, at)?))
    }

    /// Walks from a session to its origin. A cycle, which no writer of ours makes, ends the walk.
    ///
    /// # Errors
    /// As `edge_into` has them, and if there are more than [`Self::SESSIONS_MAX`] sessions.
    pub fn walk(session: SessionId, edge_into: EdgeLookup<'_>) -> Result<Self, ThreadError> {
        let mut chain = vec![session];
        let mut seen = BTreeSet::from([session]);
        let mut at = session;
        while let Some(edge) = edge_into(at)?
            && edge.handover().is_some()
            && seen.insert(edge.predecessor)
        {
            if chain.len() == Self::SESSIONS_MAX {
                return Err(Detail::ChainTooLong(session).into());
            }
            at = edge.predecessor;
            chain.push(at);
        }
        Ok(Self(chain))
    }

    /// Sessions that are searched in this order as if they were a chain.
    pub fn of_sessions(sessions: impl IntoIterator<Item = SessionId>) -> Self {
        Self(sessions.into_iter().collect())
    }

    /// The sessions, newest first.
    pub fn sessions(&self) -> &[SessionId] {
        &self.0
    }
}

/// The edge through which a session came from its predecessor, from its first event.
///
/// # Errors
/// If the log cannot be read.
pub fn edge_into(log: &dyn EventLog, session: SessionId) -> Result<Option<Edge>, LogError> {
    let first = SeqRange::one(segue_event::Seq::FIRST);
    let Some(raw) = log.read(session, first, Direction::Forward)?.next().transpose()? else {
        return Ok(None);
    };
    let recorded = raw.decode_as::<ContinuationEvent>().map_err(LogError::codec)?;
    Ok(recorded.map(|recorded| {
        let ContinuationEvent::Continued(edge) = recorded.event;
        *edge
    }))
}
