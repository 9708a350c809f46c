//! What was said last before a conversation went on without it.

use segue_event::{Kind, KindSet, Seq, SeqRange, SessionId};
use segue_frame::Entry;
use segue_log::{Direction, EventLog, LogError};

use crate::page::entries;
use crate::{Chain, ThreadError};

/// The last entries before the newest boundary of a chain, oldest first, each with its session: before the newest
/// pointer or summary that stands in place of what the newest session held, or else before it was continued from its
/// predecessor. None if there is no boundary.
///
/// # Errors
/// If the log cannot be read.
pub fn before_boundary(
    log: &dyn EventLog,
    chain: &Chain,
    count: usize,
) -> Result<Vec<(SessionId, Entry)>, ThreadError> {
    let Some((session, up_to)) = boundary(log, chain)? else { return Ok(Vec::new()) };
    let newest = entries(log, session, SeqRange::up_to(up_to), Direction::Backward)?;
    let mut last: Vec<_> = newest.take(count).collect::<Result<_, LogError>>()?;
    last.reverse();
    Ok(last.into_iter().map(|entry| (session, entry)).collect())
}

/// The last event before the newest boundary.
fn boundary(log: &dyn EventLog, chain: &Chain) -> Result<Option<(SessionId, Seq)>, LogError> {
    let Some(newest) = chain.links().first() else { return Ok(None) };
    let range = SeqRange::up_to(newest.up_to);
    let stand_ins = KindSet::one(Kind::ContextCompacted);
    for raw in log.read_kinds(newest.session, range, Direction::Backward, stand_ins)? {
        let header = raw?.header;
        if header.kind == Kind::ContextCompacted {
            return Ok(header.seq.previous().map(|before| (newest.session, before)));
        }
    }
    Ok(chain.links().get(1).map(|before| (before.session, before.up_to)))
}
