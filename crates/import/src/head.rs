//! The beginning of a source: what it is, and what the session is to be called.
//!
//! Only the content counts, not the path, and only a bounded number of lines, so that a source that grows is still
//! taken for the same.

use std::io::{self, BufRead};

use segue_event::{LineNumber, ModelName, Seq, SourceKind, Timestamp, TitleSource};

use crate::content::{cut_id, cut_text};
use crate::json::Object;
use crate::limits::{DIRECTORY_BYTES_MAX, FIRST_LINE_BYTES_MAX, HEAD_BYTES_MAX, HEAD_LINES_MAX};
use crate::line::{Line, read_line};
use crate::records::read_objects;
use crate::source::{LineReader, Piece, PieceEnd};
use crate::state::State;
use crate::{claude, pi};

/// The beginning of a source whose kind is known.
#[derive(Debug)]
pub(crate) struct Head {
    /// The program that wrote it.
    pub(crate) kind: SourceKind,
    /// That program's id of the session, the likeliest first; the last one is empty.
    pub(crate) original_ids: Vec<String>,
    /// The hash of the first line, without the white space at its end.
    pub(crate) first_line: blake3::Hash,
    /// The folder the agent worked in; empty where the source does not say.
    pub(crate) working_directory: String,
    /// The model that a header names.
    pub(crate) model: Option<ModelName>,
}

/// How a session opens that is made from a source.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Opening {
    /// The first time that the source tells.
    pub(crate) time: Option<Timestamp>,
    /// The first thing that was said, shortened; empty where nothing was.
    pub(crate) title: String,
}

/// Reads the beginning of a source. The inner error is the reason why it is none that can be imported.
pub(crate) fn read_head(source: impl BufRead, known: Option<SourceKind>) -> io::Result<Result<Head, String>> {
    let mut facts = Facts::default();
    let mut first_line = None;
    for piece in FirstLines::new(source) {
        let piece = piece?;
        first_line.get_or_insert_with(|| blake3::hash(piece.bytes.trim_ascii_end()));
        if piece.end == PieceEnd::Full {
            // Its line is too long to be read, here as in the import.
            continue;
        }
        // What cannot be read here will be reported when its line is imported.
        let _stop = read_objects(&piece.bytes, piece.offset, |record| facts.take(record));
        if known.or_else(|| facts.kind()).is_some_and(|kind| facts.are_complete(kind)) {
            break;
        }
    }
    let Some(first_line) = first_line else { return Ok(Err("it is empty".to_owned())) };
    let Some(kind) = known.or_else(|| facts.kind()) else {
        return Ok(Err("its first lines are those of no transcript that can be imported".to_owned()));
    };
    Ok(Ok(Head {
        kind,
        original_ids: facts.original_ids(kind),
        first_line,
        working_directory: facts.working_directory,
        model: facts.header_model.filter(|_| kind == SourceKind::Pi),
    }))
}

/// Reads how a source opens: what importing its first lines would give.
pub(crate) fn read_opening(source: impl BufRead, kind: SourceKind) -> io::Result<Opening> {
    let untold = Timestamp::utc_micros(i64::MIN);
    let mut state = State::new(kind, Seq::FIRST, untold);
    let mut time = None;
    for piece in FirstLines::new(source) {
        let Piece { offset, bytes, end } = piece?;
        if end == PieceEnd::Full {
            continue;
        }
        read_line(&mut state, Line { number: LineNumber(1), offset, bytes: &bytes, begun: &[] });
        time = time.or(Some(state.time).filter(|time| *time != untold));
        if time.is_some() && state.titles.contains_key(&TitleSource::Fallback) {
            break;
        }
    }
    Ok(Opening { time, title: state.titles.remove(&TitleSource::Fallback).unwrap_or_default() })
}

/// The lines at the beginning of a source, as many as are looked at. Of a line that is too long to be read only the
/// first piece is given, and nothing behind it unless it is the first line of all.
struct FirstLines<R> {
    reader: LineReader<R>,
    left: usize,
    /// The byte behind the first line.
    first_end: Option<u64>,
}

impl<R: BufRead> FirstLines<R> {
    fn new(source: R) -> Self {
        Self { reader: LineReader::new(source), left: HEAD_LINES_MAX, first_end: None }
    }

    /// Passes over the rest of a first line.
    fn end_first_line(&mut self, mut end: PieceEnd) -> io::Result<()> {
        while end == PieceEnd::Full && self.reader.offset() < FIRST_LINE_BYTES_MAX {
            let Some(piece) = self.reader.next_piece()? else { break };
            end = piece.end;
        }
        if end != PieceEnd::Newline {
            self.left = 0;
        }
        self.first_end = Some(self.reader.offset());
        Ok(())
    }

    fn next_line(&mut self) -> io::Result<Option<Piece>> {
        let Some(piece) = self.reader.next_piece()? else { return Ok(None) };
        if self.first_end.is_none() {
            self.end_first_line(piece.end)?;
        } else if piece.end == PieceEnd::Full {
            self.left = 0;
        }
        Ok(Some(piece))
    }
}

