//! Committers that come together, gathered into batches.
//!
//! Whoever finds no batch that still gathers begins one and leads it: waits until the batch before it is answered,
//! closes its own, writes it, and answers everybody in it at once. So a batch gathers for as long as the one before
//! it is written, and a lone committer never waits. One wake-up reaches all who wait for the same batch, its members
//! as well as the leader of the next; a wake-up for each, one after the other, was measured to cost more than
//! the sync.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use segue_log::{Committed, LogError, PreparedCommit};

use crate::limits::GROUP_BYTES_MAX;

pub(crate) type Answer = Result<Committed, LogError>;

/// The batches under way.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The batch that was begun last; it may be answered already.
    newest: Option<Arc<Batch>>,
}

/// Commits that share one write and one sync.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    gathered: Mutex<Gathered>,
    /// By number of the commit; there from when the batch is over.
    answers: OnceLock<Vec<Answer>>,
}

#[derive(Debug, Default)]
struct Gathered {
    commits: Vec<PreparedCommit>,
    bytes: usize,
    door: Door,
}

/// Whether a batch takes more commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Door {
    #[default]
    Open,
    Closed,
}

/// A committer's place in a batch.
pub(crate) struct Member {
    pub(crate) batch: Arc<Batch>,
    number: usize,
    pub(crate) role: Role,
}

/// What a committer has to do for its batch.
pub(crate) enum Role {
    /// It writes the batch, once the one before it is over.
    Leader {
        after: Option<Arc<Batch>>,
    },
    Follower,
}

impl Queue {
    /// Joins the batch that gathers, or begins one.
    pub(crate) fn join(&self, commit: PreparedCommit) -> Member {
        let mut state = self.state.lock();
        let commit = match &state.newest {
            Some(batch) => match batch.gathered.lock().take_in(commit) {
                Ok(number) => return Member { batch: Arc::clone(batch), number, role: Role::Follower },
                Err(commit) => commit,
            },
            None => commit,
        };
        let batch = Arc::new(Batch::beginning_with(commit));
        let after = state.newest.replace(Arc::clone(&batch));
        Member { batch, number: 0, role: Role::Leader { after } }
    }
}

impl Batch {
    fn beginning_with(commit: PreparedCommit) -> Self {
        let gathered = Gathered { bytes: commit.body_bytes(), commits: vec![commit], door: Door::Open };
        Self { gathered: Mutex::new(gathered), answers: OnceLock::new() }
    }

    /// Ends the gathering; only for the leader.
    pub(crate) fn close(&self) -> Vec<PreparedCommit> {
        let mut gathered = self.gathered.lock();
        gathered.door = Door::Closed;
        std::mem::take(&mut gathered.commits)
    }

    /// Answers every member, once; only for the leader.
    pub(crate) fn answer(&self, answers: impl FnOnce() -> Vec<Answer>) {
        self.answers.get_or_init(answers);
    }

    /// Waits until the batch is over.
    pub(crate) fn wait(&self) {
        self.answers.wait();
    }
}

impl Member {
    /// Waits for the answer.
    pub(crate) fn wait(&self) -> Answer {
        let answer = self.batch.answers.wait().get(self.number);
        answer.cloned().unwrap_or_else(|| Err(LogError::read_only("a commit was not answered")))
    }
}

impl Gathered {
    /// Takes in one more commit and tells its number, or gives it back.
    fn take_in(&mut self, commit: PreparedCommit) -> Result<usize, PreparedCommit> {
        if self.door == Door::Closed || self.bytes >= GROUP_BYTES_MAX {
            return Err(commit);
        }
        self.bytes += commit.body_bytes();
        self.commits.push(commit);
        Ok(self.commits.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use segue_event::{Author, Message, Position, Role as Speaker, SessionId, Timestamp};
    use segue_log::{Commit, Expected, NewEvent};

    use super::*;

    fn commit(bytes: usize) -> PreparedCommit {
        let message = Message::text(Speaker::User, Author::User, "x".repeat(bytes));
        let event = NewEvent::new(Timestamp::default(), message);
        PreparedCommit::new(Commit::new().append(
            SessionId::from_bytes([1; 16]),
            Expected::AtHead,
            vec![event],
        ))
        .unwrap()
    }

    fn leader(member: &Member) -> &Option<Arc<Batch>> {
        match &member.role {
            Role::Leader { after } => after,
            Role::Follower => panic!("not a leader"),
        }
    }

    fn committed(at: u64) -> Answer {
        let position = Position::new(at).unwrap();
        Ok(Committed { first: position, last: position, extents: Vec::new() })
    }

    #[test]
    fn those_who_come_while_a_batch_is_written_share_the_next_one() {
        let queue = Queue::default();
        let lone = queue.join(commit(1));
        assert!(leader(&lone).is_none(), "nobody is waited for");
        assert_eq!(lone.batch.close().len(), 1);
        let (next, follower) = (queue.join(commit(2)), queue.join(commit(3)));
        assert!(leader(&next).as_ref().is_some_and(|before| Arc::ptr_eq(before, &lone.batch)));
        assert!(matches!(follower.role, Role::Follower) && Arc::ptr_eq(&follower.batch, &next.batch));
        lone.batch.answer(|| vec![committed(1)]);
        lone.batch.wait();
        let bytes: Vec<_> = next.batch.close().iter().map(PreparedCommit::body_bytes).collect();
        assert_eq!(bytes.len(), 2);
        assert!(bytes.is_sorted(), "in the order in which they came");
        next.batch.answer(|| vec![committed(2), Err(LogError::empty())]);
        assert_eq!(lone.wait().unwrap().first.get(), 1);
        assert_eq!(next.wait().unwrap().first.get(), 2);
        assert!(follower.wait().is_err());
    }

    #[test]
    fn a_full_batch_takes_nobody_in_and_waits_for_the_one_before() {
        let queue = Queue::default();
        let (first, second) = (queue.join(commit(GROUP_BYTES_MAX)), queue.join(commit(1)));
        assert!(leader(&second).as_ref().is_some_and(|before| Arc::ptr_eq(before, &first.batch)));
        assert_eq!((first.batch.close().len(), second.batch.close().len()), (1, 1));
    }

    #[test]
    fn a_batch_is_answered_once() {
        let queue = Queue::default();
        let member = queue.join(commit(1));
        member.batch.answer(|| vec![committed(7)]);
        member.batch.answer(|| vec![Err(LogError::empty())]);
        assert_eq!(member.wait().unwrap().first.get(), 7);
    }
}
