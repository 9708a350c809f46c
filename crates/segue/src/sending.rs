//! Bringing a message to a session, whatever is going on there.

use segue_continuation::{RunPhase, RunState, SessionState};
use segue_event::{
    Event, Lane, Message, MessageQueued, QueuedMessageTaken, RunEnded, RunId, RunOutcome, RunQueued, Seq,
    SessionId, TakenTo,
};
use segue_log::{Commit, Expected, NewEvent};

use crate::contention::until_first;
use crate::error::Detail;
use crate::turn::requeue;
use crate::workspace::session_state;
use crate::{Error, Workspace};

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// It stands in the transcript, and a run is queued that answers it.
    ToRun(RunId),
    /// A run is at work; it takes the message before its next prompt. If it fails or is cancelled before that, another
    /// run is queued for it.
    Behind(RunId),
}

impl Workspace {
    /// Brings a message to a session: queues a run that answers it, or lets the run take it that is at work.
    ///
    /// A session that was continued can still be written to: that branches.
    ///
    /// # Errors
    /// If there is no such session, it kept changing, or the log failed; then nothing was written.
    pub fn send(&self, session: SessionId, message: &Message, lane: Lane) -> Result<Sent, Error> {
        until_first(session, || self.try_to_send(session, message, lane))
    }

    /// Cancels a run that waits for a host or for tasks that it gave away. One that is at work is cancelled by its turn.
    ///
    /// # Errors
    /// If there is no such session, the run is at work or over, or the log failed.
    pub fn cancel_run(&self, session: SessionId, run: RunId) -> Result<(), Error> {
        until_first(session, || self.try_to_cancel(session, run))
    }

    fn try_to_cancel(&self, session: SessionId, id: RunId) -> Result<(), Error> {
        let head = self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let state = session_state(&*self.log, session)?.ok_or(Detail::SessionNotFound(session))?;
        let waits = |run: &&RunState| matches!(run.phase, RunPhase::Queued | RunPhase::Waiting);
        state.runs.get(&id).filter(waits).ok_or(Detail::NoOpenRun(id))?;
        let ended = RunEnded { run: id, outcome: RunOutcome::Cancelled };
        let events = vec![NewEvent::new(self.host.now(), ended)];
        self.log.commit(Commit::new().append(session, Expected::after(head.seq), events))?;
        Ok(())
    }

    /// Queues a run anew that has failed or was cancelled: another run for the same message. Gives the one that is open
    /// for that message already, if there is one.
    ///
    /// # Errors
    /// If there is no such session, the run is not over or did what it was asked, or the log failed.
    pub fn retry_run(&self, session: SessionId, failed: RunId) -> Result<RunId, Error> {
        until_first(session, || self.try_to_retry(session, failed))
    }

    fn try_to_retry(&self, session: SessionId, failed: RunId) -> Result<RunId, Error> {
        let head = self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let state = session_state(&*self.log, session)?.ok_or(Detail::SessionNotFound(session))?;
        let has_failed = |run: &&RunState| {
            matches!(run.phase, RunPhase::Ended(RunOutcome::Failed(_) | RunOutcome::Cancelled))
        };
        let run = state.runs.get(&failed).filter(has_failed).ok_or(Detail::NotFailed(failed))?;
        let is_again = |(_, other): &(&RunId, &RunState)| !other.is_over() && other.trigger == run.trigger;
        if let Some((again, _)) = state.runs.iter().find(is_again) {
            return Ok(*again);
        }
        let now = self.host.now();
        let again = RunId::v7(now, self.host.random());
        let queued = requeue(again, run, 1);
        let events = vec![NewEvent::new(now, queued)];
        self.log.commit(Commit::new().append(session, Expected::after(head.seq), events))?;
        Ok(again)
    }

    fn try_to_send(&self, session: SessionId, message: &Message, lane: Lane) -> Result<Sent, Error> {
        let head = self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let state = session_state(&*self.log, session)?.ok_or(Detail::SessionNotFound(session))?;
        let at_work = state.runs.iter().find(|(_, run)| {
            matches!(run.phase, RunPhase::Running { .. } | RunPhase::Waiting | RunPhase::Queued)
        });
        let (events, sent) = match at_work {
            Some((run, _)) => (vec![queued_message(message)], Sent::Behind(*run)),
            None => {
                let run = RunId::v7(self.host.now(), self.host.random());
                // What nobody took of earlier messages comes first.
                let mut events = taken_messages(&state);
                events.push(message.clone().into());
                let queued = queued_run(run, lane, newest_message(head.seq, &events));
                events.push(queued.into());
                (events, Sent::ToRun(run))
            }
        };
        let now = self.host.now();
        let events = events.into_iter().map(|event| NewEvent { time: now, event }).collect();
        self.log.commit(Commit::new().append(session, Expected::after(head.seq), events))?;
        Ok(sent)
    }
}

/// The messages that came while a run was at work, as they are taken into the transcript.
pub(crate) fn taken_messages(state: &SessionState) -> Vec<Event> {
    let taken = state.waiting_messages.iter().flat_map(|(seq, waiting)| {
        let taken = QueuedMessageTaken { queued: *seq, to: TakenTo::Turn };
        [Event::from(waiting.message.clone()), taken.into()]
    });
    taken.collect()
}

/// The end of a run that did not come to take the messages behind it: another takes them, which is `next` unless one
/// is open already.
pub(crate) fn given_up(
    state: &SessionState,
    head: Seq,
    ended: RunEnded,
    next: impl FnOnce() -> RunId,
) -> Vec<Event> {
    let is_other = |(id, run): (&RunId, &RunState)| *id != ended.run && !run.is_over();
    let lane = state.runs.get(&ended.run).map_or(Lane::Interactive, |run| run.lane);
    let has_taker = state.waiting_messages.is_empty() || state.runs.iter().any(is_other);
    let mut events = vec![ended.into()];
    if !has_taker {
        events.extend(taken_messages(state));
        events.push(queued_run(next(), lane, newest_message(head, &events)).into());
    }
    events
}

/// Where the newest message among events will stand that come behind `head`.
fn newest_message(head: Seq, events: &[Event]) -> Seq {
    let places = std::iter::successors(Some(head.next()), |seq| Some(seq.next()));
    let messages = places.zip(events).filter(|(_, event)| matches!(event, Event::Message(_)));
    messages.last().map_or(head, |(seq, _)| seq)
}

fn queued_message(message: &Message) -> Event {
    MessageQueued { message: message.clone() }.into()
}

pub(crate) fn queued_run(run: RunId, lane: Lane, trigger: Seq) -> RunQueued {
    RunQueued { run, lane, trigger, parent: None, attempt: 1, result_schema: None }
}
