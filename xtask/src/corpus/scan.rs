//! The dumb oracle of recall: every text of a chain in memory, searched with `contains`.

use segue::event::{SeqRange, SessionId};
use segue::log::{Direction, EventLog};
use segue::thread::entries;

/// One text of the record.
pub(crate) struct Text {
    pub(crate) thread: SessionId,
    pub(crate) seq: u64,
    pub(crate) part: u32,
    pub(crate) text: String,
}

/// Every text that the sessions of a chain show.
pub(crate) fn texts(log: &dyn EventLog, sessions: &[SessionId]) -> anyhow::Result<Vec<Text>> {
    let mut texts = Vec::new();
    for thread in sessions {
        for entry in entries(log, *thread, SeqRange::ALL, Direction::Forward)? {
            let entry = entry?;
            let seq = entry.seq.get();
            let parts = entry.parts.into_iter();
            texts.extend(parts.map(|part| Text { thread: *thread, seq, part: part.index, text: part.text }));
        }
    }
    Ok(texts)
}

/// Where a needle stands, found by looking everywhere.
pub(crate) fn find(texts: &[Text], needle: &str) -> Vec<(SessionId, u64, u32)> {
    let holding = texts.iter().filter(|text| text.text.contains(needle));
    let mut places: Vec<_> = holding.map(|text| (text.thread, text.seq, text.part)).collect();
    places.sort();
    places
}
