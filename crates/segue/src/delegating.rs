//! Giving a task to a session of its own.

use segue_continuation::RunState;
use segue_event::{
    Author, ChildDelegated, ContinuationId, Delegation, Edge, Event, EventRef, Lane, Message, Role, RunId,
    RunQueued, Seq, SessionId, SessionStarted, Title, TitleSource, Transition,
};
use segue_log::{Commit, Expected, LogError, NewEvent};

use crate::contention::until_first;
use crate::error::Detail;
use crate::successors::{edge_claimed, next_successor};
use crate::workspace::session_state;
use crate::{Asker, Error, Workspace, claims};

/// A task for a session of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Task {
    /// What is to be done, in words; the child's first message.
    pub text: String,
    /// What the child's session is called.
    pub title: String,
    /// The JSON Schema, as text, of the result that the child owes; none if its last words are enough.
    pub result_schema: Option<String>,
}

/// A task that was given away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delegated {
    /// The session that works on it.
    pub session: SessionId,
    /// The run there, which is queued.
    pub run: RunId,
}

/// Where the task stands in the child, behind its start.
const TASK_SEQ: Seq = Seq::FIRST.next();

impl Workspace {
    /// Gives a task of a run to a session of its own, in one commit: the child with its run, and what the parent knows of it.
    ///
    /// The host decides when the child's run is started; the parent's run waits for it before it ends. The same asker
    /// gets the same child, however often it asks.
    ///
    /// # Errors
    /// If there is no such session or open run, it kept changing, or the log failed; then nothing was created.
    pub fn delegate(
        &self,
        parent: SessionId,
        run: RunId,
        asker: &Asker,
        task: &Task,
    ) -> Result<Delegated, Error> {
        until_first(parent, || match self.delegated(parent, asker)? {
            Some(delegated) => Ok(delegated),
            None => self.try_to_delegate(parent, run, asker, task),
        })
    }

    fn try_to_delegate(
        &self,
        parent: SessionId,
        run: RunId,
        asker: &Asker,
        task: &Task,
    ) -> Result<Delegated, Error> {
        let log = &*self.log;
        let head = log.head(parent)?.ok_or(Detail::SessionNotFound(parent))?;
        let state = session_state(log, parent)?.ok_or(Detail::SessionNotFound(parent))?;
        let is_open = |run: &&RunState| !run.is_over() && asker.speaks_in(run);
        let running = state.runs.get(&run).filter(is_open).ok_or(Detail::NoOpenRun(run))?;
        let now = self.host.now();
        let delegated = Delegated {
            session: SessionId::v7(now, self.host.random()),
            run: RunId::v7(now, self.host.random()),
        };
        let edge = Edge {
            continuation: ContinuationId::v7(now, self.host.random()),
            predecessor: parent,
            predecessor_title: state.title.text.clone(),
            predecessor_head: EventRef { seq: head.seq, event: head.hash },
            origin: delegated.session,
            initiator: asker.initiator(),
            created_at: now,
            transition: Transition::Delegate(Delegation { run: delegated.run, parent: run }),
        };
        let started = SessionStarted {
            agent: state.agent,
            title: Title { text: task.title.clone(), source: TitleSource::Agent },
            description: String::new(),
            working_directory: state.working_directory,
            model: state.model,
            plan: None,
            edge: Some(Box::new(edge)),
            import: None,
        };
        let queued = queued_child(delegated.run, run, running.lane, task);
        let child: [Event; 3] =
            [started.into(), Message::text(Role::User, Author::Agent, &task.text).into(), queued.into()];
        let known = ChildDelegated {
            run,
            child: delegated.session,
            child_run: delegated.run,
            call: asker.call().cloned(),
        };
        let new = |event| NewEvent { time: now, event };
        // The child comes first: whoever finds the claim finds it by the commit's first position.
        let commit = Commit::new()
            .append(delegated.session, Expected::first(), child.map(new).to_vec())
            .append(parent, Expected::after(head.seq), vec![new(known.into())])
            .claim(claims::delegation(parent, &asker.initiator())?)
            .claim(next_successor(log, parent)?);
        log.commit(commit)?;
        Ok(delegated)
    }

    /// The child that an asker made of a session's task.
    fn delegated(&self, parent: SessionId, asker: &Asker) -> Result<Option<Delegated>, LogError> {
        let key = claims::delegation(parent, &asker.initiator())?;
        let child = edge_claimed(&*self.log, &key)?;
        Ok(child.and_then(|(session, edge)| match edge.transition {
            Transition::Delegate(Delegation { run, .. }) => Some(Delegated { session, run }),
            Transition::Continue(_) | Transition::Fresh(_) | Transition::Fork => None,
        }))
    }
}

fn queued_child(run: RunId, parent: RunId, lane: Lane, task: &Task) -> RunQueued {
    RunQueued {
        run,
        lane,
        trigger: TASK_SEQ,
        parent: Some(parent),
        attempt: 1,
        result_schema: task.result_schema.clone(),
    }
}
