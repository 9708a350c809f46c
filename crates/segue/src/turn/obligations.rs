//! What a run is told at the end of every prompt, and what it owes before it ends.

use segue_continuation::{PlanSituation, RunState};
use segue_event::{
    Author, Edge, Event, Message, NoteBody, ObligationsAsked, Role, RunEnded, RunId, RunOutcome, RunWaiting,
};
use segue_prompt::handoff_note::compaction_handoff;
use segue_prompt::{
    Due, MissingAttachment, Owed, TaskResult, context_usage, delegated_result, missing_attachments,
    obligations, plan_state, session_status,
};

use super::{Known, Phase, Step, Turn, meter};
use crate::Error;
use crate::error::Detail;
use crate::limits::{REMINDERS_MAX, TRIES_MAX};
use crate::notes::body_of_note;
use crate::successors::{successors, successors_before};

/// Whether the verb is available to a run: it was neither delegated nor does it owe a typed result.
pub(super) fn may_continue(run: Option<&RunState>) -> bool {
    run.is_some_and(|run| run.parent.is_none() && run.result_schema.is_none())
}

/// What the blocks at the end of a prompt are made from, beside what is known of the session.
pub(crate) struct Surroundings {
    /// The edges to the session's successors up to then.
    pub(crate) edges: Vec<Edge>,
    /// The attachments whose bytes are not there.
    pub(crate) missing: Vec<MissingAttachment>,
    /// The note that was given to the run.
    pub(crate) note: Option<NoteBody>,
    /// How many tokens the model takes.
    pub(crate) window_tokens: Option<u64>,
}

impl Surroundings {
    pub(crate) fn of(
        workspace: &crate::Workspace,
        known: &Known,
        run: RunId,
        window_tokens: Option<u64>,
    ) -> Result<Self, segue_log::LogError> {
        let edges = edges_up_to(workspace, known)?;
        let missing = workspace.missing_in(known.transcript.messages().iter().map(AsRef::as_ref))?;
        let given = known.note_for(run).map(|given| body_of_note(&*workspace.log, given));
        Ok(Self { edges, missing, note: given.transpose()?.flatten(), window_tokens })
    }
}

/// The blocks at the end of a prompt.
pub(crate) fn blocks(known: &Known, around: &Surroundings, run: RunId) -> Vec<String> {
    let Surroundings { edges, missing, note, window_tokens } = around;
    let state = &known.state;
    let mut blocks = Vec::new();
    if let Some((_, plan)) = &state.plan
        && state.plan_situation(edges) == PlanSituation::Open
    {
        blocks.push(plan_state(plan, Some(run)));
    }
    if may_continue(known.run(run))
        && let Some(meter) = meter(known.usage.as_ref(), *window_tokens)
    {
        blocks.push(context_usage(&meter));
    }
    blocks.push(session_status(&state.title.text, &state.description));
    blocks.push(missing_attachments(missing));
    if known.run(run).is_some_and(|run| run.asked > 0) {
        blocks.push(obligations(owed(known, edges, run)));
    }
    blocks.extend(note.as_ref().map(compaction_handoff));
    blocks.retain(|block| !block.is_empty());
    blocks
}

fn owed(known: &Known, edges: &[Edge], id: RunId) -> Owed {
    let due = |is_due| if is_due { Due::Yes } else { Due::No };
    let plan = known.state.plan.as_ref().map(|(_, plan)| plan);
    // A run that is tried again for the same message has another id.
    let trigger = |run| known.run(run).map(|run| run.trigger);
    let is_own =
        |owner: Option<RunId>| owner.is_none_or(|owner| owner == id || trigger(owner) == trigger(id));
    let is_open = known.state.plan_situation(edges) == PlanSituation::Open;
    Owed {
        result: due(known.run(id).is_some_and(RunState::owes_result)),
        plan: due(is_open && plan.is_some_and(|plan| plan.has_open_steps() && is_own(plan.owner))),
    }
}

