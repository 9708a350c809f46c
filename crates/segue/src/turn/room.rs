//! A context that is full gives way to a fresh session.

use segue_event::{FreshTrigger, RunOutcome};
use segue_frame::Tag;
use segue_prompt::{PromptContent, PromptMessage};

use super::obligations::may_continue;
use super::{FreshPolicy, Phase, Step, Turn};
use crate::compacting::{Kept, OnBehalf};
use crate::fresh::{Asking, Cause, ModelCheck};
use crate::standing::Standing;
use crate::{Error, ErrorKind, Freshened};

impl Turn<'_> {
    /// Looks whether the context is too full for another prompt, by the policy of the setup, and goes on in a fresh
    /// session then. Call it before [`Self::prompt`], as the drivers do; where there is room, it only answers
    /// [`Step::Prompt`].
    ///
    /// It also finishes what a crash left: a fresh session that was armed in this session and not started.
    ///
    /// Where the run owes its result to another one or waits for tasks that it gave away, the session is not left: the
    /// pointer stands in its place, and the next prompt begins with that.
    ///
    /// # Errors
    /// If the turn is over, waits for results of tools, or was taken from it; or not even the pointer could be written.
    pub fn make_room(&mut self) -> Result<Step, Error> {
        self.check_ready()?;
        self.known.catch_up(&*self.workspace.log)?;
        self.check_own()?;
        if self.known.state.armed.is_some() {
            let picked_up =
                self.workspace.pick_up(&mut self.standing(), &Asking::of_host(self.model_check()))?;
            if let Some(Freshened::Switched(continued)) = picked_up {
                self.phase = Phase::Over;
                return Ok(Step::Continued(continued));
            }
            self.known.catch_up(&*self.workspace.log)?;
        }
        if self.is_full() { self.relieve(FreshTrigger::BeforePrompt) } else { Ok(Step::Prompt) }
    }

    /// Tells that the provider refused the newest prompt as too long: the step is the successor, whatever the policy, or
    /// another prompt that begins with the pointer.
    ///
    /// If the prompt held nothing but the pointer, the run fails, for no prompt of it could be shorter.
    ///
    /// # Errors
    /// As [`Self::make_room`].
    pub fn overflowed(&mut self) -> Result<Step, Error> {
        self.check_ready()?;
        self.known.catch_up(&*self.workspace.log)?;
        self.check_own()?;
        let [only] = self.known.transcript.messages() else { return self.relieve(FreshTrigger::Overflow) };
        match length(only) {
            Length::More => self.relieve(FreshTrigger::Overflow),
            Length::PointerAndPictures => {
                let mut standing = self.standing();
                self.workspace.leave_pointer(&mut standing, Kept::Nothing, self.on_behalf())?;
                self.known.catch_up(&*self.workspace.log)?;
                Ok(Step::Prompt)
            }
            Length::PointerOnly => {
                let outcome = RunOutcome::Failed(TOO_LONG.to_owned());
                self.end(outcome.clone())?;
                Ok(Step::Done(outcome))
            }
        }
    }

    /// The step, or the successor if the context is too full to go on, or too full for the next message.
    ///
    /// What was recorded is recorded: if there was not even a pointer, it is tried again, and told, before the next
    /// prompt.
    pub(super) fn or_fresh(&mut self, step: Step) -> Result<Step, Error> {
        if !self.is_full() {
            return Ok(step);
        }
        match step {
            Step::Prompt => match self.relieve(FreshTrigger::MidRun) {
                Err(error) if error.kind() != ErrorKind::NoOpenRun => Ok(Step::Prompt),
                relieved => relieved,
            },
            // A task that was given away is done with its run.
            Step::Done(RunOutcome::Succeeded) if may_continue(self.known.run(self.run)) => {
                let cause = Cause {
                    trigger: FreshTrigger::RunEnd,
                    on_behalf: OnBehalf::Anyone,
                    model: self.model_check(),
                };
                // The run is done, whatever becomes of this; the next one finds the context as full.
                match self.workspace.freshen(&mut self.standing(), &cause) {
                    Ok(Freshened::Switched(continued)) => Ok(Step::Continued(continued)),
                    Ok(Freshened::InPlace(_)) | Err(_) => Ok(step),
                }
            }
            other => Ok(other),
        }
    }

    fn relieve(&mut self, trigger: FreshTrigger) -> Result<Step, Error> {
        let cause = Cause { trigger, on_behalf: self.on_behalf(), model: self.model_check() };
        let freshened = self.workspace.freshen(&mut self.standing(), &cause)?;
        match freshened {
            Freshened::Switched(continued) => {
                // Nothing more is asked here: letting go of a long transcript would only be waited for.
                self.phase = Phase::Over;
                Ok(Step::Continued(continued))
            }
            Freshened::InPlace(_) => {
                self.known.catch_up(&*self.workspace.log)?;
                Ok(Step::Prompt)
            }
        }
    }

    /// How the session stands, as the turn knows it: nothing of that is read again.
    fn standing(&self) -> Standing {
        Standing { state: self.known.state.clone(), head: self.known.head }
    }

    pub(super) fn is_full(&self) -> bool {
        match self.setup.fresh {
            FreshPolicy::Never => false,
            FreshPolicy::At { percent } => self.context().is_some_and(|meter| meter.percent() >= percent),
        }
    }

    fn on_behalf(&self) -> OnBehalf {
        OnBehalf::Turn(self.run, self.attempt)
    }

    fn model_check(&self) -> ModelCheck {
        if self.setup.model.is_some() { ModelCheck::Settled } else { ModelCheck::OfSession }
    }
}

const TOO_LONG: &str = "the provider refuses even a prompt that holds nothing but the pointer as too long";

/// How much there is in the only message of a transcript.
enum Length {
    PointerOnly,
    PointerAndPictures,
    More,
}

fn length(message: &PromptMessage) -> Length {
    // Nobody but the runtime can open this frame.
    let opening = format!("<{} ", Tag::ContextPointer.name());
    let is_pointer =
        |content: &PromptContent| matches!(content, PromptContent::Text(text) if text.starts_with(&opening));
    match message.content.as_slice() {
        [first] if is_pointer(first) => Length::PointerOnly,
        [first, ..] if is_pointer(first) => Length::PointerAndPictures,
        _ => Length::More,
    }
}
