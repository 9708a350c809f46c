//! Carrying a conversation into a fresh session.

use std::collections::BTreeMap;

use segue_continuation::caps::AGENT_SUCCESSORS_MAX;
use segue_continuation::{
    Approved, Decision, Initiating, Measured, Refusal, Replayed, Request, RunState, SessionState, ThreadHead,
    View, decide, normalise,
};
use segue_event::{
    Author, Block, ContinuationId, EventRef, Kind, KindSet, Message, Recommended, Recorded, Seq, SeqRange,
    SessionId, SourceTarget, TranscriptEvent,
};
use segue_log::{Direction, EventLog, LogError, LogErrorKind, read_through};
use segue_projection::{Diagnostic, Estimate, Origin, Projection, Recipe, admit, compile, estimate, measure};

use crate::error::Detail;
use crate::estimating::{message_bytes, staying};
use crate::gather::{Given, gather};
use crate::limits::TRIES_MAX;
use crate::successors::edge_claimed;
use crate::workspace::session_state;
use crate::{Asker, Error, Workspace, claims, memory, switch};

/// What became of a request to continue.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The conversation goes on in a successor.
    Continued(ContinuedSession),
    /// Nothing was created; for a tool call, the refusal is recorded as its result.
    Refused(Refusal),
}

/// A continuation that exists.
#[derive(Clone, PartialEq, Debug)]
pub struct ContinuedSession {
    /// The transition.
    pub continuation: ContinuationId,
    /// The successor.
    pub successor: SessionId,
    /// Whether it was there already when it was asked for this time.
    pub replayed: bool,
    /// What is worth knowing about the projection; empty for a replayed call.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a continuation would be. Nothing was written.
#[derive(Clone, PartialEq, Debug)]
pub enum Preview {
    /// It would be this.
    WouldContinue {
        /// What the successor would begin with.
        projection: Box<Projection>,
        /// What is worth knowing about it.
        diagnostics: Vec<Diagnostic>,
        /// What it would cost, against staying.
        estimate: Box<Estimate>,
    },
    /// This asker has its successor already.
    Replay(Replayed),
    /// It would be refused.
    WouldRefuse(Refusal),
}

impl Workspace {
    /// Continues a session in a successor, in one commit. `arguments` are those of the verb, as JSON text.
    ///
    /// The same asker gets the same successor, however often it asks. A refused request creates nothing.
    ///
    /// # Errors
    /// If there is no such session, it kept changing, or the log failed; then nothing was created either.
    pub fn continue_session(
        &self,
        predecessor: SessionId,
        asker: &Asker,
        arguments: &str,
    ) -> Result<Outcome, Error> {
        for _ in 0..TRIES_MAX {
            let result = match self.prepare(predecessor, asker, arguments)? {
                Prepared::Replay(replayed) => return Ok(Outcome::Continued(replayed.into())),
                Prepared::Refuse(refusal, head) => {
                    self.record_refusal(predecessor, asker, refusal, head).map(Outcome::Refused)
                }
                Prepared::Continue(ready) => self.switch(asker, *ready).map(Outcome::Continued),
            };
            match result {
                // Somebody else wrote first: look again and decide again.
                Err(error) if matches!(error.kind(), LogErrorKind::WrongSeq | LogErrorKind::ClaimTaken) => {}
                other => return Ok(other?),
            }
        }
        Err(Detail::Contended { session: predecessor, tries: TRIES_MAX }.into())
    }

    /// Tells what [`Self::continue_session`] would do. Nothing is written.
    ///
    /// # Errors
    /// If there is no such session, or the log cannot be read.
    pub fn preview_continuation(
        &self,
        predecessor: SessionId,
        asker: &Asker,
        arguments: &str,
    ) -> Result<Preview, Error> {
        Ok(match self.prepare(predecessor, asker, arguments)? {
            Prepared::Replay(replayed) => Preview::Replay(replayed),
            Prepared::Refuse(refusal, _) => Preview::WouldRefuse(refusal),
            Prepared::Continue(ready) => {
                let staying = staying(&*self.log, predecessor)?;
                let estimate = estimate(&ready.projection, message_bytes(&ready.message.event), staying);
                Preview::WouldContinue {
                    projection: Box::new(ready.projection),
                    diagnostics: ready.diagnostics,
                    estimate: Box::new(estimate),
                }
            }
        })
    }

