//! A session, its predecessor, and so on to the origin.

use std::collections::BTreeSet;

use segue_event::{ContinuationEvent, Edge, Seq, SeqRange, SessionId, Transition};
use segue_log::{EventLog, LogError, first_event};

use crate::ThreadError;
use crate::error::Detail;

/// A session and its ancestors, newest first. A delegated task begins a chain of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain(Vec<ChainLink>);

/// One session of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChainLink {
    /// The session.
    pub session: SessionId,
    /// The newest of its events that belongs to the chain: where it was forked, what came later does not.
    pub up_to: Seq,
}

impl ChainLink {
    /// A session with all its events.
    pub const fn whole(session: SessionId) -> Self {
        Self { session, up_to: SeqRange::ALL.to }
    }

    /// What comes before, by the edge into this session; none if that edge begins a chain.
    fn before(&self, edge: &Edge) -> Option<Self> {
        match edge.transition {
            Transition::Continue(_) | Transition::Fresh(_) => Some(Self::whole(edge.predecessor)),
            Transition::Fork => {
                Some(Self { session: edge.predecessor, up_to: self.up_to.min(edge.predecessor_head.seq) })
            }
            Transition::Delegate(_) => None,
        }
    }
}

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
        let mut at = ChainLink::whole(session);
        let mut chain = vec![at];
        let mut seen = BTreeSet::from([session]);
        while let Some(before) = edge_into(at.session)?.and_then(|edge| at.before(&edge))
            && seen.insert(before.session)
        {
            if chain.len() == Self::SESSIONS_MAX {
                return Err(Detail::ChainTooLong(session).into());
            }
            at = before;
            chain.push(at);
        }
        Ok(Self(chain))
    }

    /// Sessions that are searched in this order as if they were a chain.
    pub fn of_sessions(sessions: impl IntoIterator<Item = SessionId>) -> Self {
        Self(sessions.into_iter().map(ChainLink::whole).collect())
    }

    /// Sessions, or parts of them, that are searched as if they were a chain.
    pub const fn of_links(links: Vec<ChainLink>) -> Self {
        Self(links)
    }

    /// The sessions with what of each belongs to the chain, newest first.
    pub fn links(&self) -> &[ChainLink] {
        &self.0
    }

    /// The sessions, newest first.
    pub fn sessions(&self) -> impl ExactSizeIterator<Item = SessionId> {
        self.0.iter().map(|link| link.session)
    }
}

/// The edge through which a session came from its predecessor, from its first event.
///
/// # Errors
/// If the log cannot be read.
pub fn edge_into(log: &dyn EventLog, session: SessionId) -> Result<Option<Edge>, LogError> {
    let Some(raw) = first_event(log, session)? else { return Ok(None) };
    let recorded = raw.decode_as::<ContinuationEvent>().map_err(LogError::codec)?;
    Ok(recorded.and_then(|recorded| recorded.event.into_edge()).map(|edge| *edge))
}
