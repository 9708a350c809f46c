//! Where the dialects put what they make of a line.

use segue_event::{
    BlobId, CallRef, ErrorNoted, Event, LineNumber, Message, Provenance, Role, SessionTitled, Timestamp,
    Title, TitleSource, ToolResult, Unreadable,
};
use segue_log::NewEvent;

use crate::content::{Blobs, Content, cut_id, cut_text};
use crate::limits::{ERROR_BYTES_MAX, LINE_EVENTS_MAX};
use crate::state::State;
use crate::title::title_from;

/// Where the events of a line are collected.
pub(crate) struct Output<'s> {
    state: &'s mut State,
    line: LineNumber,
    events: Vec<NewEvent>,
    blobs: Blobs,
    dropped: usize,
}

/// What was made of a line.
#[derive(Debug)]
pub(crate) struct Made {
    /// The line itself, and then its events.
    pub(crate) events: Vec<NewEvent>,
    /// What has to be kept as blobs before the events are written.
    pub(crate) blobs: Blobs,
}

impl<'s> Output<'s> {
    /// Nothing collected yet.
    pub(crate) fn new(state: &'s mut State, line: LineNumber) -> Self {
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

    /// Keeps bytes as a blob.
    pub(crate) fn keep(&mut self, bytes: Vec<u8>) -> BlobId {
        let blob = BlobId::of(&bytes);
        self.blobs.insert(blob, bytes);
        blob
    }

    /// How many events were left out because the line has given too many.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped
    }

    fn add(&mut self, event: Event) {
        self.state.note(self.state.next, &event);
        self.events.push(NewEvent { time: self.state.time, event });
    }

    /// Adds bytes that could not be read, with the byte of the source where they begin.
    ///
    /// Unlike other events these are never too many: their number is bounded by how often a record is looked for.
    pub(crate) fn unreadable(&mut self, offset: u64, bytes: &[u8], reason: String) {
        let blob = self.keep(bytes.to_vec());
        let line = self.line;
        self.add(Unreadable { line, offset, bytes: bytes.len() as u64, blob, reason }.into());
    }

    /// All of it, once the line is read.
    pub(crate) fn finish(mut self) -> Made {
        // The line was put first, before its time was known.
        let time = self.events.get(1).map_or(self.state.time, |first| first.time);
        if let Some(line) = self.events.first_mut() {
            line.time = time;
        }
        Made { events: self.events, blobs: self.blobs }
    }
}
