//! A fresh session where the context is full: at once, without a model, and so that no failure leaves a dead run.
//!
//! The pointer is written first, and from then on the session itself can go on with it. Only then a fresh session is
//! armed and, if nothing speaks against it, started in one commit. Whatever fails on the way leaves the session with its
//! pointer, and says so once.

use std::fmt;

use segue_continuation::{Armed, RunPhase, RunState, SessionState};
use segue_event::{
    Attachment, Author, CompactedBy, ContextCompacted, ContinuationId, Continued, ErrorNoted, Event,
    EventRef, Fresh, FreshArmed, FreshOutcome, FreshSettled, FreshTrigger, Initiator, Lane, Manifest,
    Message, MessageOrigin, Role, RunEnded, RunId, RunOutcome, Seq, SeqRange, SessionId, Timestamp,
    TranscriptEvent, Transition,
};
use segue_log::{Commit, Direction, Expected, LogError, NewEvent};
use segue_projection::{Asked, Diagnostic, Ending, LookBack};

use crate::compacting::{Kept, Landed, OnBehalf};
use crate::contention::until_first;
use crate::error::Detail;
use crate::limits::FRESH_WITHIN;
use crate::pointing::{Pointed, look_back, pointer_at};
use crate::sending::queued_run;
use crate::standing::Standing;
use crate::successors::{edge_claimed, next_successor};
use crate::switch::{Passing, Succession, at, moved_message, moved_messages, successor_started, taken_along};
use crate::{ContinuedSession, Error, ErrorKind, Workspace, claims};

/// Where a conversation goes on whose context gave way.
#[derive(Clone, PartialEq, Debug)]
pub enum Freshened {
    /// In a fresh session that begins with the pointer. A run is queued there if there is something to be done.
    Switched(ContinuedSession),
    /// In the same session, with the pointer in place of what was said.
    InPlace(WhyInPlace),
}

/// Why a session goes on itself, with a pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WhyInPlace {
    /// A run of it owes its result to another one, or waits for tasks that it gave away: both go by its session.
    BoundRun,
    /// No model is set with which the fresh session could go on.
    NoModel,
    /// The agent went on in the session before the fresh one was started.
    WentOn,
    /// There was no time left to start it.
    Late,
    /// Something failed; what, in words.
    Failed(String),
    /// It was given up before; the reason stands in the record.
    GivenUpBefore,
}

impl fmt::Display for WhyInPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BoundRun => "a run owes its result to another one, or waits for tasks that it gave away",
            Self::NoModel => "no model is set",
            Self::WentOn => "the session went on before",
            Self::Late => "it was armed too long ago",
            Self::Failed(why) => why,
            Self::GivenUpBefore => "it was given up before",
        })
    }
}

/// What a pointer would be. Nothing was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PointerPreview {
    /// The text; the id that it names is not kept.
    pub text: String,
    /// What it is built from.
    pub manifest: Manifest,
    /// What is worth knowing about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether it is known that there is a model for the successor's run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ModelCheck {
    /// Who asks has one, or does not ask any.
    Settled,
    /// Who asks has none: the session must have one of its own.
    OfSession,
}

/// What makes a context give way, and for whom.
pub(crate) struct Cause {
    pub(crate) trigger: FreshTrigger,
    pub(crate) on_behalf: OnBehalf,
    pub(crate) model: ModelCheck,
}

/// Who starts what was armed, by itself or by somebody else.
pub(crate) struct Asking<'a> {
    /// The request of a person, which gets the successor too.
    request: Option<&'a str>,
    model: ModelCheck,
}

impl Asking<'_> {
    /// A host that finds it.
    pub(crate) fn of_host(model: ModelCheck) -> Self {
        Self { request: None, model }
    }
}

impl Cause {
    fn asking(&self) -> Asking<'_> {
        let request = match &self.trigger {
            FreshTrigger::Person { request } => Some(request.as_str()),
            _ => None,
        };
        Asking { request, model: self.model }
    }
}

