//! Who asks for a continuation.

use segue_continuation::{Batch, RunSituation, RunState, SessionState};
use segue_event::{CallRef, Initiator, RunId};

/// Who asks for a continuation. The same asker gets the same successor, however often it asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asker {
    /// A person, with an id of the request that the caller chose.
    Person {
        /// The request.
        request: String,
    },
    /// A model, by a tool call that is recorded already.
    Tool(ToolCaller),
}

/// A tool call that asks for a continuation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolCaller {
    /// The run in which it was called.
    pub run: RunId,
    /// The run's attempt: what a host asks for that lost the run meanwhile is refused.
    pub attempt: u32,
    /// The call. Its place in the session is what tells it from others, for providers give ids again; only where there
    /// is no place does the provider's id.
    pub call: CallRef,
    /// What came before in the same batch of calls.
    pub batch: Batch,
}

impl Asker {
    pub(crate) fn initiator(&self) -> Initiator {
        match self {
            Self::Person { request } => Initiator::Person { request: request.clone() },
            Self::Tool(caller) => Initiator::Tool { run: caller.run, call: call_name(&caller.call) },
        }
    }

    /// The tool call, if a model asks.
    pub(crate) fn call(&self) -> Option<&CallRef> {
        match self {
            Self::Person { .. } => None,
            Self::Tool(caller) => Some(&caller.call),
        }
    }

    /// Whether the run's attempt is the one in which the asker speaks; a person speaks in none.
    pub(crate) fn speaks_in(&self, run: &RunState) -> bool {
        match self {
            Self::Person { .. } => true,
            Self::Tool(caller) => run.attempt == caller.attempt,
        }
    }

    pub(crate) fn batch(&self) -> Batch {
        match self {
            Self::Person { .. } => Batch::First,
            Self::Tool(caller) => caller.batch,
        }
    }

    /// The run that asks; none for a person, or if there is no such run.
    pub(crate) fn run<'a>(&self, state: &'a SessionState) -> Option<&'a RunState> {
        match self {
            Self::Person { .. } => None,
            Self::Tool(caller) => state.runs.get(&caller.run).filter(|run| self.speaks_in(run)),
        }
    }

    /// How the asker stands. A task counts as parked until the run was told what became of it.
    pub(crate) fn situation(&self, state: &SessionState) -> RunSituation {
        if matches!(self, Self::Person { .. }) {
            return RunSituation::Person;
        }
        match self.run(state) {
            None => RunSituation::Ended,
            Some(run) if run.is_over() => RunSituation::Ended,
            Some(run) if run.parent.is_some() => RunSituation::Delegated,
            Some(run) if run.result_schema.is_some() => RunSituation::Typed,
            Some(run) => RunSituation::Turn { parked_children: run.untold().count() },
        }
    }
}

fn call_name(call: &CallRef) -> String {
    match call.site {
        Some(site) => format!("[{}.{}]", site.message, site.block),
        None => call.provider_id.clone(),
    }
}
