//! Finding text in a session and its ancestors, verbatim, with an account of where was looked.

use std::collections::BTreeSet;

use segue_continuation::deeds::Edit;
use segue_event::{
    Block, CallSite, EventHash, Family as _, Form, Kind, Position, RawEvent, Recorded, SeqRange, SessionId,
    Text, TranscriptEvent, Unreadable,
};
use segue_frame::{Entry, Who, line};
use segue_log::{Direction, EventLog, LogError, LogErrorKind, SessionPage, Sift, Sifted, Stretch};

use crate::error::Detail;
use crate::later::{FoundCall, look_later};
use crate::matching::{Match, block_of};
use crate::{Answer, Chain, ChainLink, Cursor, Hit, Order, Query, ThreadError};

/// Searches the sessions of a chain together, in the order that the query asks for.
///
/// Every text that a transcript shows is searched as it was said, byte for byte, and the strings of JSON also as they
/// are meant. Where the search stops early, the answer has a cursor, and
/// [`Coverage::complete`](crate::Coverage::complete) is false.
///
/// # Errors
/// If the cursor is not one of this search, or the log cannot be read.
pub fn recall(
    log: &dyn EventLog,
    chain: &Chain,
    query: &Query,
    budget: &Budget<'_>,
    cursor: Option<Cursor>,
) -> Result<Answer, ThreadError> {
    let search = search_id(chain, query);
    let Some(start) = start(log, search, query.order(), cursor)? else {
        let mut answer = Answer::begun(chain, None, 0);
        (answer.coverage.threads_searched, answer.coverage.complete) = (answer.coverage.threads, true);
        return Ok(answer);
    };
    let answer = Answer::begun(chain, Some(start.up_to), start.damaged);
    let mut walk = Walk { log, query, budget, answer, answer_bytes: 0, calls: Vec::new(), start };
    for leg in start.leg.. {
        let links = leg_of(chain, leg, budget.limits.threads_a_leg);
        if links.is_empty() {
            break;
        }
        let from = if leg == start.leg { Spot::of(&start) } else { Spot::first(query.order(), start.up_to) };
        if let Some(spot) = walk.leg(links, from)? {
            let damaged = walk.answer.coverage.damaged;
            walk.answer.cursor = Some(Cursor { leg, at: spot.at, part: spot.part, damaged, ..start });
            break;
        }
        if walk.is_stopped() && !leg_of(chain, leg + 1, budget.limits.threads_a_leg).is_empty() {
            let Spot { at, part } = Spot::first(query.order(), start.up_to);
            let damaged = walk.answer.coverage.damaged;
            walk.answer.cursor = Some(Cursor { leg: leg + 1, at, part, damaged, ..start });
            break;
        }
    }
    Ok(walk.finish(chain)?)
}

/// How much one page of a search may take.
pub struct Budget<'a> {
    /// Counted limits.
    pub limits: RecallLimits,
    /// Asked now and then; the search stops when it says so, and gives a cursor.
    pub stop: &'a dyn Fn() -> bool,
}

impl Default for Budget<'_> {
    /// The default limits, and as much time as it takes.
    fn default() -> Self {
        RecallLimits::default().into()
    }
}

impl From<RecallLimits> for Budget<'_> {
    fn from(limits: RecallLimits) -> Self {
        Self { limits, stop: &|| false }
    }
}

/// Where a page of a search stops at the latest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecallLimits {
    /// Stop before the hits have more bytes than this when they are rendered; one hit is always given.
    pub answer_bytes: usize,
    /// Stop once this many bytes were looked through.
    pub searched_bytes: u64,
    /// Search this many sessions of a chain together, and only then those before them.
    pub threads_a_leg: usize,
    /// Bytes of context on either side of a match.
    pub context_bytes: usize,
}

impl Default for RecallLimits {
    /// 32 KiB of excerpts, 4 GiB looked through, all sessions together, 200 bytes of context on either side.
    fn default() -> Self {
        Self {
            answer_bytes: 32 * 1_024,
            searched_bytes: 4 * 1_024 * 1_024 * 1_024,
            threads_a_leg: Chain::SESSIONS_MAX,
            context_bytes: 200,
        }
    }
}

/// What is counted for a hit beside its line: its session, its offsets, and what became of it.
const HIT_BYTES: usize = 200;

/// Of a match that is longer, in bytes, only the beginning is shown: 4 KiB. No literal is.
pub const MATCH_SHOWN_BYTES_MAX: usize = 4 * 1_024;

/// A line that could not be read is searched in its blob if it has at most this many bytes: 64 MiB.
pub const BLOB_SEARCHED_BYTES_MAX: u64 = 64 * 1_024 * 1_024;

/// The sessions of a chain that are searched together.
fn leg_of(chain: &Chain, leg: u32, threads: usize) -> &[ChainLink] {
    let threads = threads.max(1);
    let from = (leg as usize).saturating_mul(threads);
    let rest = chain.links().get(from..).unwrap_or_default();
    rest.get(..threads).unwrap_or(rest)
}

