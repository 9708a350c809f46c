//! The one commit that carries a conversation over, and the one that records a refusal.

use std::collections::BTreeMap;

use segue_continuation::{Refusal, Request, SessionState, WaitingMessage};
use segue_event::{
    Author, Block, ContinuationId, Continued, Edge, Event, EventRef, Handover, Initiator, Lane, Message,
    MessageOrigin, Plan, PlanTransfer, QueuedMessageTaken, Recorded, ResultStatus, Role, RunEnded, RunId,
    RunOutcome, Seq, SessionId, SessionStarted, TakenTo, Timestamp, Title, TitleSource, ToolResult,
    Transition,
};
use segue_log::{ClaimKey, Commit, Expected, LogError, NewEvent};
use segue_projection::{Diagnostic, Origin, Projection};
use serde_json::json;

use crate::sending::queued_run;
use crate::successors::next_successor;
use crate::{Asker, ContinuedSession, ToolCaller, Workspace, claims};

/// A continuation that was approved and compiled.
pub(crate) struct Ready {
    pub(crate) predecessor: SessionState,
    pub(crate) head: EventRef,
    pub(crate) origin: Origin,
    pub(crate) request: Request,
    pub(crate) plan: PlanTransfer,
    pub(crate) message: Recorded<Message>,
    pub(crate) agent_successors: usize,
    pub(crate) projection: Projection,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) now: Timestamp,
}

/// A successor as it is about to be written.
pub(crate) struct Succession {
    pub(crate) successor: SessionId,
    /// Its first events.
    pub(crate) opening: Vec<Event>,
    pub(crate) predecessor: SessionId,
    /// The head of the predecessor on which it was decided.
    pub(crate) head: Seq,
    /// What the predecessor gets; where it is empty, the predecessor can go on meanwhile.
    pub(crate) closing: Vec<Event>,
    /// What makes it happen once.
    pub(crate) claims: Vec<ClaimKey>,
    pub(crate) now: Timestamp,
}

/// Where the copied message stands in the successor, behind the start and the projection.
const MESSAGE_SEQ: Seq = Seq::FIRST.next().next();

impl Workspace {
    /// Writes everything at once: the successor with its edge, its projection, the message and the run; for a tool
    /// call also its result and the end of its run.
    pub(crate) fn switch(&self, asker: &Asker, ready: Ready) -> Result<ContinuedSession, LogError> {
        let successor = SessionId::v7(ready.now, self.host.random());
        let run = RunId::v7(ready.now, self.host.random());
        let continuation = ready.origin.continuation;
        let predecessor = ready.origin.predecessor;
        let initiator = asker.initiator();
        let mut claims =
            vec![claims::continuation(predecessor, &initiator)?, next_successor(&*self.log, predecessor)?];
        let mut closing = Vec::new();
        if let Asker::Tool(caller) = asker {
            claims.push(claims::agent_successor(predecessor, ready.agent_successors)?);
            closing = closing_events(caller, &ready, successor);
        }
        let (head, now, diagnostics) = (ready.head.seq, ready.now, ready.diagnostics.clone());
        // A person's continuation writes nothing to the predecessor, so nothing is taken from there either.
        let waiting = &ready.predecessor.waiting_messages;
        let moved = moved_messages(predecessor, waiting).filter(|_| !closing.is_empty());
        let moved: Vec<_> = moved.collect();
        let mut opening = opening_events(ready, initiator, run);
        opening.extend(moved);
        self.succeed(Succession { successor, opening, predecessor, head, closing, claims, now })?;
        Ok(ContinuedSession { continuation, successor, replayed: false, diagnostics })
    }

    /// The one commit of every transition that carries a conversation over.
    pub(crate) fn succeed(&self, succession: Succession) -> Result<(), LogError> {
        let Succession { successor, opening, predecessor, head, closing, claims, now } = succession;
        let commit = claims.into_iter().fold(Commit::new(), Commit::claim);
        // The successor comes first: whoever finds a claim finds it by the commit's first position.
        let mut commit = commit.append(successor, Expected::first(), at(now, opening));
        if !closing.is_empty() {
            commit = commit.append(predecessor, Expected::after(head), at(now, closing));
        }
        self.log.commit(commit)?;
        Ok(())
    }

    /// Records the refusal as the result of the tool call, once; a person's refused request leaves no trace.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::WrongSeq`] if the session went on since it was decided.
    pub(crate) fn record_refusal(
        &self,
        predecessor: SessionId,
        asker: &Asker,
        refusal: Refusal,
        head: Seq,
    ) -> Result<Refusal, LogError> {
        let Asker::Tool(caller) = asker else { return Ok(refusal) };
        let key = claims::refusal(predecessor, &asker.initiator())?;
        if self.log.claimed(&key)?.is_none() {
            let mut result = tool_result(caller, refusal.to_string());
            result.status = ResultStatus::Error;
            let events = at(self.host.now(), vec![result.into()]);
            self.log.commit(Commit::new().append(predecessor, Expected::after(head), events).claim(key))?;
        }
        Ok(refusal)
    }
}

