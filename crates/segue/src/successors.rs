//! The sessions that came from another, found without looking through the log.

use segue_event::{ContinuationEvent, Edge, SessionId};
use segue_log::{EventLog, LogError};

use crate::claims;

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
        let ContinuationEvent::Continued(edge) = recorded.event;
        successors.push((recorded.session, *edge));
    }
    Ok(successors)
}
