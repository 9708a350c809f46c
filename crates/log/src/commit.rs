//! What is written at once, and how it finds its place.

use std::collections::BTreeMap;
use std::fmt;

use segue_event::{Event, EventHash, Position, Prepared, RawEvent, Seq, SessionId, Timestamp, chain};

use crate::limits::{CLAIM_BYTES_MAX, COMMIT_BYTES_MAX, COMMIT_CLAIMS_MAX, COMMIT_EVENTS_MAX};
use crate::{Head, LogError, WrongSeq};

/// An atomic batch: events for one or more sessions, and claims. All of it is written, or nothing.
///
/// ```
/// use segue_event::{Author, Message, Role, SessionId, Timestamp};
/// use segue_log::{ClaimKey, Commit, EventLog, Expected, MemoryLog, NewEvent};
///
/// let log = MemoryLog::new();
/// let session = SessionId::from_bytes([1; 16]);
/// let hello = NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, "hello"));
/// let commit = Commit::new()
///     .append(session, Expected::first(), vec![hello])
///     .claim(ClaimKey::new("greeting")?);
/// assert_eq!(log.commit(commit)?.extents[0].range.to.get(), 1);
/// # Ok::<(), segue_log::LogError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Commit {
    /// The events, session by session; one session may be named more than once.
    pub appends: Vec<SessionAppend>,
    /// Keys that this commit takes; it is refused if one of them is taken.
    pub claims: Vec<ClaimKey>,
    /// When the call returns.
    pub wait: Wait,
}

/// Events for one session.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionAppend {
    /// The session.
    pub session: SessionId,
    /// The number that the first of the events must get.
    pub expected: Expected,
    /// The events, in order.
    pub events: Vec<NewEvent>,
}

/// The number that the first of some events must get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Whatever comes next.
    AtHead,
    /// Exactly this one; the commit is refused if the session stands elsewhere.
    Seq(Seq),
    /// The one behind an event of another session, from which this one is forked; the commit is refused if the session
    /// is not new. The first of the events must be a start of a session whose edge says so, and the caller knows
    /// that the other event is there, which cannot change any more.
    Behind(Head),
}

impl Expected {
    /// The session must be new.
    pub const fn first() -> Self {
        Self::Seq(Seq::FIRST)
    }

    /// The session must stand exactly at `head`.
    pub const fn after(head: Seq) -> Self {
        Self::Seq(head.next())
    }
}

/// An event that is to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct NewEvent {
    /// When it happened.
    pub time: Timestamp,
    /// What happened.
    pub event: Event,
}

impl NewEvent {
    /// An event with its time.
    pub fn new(time: Timestamp, event: impl Into<Event>) -> Self {
        Self { time, event: event.into() }
    }
}

/// When a commit returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wait {
    /// Once it survives a power loss.
    #[default]
    Durable,
    /// Once its place is settled; it becomes durable with a later commit.
    Ordered,
}

impl Commit {
    /// A commit with nothing in it yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds events of one session.
    #[must_use]
    pub fn append(mut self, session: SessionId, expected: Expected, events: Vec<NewEvent>) -> Self {
        self.appends.push(SessionAppend { session, expected, events });
        self
    }

    /// Adds a key that the commit takes.
    #[must_use]
    pub fn claim(mut self, key: ClaimKey) -> Self {
        self.claims.push(key);
        self
    }

    /// Lets the call return before the commit is durable.
    #[must_use]
    pub fn without_waiting(mut self) -> Self {
        self.wait = Wait::Ordered;
        self
    }
}

/// A unique key that one commit can take, once and for all: 1 to [`CLAIM_BYTES_MAX`] bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimKey(Box<[u8]>);

impl ClaimKey {
    /// Makes a key of any bytes.
    ///
    /// # Errors
    /// If there are none, or more than [`CLAIM_BYTES_MAX`].
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, LogError> {
        let bytes = bytes.as_ref();
        if bytes.is_empty() || bytes.len() > CLAIM_BYTES_MAX {
            return Err(LogError::too_large("a claim's length in bytes", bytes.len(), CLAIM_BYTES_MAX));
        }
        Ok(Self(bytes.into()))
    }

    /// The bytes of the key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for ClaimKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

impl fmt::Debug for ClaimKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClaimKey({self})")
    }
}

/// What a commit got.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Committed {
    /// The place of its first event.
    pub first: Position,
    /// The place of its last event.
    pub last: Position,
    /// What each append got, in the commit's order.
    pub extents: Vec<Extent>,
}

/// The numbers that events of one session got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The session.
    pub session: SessionId,
    /// The events' numbers.
    pub range: segue_event::SeqRange,
    /// The id of the last of them.
    pub head: EventHash,
}

/// A commit whose events are encoded and whose limits are checked: all that can be done before its turn comes.
#[derive(Debug)]
pub struct PreparedCommit {
    appends: Vec<PreparedAppend>,
    claims: Vec<ClaimKey>,
    wait: Wait,
}

#[derive(Debug)]
struct PreparedAppend {
    session: SessionId,
    expected: Expected,
    events: Vec<Prepared>,
}

/// A commit with its place: what an implementation writes, and what it answers.
#[derive(Debug)]
pub struct Placed {
    /// The events, in order of position.
    pub events: Vec<RawEvent>,
    /// The keys that are taken by it.
    pub claims: Vec<ClaimKey>,
    /// The answer to the committer.
    pub committed: Committed,
}

