//! The sessions that came from another, found without looking through the log.

use segue_event::{ContinuationEvent, Edge, Position, SessionId};
use segue_log::{ClaimKey, EventLog, LogError};

use crate::claims;

/// The key that the next session to come from one takes.
pub(crate) fn next_successor(log: &dyn EventLog, predecessor: SessionId) -> Result<ClaimKey, LogError> {
    for number in 0.. {
        let key = claims::successor(predecessor, number)?;
        if log.claimed(&key)?.is_none() {
            return Ok(key);
        }
    }
    claims::successor(predecessor, usize::MAX)
}

/// The sessions that came from one, oldest first, each with its edge.
pub(crate) fn successors(
    log: &dyn EventLog,
    predecessor: SessionId,
) -> Result<Vec<(SessionId, Edge)>, LogError> {
    successors_while(log, predecessor, |_| true)
}

/// Those whose first event stands before a place in the log: the same ones whenever that is asked.
pub(crate) fn successors_before(
    log: &dyn EventLog,
    predecessor: SessionId,
    end: Position,
) -> Result<Vec<(SessionId, Edge)>, LogError> {
    successors_while(log, predecessor, |position| position < end)
}

/// Each took the next of a row of claims, and the commit that took it begins with the session.
fn successors_while(
    log: &dyn EventLog,
    predecessor: SessionId,
    is_wanted: impl Fn(Position) -> bool,
) -> Result<Vec<(SessionId, Edge)>, LogError> {
    let mut successors = Vec::new();
    while let Some(position) = log.claimed(&claims::successor(predecessor, successors.len())?)?
        && is_wanted(position)
    {
        let Some(successor) = edge_at(log, position)? else { break };
        successors.push(successor);
    }
    Ok(successors)
}

/// The session that began with the commit that took a key, and its edge; none while the key is free.
pub(crate) fn edge_claimed(
    log: &dyn EventLog,
    key: &ClaimKey,
) -> Result<Option<(SessionId, Edge)>, LogError> {
    log.claimed(key)?.map_or(Ok(None), |position| edge_at(log, position))
}

/// The session that begins at a position, and its edge.
fn edge_at(log: &dyn EventLog, position: Position) -> Result<Option<(SessionId, Edge)>, LogError> {
    let Some(first) = log.read_log(position)?.next().transpose()? else { return Ok(None) };
    let recorded = first.decode_as::<ContinuationEvent>().map_err(LogError::codec)?;
    Ok(recorded.and_then(|recorded| Some((recorded.session, *recorded.event.into_edge()?))))
}