impl Workspace {
    /// Goes on from a session in a fresh one that begins with a pointer, because a person asked for it. The same request,
    /// an id that the caller chose, gets the same successor.
    ///
    /// A run that is at work in the session ends there and goes on in the successor.
    ///
    /// # Errors
    /// If there is no such session, or not even the pointer could be written; then nothing was.
    pub fn fresh(&self, session: SessionId, request: &str) -> Result<Freshened, Error> {
        let trigger = FreshTrigger::Person { request: request.to_owned() };
        if let Some(made) = self.made_for(session, &trigger)? {
            return Ok(Freshened::Switched(made));
        }
        let mut standing = Standing::of(&*self.log, session)?;
        // What a crash left is finished first: it may be this very request.
        let cause = Cause { trigger, on_behalf: OnBehalf::Anyone, model: ModelCheck::Settled };
        if let Some(Freshened::Switched(continued)) = self.pick_up(&mut standing, &cause.asking())? {
            return Ok(Freshened::Switched(continued));
        }
        self.freshen(&mut standing, &cause)
    }

    /// Tells with which pointer [`Self::fresh`] would begin. Nothing is written.
    ///
    /// # Errors
    /// If there is no such session, or the log cannot be read.
    pub fn preview_fresh(&self, session: SessionId) -> Result<PointerPreview, Error> {
        let log = &*self.log;
        let Standing { state, head } = Standing::of(log, session)?;
        let continuation = ContinuationId::v7(self.host.now(), self.host.random());
        let pointed = pointer_at(log, &state, head.seq, continuation, log.end()?)?;
        let Pointed { pointer, diagnostics, .. } = pointed;
        Ok(PointerPreview { text: pointer.text, manifest: pointer.manifest, diagnostics })
    }

    /// The whole way: pointer, armed record, checks, the one commit.
    pub(crate) fn freshen(&self, standing: &mut Standing, cause: &Cause) -> Result<Freshened, Error> {
        let landed = self.leave_pointer(standing, Kept::Nothing, cause.on_behalf)?;
        let session = standing.state.session;
        match until_first(session, || self.try_to_arm(standing, landed.at, cause)) {
            Ok(Arming::Armed(armed)) => Ok(self.start_armed(standing, armed, &cause.asking(), Some(landed))),
            Ok(Arming::There(continued)) => Ok(Freshened::Switched(continued)),
            Ok(Arming::Bound) => Ok(Freshened::InPlace(WhyInPlace::BoundRun)),
            // Whoever has the run now finds the pointer there.
            Err(error) if error.kind() == ErrorKind::NoOpenRun => Err(error),
            Err(error) => Ok(self.keep_in_place(standing, None, WhyInPlace::Failed(error.to_string()))),
        }
    }

    /// The successor that a person's request has already.
    fn made_for(
        &self,
        session: SessionId,
        trigger: &FreshTrigger,
    ) -> Result<Option<ContinuedSession>, LogError> {
        let FreshTrigger::Person { request } = trigger else { return Ok(None) };
        let initiator = Initiator::Person { request: request.clone() };
        let made = edge_claimed(&*self.log, &claims::continuation(session, &initiator)?)?;
        Ok(made.map(|(successor, edge)| there_already(successor, edge.continuation)))
    }

    /// Finishes what was armed in a session and not settled, if there is still time; none if nothing was.
    pub(crate) fn pick_up(
        &self,
        standing: &mut Standing,
        asking: &Asking<'_>,
    ) -> Result<Option<Freshened>, Error> {
        standing.catch_up(&*self.log)?;
        let Some(Armed { at, armed }) = standing.state.armed.clone() else { return Ok(None) };
        if self.host.now().micros > armed.until.micros {
            return Ok(Some(self.keep_in_place(standing, Some(at), WhyInPlace::Late)));
        }
        Ok(Some(self.start_armed(standing, at, asking, None)))
    }

    /// Arms a fresh session, or joins who did before.
    fn try_to_arm(&self, standing: &mut Standing, pointer: EventRef, cause: &Cause) -> Result<Arming, Error> {
        standing.catch_up(&*self.log)?;
        let Standing { state, head } = standing;
        let session = state.session;
        if let Some(made) = self.made_for(session, &cause.trigger)? {
            return Ok(Arming::There(made));
        }
        if let Some(other) = &state.armed {
            return Ok(Arming::Armed(other.at));
        }
        cause.on_behalf.check(state)?;
        if open_runs(state).any(|(_, run)| is_bound(run)) {
            return Ok(Arming::Bound);
        }
        let now = self.host.now();
        let armed = FreshArmed { pointer, trigger: cause.trigger.clone(), until: later(now) };
        let events = vec![NewEvent::new(now, armed)];
        let committed = self.log.commit(Commit::new().append(session, Expected::after(head.seq), events))?;
        let extent = committed.extents.first().ok_or(Detail::SessionNotFound(session))?;
        Ok(Arming::Armed(EventRef { seq: extent.range.to, event: extent.head }))
    }

