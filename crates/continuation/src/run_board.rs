//! The runs of a whole workspace that are not over.

use std::collections::BTreeMap;

use segue_event::{Fold, Lane, Position, Recorded, RunEvent, RunId, Seq, SessionId};

/// The runs that are not over, over all sessions. What it holds is bounded by how many there are at once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunBoard {
    open: BTreeMap<RunId, OpenRun>,
    /// Who took over the queue last.
    lease: Option<String>,
    /// The sessions with a fresh one that was armed and not settled yet, and where that stands.
    armed: BTreeMap<SessionId, Seq>,
}

/// A run that is not over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenRun {
    /// Where it is.
    pub session: SessionId,
    /// How urgent it is.
    pub lane: Lane,
    /// When it was queued last.
    pub queued_at: Position,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Where it is on its way.
    pub phase: OpenPhase,
    children: Vec<RunId>,
    /// Whether a message came to its session while it waited.
    woken: Woken,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Woken {
    #[default]
    No,
    ByMessage,
}

/// Where a run that is not over is on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpenPhase {
    /// It waits for a host.
    Queued,
    /// A host works on it.
    Running {
        /// The id of the host's start.
        host: String,
    },
    /// It waits for the tasks that it delegated.
    Waiting,
}

impl RunBoard {
    /// The runs that can be taken up now, in the order in which they should be: interactive ones first, then those that
    /// were queued earlier.
    pub fn startable(&self) -> Vec<(RunId, &OpenRun)> {
        let mut startable: Vec<_> =
            self.open.iter().filter(|(_, run)| self.can_start(run)).map(|(id, run)| (*id, run)).collect();
        startable.sort_by_key(|(_, run)| (run.lane, run.queued_at));
        startable
    }

    /// The runs that hosts work on, or did when they were last heard of.
    pub fn running(&self) -> impl Iterator<Item = (RunId, &OpenRun, &str)> {
        self.open.iter().filter_map(|(id, run)| match &run.phase {
            OpenPhase::Running { host } => Some((*id, run, host.as_str())),
            OpenPhase::Queued | OpenPhase::Waiting => None,
        })
    }

    /// The host that took over the queue last; none if none ever did.
    pub fn lease(&self) -> Option<&str> {
        self.lease.as_deref()
    }

    /// The sessions for which a fresh one is armed.
    pub fn armed(&self) -> impl Iterator<Item = SessionId> {
        self.armed.keys().copied()
    }

    fn can_start(&self, run: &OpenRun) -> bool {
        match run.phase {
            OpenPhase::Queued => true,
            OpenPhase::Waiting if run.woken == Woken::ByMessage => true,
            OpenPhase::Waiting => !run.children.iter().any(|child| self.open.contains_key(child)),
            OpenPhase::Running { .. } => false,
        }
    }

    fn change(&mut self, run: RunId, change: impl FnOnce(&mut OpenRun)) {
        if let Some(run) = self.open.get_mut(&run) {
            change(run);
        }
    }
}

impl Fold for RunBoard {
    type Family = RunEvent;

    fn apply(&mut self, recorded: &Recorded<RunEvent>) {
        match &recorded.event {
            RunEvent::RunQueued(queued) => {
                let new = || OpenRun {
                    session: recorded.session,
                    lane: queued.lane,
                    queued_at: recorded.position,
                    attempt: queued.attempt,
                    phase: OpenPhase::Queued,
                    children: Vec::new(),
                    woken: Woken::No,
                };
                let run = self.open.entry(queued.run).or_insert_with(new);
                (run.attempt, run.phase, run.queued_at) =
                    (queued.attempt, OpenPhase::Queued, recorded.position);
            }
            RunEvent::RunStarted(started) => self.change(started.run, |run| {
                run.phase = OpenPhase::Running { host: started.host.clone() };
                run.woken = Woken::No;
            }),
            RunEvent::RunWaiting(waiting) => {
                self.change(waiting.run, |run| run.phase = OpenPhase::Waiting);
            }
            RunEvent::ChildDelegated(child) => {
                self.change(child.run, |run| run.children.push(child.child_run));
            }
            RunEvent::RunEnded(ended) => drop(self.open.remove(&ended.run)),
            RunEvent::FreshArmed(_) => drop(self.armed.insert(recorded.session, recorded.seq)),
            RunEvent::FreshSettled(settled) => {
                self.armed.retain(|session, armed| *session != recorded.session || *armed != settled.armed);
            }
            RunEvent::LeaseTaken(lease) => self.lease = Some(lease.host.clone()),
            RunEvent::MessageQueued(_) => {
                let waiting =
                    |run: &&mut OpenRun| run.session == recorded.session && run.phase == OpenPhase::Waiting;
                self.open.values_mut().filter(waiting).for_each(|run| run.woken = Woken::ByMessage);
            }
            RunEvent::ResultReturned(_) | RunEvent::ObligationsAsked(_) | RunEvent::QueuedMessageTaken(_) => {
            }
        }
    }
}
