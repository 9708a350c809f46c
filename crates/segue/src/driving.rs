//! A turn driven to its end: who asks the model and runs the tools need not know the steps.

use std::fmt::Display;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::Poll;

use segue_continuation::RunPhase;
use segue_event::RunOutcome;
use segue_prompt::Prompt;

use crate::{ContinuedSession, Error, HostCall, Said, Step, ToolOutput, Turn};

/// How a turn that was driven came to its end.
#[derive(Clone, PartialEq, Debug)]
pub enum Driven {
    /// The run waits for the tasks that it delegated.
    Parked,
    /// The conversation goes on in a successor, where a run is queued if there is something to be done.
    Continued(ContinuedSession),
    /// The run ended.
    Done(RunOutcome),
    /// The model could not be asked: the run is queued again, or has failed if it was tried often enough.
    GivenUp(RunPhase),
}

/// What a model, or its provider, answers to a prompt.
#[derive(Clone, PartialEq, Debug)]
pub enum ModelAnswer {
    /// The model said something.
    Said(Said),
    /// The provider refuses the prompt as too long: the conversation goes on in a fresh session.
    TooLong,
}

impl From<Said> for ModelAnswer {
    fn from(said: Said) -> Self {
        Self::Said(said)
    }
}

/// Drives a turn to its end, on this thread.
///
/// `model` answers prompts, with a [`Said`] or, where its provider may refuse them as too long, with a [`ModelAnswer`]. `tool` runs one of the host's tools; calls of the same answer run at once, each on a
/// thread of its own, and each result is durable as soon as it is there. If `model` fails, the turn is given up with
/// [`Turn::retry`]: when the run is tried again is up to the caller. A `tool` that panics takes the caller with it.
///
/// # Errors
/// As [`Turn::prompt`].
pub fn drive<A: Into<ModelAnswer>, E: Display>(
    mut turn: Turn<'_>,
    mut model: impl FnMut(&Prompt) -> Result<A, E>,
    tool: impl Fn(&HostCall) -> ToolOutput + Sync,
) -> Result<Driven, Error> {
    loop {
        if let Some(driven) = Driven::by(turn.make_room()?) {
            return Ok(driven);
        }
        let answer = match model(&turn.prompt()?) {
            Ok(answer) => answer.into(),
            Err(error) => return turn.retry(&error.to_string()).map(Driven::GivenUp),
        };
        let step = match take(&mut turn, answer)? {
            Step::CallTools(calls) => run_tools(&mut turn, &calls, &tool)?,
            step => step,
        };
        if let Some(driven) = Driven::by(step) {
            return Ok(driven);
        }
    }
}

/// Drives a turn to its end, on whatever runtime polls it. As [`drive`], but for what is said here.
///
/// The tools of one answer run concurrently, within this future. What is recorded is synced to the disk meanwhile, as
/// everywhere in this crate: a runtime that cannot spare the thread for some milliseconds puts the future on one of
/// its own. Dropped, the future leaves the run to whoever recovers it.
///
/// # Errors
/// As [`Turn::prompt`].
pub async fn drive_async<A: Into<ModelAnswer>, E: Display>(
    mut turn: Turn<'_>,
    mut model: impl AsyncFnMut(Prompt) -> Result<A, E>,
    tool: impl AsyncFn(HostCall) -> ToolOutput,
) -> Result<Driven, Error> {
    loop {
        if let Some(driven) = Driven::by(turn.make_room()?) {
            return Ok(driven);
        }
        let prompt = turn.prompt()?;
        let answer = match model(prompt).await {
            Ok(answer) => answer.into(),
            Err(error) => return turn.retry(&error.to_string()).map(Driven::GivenUp),
        };
        let mut step = take(&mut turn, answer)?;
        if let Step::CallTools(calls) = &step {
            let mut running: Vec<_> =
                calls.iter().map(|call| (call.site, Box::pin(tool(call.clone())))).collect();
            while let Some((site, output)) = first_ready(&mut running).await {
                step = turn.answer(site, output)?;
            }
        }
        if let Some(driven) = Driven::by(step) {
            return Ok(driven);
        }
    }
}

impl Driven {
    /// None while there is more to do.
    fn by(step: Step) -> Option<Self> {
        match step {
            Step::Prompt | Step::CallTools(_) => None,
            Step::Parked => Some(Self::Parked),
            Step::Continued(continued) => Some(Self::Continued(continued)),
            Step::Done(outcome) => Some(Self::Done(outcome)),
        }
    }
}

fn take(turn: &mut Turn<'_>, answer: ModelAnswer) -> Result<Step, Error> {
    match answer {
        ModelAnswer::Said(said) => turn.record(said),
        ModelAnswer::TooLong => turn.overflowed(),
    }
}

fn run_tools(
    turn: &mut Turn<'_>,
    calls: &[HostCall],
    tool: &(impl Fn(&HostCall) -> ToolOutput + Sync),
) -> Result<Step, Error> {
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for call in calls {
            let sender = sender.clone();
            // Nobody listens any more once an answer could not be recorded.
            scope.spawn(move || drop(sender.send((call.site, tool(call)))));
        }
        drop(sender);
        let mut step = Step::Prompt;
        for (site, output) in results {
            step = turn.answer(site, output)?;
        }
        Ok(step)
    })
}

/// The first future that is ready, taken out; none if there are none.
async fn first_ready<K: Copy, F: Future>(running: &mut Vec<(K, Pin<Box<F>>)>) -> Option<(K, F::Output)> {
    poll_fn(|context| {
        let ready = running.iter_mut().enumerate().find_map(|(at, (key, future))| {
            match future.as_mut().poll(context) {
                Poll::Ready(output) => Some((at, *key, output)),
                Poll::Pending => None,
            }
        });
        match ready {
            Some((at, key, output)) => {
                drop(running.swap_remove(at));
                Poll::Ready(Some((key, output)))
            }
            None if running.is_empty() => Poll::Ready(None),
            None => Poll::Pending,
        }
    })
    .await
}