    fn start_armed(
        &self,
        standing: &mut Standing,
        armed: EventRef,
        asking: &Asking<'_>,
        landed: Option<Landed>,
    ) -> Freshened {
        let session = standing.state.session;
        match until_first(session, || self.try_to_start(standing, armed, asking, landed.as_ref())) {
            Ok(Tried::Started(continued)) => {
                let diagnostics = landed.map(|landed| landed.diagnostics).unwrap_or_default();
                Freshened::Switched(ContinuedSession { diagnostics, ..continued })
            }
            Ok(Tried::Settled(before)) => before,
            Ok(Tried::Against(why)) => self.keep_in_place(standing, Some(armed), why),
            Err(error) => self.keep_in_place(standing, Some(armed), WhyInPlace::Failed(error.to_string())),
        }
    }

    /// Looks at how things stand now, and starts the successor in one commit.
    ///
    /// What the pointer was made from is known to who left it; whoever finds it armed reads that again.
    fn try_to_start(
        &self,
        standing: &mut Standing,
        armed: EventRef,
        asking: &Asking<'_>,
        landed: Option<&Landed>,
    ) -> Result<Tried, Error> {
        let log = &*self.log;
        log.known_damage().map_or(Ok(()), Err)?;
        standing.catch_up(log)?;
        let Standing { state, head } = standing;
        let session = state.session;
        let Some(Armed { armed: record, .. }) = state.armed.clone().filter(|other| other.at == armed) else {
            return Ok(Tried::Settled(self.settled(session, armed)?));
        };
        if open_runs(state).any(|(_, run)| is_bound(run)) {
            return Ok(Tried::Against(WhyInPlace::BoundRun));
        }
        let pointer = self.pointer_of(session, record.pointer.seq)?;
        let Since::Said(said) = self.since(session, record.pointer.seq, head.seq)? else {
            return Ok(Tried::Against(WhyInPlace::WentOn));
        };
        let found = match landed.filter(|landed| landed.at == record.pointer) {
            Some(landed) => landed.found.clone(),
            None => {
                let before = record.pointer.seq.previous();
                look_back(log, state, before.ok_or(Detail::EventNotFound(session, record.pointer.seq))?)?
            }
        };
        let is_waited_for = open_runs(state).next().is_some()
            || !said.is_empty()
            || !state.waiting_messages.is_empty()
            || found.ending() == Ending::Open && !was_stopped(state, &found);
        if is_waited_for && asking.model == ModelCheck::OfSession && state.model.is_none() {
            return Ok(Tried::Against(WhyInPlace::NoModel));
        }
        let request = found.request();
        let ready = Ready {
            head: EventRef { seq: head.seq, event: head.hash },
            armed,
            record,
            pointer,
            request: request.map(|asked| asked.origin),
            pictures: request.map(|asked| asked.pictures.clone()).unwrap_or_default(),
            said,
            next: if is_waited_for { Next::Run } else { Next::Nothing },
            now: self.host.now(),
        };
        Ok(Tried::Started(self.start(state.clone(), ready, asking.request)?))
    }

    fn start(
        &self,
        state: SessionState,
        ready: Ready,
        asked_by: Option<&str>,
    ) -> Result<ContinuedSession, LogError> {
        let session = state.session;
        let now = ready.now;
        let successor = SessionId::v7(now, self.host.random());
        let continuation = ready.pointer.continuation;
        let initiator = match &ready.record.trigger {
            FreshTrigger::Person { request } => Initiator::Person { request: request.clone() },
            _ => Initiator::Runtime { armed: ready.armed },
        };
        let mut claims = vec![
            claims::continuation(session, &initiator)?,
            next_successor(&*self.log, session)?,
            claims::armed(session, ready.armed.seq)?,
        ];
        let person = asked_by.map(|request| Initiator::Person { request: request.to_owned() });
        if let Some(person) = person.filter(|person| *person != initiator) {
            claims.push(claims::continuation(session, &person)?);
        }
        let head = ready.head.seq;
        let closing = closing_events(&state, ready.armed.seq, Continued { session: successor, continuation });
        let run = RunId::v7(now, self.host.random());
        let opening = opening_events(state, ready, initiator, run);
        self.succeed(Succession { successor, opening, predecessor: session, head, closing, claims, now })?;
        Ok(ContinuedSession { continuation, successor, replayed: false, diagnostics: Vec::new() })
    }

