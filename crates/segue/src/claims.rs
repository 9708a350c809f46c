//! The keys that make things happen once.

use segue_event::{Initiator, Seq, SessionId};
use segue_log::{ClaimKey, LogError};

/// Taken by the continuation of a session for one initiator.
pub(crate) fn continuation(predecessor: SessionId, initiator: &Initiator) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("continuation/{predecessor}/{}", digest(initiator).to_hex()))
}

/// Taken by the record of a refusal of one initiator's call.
pub(crate) fn refusal(predecessor: SessionId, initiator: &Initiator) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("refusal/{predecessor}/{}", digest(initiator).to_hex()))
}

/// Taken by the fork that one request made.
pub(crate) fn fork(session: SessionId, initiator: &Initiator) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("fork/{session}/{}", digest(initiator).to_hex()))
}

/// Taken by the `number`th session, from 0, that came from another in whatever way: so they are found in a row.
pub(crate) fn successor(predecessor: SessionId, number: usize) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("successor/{predecessor}/{number}"))
}

/// Taken by the task that one initiator gave away.
pub(crate) fn delegation(parent: SessionId, initiator: &Initiator) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("delegation/{parent}/{}", digest(initiator).to_hex()))
}

/// Taken by the note of a compaction.
pub(crate) fn note(session: SessionId, compaction: &str) -> Result<ClaimKey, LogError> {
    of_compaction("note", session, compaction)
}

/// Taken by the note that holds a harness's summary of a compaction.
pub(crate) fn summary_note(session: SessionId, compaction: &str) -> Result<ClaimKey, LogError> {
    of_compaction("summary-note", session, compaction)
}

/// Taken by whoever is given the note of a compaction.
pub(crate) fn note_given(session: SessionId, compaction: &str) -> Result<ClaimKey, LogError> {
    of_compaction("note-given", session, compaction)
}

fn of_compaction(what: &str, session: SessionId, compaction: &str) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("{what}/{session}/{}", blake3::hash(compaction.as_bytes()).to_hex()))
}

/// Taken by the one nudge that follows a word of the user; 0 stands for the time before the first one.
pub(crate) fn nudge(session: SessionId, word: Option<Seq>) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("nudge/{session}/{}", word.map_or(0, Seq::get)))
}

fn digest(initiator: &Initiator) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let mut enter = |bytes: &[u8]| {
        // Each piece with its length, so that no two initiators run together.
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    match initiator {
        Initiator::Tool { run, call } => {
            enter(b"tool");
            enter(run.as_bytes());
            enter(call.as_bytes());
        }
        Initiator::Person { request } => {
            enter(b"person");
            enter(request.as_bytes());
        }
        Initiator::Runtime { armed } => {
            enter(b"runtime");
            enter(&armed.seq.get().to_le_bytes());
            enter(armed.event.as_bytes());
        }
    }
    hasher.finalize()
}

/// Taken by the `number`th successor, from 0, that an agent makes of a session.
pub(crate) fn agent_successor(predecessor: SessionId, number: usize) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("agent-successor/{predecessor}/{number}"))
}

/// Taken by what settles a fresh session that was armed: its start, or that it was given up.
pub(crate) fn armed(session: SessionId, armed: Seq) -> Result<ClaimKey, LogError> {
    ClaimKey::new(format!("armed/{session}/{armed}"))
}
