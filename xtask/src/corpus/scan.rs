//! The dumb oracle of recall: every text of a chain in memory, with every string of its JSON, searched with `contains`.

use segue::event::{Form, KindSet, SeqRange, SessionId, TranscriptEvent};
use segue::log::{Direction, EventLog, LogError};
use serde_json::Value;

/// One text of the record.
pub(crate) struct Text {
    pub(crate) thread: SessionId,
    pub(crate) seq: u64,
    pub(crate) part: u32,
    pub(crate) text: String,
    /// What the strings in it mean, if it is JSON.
    meant: Vec<String>,
}

/// Every text that the sessions of a chain show.
pub(crate) fn texts(log: &dyn EventLog, sessions: &[SessionId]) -> anyhow::Result<Vec<Text>> {
    let kinds = KindSet::of::<TranscriptEvent>();
    let mut texts = Vec::new();
    for thread in sessions {
        for raw in log.read_kinds(*thread, SeqRange::ALL, Direction::Forward, kinds)? {
            let Some(recorded) = raw?.decode_as::<TranscriptEvent>().map_err(LogError::codec)? else {
                continue;
            };
            texts.extend(recorded.event.texts().into_iter().map(|text| Text {
                thread: *thread,
                seq: recorded.seq.get(),
                part: text.index,
                text: text.text.to_owned(),
                meant: if text.form == Form::Json { strings(text.text) } else { Vec::new() },
            }));
        }
    }
    Ok(texts)
}

fn strings(json: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut left: Vec<Value> = serde_json::from_str(json).into_iter().collect();
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(values) => left.extend(values),
            Value::Object(fields) => fields.into_iter().for_each(|(key, value)| {
                found.push(key);
                left.push(value);
            }),
            _ => {}
        }
    }
    found
}

impl Text {
    /// Whether it stands in the text, or in what a string of it means.
    pub(crate) fn holds(&self, needle: &str) -> bool {
        self.text.contains(needle) || self.meant.iter().any(|meant| meant.contains(needle))
    }
}

/// Where a needle stands, found by looking everywhere.
pub(crate) fn find(texts: &[Text], needle: &str) -> Vec<(SessionId, u64, u32)> {
    let holding = texts.iter().filter(|text| text.holds(needle));
    let mut places: Vec<_> = holding.map(|text| (text.thread, text.seq, text.part)).collect();
    places.sort();
    places
}
