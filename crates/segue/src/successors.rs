//! The sessions that came from another, found without looking through the log.

use segue_event::{ContinuationEvent, Edge, SessionId};
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
///
/// Each took the next of a row of claims, and the commit that took it begins with the session.
pub(crate) fn successors(
    log: &dyn EventLog,
    predecessor: SessionId,
) -> Result<Vec<(SessionId, Edge)>, LogError> {
    let mut successors = Vec::new();
    while let Some(position) = log.claimed(&claims::successor(predecessor, successors.len())?)? {
        let first = log.read_log(position)?.next().transpose()?;
        let recorded =
            first.map(|raw| raw.decode_as::<ContinuationEvent>()).transpose().map_err(LogError::codec)?;
        let Some(recorded) = recorded.flatten() else { break };
        let Some(edge) = recorded.event.into_edge() else { break };
        successors.push((recorded.session, *edge));
    }
    Ok(successors)
}
