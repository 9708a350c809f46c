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
    /// The call. With an empty provider's id, its place in the session is what tells it from others.
    pub call: CallRef,
    /// What came before in the same batch of calls.
    pub batch: Batch,
    /// What kind of run it is.
    pub kind: RunKind,
}

/// What kind of run calls a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunKind {
    /// A turn, with so many delegated tasks unfinished.
    Turn {
        /// Delegated tasks that the run waits for.
        parked_children: usize,
    },
    /// A run that owes a typed result.
    Typed,
}

impl Asker {
    pub(crate) fn initiator(&self) -> Initiator {
        match self {
            Self::Person { request } => Initiator::Person { request: request.clone() },
            Self::Tool(caller) => Initiator::Tool { run: caller.run, call: call_name(&caller.call) },
        }
    }

    pub(crate) fn batch(&self) -> Batch {
        match self {
            Self::Person { .. } => Batch::First,
            Self::Tool(caller) => caller.batch,
        }
    }

    pub(crate) fn situation(&self, state: &SessionState) -> RunSituation {
        let Self::Tool(caller) = self else { return RunSituation::Person };
        match (state.runs.get(&caller.run), caller.kind) {
            (None | Some(RunState::Ended(_)), _) => RunSituation::Ended,
            (Some(RunState::Open { parent: Some(_) }), _) => RunSituation::Delegated,
            (Some(RunState::Open { parent: None }), RunKind::Typed) => RunSituation::Typed,
            (Some(RunState::Open { parent: None }), RunKind::Turn { parked_children }) => {
                RunSituation::Turn { parked_children }
            }
        }
    }
}

fn call_name(call: &CallRef) -> String {
    match call.site {
        Some(site) if call.provider_id.is_empty() => format!("[{}.{}]", site.message, site.block),
        _ => call.provider_id.clone(),
    }
}
