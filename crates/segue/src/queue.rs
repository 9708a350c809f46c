//! The queue of runs, as a host works it off.

use std::time::Duration;

use segue_continuation::{RunBoard, RunPhase, RunState};
use segue_event::{
    AgentId, Event, Fold as _, LeaseTaken, Position, RunEnded, RunEvent, RunId, RunOutcome, SessionId,
    SessionStarted, Title, TitleSource,
};
use segue_log::{Commit, EventLogExt as _, EventStream, Expected, NewEvent};

use crate::contention::until_first;
use crate::error::Detail;
use crate::fresh::{Asking, ModelCheck};
use crate::limits::ATTEMPTS_MAX;
use crate::sending::given_up;
use crate::standing::Standing;
use crate::turn::requeue;
use crate::workspace::session_state;
use crate::{ContinuedSession, Error, Freshened, Setup, Turn, WhyInPlace, Workspace};

/// The runs of a workspace, followed as they come.
///
/// Any number of hosts can take up runs from one queue: each attempt of a run is started once. Only the host that took
/// the lease last recovers runs whose host is gone, and only when it is told to.
pub struct RunQueue<'w> {
    workspace: &'w Workspace,
    stream: EventStream<RunEvent>,
    board: RunBoard,
}

/// What became of runs whose hosts were gone.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recovered {
    /// Those that were queued again.
    pub requeued: Vec<RunId>,
    /// Those that had been tried as often as a run is.
    pub failed: Vec<RunId>,
    /// The fresh sessions that were armed and started only now.
    pub started: Vec<ContinuedSession>,
    /// The sessions that go on themselves, because a fresh one that was armed could not be started any more, and why.
    pub kept: Vec<(SessionId, WhyInPlace)>,
}

impl Workspace {
    /// The queue of runs.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn queue(&self) -> Result<RunQueue<'_>, Error> {
        let stream = self.log.follow(Position::FIRST)?;
        let mut queue = RunQueue { workspace: self, stream, board: RunBoard::default() };
        queue.catch_up()?;
        Ok(queue)
    }
}

