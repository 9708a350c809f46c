//! What was said last before a conversation went on without it.

use segue_event::{SeqRange, SessionId};
use segue_frame::Entry;
use segue_log::{Direction, EventLog, LogError};

use crate::page::entries;
use crate::{Chain, ThreadError};

/// The last entries before the newest continuation of a chain, oldest first, each with its session; none if the newest
/// session begins the chain.
///
/// # Errors
/// If the log cannot be read.
pub fn before_boundary(
    log: &dyn EventLog,
    chain: &Chain,
    count: usize,
) -> Result<Vec<(SessionId, Entry)>, ThreadError> {
    let Some(before) = chain.links().get(1) else { return Ok(Vec::new()) };
    let newest = entries(log, before.session, SeqRange::up_to(before.up_to), Direction::Backward)?;
    let mut last: Vec<_> = newest.take(count).collect::<Result<_, LogError>>()?;
    last.reverse();
    Ok(last.into_iter().map(|entry| (before.session, entry)).collect())
}