    /// Says once, in the record where that can be written, why the session goes on itself.
    fn keep_in_place(&self, standing: &mut Standing, armed: Option<EventRef>, why: WhyInPlace) -> Freshened {
        let told = until_first(standing.state.session, || self.try_to_tell(standing, armed, &why));
        match told {
            Ok(Some(before)) => before,
            // What cannot be written is told by what is returned.
            Ok(None) | Err(_) => Freshened::InPlace(why),
        }
    }

    fn try_to_tell(
        &self,
        standing: &mut Standing,
        armed: Option<EventRef>,
        why: &WhyInPlace,
    ) -> Result<Option<Freshened>, Error> {
        standing.catch_up(&*self.log)?;
        let Standing { state, head } = standing;
        let session = state.session;
        let message = format!("no fresh session was started: {why}; this one goes on with the pointer");
        let mut events: Vec<Event> = vec![ErrorNoted { message, provenance: None }.into()];
        let mut commit = Commit::new();
        if let Some(armed) = armed {
            if state.armed.as_ref().is_none_or(|other| other.at != armed) {
                return Ok(Some(self.settled(session, armed)?));
            }
            let outcome = FreshOutcome::GivenUp(why.to_string());
            events.push(FreshSettled { armed: armed.seq, outcome }.into());
            commit = commit.claim(claims::armed(session, armed.seq)?);
        }
        let events = at(self.host.now(), events);
        self.log.commit(commit.append(session, Expected::after(head.seq), events))?;
        Ok(None)
    }

    /// What became of an armed record that somebody settled.
    fn settled(&self, session: SessionId, armed: EventRef) -> Result<Freshened, LogError> {
        let made = edge_claimed(&*self.log, &claims::armed(session, armed.seq)?)?;
        Ok(match made {
            Some((successor, edge)) => Freshened::Switched(there_already(successor, edge.continuation)),
            None => Freshened::InPlace(WhyInPlace::GivenUpBefore),
        })
    }

    fn pointer_of(&self, session: SessionId, seq: Seq) -> Result<PointerThere, Error> {
        let raw = self.log.read(session, SeqRange::one(seq), Direction::Forward)?.next().transpose()?;
        let event = raw.map(|raw| raw.decode().map_err(LogError::codec)).transpose()?;
        match event.map(|recorded| recorded.event) {
            Some(Event::ContextCompacted(ContextCompacted {
                text,
                by: CompactedBy::Pointer { continuation, manifest },
                ..
            })) => Ok(PointerThere { text, continuation, manifest: *manifest }),
            _ => Err(Detail::EventNotFound(session, seq).into()),
        }
    }

    /// What was said behind the pointer: messages go along, and what an agent did keeps the session.
    fn since(&self, session: SessionId, pointer: Seq, head: Seq) -> Result<Since, LogError> {
        let mut said = Vec::new();
        let Some(range) = SeqRange::new(pointer.next(), head) else { return Ok(Since::Said(said)) };
        for raw in self.log.read(session, range, Direction::Forward)? {
            let Some(recorded) = raw?.decode_as::<TranscriptEvent>().map_err(LogError::codec)? else {
                continue;
            };
            match recorded.event {
                TranscriptEvent::Message(message) if message.role == Role::Assistant => {
                    return Ok(Since::AgentWentOn);
                }
                TranscriptEvent::ToolResult(_) => return Ok(Since::AgentWentOn),
                TranscriptEvent::Message(message) => {
                    said.push((MessageOrigin { session, seq: recorded.seq, event: recorded.hash }, message));
                }
                _ => {}
            }
        }
        Ok(Since::Said(said))
    }
}

/// What came of trying to arm a fresh session.
enum Arming {
    /// It is armed, by us or by somebody else.
    Armed(EventRef),
    /// A run is bound to the session that is there.
    Bound,
    /// The request has its successor already.
    There(ContinuedSession),
}

