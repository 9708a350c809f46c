//! How large a context is without a continuation.

use segue_event::{Block, KindSet, Message, Seq, SeqRange, SessionId, TranscriptEvent, Usage};
use segue_frame::Entry;
use segue_log::{Direction, EventLog, LogError, read_through};
use segue_projection::{Measured, Staying};

/// What staying in a session costs: the newest count of its provider, or else all its lines.
pub(crate) fn staying(log: &dyn EventLog, session: SessionId) -> Result<Staying, LogError> {
    let transcript = KindSet::of::<TranscriptEvent>();
    let mut bytes = 0;
    let mut kept_from: Option<Seq> = None;
    for raw in read_through(log, session, SeqRange::ALL, Direction::Backward, transcript)? {
        let Some(recorded) = raw?.decode_as::<TranscriptEvent>().map_err(LogError::codec)? else { continue };
        if kept_from.is_some_and(|from| recorded.seq < from) {
            break;
        }
        if let TranscriptEvent::ContextCompacted(compacted) = &recorded.event {
            // What the provider counted before is there no more, but for what was kept.
            bytes += compacted.text.len() as u64;
            kept_from = kept_from.max(compacted.kept_from.or(Some(recorded.seq)));
            continue;
        }
        if let TranscriptEvent::Message(message) = &recorded.event
            && kept_from.is_none()
            && let Some(tokens) = message.usage.as_ref().and_then(Usage::prompt_tokens)
        {
            return Ok(Staying::Counted { tokens });
        }
        bytes += Entry::of(&recorded).render().len() as u64;
    }
    Ok(Staying::Measured(Measured { bytes }))
}

/// The bytes of a message's own texts.
pub(crate) fn message_bytes(message: &Message) -> u64 {
    let texts = message.blocks.iter().map(|block| match block {
        Block::Text(text) => text.len(),
        _ => 0,
    });
    let context = message.context_lines.iter().map(String::len);
    texts.chain(context).sum::<usize>() as u64
}
