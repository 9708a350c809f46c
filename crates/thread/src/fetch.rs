//! Entries in full, exactly, as many bytes at a time as one asks for.

use segue_event::{Digest, Recorded, Seq, SeqRange, SessionId, Timestamp, TranscriptEvent};
use segue_frame::{Entry, Part, Who};
use segue_log::{Direction, EventLog, LogError, read_through};

use crate::ThreadError;
use crate::error::Detail;
use crate::page::entries;
use crate::recall::{BLOB_SEARCHED_BYTES_MAX, LINE_PART};

/// Which entries are wanted: one, with some before and behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The session.
    pub thread: SessionId,
    /// The event.
    pub seq: Seq,
    /// How many entries before it, at most [`WINDOW_ENTRIES_MAX`].
    pub before: usize,
    /// How many entries behind it, at most [`WINDOW_ENTRIES_MAX`].
    pub after: usize,
}

/// The most entries on either side of the one that is asked for.
pub const WINDOW_ENTRIES_MAX: usize = 200;

/// How many bytes of text one answer has where nothing else is asked for: 32 KiB.
pub const FETCH_BYTES: usize = 32 * 1_024;

/// Where an answer goes on: at a byte of a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TextPlace {
    /// The event.
    pub seq: Seq,
    /// Which of its texts, from 0.
    pub part: u32,
    /// The byte of the text; within a character, that character's first byte is meant.
    pub offset: u64,
}

/// Entries, or pieces of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fetched {
    /// The texts, in order.
    pub pieces: Vec<Piece>,
    /// Where to go on; none if that is all.
    pub next: Option<TextPlace>,
}

/// A text of an event, or a piece of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Where it begins.
    pub place: TextPlace,
    /// Whose text it is.
    pub who: Who,
    /// When it was said.
    pub time: Timestamp,
    /// The text, exactly, cut at character boundaries.
    pub text: String,
    /// Size and hash of the whole text.
    pub whole: Digest,
}

/// Fetches entries verbatim: at most `bytes_max` bytes of text, but at least a character.
///
/// # Errors
/// If there is no such session or event, the event has nothing to show, `from` is behind the end of its text, or the
/// log cannot be read.
pub fn fetch(
    log: &dyn EventLog,
    window: Window,
    from: Option<TextPlace>,
    bytes_max: usize,
) -> Result<Fetched, ThreadError> {
    let Window { thread, seq, before, after } = window;
    if log.head(thread)?.is_none() {
        return Err(Detail::SessionNotFound(thread).into());
    }
    let window = SeqRange::new(first_of(log, thread, seq, before)?, last_of(log, thread, seq, after)?);
    let window = window.ok_or(Detail::EntryNotFound(thread, seq))?;
    let from = from.unwrap_or(TextPlace { seq: window.from, part: 0, offset: 0 });
    let rest = SeqRange::new(from.seq.max(window.from), window.to);
    let rest = rest.ok_or(Detail::EntryNotFound(thread, from.seq))?;
    let mut page = Filling { bytes_left: bytes_max.max(CHARACTER_BYTES_MAX), pieces: Vec::new() };
    for event in transcript(log, thread, rest, Direction::Forward)? {
        let event = event?;
        let skipped = Some(from).filter(|from| from.seq == event.seq);
        if let Some(next) = page.entry(&event, parts_of(log, &event)?, skipped)? {
            return Ok(Fetched { pieces: page.pieces, next: Some(next) });
        }
    }
    if page.pieces.is_empty() {
        return Err(Detail::EntryNotFound(thread, from.seq).into());
    }
    Ok(Fetched { pieces: page.pieces, next: None })
}

/// The longest character in UTF-8.
const CHARACTER_BYTES_MAX: usize = 4;

/// The first entry of a window; the event itself must have something to show.
fn first_of(log: &dyn EventLog, thread: SessionId, seq: Seq, before: usize) -> Result<Seq, ThreadError> {
    let shown = shown(log, thread, SeqRange::up_to(seq), Direction::Backward)?;
    let found: Vec<Seq> = shown.take(before.min(WINDOW_ENTRIES_MAX) + 1).collect::<Result<_, _>>()?;
    match found.as_slice() {
        [first, .., last] if *first == seq => Ok(*last),
        [only] if *only == seq => Ok(seq),
        _ => Err(Detail::EntryNotFound(thread, seq).into()),
    }
}

