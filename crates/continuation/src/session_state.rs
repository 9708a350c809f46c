//! The state of one session, folded from its events.

use std::collections::{BTreeMap, BTreeSet};

use segue_event::{
    AgentId, Edge, Event, EventHash, EventRef, Family, Fold, FreshArmed, ImportSource, Kind, Lane, Message,
    MessageQueued, ModelOverride, Plan, PlanEvent, PlanTransfer, Recorded, RunEvent, RunId, RunOutcome,
    RunQueued, RunStarted, Seq, SessionEvent, SessionId, SessionStarted, Timestamp, Title, WentBack,
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
    /// What a person said when they went back to that other session; none if nobody did.
    pub went_back: Option<WentBack>,
    /// What it was imported from.
    pub import: Option<ImportSource>,
    /// Its runs, and how each stands.
    pub runs: BTreeMap<RunId, RunState>,
    /// The messages that came while a run was at work and were not taken yet, by where they were queued.
    pub waiting_messages: BTreeMap<Seq, WaitingMessage>,
    /// The fresh session that was armed and not settled yet, if there is one.
    pub armed: Option<Armed>,
    /// Its first event.
    pub started: EventRef,
    /// When that was.
    pub started_at: Timestamp,
}

/// How a run stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunState {
    /// How urgent it is.
    pub lane: Lane,
    /// The message that asks for it.
    pub trigger: Seq,
    /// The run that delegated it; none for a person's turn.
    pub parent: Option<RunId>,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The JSON Schema of the result that it owes; none for a run that owes none.
    pub result_schema: Option<String>,
    /// The result that it gave, as JSON text.
    pub returned: Option<String>,
    /// How often it was reminded of what it owes.
    pub asked: u32,
    /// The tasks that it delegated, in order.
    pub children: Vec<Child>,
    /// The runs of those tasks whose results it was told.
    pub told: BTreeSet<RunId>,
    /// Where it is on its way.
    pub phase: RunPhase,
}

/// A task that a run delegated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Child {
    /// The session that works on it.
    pub session: SessionId,
    /// The run there.
    pub run: RunId,
}

/// Where a run is on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunPhase {
    /// It waits for a host.
    Queued,
    /// A host works on it.
    Running {
        /// The id of the host's start.
        host: String,
    },
    /// It waits for the tasks that it delegated.
    Waiting,
    /// It is over.
    Ended(RunOutcome),
}

impl RunState {
    /// Whether it is over.
    pub const fn is_over(&self) -> bool {
        matches!(self.phase, RunPhase::Ended(_))
    }

    /// Whether it owes a result that it has not given.
    pub const fn owes_result(&self) -> bool {
        self.result_schema.is_some() && self.returned.is_none()
    }

    /// The tasks of which it was not told yet what became of them.
    pub fn untold(&self) -> impl Iterator<Item = &Child> {
        self.children.iter().filter(|child| !self.told.contains(&child.run))
    }

    fn queued(queued: &RunQueued) -> Self {
        Self {
            lane: queued.lane,
            trigger: queued.trigger,
            parent: queued.parent,
            attempt: queued.attempt,
            result_schema: queued.result_schema.clone(),
            returned: None,
            asked: 0,
            children: Vec::new(),
            told: BTreeSet::new(),
            phase: RunPhase::Queued,
        }
    }
}

/// A message that no turn has taken yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingMessage {
    /// Its id.
    pub event: EventHash,
    /// The message.
    pub message: Message,
}

/// A fresh session that is about to be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Armed {
    /// Where it was armed.
    pub at: EventRef,
    /// Why, with which pointer, and until when.
    pub armed: FreshArmed,
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
            went_back: None,
            import,
            runs: BTreeMap::new(),
            waiting_messages: BTreeMap::new(),
            armed: None,
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
        let manifests = transfers.filter_map(Edge::manifest);
        manifests.fold(PlanSituation::Open, |situation, manifest| match manifest.plan {
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
            StateEvent::Run(event) => self.run_event(recorded, event),
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
            SessionEvent::WentBack(went) => self.went_back = Some(went.clone()),
        }
    }

    fn run_event(&mut self, recorded: &Recorded<StateEvent>, event: &RunEvent) {
        match event {
            RunEvent::RunQueued(queued) => self.run_queued(queued),
            RunEvent::MessageQueued(MessageQueued { message }) => {
                let waiting = WaitingMessage { event: recorded.hash, message: message.clone() };
                self.waiting_messages.insert(recorded.seq, waiting);
            }
            RunEvent::QueuedMessageTaken(taken) => drop(self.waiting_messages.remove(&taken.queued)),
            RunEvent::RunStarted(started) => self.run_started(started),
            RunEvent::RunWaiting(waiting) => {
                self.change_run(waiting.run, |run| run.phase = RunPhase::Waiting);
            }
            RunEvent::ChildDelegated(child) => self.change_run(child.run, |run| {
                run.children.push(Child { session: child.child, run: child.child_run });
            }),
            RunEvent::ResultReturned(returned) => {
                self.change_run(returned.run, |run| run.returned = Some(returned.value.clone()));
            }
            RunEvent::ObligationsAsked(asked) => self.change_run(asked.run, |run| run.asked += 1),
            RunEvent::RunEnded(ended) => {
                self.change_run(ended.run, |run| run.phase = RunPhase::Ended(ended.outcome.clone()));
            }
            RunEvent::FreshArmed(armed) => {
                let at = EventRef { seq: recorded.seq, event: recorded.hash };
                self.armed = Some(Armed { at, armed: armed.clone() });
            }
            RunEvent::FreshSettled(settled) => {
                self.armed = self.armed.take().filter(|armed| armed.at.seq != settled.armed);
            }
            // The lease stands in a session of its own.
            RunEvent::LeaseTaken(_) => {}
        }
    }

    /// A plan without an owner, which came from another session, is from now on that of the first run.
    fn run_started(&mut self, started: &RunStarted) {
        if let Some((_, plan)) = &mut self.plan {
            plan.owner.get_or_insert(started.run);
        }
        self.change_run(started.run, |run| {
            run.told.extend(&started.told);
            run.attempt = started.attempt;
            run.phase = RunPhase::Running { host: started.host.clone() };
        });
    }

    /// A run that is queued again goes on with what it has done.
    fn run_queued(&mut self, queued: &RunQueued) {
        let run = self.runs.entry(queued.run).or_insert_with(|| RunState::queued(queued));
        (run.attempt, run.phase) = (queued.attempt, RunPhase::Queued);
    }

    /// Changes a run that was queued; what never was is no run.
    fn change_run(&mut self, run: RunId, change: impl FnOnce(&mut RunState)) {
        if let Some(run) = self.runs.get_mut(&run) {
            change(run);
        }
    }
}
