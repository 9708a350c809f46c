//! One line in, its events out: the pure middle of an import.

use std::borrow::Cow;
use std::collections::BTreeMap;

use segue_event::{
    BlobId, CallRef, ErrorNoted, Event, ImportedLine, LineNumber, Message, Provenance, Role, Seq,
    SessionTitled, SourceKind, Timestamp, Title, TitleSource, ToolResult, Unreadable,
};
use segue_log::NewEvent;

use crate::call::Calls;
use crate::content::{Blobs, Content, cut_id, cut_text};
use crate::json::Object;
use crate::limits::{ERROR_BYTES_MAX, LINE_EVENTS_MAX};
use crate::records::{Part, for_each_part};
use crate::surrogate::mend_lone_surrogates;
use crate::title::title_from;
use crate::{claude, holes, pi};

/// What has to be known of the lines before to read the next one.
#[derive(Debug)]
pub(crate) struct State {
    /// Whose transcript it is.
    pub(crate) kind: SourceKind,
    /// The number that the next event gets.
    pub(crate) next: Seq,
    /// The time of the line before; the times of lines that have none.
    pub(crate) time: Timestamp,
    /// The calls that results can answer.
    pub(crate) calls: Calls,
    /// The newest title of each source.
    pub(crate) titles: BTreeMap<TitleSource, String>,
    /// The source's own id of the newest message.
    pub(crate) newest_id: String,
}

/// A line that is to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Its number.
    pub(crate) number: LineNumber,
    /// The byte of the source where `bytes` begin.
    pub(crate) offset: u64,
    /// The bytes, terminator included if there is one.
    pub(crate) bytes: &'a [u8],
    /// What an earlier import has already kept of the line and could not read, because its end was missing.
    pub(crate) begun: &'a [u8],
}

/// What was made of a line.
#[derive(Debug)]
pub(crate) struct Made {
    /// The line itself, and then its events.
    pub(crate) events: Vec<NewEvent>,
    /// What has to be kept as blobs before the events are written.
    pub(crate) blobs: Blobs,
}

/// Where the events of a line are collected.
pub(crate) struct Output<'s> {
    state: &'s mut State,
    line: LineNumber,
    events: Vec<NewEvent>,
    blobs: Blobs,
    dropped: usize,
}

impl State {
    /// Nothing read yet: the next event is `next`, and lines without a time are of `time`.
    pub(crate) fn new(kind: SourceKind, next: Seq, time: Timestamp) -> Self {
        let (calls, titles) = (Calls::default(), BTreeMap::new());
        Self { kind, next, time, calls, titles, newest_id: String::new() }
    }

    /// Reads a line: keeps its bytes and makes its events.
    pub(crate) fn read_line(&mut self, line: Line<'_>) -> Made {
        let cut = holes::cut(line.bytes);
        let kept =
            ImportedLine { line: line.number, offset: line.offset, bytes: cut.bytes, holes: cut.holes };
        let mut output = Output::new(self, line.number);
        output.blobs.extend(cut.blobs.into_iter().map(|blob| (BlobId::of(&blob), blob)));
        output.push(kept);
        output.read(line);
        output.finish()
    }

    /// Takes over what a recorded or a newly made event tells about those that follow.
    pub(crate) fn note(&mut self, seq: Seq, event: &Event) {
        match event {
            Event::Message(message) => {
                self.calls.remember(seq, message);
                if let Some(provenance) = &message.provenance {
                    self.newest_id.clone_from(&provenance.original_id);
                }
            }
            Event::SessionTitled(SessionTitled { title }) => self.note_title(title),
            Event::SessionStarted(started) => self.note_title(&started.title),
            _ => {}
        }
        self.next = seq.next();
    }

    fn note_title(&mut self, title: &Title) {
        if *title != Title::default() {
            self.titles.insert(title.source, title.text.clone());
        }
    }
}

impl<'s> Output<'s> {
    fn new(state: &'s mut State, line: LineNumber) -> Self {
        Self { state, line, events: Vec::new(), blobs: Blobs::new(), dropped: 0 }
    }

    /// Adds an event, unless the line has given too many.
    pub(crate) fn push(&mut self, event: impl Into<Event>) {
        if self.events.len() >= LINE_EVENTS_MAX {
            self.dropped += 1;
        } else {
            self.add(event.into());
        }
    }

    /// Sets the time of the events that follow, if the line tells one.
    pub(crate) fn at(&mut self, time: Option<Timestamp>) {
        self.state.time = time.unwrap_or(self.state.time);
    }

