//! Recall inside a scope.

use std::collections::BTreeSet;

use segue_event::{Position, RunEvent, SeqRange, SessionId};
use segue_log::{Direction, LogError, read_through};
use segue_thread::{Answer, Budget, Chain, ChainLink, Cursor, Query, edge_into, recall};

use crate::limits::TASKS_SEARCHED_MAX;
use crate::{Error, Reader};

/// Which sessions are searched, as far as the scope of the reader reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// One session alone.
    Thread(SessionId),
    /// A session and its ancestors.
    Chain(SessionId),
    /// The same, and the sessions of tasks that were delegated from them, and from those.
    WithTasks(SessionId),
    /// Every session.
    Everywhere,
}

impl Reader {
    /// Finds text, verbatim, and says how far was looked.
    ///
    /// # Errors
    /// If there is no such session in the scope, the cursor is not one of this search, or the log cannot be read.
    pub fn recall(
        &self,
        within: Where,
        query: &Query,
        budget: &Budget<'_>,
        cursor: Option<Cursor>,
    ) -> Result<Answer, Error> {
        let chain = self.sessions_within(within, cursor)?;
        Ok(recall(&*self.log, &chain, query, budget, cursor)?)
    }

    /// A session and its ancestors, as far as the scope reaches.
    ///
    /// # Errors
    /// If there is no such session in the scope, or the log cannot be read.
    pub fn chain(&self, session: SessionId) -> Result<Chain, Error> {
        self.check(session)?;
        let edge_within = |at| match edge_into(&*self.log, at)? {
            Some(edge) if self.is_inside(edge.predecessor)? => Ok(Some(edge)),
            _ => Ok(None),
        };
        Ok(Chain::walk(session, &edge_within)?)
    }

    fn sessions_within(&self, within: Where, cursor: Option<Cursor>) -> Result<Chain, Error> {
        match within {
            Where::Thread(session) => {
                self.check(session)?;
                Ok(Chain::of_sessions([session]))
            }
            Where::Chain(session) => self.chain(session),
            Where::WithTasks(session) => self.with_tasks(&self.chain(session)?),
            Where::Everywhere => {
                // A search that goes on takes in the sessions that were there when it began, and no later ones.
                let before = match cursor {
                    Some(cursor) => Some(cursor.up_to().next()),
                    None => self.log.end()?.map(Position::next),
                };
                let listings = self.listings(before, usize::MAX)?;
                Ok(Chain::of_sessions(listings.into_iter().map(|listing| listing.session)))
            }
        }
    }

    /// Adds the sessions of the tasks that were delegated from those of a chain, at most [`TASKS_SEARCHED_MAX`].
    fn with_tasks(&self, chain: &Chain) -> Result<Chain, Error> {
        let mut links = chain.links().to_vec();
        let mut known: BTreeSet<SessionId> = chain.sessions().collect();
        let mut next = 0;
        while let Some(link) = links.get(next).copied() {
            next += 1;
            for child in self.tasks_of(link)? {
                if links.len() < TASKS_SEARCHED_MAX + chain.links().len()
                    && known.insert(child)
                    && self.is_inside(child)?
                {
                    links.push(ChainLink::whole(child));
                }
            }
        }
        Ok(Chain::of_links(links))
    }

    fn tasks_of(&self, link: ChainLink) -> Result<Vec<SessionId>, LogError> {
        let kinds = segue_event::KindSet::one(segue_event::Kind::ChildDelegated);
        let range = SeqRange::up_to(link.up_to);
        let mut tasks = Vec::new();
        for raw in read_through(&*self.log, link.session, range, Direction::Forward, kinds)? {
            let recorded = raw?.decode_as::<RunEvent>().map_err(LogError::codec)?;
            if let Some(RunEvent::ChildDelegated(delegated)) = recorded.map(|recorded| recorded.event) {
                tasks.push(delegated.child);
            }
        }
        Ok(tasks)
    }
}
