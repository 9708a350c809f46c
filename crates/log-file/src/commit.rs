//! Group commit: committers that come together share one write and one sync.
//!
//! There is no writer thread. Committers gather in batches ([`crate::queue`]), and the first of each leads: it places
//! each commit alone (a refused one fails alone), writes them as one group, syncs once, publishes, and answers. The
//! next group is written only after this one is synced.
//!
//! # A panic
//! Should leading a group panic, those in the group are answered with an error, and the process may only read from
//! then on as after a failed write; the leader of the next group goes on, to be told so.
//!
//! # Commits that do not wait
//! Their frames are written in order, as the beginning of the group that the next sync closes, and answered at
//! once. This process sees them at once, for what a call has returned every later call sees; other processes see
//! them once they are durable, for `published` moves with a sync only. They become durable with the next
//! commit that waits, when a segment is full, when a few megabytes are unsynced, or when the log is dropped.
//!
//! # After a failed write
//! Nobody knows what is on the disk. The sync is never tried again (the system may have dropped the data and would
//! call it a success), nothing more is acknowledged, and the process may only read. The next one to open the store
//! finds the acknowledged commits, and perhaps some of the others, each whole.

use std::collections::BTreeMap;
use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, MutexGuard};
use segue_event::{Position, SessionId};
use segue_log::{ClaimKey, Head, LogError, Placed, PreparedCommit, Wait};

use crate::lock::Manners;
use crate::queue::{Answer, Batch, Queue, Role};
use crate::store::Store;
use crate::tail::{Failure, Rest, Sync, Tail};
use crate::turns;
use crate::upkeep;
use crate::view::View;

/// Those that want to commit, and the end of the log that one of them at a time writes to.
#[derive(Debug, Default)]
pub(crate) struct Committers {
    shared: Arc<Shared>,
}

/// What committers share with the thread that gives the lock back.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    queue: Queue,
    writer: Mutex<Writer>,
    /// Makes the next leader panic.
    #[cfg(test)]
    trap: AtomicBool,
}

/// A commit's number in its group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Ticket(usize);

/// The right to write, in every state it can be in.
#[derive(Debug)]
pub(crate) enum Writer {
    /// The lock is free for others.
    Idle(Box<Rest>),
    Open(Box<Tail>),
    /// The lock is kept until the log is dropped.
    Failed {
        reason: String,
        _tail: Option<Box<Tail>>,
    },
}

impl Default for Writer {
    fn default() -> Self {
        Self::Idle(Box::default())
    }
}

impl Committers {
    /// Commits, together with whoever else wants to.
    pub(crate) fn commit(&self, store: &Arc<Store>, commit: PreparedCommit) -> Answer {
        let member = self.shared.queue.join(commit);
        if let Role::Leader { after } = &member.role {
            after.iter().for_each(|before| before.wait());
            self.lead(store, &member.batch);
        }
        member.wait()
    }

    /// Makes everything durable that was written without waiting, and gives the store free.
    pub(crate) fn close(&self, store: &Store) {
        let mut writer = self.shared.writer.lock();
        writer.give_back(store, Manners::AtOnce);
        // Where that failed nobody is left to be told: none of these commits was promised to be durable.
        *writer = Writer::Failed { reason: "the log is closed".to_owned(), _tail: None };
    }

    /// Seals what this process wrote, and compresses all that is sealed. Does nothing if it wrote nothing.
    pub(crate) fn settle(&self, store: &Arc<Store>) -> Result<(), LogError> {
        let mut writer = self.shared.writer.lock();
        if matches!(&*writer, Writer::Idle(rest) if !rest.has_written()) {
            return Ok(());
        }
        match writer.ready(&self.shared, store)?.seal(store) {
            Ok(()) => {}
            Err(Failure::NoRoom(error)) => return Err(error),
            Err(Failure::Broken(reason)) => return Err(writer.fail(reason)),
        }
        drop(writer);
        upkeep::settle(store)
    }

    fn lead(&self, store: &Arc<Store>, batch: &Batch) {
        let commits = batch.close();
        let guard = LedBatch { shared: &self.shared, batch, commits: commits.len() };
        let mut answers = self.write_group(store, commits);
        answers.sort_by_key(|(ticket, _)| *ticket);
        guard.batch.answer(|| answers.into_iter().map(|(_, answer)| answer).collect());
    }

