//! Group commit: committers that come together share one write and one sync.
//!
//! There is no writer thread. The first committer to come leads: it takes all that wait, places each commit alone
//! (a refused one fails alone), writes them as one group, syncs once, publishes, and answers. Those that come
//! meanwhile wait, and the first of them leads the next group, which is written only after this one is synced.
//! Each committer waits on a seat of its own, so that it is woken once, when there is something for it to do; a lone
//! committer never waits.
//!
//! # A panic
//! Should leading a group panic, those in the group are answered with an error, the process may only read from then
//! on as after a failed write, and the next in line takes over to be told so.
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

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, Thread};

use parking_lot::{Mutex, MutexGuard};
use segue_event::{Position, SessionId};
use segue_log::{ClaimKey, Committed, Head, LogError, Placed, PreparedCommit, Wait};

use crate::limits::GROUP_BYTES_MAX;
use crate::lock::Manners;
use crate::store::Store;
use crate::tail::{Failure, Rest, Sync, Tail};
use crate::turns;
use crate::upkeep::{Reach, look_after};
use crate::view::View;

/// Those that want to commit, and the end of the log that one of them at a time writes to.
#[derive(Debug, Default)]
pub(crate) struct Committers {
    shared: Arc<Shared>,
}

/// What committers share with the thread that gives the lock back.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    queue: Mutex<Queue>,
    writer: Mutex<Writer>,
    /// Makes the next leader panic.
    #[cfg(test)]
    trap: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Request>,
    leader: Leader,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Leader {
    #[default]
    None,
    Writing,
}

/// A commit's number in its group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Ticket(usize);

type Answer = Result<Committed, LogError>;

#[derive(Debug)]
struct Request {
    commit: PreparedCommit,
    seat: Arc<Seat>,
}

/// Where one committer waits for its turn or its answer.
#[derive(Debug)]
struct Seat {
    called: Mutex<Option<Call>>,
    thread: Thread,
}

/// What a committer is woken for.
#[derive(Debug)]
enum Call {
    /// It leads the next group, its own commit among it.
    Lead,
    Answer(Answer),
}

impl Seat {
    fn new() -> Self {
        Self { called: Mutex::new(None), thread: thread::current() }
    }

    fn call(&self, call: Call) {
        *self.called.lock() = Some(call);
        self.thread.unpark();
    }

    fn wait(&self) -> Call {
        loop {
            if let Some(call) = self.called.lock().take() {
                return call;
            }
            thread::park();
        }
    }
}

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
        let seat = Arc::new(Seat::new());
        let leader = self.shared.queue.lock().enter(commit, &seat);
        let mut call = match leader {
            Leader::None => Call::Lead,
            Leader::Writing => seat.wait(),
        };
        loop {
            match call {
                Call::Answer(answer) => return answer,
                Call::Lead => self.lead(store),
            }
            call = seat.wait();
        }
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
        // The writer is held meanwhile, so that the thread that keeps segments up is not at the same ones: it has
        // been stopped, and is started again afterwards.
        let settled = writer.ready(&self.shared, store)?.without_upkeep(|| {
            let never = AtomicBool::new(false);
            look_after(store, Reach::Everything, &never)
        });
        settled.map_err(|error| LogError::io("compressing sealed segments", error))
    }

    fn lead(&self, store: &Arc<Store>) {
        let (batch, seats) = self.shared.queue.lock().take_batch();
        let mut group = LedGroup { shared: &self.shared, seats };
        let answers = self.write_group(store, batch);
        for (ticket, answer) in answers {
            group.answer(ticket, answer);
        }
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

/// A group while it is led. However that ends, everybody in it is answered, and the next in line leads.
struct LedGroup<'a> {
    shared: &'a Shared,
    /// By ticket; none where it was answered.
    seats: Vec<Option<Arc<Seat>>>,
}

impl LedGroup<'_> {
    fn answer(&mut self, Ticket(index): Ticket, answer: Answer) {
        if let Some(seat) = self.seats.get_mut(index).and_then(Option::take) {
            seat.call(Call::Answer(answer));
        }
    }
}

impl Drop for LedGroup<'_> {
    fn drop(&mut self) {
        let unanswered: Vec<_> = self.seats.iter_mut().filter_map(Option::take).collect();
        if !unanswered.is_empty() {
            let error = self.shared.writer.lock().fail("writing a commit panicked".to_owned());
            unanswered.iter().for_each(|seat| seat.call(Call::Answer(Err(error.clone()))));
        }
        let mut queue = self.shared.queue.lock();
        match queue.waiting.front() {
            Some(next) => next.seat.call(Call::Lead),
            None => queue.leader = Leader::None,
        }
    }
}

impl Queue {
    /// Joins those who wait; answers who leads, and makes the new one the leader if nobody does.
    fn enter(&mut self, commit: PreparedCommit, seat: &Arc<Seat>) -> Leader {
        self.waiting.push_back(Request { commit, seat: Arc::clone(seat) });
        std::mem::replace(&mut self.leader, Leader::Writing)
    }

    /// Those at the front of the queue, up to the size of a group; at least one.
    fn take_batch(&mut self) -> (Vec<PreparedCommit>, Vec<Option<Arc<Seat>>>) {
        let mut bytes = 0;
        let (mut commits, mut seats) = (Vec::new(), Vec::new());
        while bytes < GROUP_BYTES_MAX
            && let Some(Request { commit, seat }) = self.waiting.pop_front()
        {
            bytes += commit.body_bytes();
            commits.push(commit);
            seats.push(Some(seat));
        }
        (commits, seats)
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
