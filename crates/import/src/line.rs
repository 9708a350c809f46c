//! One line in, its events out: the pure middle of an import.

use std::borrow::Cow;

use segue_event::{ImportedLine, LineNumber, SourceKind};

use crate::json::Object;
use crate::output::{Made, Output};
use crate::records::{Part, for_each_part};
use crate::state::State;
use crate::surrogate::mend_lone_surrogates;
use crate::{claude, holes, pi};

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

/// Reads a line: keeps its bytes and makes its events.
pub(crate) fn read_line(state: &mut State, line: Line<'_>) -> Made {
    let kind = state.kind;
    let cut = holes::cut(line.bytes);
    let kept = ImportedLine { line: line.number, offset: line.offset, bytes: cut.bytes, holes: cut.holes };
    let mut output = Output::new(state, line.number);
    for blob in cut.blobs {
        output.keep(blob);
    }
    output.push(kept);
    read_parts(&mut output, kind, line);
    output.finish()
}

fn read_parts(output: &mut Output<'_>, kind: SourceKind, line: Line<'_>) {
    let joined = if line.begun.is_empty() {
        Cow::Borrowed(line.bytes)
    } else {
        Cow::Owned([line.begun, line.bytes].concat())
    };
    let start = line.offset - line.begun.len() as u64;
    let text = mend_lone_surrogates(&joined);
    for_each_part(kind, &text, start, |part| match part {
        Part::Record(record) => read_record(output, kind, record),
        Part::Gap { from, to, reason } => {
            output.unreadable(start + from as u64, joined.get(from..to).unwrap_or_default(), reason);
        }
    });
    if output.dropped() > 0 {
        let reason = format!("{} events more than a line may give", output.dropped());
        output.unreadable(start, &joined, reason);
    }
}

fn read_record(output: &mut Output<'_>, kind: SourceKind, record: &Object<'_>) {
    match kind {
        SourceKind::ClaudeCode => claude::read_record(output, record),
        SourceKind::Pi => pi::read_record(output, record),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use segue_event::{BlobId, Event, Kind, Seq, Timestamp};
    use segue_log::NewEvent;

    use super::*;
    use crate::limits::LINE_EVENTS_MAX;

    /// The events that lines of a dialect give, without those that keep the lines.
    pub(crate) fn events_of(kind: SourceKind, lines: &[&str]) -> Vec<Event> {
        let mut state = State::new(kind, Seq::FIRST, Timestamp::default());
        let mut events = Vec::new();
        for (number, text) in (1..).zip(lines) {
            let line = Line { number: LineNumber(number), offset: 10, bytes: text.as_bytes(), begun: &[] };
            events.extend(read_line(&mut state, line).events.into_iter().map(|new| new.event));
        }
        events.retain(|event| event.kind() != Kind::ImportedLine);
        events
    }

    fn read(bytes: &[u8], begun: &[u8], offset: u64) -> Vec<NewEvent> {
        let mut state = State::new(SourceKind::Pi, Seq::FIRST, Timestamp::utc_micros(5));
        let made = read_line(&mut state, Line { number: LineNumber(3), offset, bytes, begun });
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