/// The first four events of the successor.
fn opening_events(ready: Ready, initiator: Initiator, run: RunId) -> Vec<Event> {
    let Ready { predecessor, head, origin, request, plan, message, projection, now, .. } = ready;
    let transition = Transition::Continue(Box::new(Handover {
        initiating: EventRef { seq: message.seq, event: message.hash },
        reason: origin.reason,
        manifest: projection.manifest,
    }));
    let passing = Passing { continuation: origin.continuation, head, initiator, now };
    let title = successor_title(predecessor.title.clone(), request.title);
    let started = SessionStarted {
        title,
        description: request.description,
        ..successor_started(predecessor, plan, passing, transition)
    };
    let copied = Message {
        continued_from: Some(MessageOrigin {
            session: message.session,
            seq: message.seq,
            event: message.hash,
        }),
        ..message.event
    };
    let queued = queued_run(run, Lane::Interactive, MESSAGE_SEQ);
    vec![
        started.into(),
        Message::text(Role::User, Author::System, projection.text).into(),
        copied.into(),
        queued.into(),
    ]
}

/// When and by whom a conversation passes from one session to another.
pub(crate) struct Passing {
    pub(crate) continuation: ContinuationId,
    /// The newest event of the predecessor that the successor can know of.
    pub(crate) head: EventRef,
    pub(crate) initiator: Initiator,
    pub(crate) now: Timestamp,
}

/// The first event of a successor, which is called as its predecessor.
pub(crate) fn successor_started(
    predecessor: SessionState,
    plan: PlanTransfer,
    passing: Passing,
    transition: Transition,
) -> SessionStarted {
    let Passing { continuation, head, initiator, now } = passing;
    let edge = Edge {
        continuation,
        predecessor: predecessor.session,
        predecessor_title: predecessor.title.text.clone(),
        predecessor_head: head,
        origin: predecessor.edge.map_or(predecessor.session, |edge| edge.origin),
        initiator,
        created_at: now,
        transition,
    };
    SessionStarted {
        agent: predecessor.agent,
        title: predecessor.title,
        description: predecessor.description,
        working_directory: predecessor.working_directory,
        model: predecessor.model,
        plan: carried_plan(predecessor.plan, plan),
        edge: Some(Box::new(edge)),
        import: None,
    }
}

/// The agent names the successor, but a title that a user set stays.
fn successor_title(predecessor: Title, by_agent: String) -> Title {
    match predecessor.source {
        TitleSource::User => predecessor,
        TitleSource::Agent | TitleSource::Fallback => Title { text: by_agent, source: TitleSource::Agent },
    }
}

/// Carried with its owner cleared, so that the successor's run adopts it.
fn carried_plan(plan: Option<(Seq, Plan)>, transfer: PlanTransfer) -> Option<Plan> {
    let (_, plan) = plan.filter(|_| transfer == PlanTransfer::Carry)?;
    Some(Plan { owner: None, steps: plan.steps })
}

/// The messages that came while the predecessor's run was at work: the successor answers them too.
pub(crate) fn moved_messages(
    session: SessionId,
    waiting: &BTreeMap<Seq, WaitingMessage>,
) -> impl Iterator<Item = Event> {
    waiting.iter().map(move |(seq, WaitingMessage { event, message })| {
        moved_message(MessageOrigin { session, seq: *seq, event: *event }, message.clone())
    })
}

/// A message as it goes along into the successor.
pub(crate) fn moved_message(origin: MessageOrigin, message: Message) -> Event {
    Message { continued_from: Some(origin), ..message }.into()
}

/// Where the messages went, as the predecessor tells it.
pub(crate) fn taken_along(
    waiting: &BTreeMap<Seq, WaitingMessage>,
    successor: SessionId,
) -> impl Iterator<Item = Event> {
    let to = TakenTo::Successor(successor);
    waiting.keys().map(move |queued| QueuedMessageTaken { queued: *queued, to }.into())
}

/// What the predecessor gets: the result of the call, where its queued messages went, and the end of the run.
fn closing_events(caller: &ToolCaller, ready: &Ready, successor: SessionId) -> Vec<Event> {
    let continuation = ready.origin.continuation;
    let text = json!({
        "summary": "The conversation goes on in the successor, which answers the user. This turn is over.",
        "continuationId": continuation.to_string(),
        "successorSessionId": successor.to_string(),
        "title": ready.request.title,
    });
    let mut result = tool_result(caller, text.to_string());
    result.continuation = Some(continuation);
    let outcome = RunOutcome::Continued(Continued { session: successor, continuation });
    let mut events: Vec<Event> = vec![result.into()];
    events.extend(taken_along(&ready.predecessor.waiting_messages, successor));
    events.push(RunEnded { run: caller.run, outcome }.into());
    events
}

fn tool_result(caller: &ToolCaller, text: String) -> ToolResult {
    ToolResult {
        call: caller.call.clone(),
        tool: "continue_session".to_owned(),
        status: ResultStatus::Ok,
        blocks: vec![Block::Text(text)],
        touched: Vec::new(),
        continuation: None,
        provenance: None,
    }
}

pub(crate) fn at(time: Timestamp, events: Vec<Event>) -> Vec<NewEvent> {
    events.into_iter().map(|event| NewEvent { time, event }).collect()
}