    /// Decides on what the session was up to its present head.
    ///
    /// What is written to the predecessor afterwards expects that head. A person's continuation writes nothing there, so
    /// a message that comes meanwhile is not part of it: the edge says up to where it knows the predecessor.
    fn prepare(&self, predecessor: SessionId, asker: &Asker, arguments: &str) -> Result<Prepared, Error> {
        let log = &*self.log;
        // In a damaged record nobody knows what is missing.
        log.known_damage().map_or(Ok(()), Err)?;
        let head = log.head(predecessor)?.ok_or(Detail::SessionNotFound(predecessor))?;
        let state = session_state(log, predecessor)?.ok_or(Detail::SessionNotFound(predecessor))?;
        let measured = normalise(arguments, predecessor).map(|request| self.measure(request));
        let message = initiating(log, predecessor, head.seq)?;
        let view = self.view(&state, asker, measured.as_ref().ok(), message.as_ref())?;
        if view.replayed.is_none()
            && let Some(text) = refused_before(log, predecessor, asker)?
        {
            return Ok(Prepared::Refuse(Refusal::AnsweredBefore { text }, head.seq));
        }
        match (decide(&view, measured), message) {
            (Decision::Replay(replayed), _) => Ok(Prepared::Replay(replayed)),
            (Decision::Refuse(refusal), _) => Ok(Prepared::Refuse(refusal, head.seq)),
            (Decision::Continue(_), None) => Ok(Prepared::Refuse(Refusal::NothingToContinue, head.seq)),
            (Decision::Continue(approved), Some(message)) => {
                let head = EventRef { seq: head.seq, event: head.hash };
                self.compile(Subject { state, head, message }, *approved, view.agent_successors)
            }
        }
    }

    fn measure(&self, request: Request) -> Measured {
        let sizes = measure(&request.handoff, &request.sources);
        let (handoff_bytes, sources_bytes) = (sizes.handoff_bytes, sizes.sources_bytes);
        Measured { request, budget: self.options.budget, handoff_bytes, sources_bytes }
    }

    fn view(
        &self,
        state: &SessionState,
        asker: &Asker,
        measured: Option<&Measured>,
        message: Option<&Recorded<Message>>,
    ) -> Result<View, LogError> {
        let log = &*self.log;
        let sources = measured.map(|measured| measured.request.sources.as_slice()).unwrap_or_default();
        Ok(View {
            run: asker.situation(state),
            batch: asker.batch(),
            agent_successors: agent_successors(log, state.session)?,
            initiating: message.map_or(Initiating::None, classify),
            plan: state.plan_transfer(),
            threads: readable_heads(log, state, sources)?,
            memory: memory::existing(self.options.memory_root.as_deref(), sources),
            // Read last: if the asker's own continuation changed any of the above, it shows here.
            replayed: replayed(log, state.session, asker)?,
        })
    }

    fn compile(
        &self,
        subject: Subject,
        approved: Approved,
        agent_successors: usize,
    ) -> Result<Prepared, Error> {
        let log = &*self.log;
        let Subject { state: predecessor, head, message } = subject;
        let Approved { request, initiating, plan } = approved;
        let budget = self.options.budget;
        let admitted = match admit(budget, request.handoff.clone(), request.sources.clone()) {
            Ok(admitted) => admitted,
            Err(sizes) => {
                let (bytes, max) = (sizes.handoff_bytes, budget.handoff_bytes_max());
                return Ok(Prepared::Refuse(Refusal::HandoffTooLarge { bytes, max }, head.seq));
            }
        };
        let now = self.host.now();
        let origin = Origin {
            continuation: ContinuationId::v7(now, self.host.random()),
            reason: request.reason,
            first: predecessor.edge.as_ref().map_or(predecessor.session, |edge| edge.origin),
            predecessor: predecessor.session,
            predecessor_title: predecessor.title.text.clone(),
            initiating: initiating.seq,
        };
        let recommended = self.recommended(&predecessor, &origin, head)?;
        let given = Given {
            origin: origin.clone(),
            admitted,
            sources: &request.sources,
            recommended: &recommended,
            budget,
            predecessor: &predecessor,
            head,
            plan,
            compiled_at: log.end()?,
        };
        let (projection, mut diagnostics) = compile(&gather(log, given)?);
        diagnostics.extend(self.missing_of(&message.event)?);
        Ok(Prepared::Continue(Box::new(switch::Ready {
            predecessor,
            head,
            origin,
            request,
            plan,
            message,
            agent_successors,
            projection,
            diagnostics,
            now,
        })))
    }