/// Where a search stands: at a text of the event at a position.
#[derive(Clone, Copy)]
struct Spot {
    at: Position,
    part: u32,
}

impl Spot {
    fn first(order: Order, up_to: Position) -> Self {
        let at = match order {
            Order::NewestFirst => up_to,
            Order::OldestFirst => Position::FIRST,
        };
        Self { at, part: 0 }
    }

    fn of(cursor: &Cursor) -> Self {
        Self { at: cursor.at, part: cursor.part }
    }
}

struct Walk<'a> {
    log: &'a dyn EventLog,
    query: &'a Query,
    budget: &'a Budget<'a>,
    answer: Answer,
    answer_bytes: usize,
    /// The hits that are tool calls.
    calls: Vec<FoundCall>,
    start: Cursor,
}

impl Walk<'_> {
    /// Searches some sessions; answers with where to go on if a limit was reached.
    fn leg(&mut self, links: &[ChainLink], from: Spot) -> Result<Option<Spot>, LogError> {
        let stretch =
            |link: &ChainLink| Stretch { session: link.session, range: SeqRange::up_to(link.up_to) };
        let sift = Sift {
            stretches: links.iter().map(stretch).collect(),
            from: if self.is_forward() { from.at } else { Position::FIRST },
            to: if self.is_forward() { self.start.up_to } else { from.at },
            direction: if self.is_forward() { Direction::Forward } else { Direction::Backward },
            kinds: self.query.texts().event_kinds(),
            sieve: self.query.sieve.clone(),
        };
        for item in self.log.sift(&sift)? {
            let stopped = match item {
                Ok(Sifted::Event(raw)) => self.event(&raw, from)?,
                Ok(Sifted::Passed { reached, searched, ruled_out }) => {
                    self.passed(reached, searched, ruled_out)
                }
                Err(error) => {
                    self.damage(error)?;
                    None
                }
            };
            if stopped.is_some() {
                return Ok(stopped);
            }
        }
        Ok(None)
    }

    fn passed(&mut self, reached: Position, searched: u64, ruled_out: u64) -> Option<Spot> {
        self.answer.coverage.bytes_searched += searched;
        self.answer.coverage.bytes_ruled_out += ruled_out;
        let at = match self.query.order() {
            Order::NewestFirst => reached.previous()?,
            Order::OldestFirst => Some(reached).filter(|reached| *reached <= self.start.up_to)?,
        };
        self.is_stopped().then_some(Spot { at, part: 0 })
    }

    fn is_forward(&self) -> bool {
        self.query.order() == Order::OldestFirst
    }

    fn is_stopped(&self) -> bool {
        self.answer.coverage.bytes_searched >= self.budget.limits.searched_bytes || (self.budget.stop)()
    }

    /// Damage is counted; any other error ends the search.
    fn damage(&mut self, error: LogError) -> Result<(), LogError> {
        if error.kind() != LogErrorKind::Corrupt {
            return Err(error);
        }
        self.answer.coverage.damaged += 1;
        Ok(())
    }

    /// Searches the texts of an event; answers with where to go on if a limit was reached.
    fn event(&mut self, raw: &RawEvent, from: Spot) -> Result<Option<Spot>, LogError> {
        let at = raw.position;
        let recorded = match raw.decode_as::<TranscriptEvent>().map_err(LogError::codec) {
            Ok(Some(recorded)) => recorded,
            Ok(None) => return Ok(None),
            Err(error) => return self.damage(error).map(|()| None),
        };
        let stopped = self.texts(&recorded, if at == from.at { from.part } else { 0 })?;
        if stopped.is_none() {
            self.answer.coverage.damaged += u64::from(hides_text(&recorded.event));
        }
        Ok(stopped.map(|part| Spot { at, part }))
    }

    /// Searches the texts of an event from one on; answers with where to go on if a limit was reached.
    fn texts(&mut self, recorded: &Recorded<TranscriptEvent>, first: u32) -> Result<Option<u32>, LogError> {
        if !self.query.texts().takes_time(recorded.time) {
            return Ok(None);
        }
        for text in recorded.event.texts().iter().filter(|text| text.index >= first) {
            if self.query.texts().takes(&recorded.event, text) && !self.text(recorded, text) {
                return Ok(Some(text.index));
            }
        }
        match &recorded.event {
            TranscriptEvent::Unreadable(line) if !self.line(recorded, line)? => Ok(Some(LINE_PART)),
            _ => Ok(None),
        }
    }

    /// Searches one text; false if a limit does not allow it on this page.
    fn text(&mut self, recorded: &Recorded<TranscriptEvent>, text: &Text<'_>) -> bool {
        if self.is_stopped() && self.has_moved(recorded, text) {
            return false;
        }
        if let Some(found) = self.query.find(text) {
            let hit = hit(recorded, text, found, self.budget.limits.context_bytes);
            let mut shown = String::new();
            line::write(&mut shown, hit.seq, &hit.who, &hit.excerpt);
            let bytes = shown.len() + HIT_BYTES;
            if !self.answer.hits.is_empty() && self.answer_bytes + bytes > self.budget.limits.answer_bytes {
                return false;
            }
            self.answer_bytes += bytes;
            self.calls.extend(self.found_call(recorded, text));
            self.answer.hits.push(hit);
        }
        self.answer.coverage.bytes_searched += text.text.len() as u64;
        true
    }

    fn found_call(&self, recorded: &Recorded<TranscriptEvent>, text: &Text<'_>) -> Option<FoundCall> {
        let Some(Block::ToolCall(call)) = block_of(&recorded.event, text) else { return None };
        let site = CallSite { message: recorded.seq, block: text.index };
        Some(FoundCall { hit: self.answer.hits.len(), thread: recorded.session, site, edit: Edit::of(call) })
    }

    /// Whether a text is another one than the page began with, so that pages come to an end.
    fn has_moved(&self, recorded: &Recorded<TranscriptEvent>, text: &Text<'_>) -> bool {
        (recorded.position, text.index) != (self.start.at, self.start.part)
    }

    /// Searches a line that could not be read, in its blob.
    fn line(&mut self, recorded: &Recorded<TranscriptEvent>, line: &Unreadable) -> Result<bool, LogError> {
        let probe = Text { index: LINE_PART, form: Form::Plain, text: "" };
        if !self.query.texts().takes(&recorded.event, &probe) {
            return Ok(true);
        }
        let bytes = if line.bytes > BLOB_SEARCHED_BYTES_MAX { None } else { self.log.blob(&line.blob)? };
        match bytes.as_deref().map(String::from_utf8_lossy) {
            Some(text) => Ok(self.text(recorded, &Text { text: &text, ..probe })),
            None => {
                self.answer.coverage.damaged += 1;
                Ok(true)
            }
        }
    }

    fn finish(self, chain: &Chain) -> Result<Answer, LogError> {
        let Self { log, query, mut answer, calls, .. } = self;
        look_later(log, calls, &mut answer.hits)?;
        let coverage = &mut answer.coverage;
        coverage.threads_searched = match &answer.cursor {
            Some(_) if query.order() == Order::OldestFirst => 0,
            Some(cursor) => searched_before(log, chain, cursor)?,
            None => coverage.threads,
        };
        if answer.cursor.is_none() {
            if log.known_damage().is_some() || log.head(SessionId::LOST_AND_FOUND)?.is_some() {
                // What was lost may have belonged to these sessions, even if nothing of it is missed in what is there.
                coverage.damaged = coverage.damaged.max(1);
            }
            coverage.complete = coverage.damaged == 0;
        }
        Ok(answer)
    }
}

