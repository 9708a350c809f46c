//! A session's entries, page by page.

use segue_event::{KindSet, Seq, SeqRange, SessionId, TranscriptEvent};
use segue_frame::Entry;
use segue_log::{Direction, EventLog, LogError, read_through};

use crate::ThreadError;
use crate::error::Detail;

/// How many entries a page has where nothing else was asked for.
pub const LIMIT_DEFAULT: usize = 200;

/// How many entries a page can have at most.
pub const LIMIT_MAX: usize = 1_000;

/// A page ends once its texts have this many bytes, however few entries it has: 4 MiB. It has at least one entry.
pub const PAGE_BYTES_MAX: usize = 4 * 1_024 * 1_024;

/// How many entries a page has at most: 1 to [`LIMIT_MAX`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit(usize);

impl Limit {
    /// A limit; none if it is 0 or more than [`LIMIT_MAX`].
    pub const fn new(entries: usize) -> Option<Self> {
        if entries >= 1 && entries <= LIMIT_MAX { Some(Self(entries)) } else { None }
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(LIMIT_DEFAULT)
    }
}

/// Some entries of a session, oldest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The entries; events with nothing to show are left out.
    pub entries: Vec<Entry>,
    /// Where the next page begins; none if this is the last.
    pub next: Option<Seq>,
}

/// Reads entries of a session within a range.
///
/// # Errors
/// If there is no such session, or the log cannot be read.
pub fn read_range(
    log: &dyn EventLog,
    thread: SessionId,
    range: SeqRange,
    limit: Limit,
) -> Result<Page, ThreadError> {
    if log.head(thread)?.is_none() {
        return Err(Detail::SessionNotFound(thread).into());
    }
    let mut page = Page { entries: Vec::new(), next: None };
    let mut bytes = 0;
    for entry in entries(log, thread, range, Direction::Forward)? {
        let entry = entry?;
        if page.entries.len() == limit.0 || bytes >= PAGE_BYTES_MAX {
            page.next = Some(entry.seq);
            break;
        }
        bytes += entry.parts.iter().map(|part| part.text.len()).sum::<usize>();
        page.entries.push(entry);
    }
    Ok(page)
}

/// Reads one entry, exactly.
///
/// # Errors
/// If there is no such session or event, the event has nothing to show, or the log cannot be read.
pub fn entry(log: &dyn EventLog, thread: SessionId, seq: Seq) -> Result<Entry, ThreadError> {
    let page = read_range(log, thread, SeqRange::one(seq), Limit::default())?;
    page.entries.into_iter().next().ok_or_else(|| Detail::EntryNotFound(thread, seq).into())
}

/// The entries of a session that have something to show, one by one, either way.
///
/// # Errors
/// If the log cannot be read; also as an item.
pub fn entries(
    log: &dyn EventLog,
    thread: SessionId,
    range: SeqRange,
    direction: Direction,
) -> Result<impl Iterator<Item = Result<Entry, LogError>> + use<>, LogError> {
    let events = read_through(log, thread, range, direction, KindSet::of::<TranscriptEvent>())?;
    let entries = events.filter_map(|raw| {
        let recorded = raw.and_then(|raw| raw.decode_as::<TranscriptEvent>().map_err(LogError::codec));
        recorded.map(|recorded| recorded.map(|recorded| Entry::of(&recorded))).transpose()
    });
    Ok(entries.filter(|entry| entry.as_ref().map_or(true, |entry| !entry.parts.is_empty())))
}
