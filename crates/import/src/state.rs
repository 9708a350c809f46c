//! What the lines before tell about the next one.

use std::collections::BTreeMap;

use segue_event::{Event, Seq, SessionTitled, SourceKind, Timestamp, Title, TitleSource};

use crate::call::Calls;

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

impl State {
    /// Nothing read yet: the next event is `next`, and lines without a time are of `time`.
    pub(crate) fn new(kind: SourceKind, next: Seq, time: Timestamp) -> Self {
        let (calls, titles) = (Calls::default(), BTreeMap::new());
        Self { kind, next, time, calls, titles, newest_id: String::new() }
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
