//! Going on from an earlier point of a session, and going back to one.

use segue_continuation::PlanSituation;
use segue_event::{
    ContinuationId, Edge, EdgeKind, Event, EventRef, Initiator, KindSet, Plan, RunEnded, RunOutcome, Seq,
    SeqRange, SessionId, SessionStarted, Transition, WentBack,
};
use segue_log::{Commit, Direction, Expected, FORKS_MAX, Head, LogError, NewEvent, read_through, stretches};

use crate::contention::until_first;
use crate::error::Detail;
use crate::successors::{edge_claimed, next_successor, successors};
use crate::workspace::{session_state, session_state_up_to};
use crate::{Error, Workspace, claims};

impl Workspace {
    /// Makes a session that holds another's events up to one of them, by reference, and goes on behind it.
    ///
    /// Its own events are numbered from there on. Nothing is copied, and the other session stays as it is. The same
    /// request, an id that the caller chose, gets the same fork.
    ///
    /// # Errors
    /// If there is no such session or event, it is the last of [`FORKS_MAX`] in a row, others kept
    /// forking it, or the log failed.
    pub fn fork(&self, session: SessionId, at: Seq, request: &str) -> Result<SessionId, Error> {
        let initiator = Initiator::Person { request: request.to_owned() };
        until_first(session, || match self.forked(session, &initiator)? {
            Some(fork) => Ok(fork),
            None => self.try_to_fork(session, at, &initiator),
        })
    }

    /// Goes back from a session to the one that it goes on from, and says so on the edge between them.
    ///
    /// Runs of the session that are not over are cancelled. Nothing is deleted: both sessions can be read, and written
    /// to, as before. Whoever went back already has done so.
    ///
    /// # Errors
    /// If there is no such session, it goes on from no other, it kept changing, or the log failed.
    pub fn go_back(&self, session: SessionId, note: &str) -> Result<SessionId, Error> {
        until_first(session, || self.try_to_go_back(session, note))
    }

    fn try_to_go_back(&self, session: SessionId, note: &str) -> Result<SessionId, Error> {
        let head = self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let state = session_state(&*self.log, session)?.ok_or(Detail::SessionNotFound(session))?;
        let edge = state.edge.filter(|edge| edge.kind() != EdgeKind::Delegate);
        let edge = edge.ok_or(Detail::NotContinued(session))?;
        if state.went_back.is_none() {
            let open = state.runs.iter().filter(|(_, run)| !run.is_over());
            let cancelled =
                open.map(|(run, _)| RunEnded { run: *run, outcome: RunOutcome::Cancelled }.into());
            let went = WentBack { note: note.to_owned() }.into();
            let now = self.host.now();
            let events = std::iter::once(went).chain(cancelled);
            let events = events.map(|event: Event| NewEvent { time: now, event }).collect();
            self.log.commit(Commit::new().append(session, Expected::after(head.seq), events))?;
        }
        Ok(edge.predecessor)
    }

    fn try_to_fork(&self, session: SessionId, at: Seq, initiator: &Initiator) -> Result<SessionId, Error> {
        let log = &*self.log;
        let base = self.event_at(session, at)?;
        if stretches(log, session, SeqRange::up_to(at))?.len() >= FORKS_MAX {
            return Err(Detail::TooManyForks(session).into());
        }
        let state = session_state_up_to(log, session, at)?.ok_or(Detail::SessionNotFound(session))?;
        let successors = successors(log, session)?;
        let before = successors.iter().map(|(_, edge)| edge).filter(|edge| edge.predecessor_head.seq <= at);
        let is_open = state.plan_situation(before) == PlanSituation::Open;
        // The fork's own run adopts it; what was handed over or closed by then stays so.
        let plan =
            state.plan.as_ref().filter(|_| is_open).map(|(_, plan)| Plan { owner: None, ..plan.clone() });
        let now = self.host.now();
        let fork = SessionId::v7(now, self.host.random());
        let edge = Edge {
            continuation: ContinuationId::v7(now, self.host.random()),
            predecessor: session,
            predecessor_title: state.title.text.clone(),
            predecessor_head: base,
            origin: state.edge.as_ref().map_or(session, |edge| edge.origin),
            initiator: initiator.clone(),
            created_at: now,
            transition: Transition::Fork,
        };
        let started = SessionStarted {
            agent: state.agent,
            title: state.title,
            description: state.description,
            working_directory: state.working_directory,
            model: state.model,
            plan,
            edge: Some(Box::new(edge)),
            import: None,
        };
        let behind = Expected::Behind(Head { seq: base.seq, hash: base.event });
        let commit = Commit::new()
            .append(fork, behind, vec![NewEvent::new(now, started)])
            .claim(claims::fork(session, initiator)?)
            .claim(next_successor(log, session)?);
        log.commit(commit)?;
        Ok(fork)
    }

    /// The event of a session at a place, which may stand in the session that it was forked from.
    fn event_at(&self, session: SessionId, seq: Seq) -> Result<EventRef, Error> {
        self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let range = SeqRange::one(seq);
        let raw = read_through(&*self.log, session, range, Direction::Forward, KindSet::ALL)?.next();
        let raw = raw.transpose()?.ok_or(Detail::EventNotFound(session, seq))?;
        Ok(EventRef { seq, event: raw.header.hash })
    }

    /// The fork that a request made of a session.
    fn forked(&self, session: SessionId, initiator: &Initiator) -> Result<Option<SessionId>, LogError> {
        let edge = edge_claimed(&*self.log, &claims::fork(session, initiator)?)?;
        Ok(edge.map(|(fork, _)| fork))
    }
}
