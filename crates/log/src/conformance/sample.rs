//! Small things that cases are made of.

#![expect(clippy::unwrap_used, reason = "a failed assumption is a failed test")]

use segue_event::{
    AgentId, Author, ContinuationId, Edge, EventRef, Initiator, KindSet, Message, Position, RawEvent, Role,
    Seq, SeqRange, SessionDescribed, SessionId, SessionStarted, Timestamp, Title, Transition,
};

use crate::{
    ClaimKey, Commit, Direction, EventLog, Expected, Head, LogError, NewEvent, SessionPage, read_through,
};

pub(super) fn session(number: u8) -> SessionId {
    SessionId::from_bytes([number; 16])
}

pub(super) fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap()
}

pub(super) fn position(number: u64) -> Position {
    Position::new(number).unwrap()
}

pub(super) fn key(name: &str) -> ClaimKey {
    ClaimKey::new(name).unwrap()
}

pub(super) fn message(text: &str) -> NewEvent {
    NewEvent::new(Timestamp::utc_micros(7), Message::text(Role::User, Author::User, text))
}

pub(super) fn described(text: &str) -> NewEvent {
    NewEvent::new(Timestamp::utc_micros(8), SessionDescribed { description: text.to_owned() })
}

/// A session that goes on behind an event of another; with some messages of its own.
pub(super) fn fork(number: u8, base: u8, at: Head, count: usize) -> Commit {
    let base_event = EventRef { seq: at.seq, event: at.hash };
    let edge = Edge {
        continuation: ContinuationId::from_bytes([number; 16]),
        predecessor: session(base),
        predecessor_title: String::new(),
        predecessor_head: base_event,
        origin: session(base),
        initiator: Initiator::Person { request: number.to_string() },
        created_at: Timestamp::utc_micros(9),
        transition: Transition::Fork,
    };
    let started = SessionStarted {
        agent: AgentId::new("agent").unwrap(),
        title: Title::default(),
        description: String::new(),
        working_directory: String::new(),
        model: None,
        plan: None,
        edge: Some(Box::new(edge)),
        import: None,
    };
    let first = NewEvent::new(Timestamp::utc_micros(9), started);
    let events = std::iter::once(first).chain(messages(count)).collect();
    Commit::new().append(session(number), Expected::Behind(at), events)
}

pub(super) fn messages(count: usize) -> Vec<NewEvent> {
    (0..count).map(|number| message(&format!("message {number}"))).collect()
}

/// A commit of some events at the head of one session.
pub(super) fn append(number: u8, count: usize) -> Commit {
    Commit::new().append(session(number), Expected::AtHead, messages(count))
}

pub(super) fn read_all(log: &dyn EventLog, number: u8, direction: Direction) -> Vec<RawEvent> {
    read(log, number, SeqRange::ALL, direction)
}

pub(super) fn read(log: &dyn EventLog, number: u8, range: SeqRange, direction: Direction) -> Vec<RawEvent> {
    log.read(session(number), range, direction).unwrap().collect::<Result<_, _>>().unwrap()
}

pub(super) fn seqs(events: &[RawEvent]) -> Vec<u64> {
    events.iter().map(|event| event.header.seq.get()).collect()
}

/// A session's events with what it holds of others.
pub(super) fn through(log: &dyn EventLog, number: u8) -> Result<Vec<RawEvent>, LogError> {
    read_through(log, session(number), SeqRange::ALL, Direction::Forward, KindSet::ALL)?.collect()
}

/// Everything that can be asked of a log about some sessions and keys, in a form that can be compared and shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    log: Vec<RawEvent>,
    backward: Vec<Vec<RawEvent>>,
    heads: Vec<Option<Head>>,
    firsts: Vec<Option<Seq>>,
    /// With what forks hold of others.
    through: Vec<Vec<RawEvent>>,
    listings: String,
    claims: Vec<Option<Position>>,
    end: Option<Position>,
}

pub(super) fn contents(log: &dyn EventLog, sessions: u8, keys: &[ClaimKey]) -> Contents {
    contents_or_error(log, sessions, keys).unwrap()
}

fn contents_or_error(log: &dyn EventLog, sessions: u8, keys: &[ClaimKey]) -> Result<Contents, LogError> {
    let page = SessionPage { before: None, limit: usize::MAX };
    Ok(Contents {
        log: log.read_log(Position::FIRST)?.collect::<Result<_, _>>()?,
        backward: (0..sessions).map(|number| read_all(log, number, Direction::Backward)).collect(),
        heads: (0..sessions).map(|number| log.head(session(number))).collect::<Result<_, _>>()?,
        firsts: (0..sessions).map(|number| log.first(session(number))).collect::<Result<_, _>>()?,
        through: (0..sessions).map(|number| through(log, number)).collect::<Result<_, _>>()?,
        listings: format!("{:?}", log.sessions(page)?),
        claims: keys.iter().map(|key| log.claimed(key)).collect::<Result<_, _>>()?,
        end: log.end()?,
    })
}
