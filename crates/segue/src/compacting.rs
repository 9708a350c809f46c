//! Putting something in place of what a model saw so far. The record keeps all of that.

use segue_continuation::{RunPhase, SessionState};
use segue_event::{CompactedBy, ContextCompacted, ContinuationId, EventRef, RunId, Seq, SessionId};
use segue_log::{Commit, Expected, LogError, NewEvent};
use segue_projection::{Diagnostic, LookBack};

use crate::contention::until_first;
use crate::error::Detail;
use crate::pointing::{Pointed, pointer_at};
use crate::standing::Standing;
use crate::{Error, Workspace};

/// What is put in place of a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StandIn {
    /// A pointer: what was asked for, what was done last, and how to read all of it. No model is asked.
    Pointer,
    /// A summary that the harness made itself. It is shown as that, by its author's name.
    Summary {
        /// Who summed up: the harness or the model.
        author: String,
        /// The summary.
        text: String,
    },
}

/// What the model still sees of what came before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// Nothing.
    Nothing,
    /// What came from this event on. Results of calls before it are not kept.
    From(Seq),
}

/// Something stands in place of a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compacted {
    /// Where that stands.
    pub at: Seq,
    /// What is worth knowing about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// For whom a context gives way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnBehalf {
    /// Of nobody in particular: a host or a person.
    Anyone,
    /// Of the turn that works on this attempt of a run.
    Turn(RunId, u32),
}

impl OnBehalf {
    /// Whether a turn still has its run.
    pub(crate) fn check(self, state: &SessionState) -> Result<(), Error> {
        let Self::Turn(id, attempt) = self else { return Ok(()) };
        let run = state.runs.get(&id);
        let is_own =
            run.is_some_and(|run| matches!(run.phase, RunPhase::Running { .. }) && run.attempt == attempt);
        if is_own { Ok(()) } else { Err(Detail::NoOpenRun(id).into()) }
    }
}

/// A pointer that stands in its session.
pub(crate) struct Landed {
    pub(crate) at: EventRef,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What it was made from.
    pub(crate) found: LookBack,
}

/// A pointer that stands nowhere yet.
struct Made {
    text: String,
    by: CompactedBy,
    diagnostics: Vec<Diagnostic>,
    found: LookBack,
}

impl Workspace {
    /// Puts something in place of what the model saw so far, in the same session, which goes on there. A run that is at
    /// work sees it with its next prompt.
    ///
    /// # Errors
    /// If there is no such session or no such event to keep, it kept changing, or the log failed; then nothing was
    /// written.
    pub fn compact(&self, session: SessionId, stand_in: &StandIn, kept: Kept) -> Result<Compacted, Error> {
        match stand_in {
            StandIn::Pointer => {
                let mut standing = Standing::of(&*self.log, session)?;
                let landed = self.leave_pointer(&mut standing, kept, OnBehalf::Anyone)?;
                let Landed { at, diagnostics, .. } = landed;
                Ok(Compacted { at: at.seq, diagnostics })
            }
            StandIn::Summary { author, text } => {
                let at = until_first(session, || self.try_to_leave_summary(session, author, text, kept))?;
                Ok(Compacted { at: at.seq, diagnostics: Vec::new() })
            }
        }
    }

    /// Leaves a pointer in a session: the first thing that happens when a context is full.
    pub(crate) fn leave_pointer(
        &self,
        standing: &mut Standing,
        kept: Kept,
        on_behalf: OnBehalf,
    ) -> Result<Landed, Error> {
        until_first(standing.state.session, || self.try_to_leave_pointer(standing, kept, on_behalf))
    }

    fn try_to_leave_pointer(
        &self,
        standing: &mut Standing,
        kept: Kept,
        on_behalf: OnBehalf,
    ) -> Result<Landed, Error> {
        standing.catch_up(&*self.log)?;
        let Standing { state, head } = standing;
        on_behalf.check(state)?;
        let Made { text, by, diagnostics, found } = self.make_pointer(state, head.seq)?;
        let at = self.stand_in(state.session, head.seq, text, kept, by)?;
        Ok(Landed { at, diagnostics, found })
    }

    /// A pointer for a turn that begins, as the event that it commits before anything else.
    pub(crate) fn pointer_to_begin_with(
        &self,
        state: &SessionState,
        head: Seq,
    ) -> Result<ContextCompacted, LogError> {
        let Made { text, by, .. } = self.make_pointer(state, head)?;
        Ok(ContextCompacted { text, kept_from: None, by })
    }

    fn make_pointer(&self, state: &SessionState, head: Seq) -> Result<Made, LogError> {
        let continuation = ContinuationId::v7(self.host.now(), self.host.random());
        let pointed = pointer_at(&*self.log, state, head, continuation, self.log.end()?)?;
        let Pointed { pointer, diagnostics, found } = pointed;
        let by = CompactedBy::Pointer { continuation, manifest: Box::new(pointer.manifest) };
        Ok(Made { text: pointer.text, by, diagnostics, found })
    }

    fn try_to_leave_summary(
        &self,
        session: SessionId,
        author: &str,
        text: &str,
        kept: Kept,
    ) -> Result<EventRef, Error> {
        let head = self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let by = CompactedBy::Summary { author: author.to_owned() };
        self.stand_in(session, head.seq, text.to_owned(), kept, by)
    }

    fn stand_in(
        &self,
        session: SessionId,
        head: Seq,
        text: String,
        kept: Kept,
        by: CompactedBy,
    ) -> Result<EventRef, Error> {
        let kept_from = match kept {
            Kept::Nothing => None,
            Kept::From(seq) if seq > head => return Err(Detail::EventNotFound(session, seq).into()),
            Kept::From(seq) => Some(seq),
        };
        let event = NewEvent::new(self.host.now(), ContextCompacted { text, kept_from, by });
        let seq = head.next();
        let committed = self.log.commit(Commit::new().append(session, Expected::after(head), vec![event]))?;
        let event = committed.extents.first().map(|extent| extent.head);
        Ok(EventRef { seq, event: event.ok_or(Detail::EventNotFound(session, seq))? })
    }
}
