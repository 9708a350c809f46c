//! Finding text in a session and its ancestors, verbatim, with an account of where was looked.

use memchr::memmem::Finder;
use segue_event::{
    EventHash, Family as _, Kind, KindSet, Position, RawEvent, Recorded, Seq, SeqRange, SessionId, Timestamp,
    TranscriptEvent,
};
use segue_frame::{Entry, Part, Who};
use segue_log::{Direction, EventLog, LogError, LogErrorKind};

use crate::error::Detail;
use crate::{Chain, ChainLink, Cursor, ThreadError};

/// Searches a chain, newest first: the session's own events, then its predecessor's, and so on.
///
/// Every text that a transcript shows is searched as it was said, byte for byte. Where the search stops early, the
/// answer has a cursor, and [`Coverage::complete`] is false.
///
/// # Errors
/// If the cursor is not one of this search, or the log cannot be read.
pub fn recall(
    log: &dyn EventLog,
    chain: &Chain,
    query: &Query,
    limits: RecallLimits,
    cursor: Option<Cursor>,
) -> Result<Answer, ThreadError> {
    let search = search_id(chain, query);
    let Some(start) = start(log, search, cursor)? else { return Ok(Answer::nothing_to_search(chain)) };
    let mut walk = Walk {
        query,
        limits,
        finder: Finder::new(query.0.as_bytes()),
        answer: Answer::begun(chain, &start),
        answer_bytes: 0,
    };
    for (index, link) in (0..).zip(chain.links()).skip(start.thread as usize) {
        let from = if index == start.thread { Spot::of(&start) } else { Spot::NEWEST };
        if let Some(Spot { before, part }) = walk.thread(log, *link, from, start.up_to)? {
            let damaged = walk.answer.coverage.damaged;
            walk.answer.cursor = Some(Cursor { thread: index, before, part, damaged, ..start });
            return Ok(walk.answer);
        }
        walk.answer.coverage.threads_searched = index as usize + 1;
    }
    let coverage = &mut walk.answer.coverage;
    if log.known_damage().is_some() || log.head(SessionId::LOST_AND_FOUND)?.is_some() {
        // What was lost may have belonged to these sessions, even if nothing of it is missed in what is there.
        coverage.damaged = coverage.damaged.max(1);
    }
    coverage.complete = coverage.damaged == 0;
    Ok(walk.answer)
}

/// What is searched for: a literal text, matched byte for byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query(String);

impl Query {
    /// The longest text that can be searched for, in bytes.
    pub const BYTES_MAX: usize = 4_096;

    /// A text to search for.
    ///
    /// # Errors
    /// If it is empty or longer than [`Self::BYTES_MAX`].
    pub fn literal(text: &str) -> Result<Self, ThreadError> {
        match text.len() {
            0 => Err(Detail::BadQuery("an empty text is everywhere: say what to look for".to_owned()).into()),
            bytes if bytes > Self::BYTES_MAX => {
                let max = Self::BYTES_MAX;
                Err(Detail::BadQuery(format!("the text has {bytes} bytes; at most {max} can be looked for"))
                    .into())
            }
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Where a search stops at the latest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecallLimits {
    /// Stop before the hits have more bytes than this when they are rendered; one hit is always given.
    pub answer_bytes: usize,
    /// Stop once this many bytes of text were searched.
    pub searched_bytes: u64,
    /// Bytes of context on either side of a match.
    pub context_bytes: usize,
}

impl Default for RecallLimits {
    /// 32 KiB of excerpts, 4 GiB of text, 200 bytes of context on either side.
    fn default() -> Self {
        Self { answer_bytes: 32 * 1_024, searched_bytes: 4 * 1_024 * 1_024 * 1_024, context_bytes: 200 }
    }
}

/// What a search found, and where it looked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The findings, newest first.
    pub hits: Vec<Hit>,
    /// Where was looked. "Not found" holds only where this is complete.
    pub coverage: Coverage,
    /// Where to go on; none if the search is complete.
    pub cursor: Option<Cursor>,
}

/// A text that holds what was searched for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    /// The session.
    pub thread: SessionId,
    /// The event.
    pub seq: Seq,
    /// Which of the event's texts, from 0.
    pub part: u32,
    /// Whose text.
    pub who: Who,
    /// When it was said.
    pub time: Timestamp,
    /// The byte of the text where the first match begins.
    pub offset: u64,
    /// How many matches the text has.
    pub matches: u64,
    /// The first match with some context, exactly as it stands in the text.
    pub excerpt: String,
    /// The byte of the text where the excerpt begins.
    pub excerpt_offset: u64,
    /// The size of the whole text in bytes.
    pub text_bytes: u64,
}

/// What is counted for a hit beside its excerpt: its label, its offsets, and the indenting of its lines.
const HIT_BYTES: usize = 160;

/// How far a search looked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coverage {
    /// Sessions that were searched to their beginning, earlier pages of the same search included.
    pub threads_searched: usize,
    /// Sessions of the chain.
    pub threads: usize,
    /// Bytes of text that were searched for this page.
    pub bytes_searched: u64,
    /// How often the search met damage in the record and could not look, earlier pages of the same search included.
    pub damaged: u64,
    /// Whether everything was searched, earlier pages of the same search included, and could be.
    pub complete: bool,
    /// The newest position that the search takes in; none if the log is empty.
    pub up_to: Option<Position>,
}

