//! What was said last before a conversation went on without it.

use segue_event::{Kind, KindSet, Recorded, Seq, SeqRange, SessionId, TranscriptEvent};
use segue_frame::Entry;
use segue_log::{Direction, EventLog, LogError, read_through};

use crate::{Chain, ThreadError};

/// The last entries before the place where a conversation went on without them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tail {
    /// The session in which they stand.
    pub thread: SessionId,
    /// The entries, oldest first.
    pub entries: Vec<Entry>,
    /// The newest entry that was wanted too, and for which there was no room; neither are those before it given.
    pub left_out: Option<Seq>,
}

/// The last entries before the newest compaction or continuation of a chain, at most `count`, and of rendered lines at
/// most `bytes_max`; none if the newest session begins the chain, and nothing of it was compacted. What was put in the
/// place of a context is no entry of it.
///
/// # Errors
/// If the log cannot be read.
pub fn before_boundary(
    log: &dyn EventLog,
    chain: &Chain,
    count: usize,
    bytes_max: usize,
) -> Result<Option<Tail>, ThreadError> {
    let Some((thread, up_to)) = boundary(log, chain)? else { return Ok(None) };
    let mut tail = Tail { thread, entries: Vec::new(), left_out: None };
    let mut bytes_left = bytes_max;
    let kinds = KindSet::of::<TranscriptEvent>();
    for raw in read_through(log, thread, SeqRange::up_to(up_to), Direction::Backward, kinds)? {
        let raw = raw?;
        if tail.entries.len() == count {
            break;
        }
        let entry = entry_of(raw.decode_as().map_err(LogError::codec)?);
        let Some(entry) = entry.filter(|entry| !entry.parts.is_empty()) else { continue };
        match bytes_left.checked_sub(entry.render().len()) {
            Some(left) => bytes_left = left,
            None => {
                tail.left_out = Some(entry.seq);
                break;
            }
        }
        tail.entries.push(entry);
    }
    tail.entries.reverse();
    Ok(Some(tail))
}

fn entry_of(recorded: Option<Recorded<TranscriptEvent>>) -> Option<Entry> {
    recorded
        .filter(|recorded| !matches!(recorded.event, TranscriptEvent::ContextCompacted(_)))
        .map(|recorded| Entry::of(&recorded))
}

/// Up to where the conversation is before its newest boundary.
fn boundary(log: &dyn EventLog, chain: &Chain) -> Result<Option<(SessionId, Seq)>, LogError> {
    let Some(newest) = chain.links().first() else { return Ok(None) };
    let own = SeqRange::up_to(newest.up_to);
    let compacted = KindSet::one(Kind::ContextCompacted);
    for raw in log.read_kinds(newest.session, own, Direction::Backward, compacted)? {
        let raw = raw?;
        if raw.kind() == Kind::ContextCompacted {
            return Ok(raw.header.seq.previous().map(|before| (newest.session, before)));
        }
    }
    Ok(chain.links().get(1).map(|before| (before.session, before.up_to)))
}