/// The last entry of a window.
fn last_of(log: &dyn EventLog, thread: SessionId, seq: Seq, after: usize) -> Result<Seq, ThreadError> {
    let shown = shown(log, thread, SeqRange::starting_at(seq), Direction::Forward)?;
    let found: Vec<Seq> = shown.take(after.min(WINDOW_ENTRIES_MAX) + 1).collect::<Result<_, _>>()?;
    Ok(found.last().copied().unwrap_or(seq))
}

/// The numbers of the events that have something to show.
fn shown(
    log: &dyn EventLog,
    thread: SessionId,
    range: SeqRange,
    direction: Direction,
) -> Result<impl Iterator<Item = Result<Seq, LogError>> + use<>, LogError> {
    let entries = entries(log, thread, range, direction)?;
    Ok(entries.map(|entry| entry.map(|entry| entry.seq)))
}

fn transcript(
    log: &dyn EventLog,
    thread: SessionId,
    range: SeqRange,
    direction: Direction,
) -> Result<impl Iterator<Item = Result<Recorded<TranscriptEvent>, LogError>> + use<>, LogError> {
    let kinds = segue_event::KindSet::of::<TranscriptEvent>();
    let events = read_through(log, thread, range, direction, kinds)?;
    Ok(events.filter_map(|raw| {
        raw.and_then(|raw| raw.decode_as::<TranscriptEvent>().map_err(LogError::codec)).transpose()
    }))
}

/// What an event shows; of a line that could not be read, also the line, if it is still there.
fn parts_of(log: &dyn EventLog, event: &Recorded<TranscriptEvent>) -> Result<Vec<Part>, LogError> {
    let mut parts = Entry::of(event).parts;
    if let TranscriptEvent::Unreadable(line) = &event.event
        && line.bytes <= BLOB_SEARCHED_BYTES_MAX
        && let Some(bytes) = log.blob(&line.blob)?
    {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        parts.push(Part { index: LINE_PART, who: Who::new("unreadable line"), text });
    }
    Ok(parts)
}

/// An answer while it is filled.
struct Filling {
    bytes_left: usize,
    pieces: Vec<Piece>,
}

impl Filling {
    /// Adds the texts of an event from a place on; answers with where to go on if there is no room for all.
    fn entry(
        &mut self,
        event: &Recorded<TranscriptEvent>,
        parts: Vec<Part>,
        from: Option<TextPlace>,
    ) -> Result<Option<TextPlace>, ThreadError> {
        let first = from.map_or(0, |from| from.part);
        for part in parts.into_iter().filter(|part| part.index >= first) {
            let offset = from.filter(|from| from.part == part.index).map_or(0, |from| from.offset);
            let place = TextPlace { seq: event.seq, part: part.index, offset };
            if let Some(next) = self.part(event.time, part, place)? {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    fn part(
        &mut self,
        time: Timestamp,
        part: Part,
        place: TextPlace,
    ) -> Result<Option<TextPlace>, ThreadError> {
        let Part { who, text, .. } = part;
        let whole = Digest::of(text.as_bytes());
        if place.offset >= whole.bytes {
            return Err(Detail::BehindText { place, bytes: whole.bytes }.into());
        }
        if self.bytes_left == 0 {
            return Ok(Some(place));
        }
        let start = text.floor_char_boundary(usize::try_from(place.offset).unwrap_or(usize::MAX));
        let end = start.saturating_add(self.bytes_left);
        let end = if end >= text.len() { text.len() } else { text.floor_char_boundary(end) };
        if start == end {
            // Not even a character fits here.
            return Ok(Some(place));
        }
        let piece = text.get(start..end).unwrap_or_default().to_owned();
        self.bytes_left -= piece.len();
        let place = TextPlace { offset: start as u64, ..place };
        self.pieces.push(Piece { place, who, time, text: piece, whole });
        Ok((end < text.len()).then_some(TextPlace { offset: end as u64, ..place }))
    }
}

impl std::fmt::Display for TextPlace {
    /// Event, text and byte, such as `17.0.4096`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.seq, self.part, self.offset)
    }
}

impl std::str::FromStr for TextPlace {
    type Err = ThreadError;

    fn from_str(text: &str) -> Result<Self, ThreadError> {
        parse(text).filter(|place| place.to_string() == text).ok_or_else(|| Detail::CursorInvalid.into())
    }
}

fn parse(text: &str) -> Option<TextPlace> {
    let mut numbers = text.split('.').map(|number| number.parse::<u64>().ok());
    let mut next = || numbers.next().flatten();
    Some(TextPlace { seq: Seq::new(next()?)?, part: u32::try_from(next()?).ok()?, offset: next()? })
}
