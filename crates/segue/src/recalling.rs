//! Recall inside a scope.

use std::collections::BTreeSet;
use std::path::Path;

use segue_event::{
    Kind, KindSet, Position, RawEvent, RunEvent, Seq, SeqRange, SessionEvent, SessionId, TranscriptEvent,
};
use segue_log::{Case, Direction, LogError, Sieve, Sift, Sifted, Stretch, read_through};
use segue_thread::{
    Answer, Budget, Chain, ChainLink, Cursor, Fetched, Query, Tail, TextPlace, Window, before_boundary,
    edge_into, fetch, recall,
};

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
        let Searched { chain, left_out } = self.sessions_within(within, cursor)?;
        let mut answer = recall(&*self.log, &chain, query, budget, cursor)?;
        answer.coverage.threads += left_out;
        answer.coverage.complete &= left_out == 0;
        Ok(answer)
    }

    /// The last entries before the newest compaction of a session, or else before it was continued from its predecessor;
    /// none if there is neither.
    ///
    /// # Errors
    /// If there is no such session in the scope, or the log cannot be read.
    pub fn before_boundary(
        &self,
        session: SessionId,
        count: usize,
        bytes_max: usize,
    ) -> Result<Option<Tail>, Error> {
        Ok(before_boundary(&*self.log, &self.chain(session)?, count, bytes_max)?)
    }

    /// Fetches entries in full, piece by piece.
    ///
    /// # Errors
    /// If there is no such session in the scope, no such entry or byte, or the log cannot be read.
    pub fn fetch(&self, window: Window, from: Option<TextPlace>, bytes_max: usize) -> Result<Fetched, Error> {
        self.check(window.thread)?;
        Ok(fetch(&*self.log, window, from, bytes_max)?)
    }

    /// Finds an entry of an imported session by the file, or the last parts of its path, and the entry's own id there;
    /// of several that fit the one that was imported last.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn find_imported(&self, file: &str, entry: &str) -> Result<Option<(SessionId, Seq)>, Error> {
        let sessions = self.listings(None, usize::MAX)?.into_iter().map(|listing| listing.session);
        let stretch = |session| Stretch { session, range: SeqRange::ALL };
        let starts = look(file, sessions.map(stretch).collect(), KindSet::one(Kind::SessionStarted));
        for found in self.log.sift(&starts)? {
            let Sifted::Event(raw) = found? else { continue };
            if is_imported_from(&raw, file)?
                && let Some(seq) = self.find_entry(raw.header.session, entry)?
            {
                return Ok(Some((raw.header.session, seq)));
            }
        }
        Ok(None)
    }

    fn find_entry(&self, session: SessionId, entry: &str) -> Result<Option<Seq>, LogError> {
        let stretch = Stretch { session, range: SeqRange::ALL };
        for found in self.log.sift(&look(entry, vec![stretch], KindSet::of::<TranscriptEvent>()))? {
            let Sifted::Event(raw) = found? else { continue };
            let recorded = raw.decode_as::<TranscriptEvent>().map_err(LogError::codec)?;
            let provenance = recorded.as_ref().and_then(|recorded| recorded.event.provenance());
            if provenance.is_some_and(|provenance| provenance.original_id == entry) {
                return Ok(Some(raw.header.seq));
            }
        }
        Ok(None)
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

    fn sessions_within(&self, within: Where, cursor: Option<Cursor>) -> Result<Searched, Error> {
        // A search that goes on takes in the sessions that were there when it began, and no later ones.
        let before = || match cursor {
            Some(cursor) => Ok(Some(cursor.up_to().next())),
            None => self.log.end().map(|end| end.map(Position::next)),
        };
        let chain = match within {
            Where::Thread(session) => {
                self.check(session)?;
                Chain::of_sessions([session])
            }
            Where::Chain(session) => self.chain(session)?,
            Where::WithTasks(session) => return self.with_tasks(&self.chain(session)?, before()?),
            Where::Everywhere => {
                let listings = self.listings(before()?, usize::MAX)?;
                Chain::of_sessions(listings.into_iter().map(|listing| listing.session))
            }
        };
        Ok(Searched { chain, left_out: 0 })
    }

    /// Adds the sessions of the tasks that were delegated from those of a chain, at most [`TASKS_SEARCHED_MAX`]. Of those
    /// beyond that the tasks are not even counted.
    fn with_tasks(&self, chain: &Chain, before: Option<Position>) -> Result<Searched, Error> {
        let mut links = chain.links().to_vec();
        let mut known: BTreeSet<SessionId> = chain.sessions().collect();
        let (mut next, mut left_out) = (0, 0);
        while let Some(link) = links.get(next).copied() {
            next += 1;
            for child in self.tasks_of(link, before)? {
                if !known.insert(child) || !self.is_inside(child)? {
                    continue;
                }
                if links.len() < TASKS_SEARCHED_MAX + chain.links().len() {
                    links.push(ChainLink::whole(child));
                } else {
                    left_out += 1;
                }
            }
        }
        Ok(Searched { chain: Chain::of_links(links), left_out })
    }

    fn tasks_of(&self, link: ChainLink, before: Option<Position>) -> Result<Vec<SessionId>, LogError> {
        let kinds = KindSet::one(Kind::ChildDelegated);
        let range = SeqRange::up_to(link.up_to);
        let mut tasks = Vec::new();
        for raw in read_through(&*self.log, link.session, range, Direction::Forward, kinds)? {
            let raw = raw?;
            if before.is_some_and(|before| raw.position >= before) {
                continue;
            }
            let recorded = raw.decode_as::<RunEvent>().map_err(LogError::codec)?;
            if let Some(RunEvent::ChildDelegated(delegated)) = recorded.map(|recorded| recorded.event) {
                tasks.push(delegated.child);
            }
        }
        Ok(tasks)
    }
}

/// The sessions that are searched.
struct Searched {
    chain: Chain,
    /// How many belong to them, and are not searched.
    left_out: usize,
}

/// The search for events that hold a text, newest first.
fn look(text: &str, stretches: Vec<Stretch>, kinds: KindSet) -> Sift {
    let sieve = Sieve::holding(text.as_bytes(), Case::Sensitive);
    let (from, to) = (Position::FIRST, Position::FIRST.plus(u64::MAX));
    Sift { stretches, from, to, direction: Direction::Backward, kinds, sieve }
}

fn is_imported_from(raw: &RawEvent, file: &str) -> Result<bool, LogError> {
    let recorded = raw.decode_as::<SessionEvent>().map_err(LogError::codec)?;
    let Some(SessionEvent::SessionStarted(started)) = recorded.map(|recorded| recorded.event) else {
        return Ok(false);
    };
    Ok(started.import.is_some_and(|import| Path::new(&import.path).ends_with(file)))
}
