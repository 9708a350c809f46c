//! Holding one text to a query.

use segue_event::{Author, Block, Form, JsonString, Text, TranscriptEvent};

use crate::query::{Finder, Only, Query, Style, TextKind};

/// The matches of a text are counted up to so many.
pub const MATCHES_COUNTED_MAX: u64 = 100;

/// Where a query matches in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Match {
    /// The first match: its first byte, and the one behind its last.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) count: u64,
}

impl Query {
    /// Where the query matches in a text: as it is written, or in what its JSON strings mean.
    pub(crate) fn find(&self, text: &Text<'_>) -> Option<Match> {
        let mut first: Option<Match> = None;
        let mut count = 0;
        for finder in &self.finders {
            let found = as_written(finder, text.text).or_else(|| self.as_meant(finder, text))?;
            count += found.count;
            first = Some(first.filter(|first| first.start <= found.start).unwrap_or(found));
        }
        first.map(|first| Match { count: count.min(MATCHES_COUNTED_MAX), ..first })
    }

    /// Where it matches in what the strings of a JSON text mean. Only one of them is held at a time: there can be
    /// millions.
    fn as_meant(&self, finder: &Finder, text: &Text<'_>) -> Option<Match> {
        match (text.form, self.style()) {
            (Form::Plain, _) => None,
            // An expression can ask where a string begins and ends.
            (Form::Json, Style::Regex) => in_strings(finder, text.text, text.strings()),
            (Form::Json, Style::Literal | Style::Words) => in_strings(finder, text.text, text.unescaped()),
        }
    }
}

fn as_written(finder: &Finder, text: &str) -> Option<Match> {
    let mut places = finder.find_iter(text);
    let (start, end) = places.next()?;
    // An expression can look at all that is left of the text for each of its matches.
    let others = (1..MATCHES_COUNTED_MAX).zip(places).count();
    Some(Match { start, end, count: 1 + others as u64 })
}

fn in_strings(finder: &Finder, json: &str, strings: impl Iterator<Item = JsonString>) -> Option<Match> {
    let mut first: Option<Match> = None;
    for string in strings {
        let Some(found) = as_written(finder, string.text()) else { continue };
        let first = first.get_or_insert_with(|| Match {
            start: string.written_at(json, found.start),
            end: string.written_at(json, found.end),
            count: 0,
        });
        first.count += found.count;
        if first.count >= MATCHES_COUNTED_MAX {
            break;
        }
    }
    first
}

impl Only {
    /// Whether a text of an event is looked at.
    pub(crate) fn takes(&self, event: &TranscriptEvent, text: &Text<'_>) -> bool {
        self.takes_kind(kind_of(event, text)) && self.takes_tool_of(event, text)
    }

    fn takes_tool_of(&self, event: &TranscriptEvent, text: &Text<'_>) -> bool {
        match (event, block_of(event, text)) {
            (TranscriptEvent::ToolResult(result), _) => self.takes_tool(&result.tool),
            (_, Some(Block::ToolCall(call))) => self.takes_tool(&call.name),
            _ => self.tools.is_empty(),
        }
    }
}

fn kind_of(event: &TranscriptEvent, text: &Text<'_>) -> TextKind {
    match (event, block_of(event, text)) {
        (TranscriptEvent::Message(_), Some(Block::Thinking(_))) => TextKind::Thinking,
        (TranscriptEvent::Message(_), Some(Block::ToolCall(_))) => TextKind::ToolCall,
        (TranscriptEvent::Message(message), _) => match message.author {
            Author::User => TextKind::User,
            Author::Agent => TextKind::Agent,
            Author::System => TextKind::System,
            Author::Trigger => TextKind::Trigger,
        },
        (TranscriptEvent::ToolResult(_), _) => TextKind::ToolResult,
        (TranscriptEvent::ContextCompacted(_), _) => TextKind::System,
        (TranscriptEvent::ErrorNoted(_) | TranscriptEvent::Unreadable(_) | TranscriptEvent::Lost(_), _) => {
            TextKind::Error
        }
    }
}

/// The block of an event that a text is.
pub(crate) fn block_of<'a>(event: &'a TranscriptEvent, text: &Text<'_>) -> Option<&'a Block> {
    let blocks = match event {
        TranscriptEvent::Message(message) => &message.blocks,
        TranscriptEvent::ToolResult(result) => &result.blocks,
        _ => return None,
    };
    blocks.get(text.index as usize)
}
