//! One run of an agent on a session: what to ask the model, what it said, and what comes next.
//!
//! A [`Turn`] does no I/O with models and tools. Its host asks the model with [`Turn::prompt`], gives back what it
//! said with [`Turn::record`], runs the tools that the answer names, and gives back their results with
//! [`Turn::answer`]. Whatever is given to a turn is durable when the call returns. After a crash the run is taken up
//! again by [`Workspace::turn`], once it was queued again.

mod builtin;
mod known;
mod noted;
mod obligations;
mod recalling;
mod room;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use segue_continuation::{Batch, RunPhase, RunState};
use segue_event::{
    Block, CallRef, CallSite, Event, ResultStatus, RunEnded, RunId, RunOutcome, RunQueued, RunStarted,
    SessionId, ToolCall, ToolResult, Usage,
};
use segue_log::{Commit, Committed, Expected, LogErrorKind, NewEvent};
use segue_prompt::{
    ContextMeter, PartName, Prompt, ReceiptFor, SYSTEM_PART, ToolContract, continue_session, recall_tools,
    tools,
};

use crate::error::Detail;
use crate::limits::{ATTEMPTS_MAX, TRIES_MAX};
use crate::sending::{given_up, taken_messages};
use crate::{Asker, Error, Note, Outcome, Said, ToolCaller, Workspace};
pub(crate) use known::Known;
use obligations::TaskResults;
pub(crate) use obligations::{Surroundings, blocks};
pub use step::{FreshPolicy, HostCall, Setup, Step, Tasks, ToolOutput};

/// One run of an agent on a session.
pub struct Turn<'w> {
    workspace: &'w Workspace,
    session: SessionId,
    run: RunId,
    attempt: u32,
    setup: Setup,
    known: Known,
    phase: Phase,
    check: Option<ResultCheck<'w>>,
    /// The note of the session that this one goes on from, while it has none of its own.
    inherited: Option<Note>,
}

/// Whether a JSON value fits a JSON Schema, both as text; the error says to the model what does not.
pub type ResultCheck<'w> = Box<dyn Fn(&str, &str) -> Result<(), String> + Send + 'w>;

/// Where a turn is.
enum Phase {
    /// The model can be asked.
    Ready,
    /// Results of tools are awaited.
    Calling(CallBatch),
    /// It is over.
    Over,
}

/// The calls of one answer that have no result yet.
#[derive(Default)]
struct CallBatch {
    open: BTreeMap<CallSite, ToolCall>,
    /// Calls of the verb, which come when all others are answered.
    continues: Vec<(CallSite, ToolCall)>,
}

impl Workspace {
    /// Takes up the run of a session that is next: queued, or waiting for tasks that are over now. None if there is
    /// none, or another one is at work in the session.
    ///
    /// # Errors
    /// If there is no such session, a tool of the host has the name of another or of a built-in one, or the log failed.
    pub fn turn(&self, session: SessionId, setup: &Setup) -> Result<Option<Turn<'_>>, Error> {
        check_names(&setup.tools)?;
        for _ in 0..TRIES_MAX {
            let head = self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
            let known = Known::up_to(&*self.log, session, head)?.ok_or(Detail::SessionNotFound(session))?;
            let Some((run, attempt)) = self.next_run(&known)? else { return Ok(None) };
            let mut turn = Turn {
                workspace: self,
                session,
                run,
                attempt,
                setup: setup.clone(),
                known,
                phase: Phase::Ready,
                check: None,
                inherited: self.inherited_note(session)?,
            };
            match turn.start() {
                Ok(()) => return Ok(Some(turn)),
                Err(error) if error.is_contention() => {}
                Err(error) => return Err(error),
            }
        }
        Err(Detail::Contended { session, tries: TRIES_MAX }.into())
    }

    /// The run of a session that can be started: interactive ones first, then the older ones. None while another is at
    /// work there, for two would cut off each other's calls.
    fn next_run(&self, known: &Known) -> Result<Option<(RunId, u32)>, Error> {
        let is_at_work = |run: &RunState| matches!(run.phase, RunPhase::Running { .. });
        if known.state.runs.values().any(is_at_work) {
            return Ok(None);
        }
        let mut startable = Vec::new();
        for (id, run) in &known.state.runs {
            let can_start = match run.phase {
                RunPhase::Queued => true,
                // A message wakes it, whatever its tasks do; they are waited for again afterwards.
                RunPhase::Waiting if !known.state.waiting_messages.is_empty() => true,
                RunPhase::Waiting => crate::continuing::parked_children(&*self.log, Some(run))? == 0,
                RunPhase::Running { .. } | RunPhase::Ended(_) => false,
            };
            if can_start {
                startable.push((run.lane, *id, run.attempt));
            }
        }
        startable.sort();
        Ok(startable.first().map(|(_, run, attempt)| (*run, *attempt)))
    }
}

