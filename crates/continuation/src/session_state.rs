//! The state of one session, folded from its events.

use std::collections::BTreeMap;

use segue_event::{
    AgentId, Edge, Event, EventRef, Family, Fold, ImportSource, Kind, ModelOverride, Plan, PlanEvent,
    PlanTransfer, Recorded, RunEvent, RunId, RunOutcome, Seq, SessionEvent, SessionId, SessionStarted,
    Timestamp, Title,
};

/// How a session stands: everything about it but its transcript.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionState {
    /// The session.
    pub session: SessionId,
    /// Whose it is.
    pub agent: AgentId,
    /// What it is called. A title never gives way to one of a weaker source.
    pub title: Title,
    /// Its live status.
    pub description: String,
    /// The folder the agent works in; may be empty.
    pub working_directory: String,
    /// The model chosen for it.
    pub model: Option<ModelOverride>,
    /// The plan and the event that set it; none if none was set.
    pub plan: Option<(Seq, Plan)>,
    /// How it came from another session.
    pub edge: Option<Edge>,
    /// What it was imported from.
    pub import: Option<ImportSource>,
    /// Its runs, and how each stands.
    pub runs: BTreeMap<RunId, RunState>,
    /// Its first event.
    pub started: EventRef,
    /// When that was.
    pub started_at: Timestamp,
}

/// How a run stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunState {
    /// It waits for a host, or a host works on it.
    Open {
        /// The run that delegated it.
        parent: Option<RunId>,
    },
    /// It is over.
    Ended(RunOutcome),
}

/// The events that make up a [`SessionState`].
#[derive(Clone, PartialEq, Debug)]
pub enum StateEvent {
    /// About the session.
    Session(SessionEvent),
    /// About its plan.
    Plan(PlanEvent),
    /// About its runs.
    Run(RunEvent),
}

impl TryFrom<Event> for StateEvent {
    type Error = Event;

    fn try_from(event: Event) -> Result<Self, Event> {
        SessionEvent::try_from(event)
            .map(Self::Session)
            .or_else(|event| PlanEvent::try_from(event).map(Self::Plan))
            .or_else(|event| RunEvent::try_from(event).map(Self::Run))
    }
}

impl Family for StateEvent {
    fn accepts(kind: Kind) -> bool {
        SessionEvent::accepts(kind) || PlanEvent::accepts(kind) || RunEvent::accepts(kind)
    }
}

impl SessionState {
    /// The state after a session's first event; none if that is no start of a session.
    pub fn started(first: Recorded<StateEvent>) -> Option<Self> {
        let StateEvent::Session(SessionEvent::SessionStarted(started)) = first.event else { return None };
        let SessionStarted { agent, title, description, working_directory, model, plan, edge, import } =
            started;
        Some(Self {
            session: first.session,
            agent,
            title,
            description,
            working_directory,
            model,
            plan: plan.map(|plan| (first.seq, plan)),
            edge: edge.map(|edge| *edge),
            import,
            runs: BTreeMap::new(),
            started: EventRef { seq: first.seq, event: first.hash },
            started_at: first.time,
        })
    }

    /// What becomes of the plan when it is continued and nobody says: carried while it has open steps.
    pub fn plan_transfer(&self) -> PlanTransfer {
        match &self.plan {
            Some((_, plan)) if plan.has_open_steps() => PlanTransfer::Carry,
            _ => PlanTransfer::Omit,
        }
    }

    /// How the plan reads, given the edges of the session's successors, oldest first.
    pub fn plan_situation<'a>(&self, successors: impl IntoIterator<Item = &'a Edge>) -> PlanSituation {
        let Some((set_at, _)) = &self.plan else { return PlanSituation::None };
        // A plan that was set after the session was continued is open again: the session branched.
        let transfers = successors.into_iter().filter(|edge| edge.predecessor_head.seq >= *set_at);
        transfers.fold(PlanSituation::Open, |situation, edge| match edge.manifest.plan {
            PlanTransfer::Carry => PlanSituation::HandedOver,
            PlanTransfer::Close => PlanSituation::Closed,
            PlanTransfer::Omit => situation,
        })
    }
}

/// How a session's plan reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanSituation {
    /// There is none.
    None,
    /// The session's own.
    Open,
    /// A successor goes on with it.
    HandedOver,
    /// It was closed when the session was continued.
    Closed,
}

impl Fold for SessionState {
    type Family = StateEvent;

    fn apply(&mut self, recorded: &Recorded<StateEvent>) {
        match &recorded.event {
            StateEvent::Session(event) => self.session_event(event),
            StateEvent::Plan(PlanEvent::PlanSet(plan)) => self.plan = Some((recorded.seq, plan.clone())),
            StateEvent::Run(event) => self.run_event(event),
        }
    }
}

impl SessionState {
    fn session_event(&mut self, event: &SessionEvent) {
        match event {
            // Only the first event of a session starts it.
            SessionEvent::SessionStarted(_) => {}
            SessionEvent::SessionTitled(titled) => {
                if titled.title.source >= self.title.source {
                    self.title = titled.title.clone();
                }
            }
            SessionEvent::SessionDescribed(described) => self.description = described.description.clone(),
            SessionEvent::ModelChosen(model) => self.model = Some(model.clone()),
        }
    }

    fn run_event(&mut self, event: &RunEvent) {
        let (run, state) = match event {
            RunEvent::RunQueued(queued) => (queued.run, RunState::Open { parent: queued.parent }),
            RunEvent::RunStarted(_) => return,
            RunEvent::RunEnded(ended) => (ended.run, RunState::Ended(ended.outcome.clone())),
        };
        self.runs.insert(run, state);
    }
}