impl PreparedCommit {
    /// Encodes the events and checks every limit.
    ///
    /// # Errors
    /// If the commit has no events, or exceeds a limit of [`crate::limits`] or of an event.
    pub fn new(commit: Commit) -> Result<Self, LogError> {
        check_counts(&commit)?;
        let appends = commit.appends.into_iter().map(prepare_append).collect::<Result<Vec<_>, _>>()?;
        let bytes = appends.iter().flat_map(|append| &append.events).map(Prepared::body_bytes).sum();
        at_most("a commit's size in bytes", bytes, COMMIT_BYTES_MAX)?;
        Ok(Self { appends, claims: commit.claims, wait: commit.wait })
    }

    /// When the committer wants its answer.
    pub fn wait(&self) -> Wait {
        self.wait
    }

    /// The length of all bodies, in bytes.
    pub fn body_bytes(&self) -> usize {
        self.appends.iter().flat_map(|append| &append.events).map(Prepared::body_bytes).sum()
    }

    /// Gives every event its place, with `next` as the first position.
    ///
    /// `head` and `claimed` tell how the log stands just before this commit.
    ///
    /// # Errors
    /// If a session does not stand where the commit expects it, a key is taken, or `head` or `claimed` fails.
    pub fn place(
        self,
        next: Position,
        head: impl Fn(SessionId) -> Result<Option<Head>, LogError>,
        claimed: impl Fn(&ClaimKey) -> Result<Option<Position>, LogError>,
    ) -> Result<Placed, LogError> {
        let claims = self.claims;
        check_claims(&claims, next, claimed)?;
        let mut placing = Placing { next, heads: BTreeMap::new(), events: Vec::new() };
        let extents = self
            .appends
            .into_iter()
            .map(|append| placing.append(append, &head))
            .collect::<Result<Vec<_>, _>>()?;
        let last = placing.events.last().map_or(next, |event| event.position);
        Ok(Placed { events: placing.events, claims, committed: Committed { first: next, last, extents } })
    }
}

struct Placing {
    next: Position,
    heads: BTreeMap<SessionId, Option<Head>>,
    events: Vec<RawEvent>,
}

impl Placing {
    fn append(
        &mut self,
        append: PreparedAppend,
        head: impl Fn(SessionId) -> Result<Option<Head>, LogError>,
    ) -> Result<Extent, LogError> {
        let session = append.session;
        let before = match self.heads.get(&session) {
            Some(head) => *head,
            None => head(session)?,
        };
        let wrong =
            |expected| LogError::wrong_seq(WrongSeq { session, expected, head: before.map(|head| head.seq) });
        let before = match (append.expected, before) {
            (Expected::Behind(base), None) => Some(base),
            (Expected::Behind(base), Some(_)) => return Err(wrong(base.seq.next())),
            (Expected::AtHead | Expected::Seq(_), before) => before,
        };
        let first = before.map_or(Seq::FIRST, |head| head.seq.next());
        if let Expected::Seq(expected) = append.expected
            && expected != first
        {
            return Err(wrong(expected));
        }
        let mut head = Head { seq: first, hash: before.map_or(chain::START, |head| head.hash) };
        for (seq, prepared) in std::iter::successors(Some(first), |seq| Some(seq.next())).zip(append.events) {
            let event = prepared.place(session, seq, &head.hash, self.next);
            head = Head { seq, hash: event.header.hash };
            self.next = self.next.next();
            self.events.push(event);
        }
        self.heads.insert(session, Some(head));
        let range = segue_event::SeqRange { from: first, to: head.seq };
        Ok(Extent { session, range, head: head.hash })
    }
}

fn prepare_append(append: SessionAppend) -> Result<PreparedAppend, LogError> {
    let SessionAppend { session, expected, events } = append;
    let events = events
        .iter()
        .map(|new| Prepared::new(new.time, &new.event))
        .collect::<Result<Vec<_>, _>>()
        .map_err(LogError::codec)?;
    Ok(PreparedAppend { session, expected, events })
}

fn check_counts(commit: &Commit) -> Result<(), LogError> {
    if commit.appends.is_empty() || commit.appends.iter().any(|append| append.events.is_empty()) {
        return Err(LogError::empty());
    }
    let events = commit.appends.iter().map(|append| append.events.len()).sum();
    at_most("a commit's number of events", events, COMMIT_EVENTS_MAX)?;
    at_most("a commit's number of claims", commit.claims.len(), COMMIT_CLAIMS_MAX)
}

fn check_claims(
    claims: &[ClaimKey],
    next: Position,
    claimed: impl Fn(&ClaimKey) -> Result<Option<Position>, LogError>,
) -> Result<(), LogError> {
    for (index, key) in claims.iter().enumerate() {
        let twice = claims.iter().take(index).any(|earlier| earlier == key);
        let taken_at = if twice { Some(next) } else { claimed(key)? };
        if let Some(position) = taken_at {
            return Err(LogError::claim_taken(key.clone(), position));
        }
    }
    Ok(())
}

fn at_most(what: &'static str, actual: usize, max: usize) -> Result<(), LogError> {
    if actual <= max { Ok(()) } else { Err(LogError::too_large(what, actual, max)) }
}