/// The text of an unreadable line, behind the reason why it could not be read.
pub(crate) const LINE_PART: u32 = 1;

/// How many sessions of a chain began behind the place where a search stopped.
fn searched_before(log: &dyn EventLog, chain: &Chain, cursor: &Cursor) -> Result<usize, LogError> {
    let page = SessionPage { before: Some(cursor.at.next()), limit: usize::MAX };
    let begun: BTreeSet<_> = log.sessions(page)?.into_iter().map(|listing| listing.session).collect();
    Ok(chain.sessions().filter(|session| !begun.contains(session)).count())
}

fn hit(recorded: &Recorded<TranscriptEvent>, text: &Text<'_>, found: Match, context: usize) -> Hit {
    let start = text.text.floor_char_boundary(found.start.saturating_sub(context));
    let end = if found.end - found.start > MATCH_SHOWN_BYTES_MAX {
        text.text.floor_char_boundary(found.start + MATCH_SHOWN_BYTES_MAX)
    } else {
        text.text.ceil_char_boundary(found.end.saturating_add(context))
    };
    let parts = Entry::of(recorded).parts;
    let who = parts.into_iter().find(|part| part.index == text.index).map(|part| part.who);
    Hit {
        thread: recorded.session,
        seq: recorded.seq,
        part: text.index,
        who: who.unwrap_or_else(|| Who::new("unreadable line")),
        time: recorded.time,
        offset: found.start as u64,
        matches: found.count,
        excerpt: text.text.get(start..end).unwrap_or_default().to_owned(),
        excerpt_offset: start as u64,
        text_bytes: text.text.len() as u64,
        fate: Vec::new(),
    }
}

/// Where the search begins; none for an empty log.
fn start(
    log: &dyn EventLog,
    search: EventHash,
    order: Order,
    cursor: Option<Cursor>,
) -> Result<Option<Cursor>, ThreadError> {
    let Some(cursor) = cursor else {
        let Some(up_to) = log.end()? else { return Ok(None) };
        let end = hash_at(log, up_to)?.ok_or(Detail::CursorStale)?;
        let Spot { at, part } = Spot::first(order, up_to);
        return Ok(Some(Cursor { search, up_to, end, leg: 0, at, part, damaged: 0 }));
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
    let identity = query.identity();
    hasher.update(&(identity.len() as u64).to_le_bytes());
    hasher.update(identity.as_bytes());
    for link in chain.links() {
        hasher.update(link.session.as_bytes());
        hasher.update(&link.up_to.get().to_le_bytes());
    }
    hasher.finalize().into()
}