/// What came of trying to start a fresh session.
enum Tried {
    Started(ContinuedSession),
    /// Somebody settled it before.
    Settled(Freshened),
    /// Something speaks against it.
    Against(WhyInPlace),
}

/// What happened in a session behind its pointer.
enum Since {
    Said(Vec<(MessageOrigin, Message)>),
    AgentWentOn,
}

/// A pointer as it stands in its session.
struct PointerThere {
    text: String,
    continuation: ContinuationId,
    manifest: Manifest,
}

/// A fresh session that is about to be started.
struct Ready {
    head: EventRef,
    armed: EventRef,
    record: FreshArmed,
    pointer: PointerThere,
    request: Option<MessageOrigin>,
    pictures: Vec<Attachment>,
    said: Vec<(MessageOrigin, Message)>,
    next: Next,
    now: Timestamp,
}

/// What a fresh session begins with behind its pointer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A run: something is to be done.
    Run,
    /// Nothing: it waits for its first message.
    Nothing,
}

/// The start, the pointer with the pictures of the request, the messages that go along, and the run.
fn opening_events(state: SessionState, ready: Ready, initiator: Initiator, run: RunId) -> Vec<Event> {
    let Ready { head, armed, record, pointer, request, pictures, said, next, now } = ready;
    let lane = open_runs(&state).map(|(_, run)| run.lane).min().unwrap_or(Lane::Interactive);
    let waiting = moved_messages(state.session, &state.waiting_messages);
    let along: Vec<_> =
        said.into_iter().map(|(origin, message)| moved_message(origin, message)).chain(waiting).collect();
    let passing = Passing { continuation: pointer.continuation, head, initiator, now };
    let transfer = pointer.manifest.plan;
    let transition = Transition::Fresh(Box::new(Fresh {
        trigger: record.trigger,
        pointer: record.pointer,
        armed,
        request,
        manifest: pointer.manifest,
    }));
    let message =
        Message { attachments: pictures, ..Message::text(Role::User, Author::System, pointer.text) };
    let mut events: Vec<Event> =
        vec![successor_started(state, transfer, passing, transition).into(), message.into()];
    events.extend(along);
    if next == Next::Run {
        // Each event has the number of its place; the newest message is the one that asks for the run.
        let trigger = Seq::FIRST.plus(events.len() as u64 - 1);
        events.push(queued_run(run, lane, trigger).into());
    }
    events
}

/// What the predecessor gets: where its messages went, the end of its runs, and that this is settled.
fn closing_events(state: &SessionState, armed: Seq, continued: Continued) -> Vec<Event> {
    let mut events: Vec<Event> = taken_along(&state.waiting_messages, continued.session).collect();
    let outcome = RunOutcome::Continued(continued);
    events.extend(open_runs(state).map(|(run, _)| RunEnded { run, outcome: outcome.clone() }.into()));
    events.push(FreshSettled { armed, outcome: FreshOutcome::Started(continued) }.into());
    events
}

fn open_runs(state: &SessionState) -> impl Iterator<Item = (RunId, &RunState)> {
    state.runs.iter().filter(|(_, run)| !run.is_over()).map(|(id, run)| (*id, run))
}

/// Whether others know a run by its session: whoever delegated it, waits for its result, or works for it.
fn is_bound(run: &RunState) -> bool {
    run.parent.is_some() || run.result_schema.is_some() || run.untold().next().is_some()
}

fn there_already(successor: SessionId, continuation: ContinuationId) -> ContinuedSession {
    ContinuedSession { continuation, successor, replayed: true, diagnostics: Vec::new() }
}

fn later(now: Timestamp) -> Timestamp {
    let within = i64::try_from(FRESH_WITHIN.as_micros()).unwrap_or(i64::MAX);
    Timestamp { micros: now.micros.saturating_add(within), ..now }
}

/// Whether somebody stopped the run that was to answer the latest request: what they stopped does not begin again by
/// itself.
fn was_stopped(state: &SessionState, found: &LookBack) -> bool {
    let newest = state.runs.values().max_by_key(|run| run.trigger);
    newest.is_some_and(|run| {
        let is_newer =
            |asked: &Asked| asked.origin.session == state.session && asked.origin.seq > run.trigger;
        run.phase == RunPhase::Ended(RunOutcome::Cancelled) && !found.request().is_some_and(is_newer)
    })
}
