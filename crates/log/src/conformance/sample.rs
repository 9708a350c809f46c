//! Small things that cases are made of.

#![expect(clippy::unwrap_used, reason = "a failed assumption is a failed test")]

use segue_event::{
    Author, Message, Position, RawEvent, Role, Seq, SeqRange, SessionDescribed, SessionId, Timestamp,
};

use crate::{ClaimKey, Commit, Direction, EventLog, Expected, Head, LogError, NewEvent, SessionPage};

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

/// Everything that can be asked of a log about some sessions and keys, in a form that can be compared and shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    log: Vec<RawEvent>,
    backward: Vec<Vec<RawEvent>>,
    heads: Vec<Option<Head>>,
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
        listings: format!("{:?}", log.sessions(page)?),
        claims: keys.iter().map(|key| log.claimed(key)).collect::<Result<_, _>>()?,
        end: log.end()?,
    })
}
