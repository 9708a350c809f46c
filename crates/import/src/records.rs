//! The records of a line: usually one, sometimes two, and sometimes half of one with another behind it.

use segue_event::SourceKind;

use crate::json::{Object, Stop, for_each_object};
use crate::limits::RECORDS_TRIED_MAX;
use crate::{claude, pi};

/// A part of a line.
pub(crate) enum Part<'o, 'a> {
    /// A record.
    Record(&'o Object<'a>),
    /// Bytes that are no record, and why.
    Gap {
        /// Their first byte.
        from: usize,
        /// The byte behind the last one.
        to: usize,
        /// Why they are no record.
        reason: String,
    },
}

/// Hands out the parts of a line that begins at the byte `start` of its source.
///
/// A writer that was cut off leaves half a record, and the next one appends to it; so behind what cannot be read
/// something is looked for that reads as a record of this kind.
pub(crate) fn for_each_part<'a>(
    kind: SourceKind,
    line: &'a [u8],
    start: u64,
    mut each: impl FnMut(Part<'_, 'a>),
) {
    let mut tries = RECORDS_TRIED_MAX;
    let mut read = read_objects(line, start, |object| each(Part::Record(object)));
    let mut begun = 0;
    while let Err(Stop { at, reason }) = read {
        let from = begun + at;
        let next = next_record(kind, line, from + 1, &mut tries);
        each(Part::Gap { from, to: next.unwrap_or(line.len()), reason });
        let Some(next) = next else { break };
        begun = next;
        read = for_each_object(line.get(next..).unwrap_or_default(), |object| each(Part::Record(object)));
    }
}

/// Hands out the objects of a line, behind a byte order mark if the source begins with one.
///
/// # Errors
/// If something that is no object stands there.
pub(crate) fn read_objects<'a>(
    line: &'a [u8],
    start: u64,
    each: impl FnMut(&Object<'a>),
) -> Result<(), Stop> {
    let marked = start == 0 && line.starts_with(BYTE_ORDER_MARK);
    let skipped = if marked { BYTE_ORDER_MARK.len() } else { 0 };
    for_each_object(line.get(skipped..).unwrap_or_default(), each)
        .map_err(|stop| Stop { at: skipped + stop.at, ..stop })
}

/// The end of a line that could not be read and may go on in what is appended to the source; empty if there is none.
pub(crate) fn open_end(kind: SourceKind, line: &[u8], start: u64) -> &[u8] {
    let mut end = line.len();
    for_each_part(kind, line, start, |part| {
        if let Part::Gap { from, to, .. } = part
            && to == line.len()
        {
            end = from;
        }
    });
    line.get(end..).unwrap_or_default()
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What the programs' records begin with.
const BEGINNINGS: [&[u8]; 2] = [b"{\"type\":\"", b"{\"parentUuid\":"];

fn next_record(kind: SourceKind, line: &[u8], from: usize, tries: &mut u32) -> Option<usize> {
    for at in memchr::memmem::find_iter(line.get(from..)?, b"{\"") {
        let rest = line.get(from + at..)?;
        if !BEGINNINGS.iter().any(|beginning| rest.starts_with(beginning)) {
            continue;
        }
        // Each try may go over all of the line, so their number is bounded.
        *tries = tries.checked_sub(1)?;
        if Object::first_of(rest).is_some_and(|object| is_record(kind, &object)) {
            return Some(from + at);
        }
    }
    None
}

fn is_record(kind: SourceKind, object: &Object<'_>) -> bool {
    match kind {
        SourceKind::ClaudeCode => claude::is_record(object),
        SourceKind::Pi => pi::is_entry(object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"{"type":"label","id":"e","timestamp":"t"}"#;

    fn parts(line: &str) -> (usize, Vec<(usize, usize)>) {
        let mut records = 0;
        let mut gaps = Vec::new();
        for_each_part(SourceKind::Pi, line.as_bytes(), 9, |part| match part {
            Part::Record(_) => records += 1,
            Part::Gap { from, to, .. } => gaps.push((from, to)),
        });
        (records, gaps)
    }

    #[test]
    fn a_record_behind_half_a_record_is_found() {
        let half = r#"{"type":"message","message":{"content":[{"type":"text","text":"x"}"#;
        let torn = format!("{half}{ENTRY}{ENTRY}\n");
        assert_eq!(parts(&torn), (2, vec![(0, half.len())]));
        let twice = format!("{ENTRY}{half}{ENTRY}{half}\n");
        let second = ENTRY.len() * 2 + half.len();
        assert_eq!(parts(&twice), (2, vec![(ENTRY.len(), ENTRY.len() + half.len()), (second, twice.len())]));
    }

    #[test]
    fn only_an_end_that_cannot_be_read_is_open() {
        for (line, open) in [
            (ENTRY.to_owned(), ""),
            (format!("{ENTRY}{{\"ty"), "{\"ty"),
            (format!("{{\"ty{ENTRY}"), ""),
            (format!("{{\"ty{ENTRY} {{"), " {"),
        ] {
            assert_eq!(open_end(SourceKind::Pi, line.as_bytes(), 9), open.as_bytes(), "{line}");
        }
    }

    #[test]
    fn looking_for_records_is_bounded() {
        let many = r#"{"type":"x","#.repeat(RECORDS_TRIED_MAX as usize + 1) + ENTRY;
        assert_eq!(parts(&many), (0, vec![(0, many.len())]));
    }
}