    fn write_group(&self, store: &Arc<Store>, batch: Vec<PreparedCommit>) -> Vec<(Ticket, Answer)> {
        let mut writer = self.shared.writer.lock();
        let tail = match writer.ready(&self.shared, store) {
            Ok(tail) => tail,
            Err(error) => return (0..batch.len()).map(|index| (Ticket(index), Err(error.clone()))).collect(),
        };
        #[cfg(test)]
        assert!(!self.shared.trap.load(std::sync::atomic::Ordering::Relaxed), "a trap was sprung");
        let Placing { accepted, refused, sync, .. } = Placing::place_all(&store.known(), batch);
        let mut answers = refused;
        if accepted.is_empty() {
            return answers;
        }
        let frames: Vec<&Placed> = accepted.iter().map(|(_, placed)| placed).collect();
        let error = match tail.write(store, &frames, sync) {
            Ok(()) => None,
            Err(Failure::NoRoom(error)) => Some(error),
            Err(Failure::Broken(reason)) => Some(writer.fail(reason)),
        };
        drop(writer);
        store.subscribers.wake();
        answers.extend(
            accepted
                .into_iter()
                .map(|(ticket, placed)| (ticket, error.clone().map_or(Ok(placed.committed), Err))),
        );
        answers
    }
}

impl Shared {
    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock()
    }

    /// None while a group is under way.
    pub(crate) fn writer_if_free(&self) -> Option<MutexGuard<'_, Writer>> {
        self.writer.try_lock()
    }
}

/// A batch while it is led. However that ends, everybody in it is answered.
struct LedBatch<'a> {
    shared: &'a Shared,
    batch: &'a Batch,
    commits: usize,
}

impl Drop for LedBatch<'_> {
    fn drop(&mut self) {
        self.batch.answer(|| {
            let error = self.shared.writer.lock().fail("writing a commit panicked".to_owned());
            vec![Err(error); self.commits]
        });
    }
}

impl Writer {
    fn ready(&mut self, shared: &Arc<Shared>, store: &Arc<Store>) -> Result<&mut Tail, LogError> {
        if let Self::Idle(rest) = self {
            let mut tail = Box::new(Tail::open(store, rest)?);
            turns::watch(shared, store, &mut tail);
            *self = Self::Open(tail);
        }
        match self {
            Self::Open(tail) => Ok(tail),
            Self::Failed { reason, .. } => Err(LogError::read_only(reason.as_str())),
            Self::Idle(_) => Err(LogError::read_only("the log is closed")),
        }
    }

    pub(crate) fn tail(&self) -> Option<&Tail> {
        match self {
            Self::Open(tail) => Some(tail),
            Self::Idle(_) | Self::Failed { .. } => None,
        }
    }

    /// Lets other processes write, once everything is durable that this one wrote.
    pub(crate) fn give_back(&mut self, store: &Store, manners: Manners) {
        if let Self::Open(tail) = self {
            match tail.flush(store) {
                Ok(()) => {}
                // A flush makes no room.
                Err(Failure::NoRoom(_)) => return,
                Err(Failure::Broken(reason)) => {
                    self.fail(reason);
                    return;
                }
            }
        }
        *self = match std::mem::take(self) {
            Self::Open(tail) => Self::Idle(Box::new(tail.end_turn(store, manners))),
            other => other,
        };
    }

    fn fail(&mut self, reason: String) -> LogError {
        let error = LogError::read_only(reason.as_str());
        let tail = match std::mem::take(self) {
            Self::Open(tail) => Some(tail),
            Self::Failed { _tail, .. } => _tail,
            Self::Idle(_) => None,
        };
        *self = Self::Failed { reason, _tail: tail };
        error
    }
}

/// Commits of a group that find their place one after the other.
struct Placing {
    next: Position,
    heads: BTreeMap<SessionId, Head>,
    claims: BTreeMap<ClaimKey, Position>,
    accepted: Vec<(Ticket, Placed)>,
    refused: Vec<(Ticket, Answer)>,
    sync: Sync,
}

impl Placing {
    fn place_all(view: &View, batch: Vec<PreparedCommit>) -> Self {
        let mut placing = Self {
            next: view.end.next,
            heads: BTreeMap::new(),
            claims: BTreeMap::new(),
            accepted: Vec::new(),
            refused: Vec::new(),
            sync: Sync::Later,
        };
        batch.into_iter().enumerate().for_each(|(index, commit)| placing.place(view, Ticket(index), commit));
        placing
    }

    fn place(&mut self, view: &View, ticket: Ticket, commit: PreparedCommit) {
        let wait = commit.wait();
        let placed = commit.place(
            self.next,
            |session| Ok(self.heads.get(&session).copied().or_else(|| view.head(session))),
            |key| Ok(self.claims.get(key).or_else(|| view.claims.get(key)).copied()),
        );
        match placed {
            Ok(placed) => self.accept(ticket, wait, placed),
            Err(error) => self.refused.push((ticket, Err(error))),
        }
    }

    fn accept(&mut self, ticket: Ticket, wait: Wait, placed: Placed) {
        let first = placed.committed.first;
        self.next = placed.committed.last.next();
        self.heads.extend(
            placed.committed.extents.iter().map(|e| (e.session, Head { seq: e.range.to, hash: e.head })),
        );
        self.claims.extend(placed.claims.iter().map(|key| (key.clone(), first)));
        if wait == Wait::Durable {
            self.sync = Sync::Now;
        }
        self.accepted.push((ticket, placed));
    }
}

#[cfg(test)]
mod tests;
