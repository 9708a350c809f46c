//! Sessions that hold the beginning of another by reference.

use segue_event::{ContinuationEvent, KindSet, RawEvent, Seq, SeqRange, SessionId, Transition};

use crate::{Direction, EventLog, LogError, RawEvents};

/// Events of one session that stand in a row in another's, or in its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Where they stand.
    pub session: SessionId,
    /// Which they are.
    pub range: SeqRange,
}

/// The most sessions that one can be forked from in a row; a longer row is cut off at its far end, and no writer of
/// ours makes one.
pub const FORKS_MAX: usize = 1_024;

/// The events of a session within `range`, those included that it holds of others by reference.
///
/// An event says itself in which session it stands.
///
/// # Errors
/// As [`EventLog::read_kinds`].
pub fn read_through(
    log: &dyn EventLog,
    session: SessionId,
    range: SeqRange,
    direction: Direction,
    kinds: KindSet,
) -> Result<RawEvents, LogError> {
    let mut stretches = stretches(log, session, range)?;
    if direction == Direction::Backward {
        stretches.reverse();
    }
    let read = |stretch: Stretch| log.read_kinds(stretch.session, stretch.range, direction, kinds);
    let mut parts = stretches.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Ok(Box::new(std::iter::empty())),
        (Some(last), false) => Ok(Box::new(parts.into_iter().flatten().chain(last))),
    }
}

/// Where the events of a session within `range` stand, oldest first. Only the newest stretch can reach beyond what is
/// there.
///
/// # Errors
/// If the log cannot be read.
pub fn stretches(log: &dyn EventLog, session: SessionId, range: SeqRange) -> Result<Vec<Stretch>, LogError> {
    let mut stretches = Vec::new();
    let (mut session, mut range) = (session, range);
    while let Some(first) = log.first(session)?
        && stretches.len() < FORKS_MAX
    {
        stretches
            .extend(SeqRange::new(range.from.max(first), range.to).map(|range| Stretch { session, range }));
        let Some(base) = base(log, session, first)? else { break };
        let before = first.previous().map_or(range.to, |before| before.min(range.to));
        let Some(rest) = SeqRange::new(range.from, before) else { break };
        (session, range) = (base, rest);
    }
    stretches.reverse();
    Ok(stretches)
}

/// A session's own first event; none if the session does not exist.
///
/// # Errors
/// If the log cannot be read.
pub fn first_event(log: &dyn EventLog, session: SessionId) -> Result<Option<RawEvent>, LogError> {
    let Some(first) = log.first(session)? else { return Ok(None) };
    log.read(session, SeqRange::one(first), Direction::Forward)?.next().transpose()
}

/// The session that one was forked from; none for one that begins at 1.
fn base(log: &dyn EventLog, session: SessionId, first: Seq) -> Result<Option<SessionId>, LogError> {
    if first == Seq::FIRST {
        return Ok(None);
    }
    let Some(raw) = first_event(log, session)? else { return Ok(None) };
    let recorded = raw.decode_as::<ContinuationEvent>().map_err(LogError::codec)?;
    Ok(recorded.and_then(|recorded| {
        let edge = recorded.event.into_edge()?;
        (edge.transition == Transition::Fork).then_some(edge.predecessor)
    }))
}