impl Turn<'_> {
    /// The model calls nothing more: what is owed is asked for, tasks are waited for, and else the run ends, in one
    /// commit with what it said, so that nothing is answered twice.
    pub(super) fn conclude(&mut self, said: &Event) -> Result<Step, Error> {
        for _ in 0..TRIES_MAX {
            self.known.catch_up(&*self.workspace.log)?;
            self.check_own()?;
            let (event, step) = self.conclusion()?;
            let events = std::iter::once(said.clone()).chain(event).collect();
            match self.try_to_commit(events, std::convert::identity) {
                Ok(_) => {
                    self.phase = if step == Step::Prompt { Phase::Ready } else { Phase::Over };
                    return Ok(step);
                }
                // A message may have come: look again.
                Err(error) if error.is_contention() => {}
                Err(error) => return Err(error),
            }
        }
        Err(Detail::Contended { session: self.session, tries: TRIES_MAX }.into())
    }

    fn conclusion(&self) -> Result<(Option<Event>, Step), Error> {
        let run = self.run;
        let state = self.known.run(run);
        if !self.known.state.waiting_messages.is_empty() {
            return Ok((None, Step::Prompt));
        }
        // What is owed may hang on these tasks. One that is done is told when the run is taken up again.
        if state.is_some_and(|run| run.untold().next().is_some()) {
            return Ok((Some(RunWaiting { run }.into()), Step::Parked));
        }
        let successors = successors(&*self.workspace.log, self.session)?;
        let edges: Vec<_> = successors.into_iter().map(|(_, edge)| edge).collect();
        let owed = owed(&self.known, &edges, run);
        if owed.anything() && state.is_some_and(|run| run.asked < REMINDERS_MAX) {
            return Ok((Some(ObligationsAsked { run }.into()), Step::Prompt));
        }
        let outcome = match owed.result {
            Due::No => RunOutcome::Succeeded,
            Due::Yes => RunOutcome::Failed(format!(
                "the run ended without the result that it owes, after {REMINDERS_MAX} reminders"
            )),
        };
        Ok((Some(RunEnded { run, outcome: outcome.clone() }.into()), Step::Done(outcome)))
    }

    /// What became of the tasks that the run was told nothing of yet and that are over; each is told once.
    pub(super) fn task_results(&self) -> Result<TaskResults, Error> {
        let log = &*self.workspace.log;
        let mut results = TaskResults::default();
        for child in self.known.run(self.run).into_iter().flat_map(RunState::untold) {
            let Some(head) = log.head(child.session)? else { continue };
            let Some(known) = Known::up_to(log, child.session, head)? else { continue };
            if known.run(child.run).is_some_and(RunState::is_over) {
                results.runs.push(child.run);
                results.text.push_str(&delegated_result(&task_result(&known, child.run)));
            }
        }
        Ok(results)
    }
}

/// What became of some tasks.
#[derive(Default)]
pub(super) struct TaskResults {
    /// Their runs.
    pub(super) runs: Vec<RunId>,
    text: String,
}

impl TaskResults {
    /// The message that tells them; none if there are none.
    pub(super) fn message(&self) -> Option<Event> {
        let message = Message::text(Role::User, Author::System, self.text.as_str());
        (!self.runs.is_empty()).then(|| message.into())
    }
}

/// The edges to a session's successors that say what became of its plan, as far as they stand before the newest event
/// that is known of it; none are looked for if there is no plan.
///
/// A person continues a session without writing to it. Only by the order of the log is it known afterwards whether a
/// prompt saw that.
fn edges_up_to(workspace: &crate::Workspace, known: &Known) -> Result<Vec<Edge>, segue_log::LogError> {
    if known.state.plan.is_none() {
        return Ok(Vec::new());
    }
    let successors = successors_before(&*workspace.log, known.state.session, known.position)?;
    Ok(successors.into_iter().map(|(_, edge)| edge).collect())
}

fn task_result(known: &Known, id: RunId) -> TaskResult {
    let run = known.run(id);
    let (outcome, reason) = match run.map(|run| &run.phase) {
        Some(segue_continuation::RunPhase::Ended(outcome)) => match outcome {
            RunOutcome::Succeeded | RunOutcome::Continued(_) => ("succeeded", ""),
            RunOutcome::Failed(reason) => ("failed", reason.as_str()),
            RunOutcome::Cancelled => ("cancelled", ""),
        },
        _ => ("unfinished", ""),
    };
    let returned = run.and_then(|run| run.returned.clone());
    let text = returned.unwrap_or_else(|| known.last_words());
    let text = if reason.is_empty() { text } else { format!("{reason}\n{text}") };
    TaskResult { session: known.state.session, title: known.state.title.text.clone(), outcome, text }
}