impl<R: BufRead> Iterator for FirstLines<R> {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<io::Result<Piece>> {
        self.left = self.left.checked_sub(1)?;
        if self.first_end.is_some_and(|end| self.reader.offset() - end >= HEAD_BYTES_MAX) {
            return None;
        }
        self.next_line().transpose()
    }
}

/// What the first records tell.
#[derive(Default)]
struct Facts {
    records: u64,
    is_claude: bool,
    begins_like_pi: bool,
    goes_on_unlike_pi: bool,
    claude_id: Option<String>,
    pi_id: Option<String>,
    working_directory: String,
    header_model: Option<ModelName>,
}

impl Facts {
    fn take(&mut self, record: &Object<'_>) {
        match self.records {
            0 => self.take_first(record),
            1 => self.goes_on_unlike_pi = !pi::is_entry(record),
            _ => {}
        }
        self.records += 1;
        self.is_claude |= claude::is_record(record);
        if self.claude_id.is_none() {
            self.claude_id = claude_id(record);
        }
        if self.working_directory.is_empty() {
            self.working_directory = cut_text(record.text("cwd").unwrap_or_default(), DIRECTORY_BYTES_MAX);
        }
    }

    fn take_first(&mut self, record: &Object<'_>) {
        let is_header = pi::is_header(record);
        // With its head cut off, a session begins with an entry.
        self.begins_like_pi = is_header || (pi::is_entry(record) && !claude::is_record(record));
        if is_header {
            self.pi_id = record.text("id");
            self.header_model = pi::model_of(record);
        }
    }

    fn kind(&self) -> Option<SourceKind> {
        if self.begins_like_pi && !self.goes_on_unlike_pi {
            Some(SourceKind::Pi)
        } else if self.is_claude {
            Some(SourceKind::ClaudeCode)
        } else {
            None
        }
    }

    /// Whether further lines can tell nothing more. Lines that are appended never change the answer.
    fn are_complete(&self, kind: SourceKind) -> bool {
        let told = match kind {
            SourceKind::ClaudeCode => self.claude_id.is_some(),
            SourceKind::Pi => true,
        };
        told && self.records >= 2 && !self.working_directory.is_empty()
    }

    fn original_ids(&self, kind: SourceKind) -> Vec<String> {
        let found = match kind {
            SourceKind::ClaudeCode => self.claude_id.clone(),
            SourceKind::Pi => self.pi_id.clone(),
        };
        // A source that was met before it told its id is recorded under the empty one.
        let mut ids: Vec<_> = found.into_iter().filter(|id| !id.is_empty()).map(cut_id).collect();
        ids.push(String::new());
        ids
    }
}

/// The session's id; in a sub-agent's file, which names its parent's session, with the agent's id behind it.
fn claude_id(record: &Object<'_>) -> Option<String> {
    let session = record.text("sessionId")?;
    Some(match record.text("agentId").filter(|_| record.is_true("isSidechain")) {
        Some(agent) => format!("{session}/{agent}"),
        None => session,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Head, String> {
        read_head(text.as_bytes(), None).unwrap()
    }

    const PI_HEADER: &str =
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}"#;
    const PI_ENTRY: &str = r#"{"type":"message","id":"e1","parentId":null,"timestamp":"2026-01-02T00:00:00Z","message":{"role":"user","content":"hi  there"}}"#;

    #[test]
    fn pi_is_known_by_its_header_and_what_follows() {
        let head = head(&format!("{PI_HEADER}\n{PI_ENTRY}\n")).unwrap();
        assert_eq!((head.kind, head.working_directory.as_str()), (SourceKind::Pi, "/w"));
        assert_eq!(head.original_ids, ["s1", ""]);
        let opening = read_opening(format!("{PI_HEADER}\n{PI_ENTRY}\n").as_bytes(), SourceKind::Pi).unwrap();
        assert_eq!(opening.title, "hi there");
        assert_eq!(opening.time.unwrap().to_string(), "2026-01-01T00:00:00.000000Z");
    }

    #[test]
    fn a_session_without_its_head_is_known_by_its_entries() {
        let head = head(PI_ENTRY).unwrap();
        assert_eq!((head.kind, head.original_ids.len()), (SourceKind::Pi, 1));
    }

    #[test]
    fn look_alikes_are_refused() {
        for text in [
            r#"{"type":"session","version":0,"id":"s","timestamp":"t"}"#,
            &format!("{PI_HEADER}\n{}", r#"{"type":"user/message","seq":1,"time":0,"data":{}}"#),
            r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#,
            r#"{"type":"session.start","data":{"sessionId":"x"},"id":"1","timestamp":"t","parentId":null}"#,
            r#"{"role":"user","message":{"content":[]}}"#,
            "[1,2]",
            "plain text",
        ] {
            assert!(head(text).is_err(), "{text}");
        }
        assert_eq!(head("").unwrap_err(), "it is empty");
    }

    #[test]
    fn a_sub_agent_has_an_id_of_its_own() {
        let main = r#"{"type":"user","uuid":"u","sessionId":"s","message":{"content":"x"}}"#;
        let agent = r#"{"type":"user","uuid":"u","sessionId":"s","agentId":"a1","isSidechain":true}"#;
        assert_eq!(head(main).unwrap().original_ids, ["s", ""]);
        assert_eq!(head(agent).unwrap().original_ids, ["s/a1", ""]);
    }
}