impl Answer {
    fn begun(chain: &Chain, start: &Cursor) -> Self {
        let coverage = Coverage {
            threads_searched: start.thread as usize,
            threads: chain.sessions().len(),
            bytes_searched: 0,
            damaged: start.damaged,
            complete: false,
            up_to: Some(start.up_to),
        };
        Self { hits: Vec::new(), coverage, cursor: None }
    }

    fn nothing_to_search(chain: &Chain) -> Self {
        let threads = chain.sessions().len();
        let coverage = Coverage {
            threads_searched: threads,
            threads,
            bytes_searched: 0,
            damaged: 0,
            complete: true,
            up_to: None,
        };
        Self { hits: Vec::new(), coverage, cursor: None }
    }
}

/// Where in a session a search stands: at a text of an event, going backwards.
#[derive(Clone, Copy)]
struct Spot {
    before: Seq,
    part: u32,
}

impl Spot {
    const NEWEST: Self = Self { before: Seq::FIRST.plus(u64::MAX), part: 0 };

    fn of(cursor: &Cursor) -> Self {
        Self { before: cursor.before, part: cursor.part }
    }
}

struct Walk<'a> {
    query: &'a Query,
    limits: RecallLimits,
    finder: Finder<'a>,
    answer: Answer,
    answer_bytes: usize,
}