impl<'w> Turn<'w> {
    /// Lets a result that the run owes be recorded only if a check takes it: schema first, then value.
    ///
    /// Any library for JSON Schema will do. Without a check, every JSON value is taken, and it is for whoever delegated
    /// the task to look at it.
    #[must_use]
    pub fn checking_results(self, check: impl Fn(&str, &str) -> Result<(), String> + Send + 'w) -> Self {
        Self { check: Some(Box::new(check)), ..self }
    }
}

impl Turn<'_> {
    /// The session.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// How full the model's context is; none while nobody knows.
    pub fn context(&self) -> Option<ContextMeter> {
        meter(self.known.usage.as_ref(), self.setup.window_tokens)
    }

    /// What the model is to be given now. Its receipt is recorded, and durable with whatever is recorded next.
    ///
    /// Messages that came while the run was at work are taken into the transcript first. A note of what was in progress
    /// when the context was compacted stands at the end of the prompts of the run that answers the user's next message.
    ///
    /// # Errors
    /// If the turn is over, waits for results of tools, or was taken from it; or the log failed.
    pub fn prompt(&mut self) -> Result<Prompt, Error> {
        self.check_ready()?;
        self.take_waiting_messages()?;
        self.be_given_note()?;
        let prompt = self.render()?;
        let about = ReceiptFor {
            run: self.run,
            attempt: self.attempt,
            model: self.setup.model.clone(),
            window_tokens: self.setup.window_tokens,
            through: self.known.head.seq,
        };
        let receipt = prompt.receipt(&about, self.known.transcript.digest());
        self.keep_fixed_parts(&prompt)?;
        self.commit_when(Commit::without_waiting, |_| Ok(vec![receipt.clone().into()]))?;
        // Beside the call of a model this is nothing; at the switch it would be waited for.
        self.workspace.worth.keep_up(&*self.workspace.log, &self.known.state, self.known.head.seq)?;
        Ok(prompt)
    }

    /// Keeps what is the same for every prompt of a host.
    fn keep_fixed_parts(&self, prompt: &Prompt) -> Result<(), Error> {
        let is_fixed = |name| matches!(name, PartName::System(_) | PartName::Tool(_));
        let mut fixed = prompt.parts().take_while(|part| is_fixed(part.name));
        fixed.try_for_each(|part| Ok(self.workspace.keep(&part.bytes)?))
    }

    /// Records what the model said, runs the built-in tools that it called, and tells what comes next.
    ///
    /// # Errors
    /// As [`Self::prompt`].
    pub fn record(&mut self, said: Said) -> Result<Step, Error> {
        self.check_ready()?;
        let calls = calls_of(&said);
        let message: Event = said.into_message().into();
        if calls.is_empty() {
            let step = self.conclude(&message)?;
            return self.or_fresh(step);
        }
        let committed = self.commit(|_| Ok(vec![message.clone()]))?;
        let Some(seq) = committed.extents.first().map(|extent| extent.range.to) else {
            return Ok(Step::Prompt);
        };
        self.phase = Phase::Calling(CallBatch::default());
        for (block, call) in calls {
            self.dispatch(CallSite { message: seq, block }, call)?;
        }
        self.after_results()
    }

    /// Records the result of one of the host's tools, and tells what comes next.
    ///
    /// # Errors
    /// If that call is not open, or as [`Self::prompt`].
    pub fn answer(&mut self, site: CallSite, output: ToolOutput) -> Result<Step, Error> {
        let Phase::Calling(batch) = &self.phase else { return Err(Detail::NoSuchCall(site).into()) };
        let call = batch.open.get(&site).ok_or(Detail::NoSuchCall(site))?.clone();
        let ToolOutput { status, blocks } = output;
        let result = ToolResult { status, blocks, ..result_of(site, &call) };
        self.commit(|_| Ok(vec![result.clone().into()]))?;
        if let Phase::Calling(batch) = &mut self.phase {
            batch.open.remove(&site);
        }
        self.after_results()
    }

    /// Gives the run up for this time: it is queued again, or has failed if it was tried [`ATTEMPTS_MAX`] times.
    ///
    /// # Errors
    /// If the turn is over, or the log failed.
    pub fn retry(mut self, reason: &str) -> Result<RunPhase, Error> {
        if self.attempt >= ATTEMPTS_MAX {
            let outcome = RunOutcome::Failed(reason.to_owned());
            self.end(outcome.clone())?;
            return Ok(RunPhase::Ended(outcome));
        }
        self.commit(|turn| Ok(turn.requeued().into_iter().collect()))?;
        Ok(RunPhase::Queued)
    }

    /// Ends the run as failed.
    ///
    /// # Errors
    /// If the turn is over, or the log failed.
    pub fn fail(mut self, reason: &str) -> Result<(), Error> {
        self.end(RunOutcome::Failed(reason.to_owned()))
    }

    /// Ends the run because somebody stopped it.
    ///
    /// # Errors
    /// If the turn is over, or the log failed.
    pub fn cancel(mut self) -> Result<(), Error> {
        self.end(RunOutcome::Cancelled)
    }

    fn requeued(&self) -> Option<Event> {
        let run = self.known.run(self.run)?;
        Some(requeue(self.run, run, self.attempt + 1).into())
    }

    fn end(&mut self, outcome: RunOutcome) -> Result<(), Error> {
        let ended = RunEnded { run: self.run, outcome };
        let host = &self.workspace.host;
        let next = || RunId::v7(host.now(), host.random());
        self.commit(|turn| Ok(given_up(&turn.known.state, turn.known.head.seq, ended.clone(), next)))?;
        self.phase = Phase::Over;
        Ok(())
    }

    /// Starts the run, and tells it what became of the tasks that it waited for.
    ///
    /// Where the context is full, the pointer comes first: it would not state what these gave back.
    fn start(&mut self) -> Result<(), Error> {
        let waited = self.known.run(self.run).is_some_and(|run| run.phase == RunPhase::Waiting);
        let results = if waited { self.task_results()? } else { TaskResults::default() };
        let host = self.setup.host.clone();
        let (run, attempt) = (self.run, self.attempt);
        let message = results.message();
        let pointer = if message.is_some() && self.is_full() {
            Some(self.workspace.pointer_to_begin_with(&self.known.state, self.known.head.seq)?.into())
        } else {
            None
        };
        let started = RunStarted { run, attempt, host, told: results.runs };
        let events = pointer.into_iter().chain([started.into()]).chain(message).collect();
        self.try_to_commit(events, std::convert::identity)?;
        Ok(())
    }

    fn check_ready(&self) -> Result<(), Error> {
        match self.phase {
            Phase::Ready => Ok(()),
            Phase::Calling(_) => Err(Detail::ResultsAwaited(self.run).into()),
            Phase::Over => Err(Detail::NoOpenRun(self.run).into()),
        }
    }

    fn take_waiting_messages(&mut self) -> Result<(), Error> {
        self.known.catch_up(&*self.workspace.log)?;
        if self.known.state.waiting_messages.is_empty() {
            return Ok(());
        }
        self.commit(|turn| Ok(taken_messages(&turn.known.state)))?;
        Ok(())
    }

    fn render(&self) -> Result<Prompt, Error> {
        let around = Surroundings::of(self.workspace, &self.known, self.run, self.setup.window_tokens)?;
        let mut system = self.setup.system.clone();
        system.push(SYSTEM_PART.to_owned());
        Ok(Prompt {
            system,
            tools: self.tools(),
            transcript: self.known.transcript.messages().to_vec(),
            blocks: blocks(&self.known, &around, self.run),
        })
    }

    /// The host's tools, then ours: always in the same order, for the sake of caches.
    fn tools(&self) -> Vec<ToolContract> {
        let run = self.known.run(self.run);
        let mut all = self.setup.tools.clone();
        all.extend([
            tools::status(),
            tools::plan(),
            tools::read(),
            recall_tools::recall(),
            recall_tools::recall_get(),
        ]);
        if self.setup.tasks == Tasks::Offered {
            all.push(tools::delegate());
        }
        if obligations::may_continue(run) {
            all.push(continue_session());
        }
        if let Some(schema) = run.and_then(|run| run.result_schema.as_deref()) {
            all.push(tools::return_result(schema));
        }
        all
    }

    /// What comes once a result was recorded: the other calls, the verb, or the model again.
    fn after_results(&mut self) -> Result<Step, Error> {
        let Phase::Calling(batch) = &mut self.phase else { return Ok(Step::Prompt) };
        if !batch.open.is_empty() {
            let open = batch.open.iter().map(|(site, call)| HostCall { site: *site, call: call.clone() });
            return Ok(Step::CallTools(open.collect()));
        }
        let continues = std::mem::take(&mut batch.continues);
        // The first one counts. The later ones are refused before it, for it ends the run.
        for (place, (site, call)) in continues.iter().enumerate().rev() {
            let batch = if place == 0 { Batch::First } else { Batch::AfterContinue };
            if let Outcome::Continued(continued) = self.continue_by(*site, call, batch)? {
                self.phase = Phase::Over;
                return Ok(Step::Continued(continued));
            }
        }
        // Only now has every call its result.
        self.phase = Phase::Ready;
        self.or_fresh(Step::Prompt)
    }

    fn continue_by(&mut self, site: CallSite, call: &ToolCall, batch: Batch) -> Result<Outcome, Error> {
        let call_ref = CallRef { site: Some(site), provider_id: call.provider_id.clone() };
        let asker = Asker::Tool(ToolCaller { run: self.run, attempt: self.attempt, call: call_ref, batch });
        let outcome = self.workspace.continue_session(self.session, &asker, &call.arguments)?;
        self.known.catch_up(&*self.workspace.log)?;
        Ok(outcome)
    }

    /// Commits events to the session for this run, as often as it takes; they are made anew each time.
    fn commit(&mut self, events: impl Fn(&Self) -> Result<Vec<Event>, Error>) -> Result<Committed, Error> {
        self.commit_when(std::convert::identity, events)
    }

    fn commit_when(
        &mut self,
        wait: impl Fn(Commit) -> Commit,
        events: impl Fn(&Self) -> Result<Vec<Event>, Error>,
    ) -> Result<Committed, Error> {
        for _ in 0..TRIES_MAX {
            self.check_own()?;
            let made = events(self)?;
            match self.try_to_commit(made, &wait) {
                Err(error) if error.is_contention() => {}
                other => return other,
            }
        }
        Err(Detail::Contended { session: self.session, tries: TRIES_MAX }.into())
    }

    /// Commits at the head as it is known, and catches up, whatever came of it.
    fn try_to_commit(
        &mut self,
        events: Vec<Event>,
        wait: impl Fn(Commit) -> Commit,
    ) -> Result<Committed, Error> {
        let now = self.workspace.host.now();
        let events = events.into_iter().map(|event| NewEvent { time: now, event }).collect();
        let commit = Commit::new().append(self.session, Expected::after(self.known.head.seq), events);
        let committed = self.workspace.log.commit(wait(commit));
        let is_stale = committed.as_ref().is_err_and(|error| error.kind() == LogErrorKind::WrongSeq);
        if committed.is_ok() || is_stale {
            self.known.catch_up(&*self.workspace.log)?;
        }
        Ok(committed?)
    }

    /// Whether the run is still this turn's: it may have been ended, or taken up by another host.
    fn check_own(&self) -> Result<(), Error> {
        let is_own = self
            .known
            .run(self.run)
            .is_some_and(|run| matches!(run.phase, RunPhase::Running { .. }) && run.attempt == self.attempt);
        if is_own { Ok(()) } else { Err(Detail::NoOpenRun(self.run).into()) }
    }
}

