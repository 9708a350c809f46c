//! Group commit: committers that come together share one write and one sync.
//!
//! There is no writer thread. The first committer to come leads: it takes all that wait, places each commit alone
//! (a refused one fails alone), writes them as one group, syncs once, publishes, and answers. Those that come
//! meanwhile wait, and one of them leads the next group, which is written only after this one is synced.
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

use parking_lot::{Condvar, Mutex};
use segue_event::{Position, SessionId};
use segue_log::{ClaimKey, Committed, Head, LogError, Placed, PreparedCommit, Wait};

use crate::limits::GROUP_BYTES_MAX;
use crate::store::Store;
use crate::tail::{Failure, Sync, Tail};
use crate::upkeep::{Reach, look_after};
use crate::view::View;

/// Those that want to commit, and the end of the log that one of them at a time writes to.
#[derive(Debug, Default)]
pub(crate) struct Committers {
    queue: Mutex<Queue>,
    answered: Condvar,
    writer: Mutex<Writer>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Request>,
    answers: BTreeMap<Ticket, Answer>,
    next: Ticket,
    leader: Leader,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Leader {
    #[default]
    None,
    Writing,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Ticket(u64);

type Answer = Result<Committed, LogError>;

#[derive(Debug)]
struct Request {
    ticket: Ticket,
    commit: PreparedCommit,
}

#[derive(Debug, Default)]
enum Writer {
    /// Nothing was written yet; the lock is free for others.
    #[default]
    Idle,
    Open(Box<Tail>),
    /// The lock is kept until the log is dropped.
    Failed {
        reason: String,
        _tail: Box<Tail>,
    },
}

impl Committers {
    /// Commits, together with whoever else wants to.
    pub(crate) fn commit(&self, store: &Arc<Store>, commit: PreparedCommit) -> Answer {
        let mut queue = self.queue.lock();
        let ticket = queue.enter(commit);
        loop {
            if let Some(answer) = queue.answers.remove(&ticket) {
                return answer;
            }
            if queue.leader == Leader::Writing {
                self.answered.wait(&mut queue);
                continue;
            }
            queue.leader = Leader::Writing;
            let batch = queue.take_batch();
            drop(queue);
            let answers = self.lead(store, batch);
            queue = self.queue.lock();
            queue.answers.extend(answers);
            queue.leader = Leader::None;
            self.answered.notify_all();
        }
    }

    /// Makes everything durable that was written without waiting, and gives the store free.
    pub(crate) fn close(&self, store: &Store) {
        if let Writer::Open(mut tail) = std::mem::take(&mut *self.writer.lock()) {
            // Nobody is left to be told: none of these commits was promised to be durable.
            drop(tail.flush(store));
        }
    }

    /// Seals what this process wrote, and compresses all that is sealed. Does nothing if it wrote nothing.
    pub(crate) fn settle(&self, store: &Arc<Store>) -> Result<(), LogError> {
        let mut writer = self.writer.lock();
        let Writer::Open(tail) = &mut *writer else { return Ok(()) };
        match tail.seal(store) {
            Ok(()) => {}
            Err(Failure::NoRoom(error)) => return Err(error),
            Err(Failure::Broken(reason)) => return Err(writer.fail(reason)),
        }
        // The writer is held meanwhile, so that the thread that keeps segments up is not at the same ones: it has
        // been stopped, and is started again afterwards.
        tail.without_upkeep(store, || {
            let never = AtomicBool::new(false);
            look_after(store, Reach::Everything, &never)
        })
        .map_err(|error| LogError::io("compressing sealed segments", error))
    }

    fn lead(&self, store: &Arc<Store>, batch: Vec<Request>) -> Vec<(Ticket, Answer)> {
        let mut writer = self.writer.lock();
        let tail = match writer.ready(store) {
            Ok(tail) => tail,
            Err(error) => return batch.iter().map(|request| (request.ticket, Err(error.clone()))).collect(),
        };
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

impl Queue {
    fn enter(&mut self, commit: PreparedCommit) -> Ticket {
        let ticket = self.next;
        self.next = Ticket(ticket.0 + 1);
        self.waiting.push_back(Request { ticket, commit });
        ticket
    }

    /// Those at the front of the queue, up to the size of a group; at least one.
    fn take_batch(&mut self) -> Vec<Request> {
        let mut bytes = 0;
        let mut batch = Vec::new();
        while bytes < GROUP_BYTES_MAX
            && let Some(request) = self.waiting.pop_front()
        {
            bytes += request.commit.body_bytes();
            batch.push(request);
        }
        batch
    }
}

impl Writer {
    fn ready(&mut self, store: &Arc<Store>) -> Result<&mut Tail, LogError> {
        if matches!(self, Self::Idle) {
            *self = Self::Open(Box::new(Tail::open(store)?));
        }
        match self {
            Self::Open(tail) => Ok(tail),
            Self::Failed { reason, .. } => Err(LogError::read_only(reason.as_str())),
            Self::Idle => Err(LogError::read_only("the log is closed")),
        }
    }

    fn fail(&mut self, reason: String) -> LogError {
        let error = LogError::read_only(reason.as_str());
        if let Self::Open(tail) = std::mem::take(self) {
            *self = Self::Failed { reason, _tail: tail };
        }
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
    fn place_all(view: &View, batch: Vec<Request>) -> Self {
        let mut placing = Self {
            next: view.end.next,
            heads: BTreeMap::new(),
            claims: BTreeMap::new(),
            accepted: Vec::new(),
            refused: Vec::new(),
            sync: Sync::Later,
        };
        batch.into_iter().for_each(|request| placing.place(view, request));
        placing
    }

    fn place(&mut self, view: &View, Request { ticket, commit }: Request) {
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
mod tests {
    use std::fs::{File, OpenOptions};

    use segue_event::{Author, Message, Role, Timestamp};
    use segue_log::{Commit, Expected, LogErrorKind, NewEvent};

    use super::*;
    use crate::layout::Layout;
    use crate::options::Options;

    struct Fixture {
        folder: tempfile::TempDir,
        store: Arc<Store>,
        committers: Committers,
    }

    impl Fixture {
        /// A store with one commit of this process in it.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let fixture = Self { store: store_in(&folder), folder, committers: Committers::default() };
            fixture.commit("hello").unwrap();
            fixture
        }

        fn commit(&self, text: &str) -> Answer {
            self.committers.commit(&self.store, prepared(text))
        }

        fn exchange_file(&self, file: File) -> File {
            match &mut *self.committers.writer.lock() {
                Writer::Open(tail) => tail.exchange_file(file),
                other => panic!("{other:?}"),
            }
        }

        /// How many events there are for this process, and for another.
        fn seen(&self) -> (u64, u64) {
            let next = |store: &Store| store.view().unwrap().end.next.get() - 1;
            (next(&self.store), next(&store_in(&self.folder)))
        }

        fn close_and_reopen(self) -> Self {
            self.committers.close(&self.store);
            Self { store: store_in(&self.folder), folder: self.folder, committers: Committers::default() }
        }
    }

    fn store_in(folder: &tempfile::TempDir) -> Arc<Store> {
        Arc::new(Store::new(Layout::new(folder.path().join("store")), Options::default()))
    }

    fn prepared(text: &str) -> PreparedCommit {
        let message = NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, text));
        let session = SessionId::from_bytes([1; 16]);
        PreparedCommit::new(Commit::new().append(session, Expected::AtHead, vec![message])).unwrap()
    }

    #[test]
    fn after_a_failed_write_nothing_is_acknowledged_until_the_log_is_opened_again() {
        let fixture = Fixture::new();
        let read_only = File::open("/dev/null").unwrap();
        let file = fixture.exchange_file(read_only);
        assert_eq!(fixture.commit("lost").unwrap_err().kind(), LogErrorKind::ReadOnly);
        assert_eq!(fixture.commit("lost too").unwrap_err().kind(), LogErrorKind::ReadOnly);
        assert_eq!(fixture.seen(), (1, 1), "what was acknowledged can be read");
        drop(file);
        let fixture = fixture.close_and_reopen();
        assert_eq!(fixture.commit("again").unwrap().first.get(), 2);
    }

    #[test]
    fn what_could_not_be_synced_is_neither_published_nor_acknowledged() {
        let fixture = Fixture::new();
        // It takes every write, and cannot be synced.
        let file = fixture.exchange_file(OpenOptions::new().write(true).open("/dev/null").unwrap());
        for _ in 0..2 {
            assert_eq!(fixture.commit("lost").unwrap_err().kind(), LogErrorKind::ReadOnly);
            assert_eq!(fixture.seen(), (1, 1));
        }
        drop(file);
        let fixture = fixture.close_and_reopen();
        assert_eq!(fixture.commit("again").unwrap().first.get(), 2);
        assert_eq!(fixture.seen(), (2, 2));
    }

    #[test]
    fn without_room_a_commit_is_refused_and_the_next_one_goes_on() {
        let fixture = Fixture::new();
        // It has no blocks that could be allocated.
        let file = fixture.exchange_file(OpenOptions::new().write(true).open("/dev/null").unwrap());
        let error = fixture.commit(&"x".repeat(3_000_000)).unwrap_err();
        assert_ne!(error.kind(), LogErrorKind::ReadOnly, "{error}");
        fixture.exchange_file(file);
        assert_eq!(fixture.commit("small").unwrap().first.get(), 2);
        assert_eq!(fixture.commit(&"x".repeat(3_000_000)).unwrap().first.get(), 3);
        assert_eq!(fixture.seen(), (3, 3));
    }
}
