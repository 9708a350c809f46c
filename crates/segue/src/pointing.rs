//! Reads from the log what a pointer is made from.

use segue_continuation::SessionState;
use segue_event::{
    ContinuationId, Kind, KindSet, Message, Position, Recorded, Seq, SeqRange, SessionId, Transition,
};
use segue_log::{Direction, EventLog, LogError, read_through};
use segue_projection::{Asked, Diagnostic, LookBack, Pointer, PointerInput, point};

use crate::limits::POINTER_LOOK_BACK;

/// A pointer, and what was found for it.
pub(crate) struct Pointed {
    pub(crate) pointer: Pointer,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) found: LookBack,
}

/// Makes the pointer of a session as it was behind an event. `state` is the state there.
///
/// It reads back from that event until it has enough, however long the session is.
pub(crate) fn pointer_at(
    log: &dyn EventLog,
    state: &SessionState,
    head: Seq,
    continuation: ContinuationId,
    compiled_at: Option<Position>,
) -> Result<Pointed, LogError> {
    let input = PointerInput {
        continuation,
        thread: state.session,
        source: state.import.as_ref().map(|import| import.path.clone()),
        working_directory: state.working_directory.clone(),
        found: look_back(log, state, head)?,
        plan: state.plan.as_ref().map(|(_, plan)| plan.clone()),
        transfer: state.plan_transfer(),
        head,
        compiled_at,
    };
    let (pointer, diagnostics) = point(&input);
    Ok(Pointed { pointer, diagnostics, found: input.found })
}

/// What is found going back from an event.
pub(crate) fn look_back(log: &dyn EventLog, state: &SessionState, head: Seq) -> Result<LookBack, LogError> {
    let mut found = LookBack::default();
    let mut looked = 0;
    let messages = KindSet::one(Kind::Message);
    for raw in read_through(log, state.session, SeqRange::up_to(head), Direction::Backward, messages)? {
        let raw = raw?;
        if raw.header.kind != Kind::Message {
            continue;
        }
        if found.is_enough() || looked == POINTER_LOOK_BACK {
            found.or_request(request_elsewhere(log, state)?);
            return Ok(found);
        }
        looked += 1;
        if let Some(message) = message_of(raw.decode_as().map_err(LogError::codec)?, state.session) {
            found.take(&message);
        }
    }
    found.reached_the_beginning();
    found.or_request(request_elsewhere(log, state)?);
    Ok(found)
}

/// The request that the newest run answers, or else that which the session was begun with.
fn request_elsewhere(log: &dyn EventLog, state: &SessionState) -> Result<Option<Asked>, LogError> {
    let trigger = state.runs.values().map(|run| run.trigger).max();
    if let Some(trigger) = trigger
        && let Some(asked) = asked_at(log, state.session, trigger)?
    {
        return Ok(Some(asked));
    }
    let request = state.edge.as_ref().and_then(|edge| match &edge.transition {
        Transition::Fresh(fresh) => fresh.request,
        _ => None,
    });
    request.map_or(Ok(None), |request| asked_at(log, request.session, request.seq))
}

fn asked_at(log: &dyn EventLog, session: SessionId, seq: Seq) -> Result<Option<Asked>, LogError> {
    let message = KindSet::one(Kind::Message);
    let mut found = read_through(log, session, SeqRange::one(seq), Direction::Forward, message)?;
    let Some(raw) = found.next().transpose()? else { return Ok(None) };
    let recorded = message_of(raw.decode_as().map_err(LogError::codec)?, session);
    Ok(recorded.as_ref().and_then(Asked::of))
}

/// A message, as the session shows it that it is read through.
pub(crate) fn message_of(
    recorded: Option<Recorded<segue_event::TranscriptEvent>>,
    session: SessionId,
) -> Option<Recorded<Message>> {
    let Recorded { seq, position, time, hash, event, .. } = recorded?;
    let segue_event::TranscriptEvent::Message(event) = event else { return None };
    Some(Recorded { session, seq, position, time, hash, event })
}