fn check_names(tools: &[ToolContract]) -> Result<(), Error> {
    let mut names: BTreeSet<&str> = tools::RESERVED.into();
    let taken = tools.iter().find(|tool| !names.insert(&tool.name));
    taken.map_or(Ok(()), |tool| Err(Detail::ToolNameTaken(tool.name.clone()).into()))
}

/// The same run, queued again.
pub(crate) fn requeue(run: RunId, state: &RunState, attempt: u32) -> RunQueued {
    RunQueued {
        run,
        lane: state.lane,
        trigger: state.trigger,
        parent: state.parent,
        attempt,
        result_schema: state.result_schema.clone(),
    }
}

pub(crate) fn meter(usage: Option<&Usage>, window_tokens: Option<u64>) -> Option<ContextMeter> {
    ContextMeter::read(usage?, window_tokens?)
}

fn calls_of(said: &Said) -> Vec<(u32, ToolCall)> {
    let calls = (0..).zip(&said.blocks).filter_map(|(at, block)| match block {
        Block::ToolCall(call) => Some((at, call.clone())),
        _ => None,
    });
    calls.collect()
}

fn result_of(site: CallSite, call: &ToolCall) -> ToolResult {
    ToolResult {
        call: CallRef { site: Some(site), provider_id: call.provider_id.clone() },
        tool: call.name.clone(),
        status: ResultStatus::Ok,
        blocks: Vec::new(),
        touched: Vec::new(),
        continuation: None,
        provenance: None,
    }
}
