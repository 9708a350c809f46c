//! The one commit that carries a conversation over, and the one that records a refusal.

use std::collections::BTreeMap;

use segue_continuation::{Refusal, Request, SessionState, WaitingMessage};
use segue_event::{
    Author, Block, Continued, Edge, Event, EventRef, Handover, Lane, Message, MessageOrigin, Plan,
    PlanTransfer, QueuedMessageTaken, Recorded, ResultStatus, Role, RunEnded, RunId, RunOutcome, RunQueued,
    Seq, SessionId, SessionStarted, TakenTo, Timestamp, Title, TitleSource, ToolResult, Transition,
};
use segue_log::{Commit, Expected, LogError, NewEvent};
use segue_projection::{Diagnostic, Origin, Projection};
use serde_json::json;

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
        let mut commit = Commit::new()
            .claim(claims::continuation(predecessor, &initiator)?)
            .claim(next_successor(&*self.log, predecessor)?);
        let mut closing = None;
        if let Asker::Tool(caller) = asker {
            commit = commit.claim(claims::agent_successor(predecessor, ready.agent_successors)?);
            closing = Some(closing_events(caller, &ready, successor));
        }
        let (head, now, diagnostics) = (ready.head, ready.now, ready.diagnostics.clone());
        let moved =
            if closing.is_some() { ready.predecessor.waiting_messages.clone() } else { BTreeMap::new() };
        let mut opening = opening_events(ready, initiator, run);
        opening.extend(moved.into_iter().map(|(seq, waiting)| moved_message(predecessor, seq, waiting)));
        // The successor comes first: whoever finds the claim finds it by the commit's first position.
        commit = commit.append(successor, Expected::first(), at(now, opening));
        if let Some(events) = closing {
            commit = commit.append(predecessor, Expected::after(head.seq), at(now, events));
        }
        self.log.commit(commit)?;
        Ok(ContinuedSession { continuation, successor, replayed: false, diagnostics })
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
fn opening_events(ready: Ready, initiator: segue_event::Initiator, run: RunId) -> Vec<Event> {
    let Ready { predecessor, head, origin, request, plan, message, projection, now, .. } = ready;
    let edge = Edge {
        continuation: origin.continuation,
        predecessor: origin.predecessor,
        predecessor_title: origin.predecessor_title,
        predecessor_head: head,
        origin: origin.first,
        initiator,
        created_at: now,
        transition: Transition::Continue(Box::new(Handover {
            initiating: EventRef { seq: message.seq, event: message.hash },
            reason: origin.reason,
            manifest: projection.manifest,
        })),
    };
    let started = SessionStarted {
        agent: predecessor.agent,
        title: successor_title(predecessor.title, request.title),
        description: request.description,
        working_directory: predecessor.working_directory,
        model: predecessor.model,
        plan: carried_plan(predecessor.plan, plan),
        edge: Some(Box::new(edge)),
        import: None,
    };
    let copied = Message {
        continued_from: Some(MessageOrigin {
            session: message.session,
            seq: message.seq,
            event: message.hash,
        }),
        ..message.event
    };
    let queued = RunQueued {
        run,
        lane: Lane::Interactive,
        trigger: MESSAGE_SEQ,
        parent: None,
        attempt: 1,
        result_schema: None,
    };
    vec![
        started.into(),
        Message::text(Role::User, Author::System, projection.text).into(),
        copied.into(),
        queued.into(),
    ]
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

/// A message that came while the predecessor's run was at work: the successor answers it too.
fn moved_message(session: SessionId, seq: Seq, waiting: WaitingMessage) -> Event {
    let WaitingMessage { event, message } = waiting;
    Message { continued_from: Some(MessageOrigin { session, seq, event }), ..message }.into()
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
    let waiting = ready.predecessor.waiting_messages.keys();
    let taken =
        waiting.map(|queued| QueuedMessageTaken { queued: *queued, to: TakenTo::Successor(successor) });
    let mut events: Vec<Event> = vec![result.into()];
    events.extend(taken.map(Event::from));
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

fn at(time: Timestamp, events: Vec<Event>) -> Vec<NewEvent> {
    events.into_iter().map(|event| NewEvent { time, event }).collect()
}