impl<'w> RunQueue<'w> {
    /// Takes up the next run: interactive ones first, then those that were queued earlier. None if there is none.
    ///
    /// # Errors
    /// If no run can be taken up, and one of them because of a failure: a session that cannot be read holds up no other.
    pub fn take(&mut self, setup: &Setup) -> Result<Option<Turn<'w>>, Error> {
        self.catch_up()?;
        let mut first_failure = None;
        for (_, run) in self.board.startable() {
            match self.workspace.turn(run.session, setup) {
                Ok(Some(turn)) => return Ok(Some(turn)),
                // Another host may have been faster.
                Ok(None) => {}
                Err(error) => first_failure = first_failure.or(Some(error)),
            }
        }
        first_failure.map_or(Ok(None), Err)
    }

    /// Waits until something happened to some run, at most for a time; whether anything did.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn wait(&mut self, patience: Duration) -> Result<bool, Error> {
        match self.stream.wait(patience)? {
            Some(recorded) => {
                self.board.apply(&recorded);
                self.catch_up()?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The runs that are not over, as they were at the last look.
    pub fn board(&self) -> &RunBoard {
        &self.board
    }

    /// Takes over the queue for a host, from whoever had it.
    ///
    /// # Errors
    /// If the log failed.
    pub fn take_lease(&mut self, host: &str) -> Result<(), Error> {
        until_first(lease_session(), || self.try_to_take_lease(host))
    }

    /// Queues again every run that a host other than the lease's holder was at work on; call it when they are gone.
    ///
    /// A run keeps its id and what it has done. Whatever its old host still sends is refused. Fresh sessions that were
    /// armed and not started yet are started now, each once and within its time; of others it is told.
    ///
    /// # Errors
    /// If another host has the lease, or the log failed.
    pub fn recover(&mut self, host: &str) -> Result<Recovered, Error> {
        self.catch_up()?;
        if self.board.lease() != Some(host) {
            return Err(Detail::NotLeaseHolder(self.board.lease().unwrap_or("nobody").to_owned()).into());
        }
        let mut recovered = Recovered::default();
        self.recover_armed(&mut recovered)?;
        let lost: Vec<_> = self
            .board
            .running()
            .filter(|(_, _, at_work)| *at_work != host)
            .map(|(id, run, at_work)| (id, run.session, at_work.to_owned()))
            .collect();
        for (run, session, at_work) in lost {
            self.recover_run(run, session, &at_work, &mut recovered)?;
        }
        self.catch_up()?;
        Ok(recovered)
    }

    /// Finishes each fresh session that was armed, while there is time; first, for their runs go on there.
    fn recover_armed(&mut self, recovered: &mut Recovered) -> Result<(), Error> {
        let armed: Vec<_> = self.board.armed().collect();
        for session in armed {
            let mut standing = Standing::of(&*self.workspace.log, session)?;
            match self.workspace.pick_up(&mut standing, &Asking::of_host(ModelCheck::Settled))? {
                Some(Freshened::Switched(continued)) => recovered.started.push(continued),
                Some(Freshened::InPlace(why)) => recovered.kept.push((session, why)),
                None => {}
            }
        }
        self.catch_up()
    }

    fn recover_run(
        &self,
        id: RunId,
        session: SessionId,
        at_work: &str,
        recovered: &mut Recovered,
    ) -> Result<(), Error> {
        let log = &*self.workspace.log;
        let head = log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let state = session_state(log, session)?.ok_or(Detail::SessionNotFound(session))?;
        // By now it may be over, wait, or be at work again.
        let is_lost = |run: &&RunState| matches!(&run.phase, RunPhase::Running { host } if host == at_work);
        let Some(run) = state.runs.get(&id).filter(is_lost) else { return Ok(()) };
        let now = self.workspace.host.now();
        let (events, list) = if run.attempt < ATTEMPTS_MAX {
            (vec![requeue(id, run, run.attempt + 1).into()], &mut recovered.requeued)
        } else {
            let outcome = RunOutcome::Failed(format!("its host was gone {ATTEMPTS_MAX} times"));
            let next = || RunId::v7(now, self.workspace.host.random());
            (given_up(&state, head.seq, RunEnded { run: id, outcome }, next), &mut recovered.failed)
        };
        let events = events.into_iter().map(|event| NewEvent { time: now, event }).collect();
        match log.commit(Commit::new().append(session, Expected::after(head.seq), events)) {
            Ok(_) => list.push(id),
            // It is not gone after all, or another host was faster.
            Err(error) if error.kind() == segue_log::LogErrorKind::WrongSeq => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn try_to_take_lease(&mut self, host: &str) -> Result<(), Error> {
        let log = &*self.workspace.log;
        let session = lease_session();
        let head = log.head(session)?;
        let now = self.workspace.host.now();
        let new = |event| NewEvent { time: now, event };
        let mut events: Vec<NewEvent> = Vec::new();
        if head.is_none() {
            events.push(new(lease_session_started()?));
        }
        events.push(new(LeaseTaken { host: host.to_owned() }.into()));
        let expected = head.map_or(Expected::first(), |head| Expected::after(head.seq));
        log.commit(Commit::new().append(session, expected, events))?;
        self.catch_up()
    }

    fn catch_up(&mut self) -> Result<(), Error> {
        while let Some(recorded) = self.stream.ready()? {
            self.board.apply(&recorded);
        }
        Ok(())
    }
}

/// The session in which leases stand: the same in every workspace, and in no list.
pub(crate) fn lease_session() -> SessionId {
    SessionId::v8(&blake3::hash(b"segue: the queue of runs"))
}

fn lease_session_started() -> Result<Event, Error> {
    let agent = AgentId::new("segue").map_err(|_| Detail::SessionNotFound(lease_session()))?;
    let title = Title { text: "The queue of runs".to_owned(), source: TitleSource::Fallback };
    Ok(SessionStarted {
        agent,
        title,
        description: String::new(),
        working_directory: String::new(),
        model: None,
        plan: None,
        edge: None,
        import: None,
    }
    .into())
}
