//! What is written: how much of it, and the events themselves, the same in every run.

use std::cell::Cell;

use segue::event::{Author, Event, HEADER_BYTES, Message, Role, Seq, SessionId, Timestamp, codec};
use segue::log::{Commit, Expected, NewEvent};

use super::super::Arguments;

/// How much every row does in one turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) name: &'static str,
    /// Commits of one event, one after the other.
    pub(super) commits: u64,
    /// Commits of 64 events.
    pub(super) batches: u64,
    /// Commits that all committers together make.
    pub(super) shared_commits: u64,
    pub(super) library_bytes: u64,
    /// A chain of sessions in which something is looked for, as transcripts.
    pub(super) chain_bytes: u64,
    /// The store with which memory is measured.
    pub(super) memory_bytes: u64,
    /// The events of the one long session.
    pub(super) long_session: u64,
    pub(super) ranges: u64,
    pub(super) opens: u64,
    pub(super) continuations: u64,
    /// How often an agent continues one predecessor in a row.
    pub(super) switches: u64,
    /// A short and a long predecessor, in bytes.
    pub(super) predecessors: [u64; 2],
}

const FULL: Sizes = Sizes {
    name: "full",
    commits: 2_000,
    batches: 200,
    shared_commits: 12_800,
    library_bytes: 100_000_000,
    chain_bytes: 100_000_000,
    memory_bytes: 1_000_000_000,
    long_session: 10_000,
    ranges: 500,
    opens: 3,
    continuations: 20,
    switches: 8,
    predecessors: [3_600_000, 36_000_000],
};

const GIGABYTE: &str = "gigabyte";

const QUICK: Sizes = Sizes {
    name: "quick",
    commits: 200,
    batches: 20,
    shared_commits: 640,
    library_bytes: 10_000_000,
    chain_bytes: 10_000_000,
    memory_bytes: 150_000_000,
    long_session: 2_000,
    ranges: 100,
    opens: 2,
    continuations: 5,
    switches: 2,
    predecessors: [360_000, 3_600_000],
};

impl Sizes {
    pub(super) fn of(arguments: &Arguments) -> Self {
        match (arguments.quick, arguments.gigabyte) {
            (true, _) => QUICK,
            (false, true) => Self {
                name: GIGABYTE,
                library_bytes: 1_000_000_000,
                // Taking up a run of 1 GB takes its time, which is not measured.
                switches: 1,
                predecessors: [3_600_000, 1_000_000_000],
                ..FULL
            },
            (false, false) => FULL,
        }
    }

    pub(super) fn is_gigabyte(&self) -> bool {
        self.name == GIGABYTE
    }

    pub(super) fn is_quick(&self) -> bool {
        self.name == QUICK.name
    }
}

/// The text of an event, in bytes; with what goes around it, about 1.4 KB, the mean of real transcripts.
pub(super) const TEXT_BYTES: usize = 1_300;

/// What the embedded log puts before the events of a commit, in bytes.
const FRAME_HEADER_BYTES: usize = 48;

/// A session, as a log and as a table know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Session(pub(super) u32);

impl Session {
    pub(super) fn id(self) -> SessionId {
        let mut bytes = [7; 16];
        bytes.iter_mut().zip(self.0.to_be_bytes()).for_each(|(to, from)| *to = from);
        SessionId::from_bytes(bytes)
    }
}

/// Events that are committed together, in the form each contender takes.
pub(super) struct Batch {
    pub(super) session: Session,
    /// The number of the first event.
    pub(super) first: u64,
    pub(super) commit: Commit,
    /// The bytes of each event, header and body: what a table keeps.
    pub(super) records: Vec<Vec<u8>>,
}

impl Batch {
    /// All that the embedded log writes for the commit, in length at least.
    pub(super) fn frame(&self) -> Vec<u8> {
        let mut frame = vec![0xA5; FRAME_HEADER_BYTES];
        self.records.iter().for_each(|record| frame.extend_from_slice(record));
        frame
    }

    /// Only what a table takes.
    pub(super) fn into_rows(self) -> Self {
        Self { commit: Commit::new(), ..self }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.records.iter().map(|record| record.len() as u64).sum()
    }
}

/// A session that grows batch by batch.
pub(super) struct Growing {
    session: Session,
    next: u64,
}

impl Growing {
    pub(super) fn new(session: Session) -> Self {
        Self { session, next: 1 }
    }

    pub(super) fn batch(&mut self, events: u64) -> anyhow::Result<Batch> {
        let first = self.next;
        self.next += events;
        let numbers = first..self.next;
        let events: Vec<_> = numbers.map(|number| event(self.session, number)).collect();
        let records = events.iter().map(record).collect::<anyhow::Result<Vec<_>>>()?;
        let expected = Expected::Seq(seq(first)?);
        let commit = Commit::new().append(self.session.id(), expected, events);
        Ok(Batch { session: self.session, first, commit, records })
    }

    pub(super) fn batches(&mut self, count: u64, events: u64) -> anyhow::Result<Vec<Batch>> {
        (0..count).map(|_| self.batch(events)).collect()
    }
}

pub(super) fn seq(number: u64) -> anyhow::Result<Seq> {
    Seq::new(number).ok_or_else(|| anyhow::anyhow!("there is no event {number}"))
}

fn record(new: &NewEvent) -> anyhow::Result<Vec<u8>> {
    let mut record = vec![0x5A; HEADER_BYTES];
    record.extend_from_slice(&codec::encode(&new.event)?);
    Ok(record)
}

fn event(session: Session, number: u64) -> NewEvent {
    NewEvent::new(Timestamp::default(), Event::from(message(session, number)))
}

/// A message of the usual length; a person and a model take turns.
pub(super) fn message(session: Session, number: u64) -> Message {
    let random = Random::new(u64::from(session.0) << 32 | number);
    let (role, author) = match number % 2 {
        1 => (Role::User, Author::User),
        _ => (Role::Assistant, Author::Agent),
    };
    Message::text(role, author, text(&random))
}

fn text(random: &Random) -> String {
    const WORDS: [&str; 16] = [
        "let ", "parser", "token", " = ", "fn ", "self.", "&mut ", "match ", "Ok(", ")?;\n", "events", "if ",
        "return ", "{\n    ", "}\n", "offset",
    ];
    let mut text = String::with_capacity(TEXT_BYTES + 16);
    while text.len() < TEXT_BYTES {
        text.extend(WORDS.get(random.below(WORDS.len() as u64) as usize).copied());
    }
    text
}

/// Numbers that look random and are the same in every run.
pub(super) struct Random(Cell<u64>);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    pub(super) fn below(&self, end: u64) -> u64 {
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        (x >> 11) % end.max(1)
    }
}