impl Walk<'_> {
    /// Searches one session backwards; answers with where to go on if a limit was reached.
    fn thread(
        &mut self,
        log: &dyn EventLog,
        link: ChainLink,
        from: Spot,
        up_to: Position,
    ) -> Result<Option<Spot>, LogError> {
        let kinds = KindSet::of::<TranscriptEvent>();
        let range = SeqRange::up_to(from.before.min(link.up_to));
        for raw in log.read_kinds(link.session, range, Direction::Backward, kinds)? {
            let Some(recorded) = self.readable(raw)?.filter(|recorded| recorded.position <= up_to) else {
                continue;
            };
            let first = if recorded.seq == from.before { from.part } else { 0 };
            let parts = Entry::of(&recorded).parts;
            for part in parts.iter().filter(|part| part.index >= first) {
                if !self.part(&recorded, part) {
                    return Ok(Some(Spot { before: recorded.seq, part: part.index }));
                }
            }
            self.answer.coverage.damaged += u64::from(hides_text(&recorded.event));
        }
        Ok(None)
    }

    /// An event of a transcript; none for others, and for what is damaged, which is counted.
    fn readable(
        &mut self,
        raw: Result<RawEvent, LogError>,
    ) -> Result<Option<Recorded<TranscriptEvent>>, LogError> {
        match raw.and_then(|raw| raw.decode_as::<TranscriptEvent>().map_err(LogError::codec)) {
            Ok(recorded) => Ok(recorded),
            Err(error) if error.kind() == LogErrorKind::Corrupt => {
                self.answer.coverage.damaged += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Searches one text; false if a limit does not allow it on this page.
    fn part(&mut self, recorded: &Recorded<TranscriptEvent>, part: &Part) -> bool {
        if self.answer.coverage.bytes_searched >= self.limits.searched_bytes {
            return false;
        }
        if let Some(hit) = self.search(recorded.session, recorded.seq, recorded.time, part) {
            let bytes = hit.excerpt.len() + HIT_BYTES;
            if !self.answer.hits.is_empty() && self.answer_bytes + bytes > self.limits.answer_bytes {
                return false;
            }
            self.answer_bytes += bytes;
            self.answer.hits.push(hit);
        }
        self.answer.coverage.bytes_searched += part.text.len() as u64;
        true
    }

    fn search(&self, thread: SessionId, seq: Seq, time: Timestamp, part: &Part) -> Option<Hit> {
        let mut matches = self.finder.find_iter(part.text.as_bytes());
        let offset = matches.next()?;
        let start = floor(&part.text, offset.saturating_sub(self.limits.context_bytes));
        let end = ceil(&part.text, offset + self.query.0.len() + self.limits.context_bytes);
        Some(Hit {
            thread,
            seq,
            part: part.index,
            who: part.who.clone(),
            time,
            offset: offset as u64,
            matches: 1 + matches.count() as u64,
            excerpt: part.text.get(start..end).unwrap_or_default().to_owned(),
            excerpt_offset: start as u64,
            text_bytes: part.text.len() as u64,
        })
    }
}

/// The character boundary at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The character boundary at or behind a byte.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Where the search begins; none for an empty log.
fn start(
    log: &dyn EventLog,
    search: EventHash,
    cursor: Option<Cursor>,
) -> Result<Option<Cursor>, ThreadError> {
    let Some(cursor) = cursor else {
        let Some(up_to) = log.end()? else { return Ok(None) };
        let end = hash_at(log, up_to)?.ok_or(Detail::CursorStale)?;
        let Spot { before, part } = Spot::NEWEST;
        return Ok(Some(Cursor { search, up_to, end, thread: 0, before, part, damaged: 0 }));
    };
    if cursor.search != search {
        return Err(Detail::CursorMismatch.into());
    }
    if hash_at(log, cursor.up_to)? != Some(cursor.end) {
        return Err(Detail::CursorStale.into());
    }
    Ok(Some(cursor))
}

/// Whether a text, or the way to an ancestor, may have stood where there is only the mark of a lost event.
fn hides_text(event: &TranscriptEvent) -> bool {
    let TranscriptEvent::Lost(lost) = event else { return false };
    lost.was.is_none_or(|was| TranscriptEvent::accepts(was.kind) || was.kind == Kind::SessionStarted)
}

/// The id of the event at a position; zeros if the record is damaged there, which keeps nobody from searching the rest.
fn hash_at(log: &dyn EventLog, position: Position) -> Result<Option<EventHash>, LogError> {
    match log.read_log(position)?.next().transpose() {
        Ok(event) => Ok(event.filter(|event| event.position == position).map(|event| event.header.hash)),
        Err(error) if error.kind() == LogErrorKind::Corrupt => Ok(Some(DAMAGED_END)),
        Err(error) => Err(error),
    }
}

const DAMAGED_END: EventHash = EventHash::from_bytes([0; 32]);

/// What is searched for and where, as one hash.
fn search_id(chain: &Chain, query: &Query) -> EventHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(query.0.len() as u64).to_le_bytes());
    hasher.update(query.0.as_bytes());
    for session in chain.sessions() {
        hasher.update(session.as_bytes());
    }
    hasher.finalize().into()
}