    /// Blocks for one event.
    pub(crate) fn content(&mut self) -> Content<'_> {
        Content::new(&mut self.blobs)
    }

    /// Where a record stands, given its own id and that of the record it answers.
    pub(crate) fn provenance(&self, id: Option<String>, parent: Option<String>) -> Provenance {
        let [original_id, parent_id] = [id, parent].map(|id| cut_id(id.unwrap_or_default()));
        Provenance { line: self.line, original_id, parent_id }
    }

    /// Adds a message, and before it the title it gives to a session that has none.
    pub(crate) fn message(&mut self, message: Message) {
        if message.role == Role::User
            && !self.state.titles.contains_key(&TitleSource::Fallback)
            && let Some(text) = title_from(&message)
        {
            self.title(TitleSource::Fallback, text);
        }
        self.push(message);
    }

    /// Adds a result, with the call that it answers.
    pub(crate) fn result(&mut self, mut result: ToolResult) {
        result.call.provider_id = cut_id(result.call.provider_id);
        if let Some(call) = self.state.calls.get(&result.call.provider_id) {
            result.call = CallRef { site: Some(call.site), ..result.call };
            if result.tool.is_empty() {
                result.tool.clone_from(&call.tool);
            }
        }
        self.push(result);
    }

    /// Adds a title, unless the same source gave the same one last.
    pub(crate) fn title(&mut self, source: TitleSource, text: String) {
        if self.state.titles.get(&source) != Some(&text) {
            self.push(SessionTitled { title: Title { text: cut_id(text), source } });
        }
    }

    /// Adds an error that the transcript tells of.
    pub(crate) fn error(&mut self, message: String, provenance: Provenance) {
        let message = cut_text(message, ERROR_BYTES_MAX);
        self.push(ErrorNoted { message, provenance: Some(provenance) });
    }

    /// The source's own id of the newest message.
    pub(crate) fn newest_id(&self) -> &str {
        &self.state.newest_id
    }

    fn add(&mut self, event: Event) {
        self.state.note(self.state.next, &event);
        self.events.push(NewEvent { time: self.state.time, event });
    }

    fn read(&mut self, line: Line<'_>) {
        let joined = if line.begun.is_empty() {
            Cow::Borrowed(line.bytes)
        } else {
            Cow::Owned([line.begun, line.bytes].concat())
        };
        let start = line.offset - line.begun.len() as u64;
        let text = mend_lone_surrogates(&joined);
        for_each_part(self.state.kind, &text, start, |part| match part {
            Part::Record(record) => self.record(record),
            Part::Gap { from, to, reason } => {
                self.unreadable(start, from, joined.get(from..to).unwrap_or_default(), reason);
            }
        });
        if self.dropped > 0 {
            let reason = format!("{} events more than a line may give", self.dropped);
            self.unreadable(start, 0, &joined, reason);
        }
    }

    fn record(&mut self, record: &Object<'_>) {
        match self.state.kind {
            SourceKind::ClaudeCode => claude::read_record(self, record),
            SourceKind::Pi => pi::read_record(self, record),
        }
    }

    fn unreadable(&mut self, start: u64, at: usize, bytes: &[u8], reason: String) {
        let blob = BlobId::of(bytes);
        self.blobs.insert(blob, bytes.to_vec());
        let (line, offset) = (self.line, start + at as u64);
        self.add(Unreadable { line, offset, bytes: bytes.len() as u64, blob, reason }.into());
    }

    fn finish(mut self) -> Made {
        // The line was put first, before its time was known.
        let time = self.events.get(1).map_or(self.state.time, |first| first.time);
        if let Some(line) = self.events.first_mut() {
            line.time = time;
        }
        Made { events: self.events, blobs: self.blobs }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use segue_event::Kind;

    use super::*;

    /// The events that lines of a dialect give, without those that keep the lines.
    pub(crate) fn events_of(kind: SourceKind, lines: &[&str]) -> Vec<Event> {
        let mut state = State::new(kind, Seq::FIRST, Timestamp::default());
        let mut events = Vec::new();
        for (number, text) in (1..).zip(lines) {
            let line = Line { number: LineNumber(number), offset: 10, bytes: text.as_bytes(), begun: &[] };
            events.extend(state.read_line(line).events.into_iter().map(|new| new.event));
        }
        events.retain(|event| event.kind() != Kind::ImportedLine);
        events
    }

    fn read(bytes: &[u8], begun: &[u8], offset: u64) -> Vec<NewEvent> {
        let mut state = State::new(SourceKind::Pi, Seq::FIRST, Timestamp::utc_micros(5));
        let made = state.read_line(Line { number: LineNumber(3), offset, bytes, begun });
        assert_eq!(state.next.get(), made.events.len() as u64 + 1);
        made.events
    }

    const ENTRY: &str = r#"{"type":"model_change","timestamp":"1970-01-01T00:00:01Z","modelId":"m"}"#;

    #[test]
    fn a_line_and_its_events_have_the_lines_time() {
        let events = read(format!("{ENTRY}\n").as_bytes(), b"", 10);
        assert_eq!(events.iter().map(|new| new.time.micros).collect::<Vec<_>>(), [1_000_000; 2]);
        assert_eq!(read(b"{}\n", b"", 10)[0].time.micros, 5);
    }

    #[test]
    fn the_unreadable_end_of_a_line_keeps_its_place() {
        let events = read(format!("{ENTRY}{{\"x\n").as_bytes(), b"", 10);
        let Event::Unreadable(piece) = &events[2].event else { panic!("{events:?}") };
        assert_eq!((piece.offset, piece.bytes), (10 + ENTRY.len() as u64, 4));
        assert_eq!(piece.blob, BlobId::of(b"{\"x\n"));
    }

    #[test]
    fn a_line_that_was_begun_is_read_when_it_is_whole() {
        let (begun, rest) = ENTRY.as_bytes().split_at(20);
        let events = read(rest, begun, 30);
        assert_eq!(events[1].event.kind(), Kind::ModelChosen);
        let Event::ImportedLine(line) = &events[0].event else { panic!("{events:?}") };
        assert_eq!(line.bytes, rest);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_at_the_very_beginning_only() {
        let marked = format!("\u{feff}{ENTRY}\n");
        assert_eq!(read(marked.as_bytes(), b"", 0)[1].event.kind(), Kind::ModelChosen);
        assert_eq!(read(marked.as_bytes(), b"", 1)[1].event.kind(), Kind::Unreadable);
    }

    #[test]
    fn a_line_gives_a_bounded_number_of_events() {
        let events = read(ENTRY.repeat(LINE_EVENTS_MAX + 5).as_bytes(), b"", 10);
        assert_eq!(events.len(), LINE_EVENTS_MAX + 1);
        let Event::Unreadable(piece) = &events[LINE_EVENTS_MAX].event else { panic!("no note") };
        assert_eq!(piece.reason, "6 events more than a line may give");
    }
}
