//! The decision: continue, answer with the successor that is there already, or refuse.

use std::collections::{BTreeMap, BTreeSet};

use segue_event::{ContinuationId, EventRef, PlanTransfer, Seq, SessionId, SourceTarget};

use crate::caps::AGENT_SUCCESSORS_MAX;
use crate::{Budget, Refusal, Request};

/// Decides what becomes of a request, given how things stand.
///
/// The checks come in a fixed order, and the first that fails is the answer: a replayed call before everything,
/// then shapes and sizes, the run, the batch, the number of successors, the message that is to be answered, and
/// the sources.
pub fn decide(view: &View, request: Result<Measured, Refusal>) -> Decision {
    if let Some(replayed) = view.replayed {
        return Decision::Replay(replayed);
    }
    match approve(view, request) {
        Ok(approved) => Decision::Continue(Box::new(approved)),
        Err(refusal) => Decision::Refuse(refusal),
    }
}

/// What was decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// This initiator has its successor already: answer with that.
    Replay(Replayed),
    /// Go on: compile and commit.
    Continue(Box<Approved>),
    /// Create nothing and answer with the refusal.
    Refuse(Refusal),
}

/// A continuation that exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The transition.
    pub continuation: ContinuationId,
    /// The successor.
    pub successor: SessionId,
}

/// A request that may be carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Approved {
    /// The request.
    pub request: Request,
    /// The message that the successor answers.
    pub initiating: EventRef,
    /// What becomes of the plan.
    pub plan: PlanTransfer,
}

/// A request and how large it is when rendered, by the function that compiling uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured {
    /// The request.
    pub request: Request,
    /// The budget of the projection.
    pub budget: Budget,
    /// The rendered handoff, in bytes.
    pub handoff_bytes: usize,
    /// The rendered sources, in bytes.
    pub sources_bytes: usize,
}

/// How things stand when a request is decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The continuation that this initiator made of this session, if it did.
    pub replayed: Option<Replayed>,
    /// Who asks, and in which situation.
    pub run: RunSituation,
    /// What came before in the same batch of tool calls.
    pub batch: Batch,
    /// How many successors agents have made of this session.
    pub agent_successors: usize,
    /// The message that would be answered.
    pub initiating: Initiating,
    /// What becomes of the plan where the request does not say.
    pub plan: PlanTransfer,
    /// Of the cited sessions, those that may be read.
    pub threads: BTreeMap<SessionId, ThreadHead>,
    /// Of the cited memory files, those that exist.
    pub memory: BTreeSet<String>,
}

/// The newest event of a session that may be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadHead(pub Seq);

/// Who asks for a continuation, and in which situation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunSituation {
    /// A person, who needs no run.
    Person,
    /// The run of a turn, with so many delegated tasks unfinished.
    Turn {
        /// Delegated tasks that the run waits for.
        parked_children: usize,
    },
    /// A run that another run delegated.
    Delegated,
    /// A run that owes a typed result.
    Typed,
    /// A run that has ended, or is not known.
    Ended,
}

/// What came before a call in its batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batch {
    /// No continuation.
    First,
    /// An earlier call continues the session.
    AfterContinue,
}

/// The newest message of a user or a trigger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initiating {
    /// There is none.
    None,
    /// One that was said here.
    Said(EventRef),
    /// One that a continuation copied here: nothing new was said since.
    Copied(EventRef),
}

fn approve(view: &View, request: Result<Measured, Refusal>) -> Result<Approved, Refusal> {
    let measured = request?;
    check_sizes(&measured)?;
    check_run(view)?;
    let by_agent = view.run != RunSituation::Person;
    if by_agent && view.agent_successors >= AGENT_SUCCESSORS_MAX {
        return Err(Refusal::TooManySuccessors);
    }
    let initiating = match view.initiating {
        Initiating::None => return Err(Refusal::NothingToContinue),
        Initiating::Copied(_) => return Err(Refusal::NothingNew),
        Initiating::Said(message) => message,
    };
    check_sources(view, &measured.request)?;
    let plan = measured.request.plan.unwrap_or(view.plan);
    Ok(Approved { request: measured.request, initiating, plan })
}

fn check_sizes(measured: &Measured) -> Result<(), Refusal> {
    let Measured { budget, handoff_bytes, sources_bytes, .. } = *measured;
    if handoff_bytes > budget.handoff_bytes_max() {
        return Err(Refusal::HandoffTooLarge { bytes: handoff_bytes, max: budget.handoff_bytes_max() });
    }
    if sources_bytes > budget.sources_bytes_max() {
        return Err(Refusal::SourcesTooLarge { bytes: sources_bytes, max: budget.sources_bytes_max() });
    }
    Ok(())
}

fn check_run(view: &View) -> Result<(), Refusal> {
    match view.run {
        RunSituation::Turn { parked_children: count @ 1.. } => Err(Refusal::ChildrenParked { count }),
        RunSituation::Delegated => Err(Refusal::DelegatedRun),
        RunSituation::Typed => Err(Refusal::TypedRun),
        RunSituation::Ended => Err(Refusal::NoRun),
        RunSituation::Person | RunSituation::Turn { .. } if view.batch == Batch::AfterContinue => {
            Err(Refusal::SecondContinue)
        }
        RunSituation::Person | RunSituation::Turn { .. } => Ok(()),
    }
}

fn check_sources(view: &View, request: &Request) -> Result<(), Refusal> {
    (1..).zip(&request.sources).try_for_each(|(index, source)| check_source(view, index, &source.target))
}

fn check_source(view: &View, index: usize, target: &SourceTarget) -> Result<(), Refusal> {
    match target {
        SourceTarget::Resource { .. } => Ok(()),
        SourceTarget::Memory { path } if view.memory.contains(path) => Ok(()),
        SourceTarget::Memory { path } => Err(Refusal::MemoryNotFound { index, path: path.clone() }),
        SourceTarget::Events { thread, range } => match view.threads.get(thread) {
            None => Err(Refusal::SourceNotFound { index, thread: thread.to_string() }),
            Some(ThreadHead(head)) if range.to > *head => {
                Err(Refusal::SourceBeyondHead { index, range: *range, head: head.get() })
            }
            Some(_) => Ok(()),
        },
    }
}