    /// What the runtime recommends, as much as the recipe takes. The message that follows in full is not among it.
    fn recommended(
        &self,
        predecessor: &SessionState,
        origin: &Origin,
        head: EventRef,
    ) -> Result<Vec<Recommended>, LogError> {
        let max = Recipe::of(origin.reason).recommended_max;
        if max == 0 {
            return Ok(Vec::new());
        }
        let initiating = (origin.predecessor, SeqRange::one(origin.initiating));
        let mut recommended = self.worth.recommend(&*self.log, predecessor, head.seq)?;
        recommended.retain(|recommended| (recommended.thread, recommended.range) != initiating);
        recommended.truncate(max);
        Ok(recommended)
    }
}

enum Prepared {
    Replay(Replayed),
    /// With the head of the session on which that was decided.
    Refuse(Refusal, Seq),
    Continue(Box<switch::Ready>),
}

/// The session that is continued, as it was when that was decided.
struct Subject {
    state: SessionState,
    head: EventRef,
    message: Recorded<Message>,
}

impl From<Replayed> for ContinuedSession {
    fn from(replayed: Replayed) -> Self {
        let Replayed { continuation, successor } = replayed;
        Self { continuation, successor, replayed: true, diagnostics: Vec::new() }
    }
}

/// The newest message up to an event that a user or a trigger wrote.
fn initiating(
    log: &dyn EventLog,
    session: SessionId,
    up_to: Seq,
) -> Result<Option<Recorded<Message>>, LogError> {
    let messages = KindSet::one(Kind::Message);
    for raw in read_through(log, session, SeqRange::up_to(up_to), Direction::Backward, messages)? {
        let Some(recorded) = raw?.decode_as::<TranscriptEvent>().map_err(LogError::codec)? else { continue };
        let Recorded { session, seq, position, time, hash, event } = recorded;
        if let TranscriptEvent::Message(message) = event
            && matches!(message.author, Author::User | Author::Trigger)
        {
            return Ok(Some(Recorded { session, seq, position, time, hash, event: message }));
        }
    }
    Ok(None)
}

fn classify(message: &Recorded<Message>) -> Initiating {
    let event = EventRef { seq: message.seq, event: message.hash };
    match message.event.continued_from {
        Some(_) => Initiating::Copied(event),
        None => Initiating::Said(event),
    }
}

/// The continuation that an asker made of a session. The commit that took its claim begins with the successor.
fn replayed(log: &dyn EventLog, session: SessionId, asker: &Asker) -> Result<Option<Replayed>, LogError> {
    let made = edge_claimed(log, &claims::continuation(session, &asker.initiator())?)?;
    Ok(made.map(|(successor, edge)| Replayed { continuation: edge.continuation, successor }))
}

/// The answer that a refused tool call got, if it was asked before: a call has one result, whatever changed since.
fn refused_before(log: &dyn EventLog, session: SessionId, asker: &Asker) -> Result<Option<String>, LogError> {
    let Asker::Tool(_) = asker else { return Ok(None) };
    let Some(position) = log.claimed(&claims::refusal(session, &asker.initiator())?)? else {
        return Ok(None);
    };
    let Some(first) = log.read_log(position)?.next().transpose()? else { return Ok(None) };
    let recorded = first.decode_as::<TranscriptEvent>().map_err(LogError::codec)?;
    Ok(recorded.and_then(|recorded| match recorded.event {
        TranscriptEvent::ToolResult(result) => result.blocks.into_iter().find_map(|block| match block {
            Block::Text(text) => Some(text),
            _ => None,
        }),
        _ => None,
    }))
}

/// How many of the tasks that a run delegated are unfinished.
pub(crate) fn parked_children(log: &dyn EventLog, run: Option<&RunState>) -> Result<usize, LogError> {
    let children = run.map(|run| run.children.as_slice()).unwrap_or_default();
    children.iter().try_fold(0, |parked, child| {
        let state = session_state(log, child.session)?;
        let run = state.as_ref().and_then(|state| state.runs.get(&child.run));
        Ok(parked + usize::from(run.is_some_and(|run| !run.is_over())))
    })
}

/// How many successors agents made of a session: each took the next of a row of claims.
fn agent_successors(log: &dyn EventLog, session: SessionId) -> Result<usize, LogError> {
    for number in 0..AGENT_SUCCESSORS_MAX {
        if log.claimed(&claims::agent_successor(session, number)?)?.is_none() {
            return Ok(number);
        }
    }
    Ok(AGENT_SUCCESSORS_MAX)
}

/// The newest events of the cited sessions, as far as they belong to the same agent.
fn readable_heads(
    log: &dyn EventLog,
    state: &SessionState,
    sources: &[segue_event::Source],
) -> Result<BTreeMap<SessionId, ThreadHead>, LogError> {
    let mut heads = BTreeMap::new();
    for source in sources {
        let SourceTarget::Events { thread, .. } = source.target else { continue };
        if crate::reader::agent_of(log, thread)?.as_ref() == Some(&state.agent)
            && let Some(head) = log.head(thread)?
        {
            heads.insert(thread, ThreadHead(head.seq));
        }
    }
    Ok(heads)
}
