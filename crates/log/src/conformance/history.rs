//! Random histories, run on the subject and on the reference side by side.

#![expect(clippy::panic, reason = "the smallest history that fails is said by a panic")]

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use segue_event::{BlobId, Kind, KindSet, SeqRange};

use super::sample::{contents, described, fork, key, message, position, seq, session, through};
use super::{Effort, Subject};
use crate::{
    ClaimKey, Commit, Depth, Direction, EventLog, Expected, Head, LogError, MemoryLog, SessionPage, Wait,
};

/// Sessions, their forks, and the forks of those.
const WITH_FORKS: u8 = 3 * SESSIONS;

/// How many sessions and keys a history is about: few, so that steps meet each other.
const SESSIONS: u8 = 4;
const KEYS: u8 = 6;

/// Runs random histories; the one that fails is made as small as possible and shown.
pub(super) fn check<S: Subject>(make: impl FnMut() -> S, effort: Effort) {
    let config = Config { cases: effort.histories, failure_persistence: None, ..Config::default() };
    let histories = proptest::collection::vec(step(), 1..=effort.steps.max(1));
    let make = std::cell::RefCell::new(make);
    let outcome = TestRunner::new(config).run(&histories, |history| {
        let mut subject = (make.borrow_mut())();
        run(&mut subject, &history)
    });
    if let Err(failure) = outcome {
        panic!("the log differs from the reference: {failure}");
    }
}

/// Something that is done to both logs.
#[derive(Clone, Debug)]
enum Step {
    Commit {
        appends: Vec<(u8, Expecting, u8, u16)>,
        claims: Vec<u8>,
        wait: Wait,
    },
    Read {
        session: u8,
        from: u64,
        length: u64,
        direction: Direction,
        kinds: Wanted,
    },
    ReadLog {
        from: u64,
    },
    Sessions {
        before: Option<u64>,
        limit: usize,
    },
    Blob(u8),
    /// Each session can be forked once, and each fork too.
    Fork {
        base: u8,
        at: u64,
        count: u8,
    },
    Settle,
    Reopen,
}

/// Which kinds are read.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    All,
    Messages,
    Descriptions,
    Plans,
}

impl Wanted {
    fn kinds(self) -> KindSet {
        match self {
            Self::All => KindSet::ALL,
            Self::Messages => KindSet::one(Kind::Message),
            Self::Descriptions => KindSet::one(Kind::SessionDescribed),
            Self::Plans => KindSet::one(Kind::PlanSet),
        }
    }
}

/// What an append expects.
#[derive(Clone, Copy, Debug)]
enum Expecting {
    Head,
    RightSeq,
    Seq(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let direction = prop_oneof![Just(Direction::Forward), Just(Direction::Backward)];
    prop_oneof![
        8 => commit(),
        3 => (0..WITH_FORKS, 1..12u64, 0..12u64, direction, wanted())
            .prop_map(|(session, from, length, direction, kinds)| {
                Step::Read { session, from, length, direction, kinds }
            }),
        1 => Just(Step::Settle),
        1 => (1..40u64).prop_map(|from| Step::ReadLog { from }),
        1 => (proptest::option::of(1..40u64), 0..4usize)
            .prop_map(|(before, limit)| Step::Sessions { before, limit }),
        1 => any::<u8>().prop_map(Step::Blob),
        2 => (0..2 * SESSIONS, 1..12u64, 0..4u8)
            .prop_map(|(base, at, count)| Step::Fork { base, at, count }),
        1 => Just(Step::Reopen),
    ]
}

fn wanted() -> impl Strategy<Value = Wanted> {
    prop_oneof![Just(Wanted::All), Just(Wanted::Messages), Just(Wanted::Descriptions), Just(Wanted::Plans)]
}

fn commit() -> impl Strategy<Value = Step> {
    let expecting = prop_oneof![
        3 => Just(Expecting::Head),
        3 => Just(Expecting::RightSeq),
        1 => (1..5u64).prop_map(Expecting::Seq),
    ];
    let append = (0..2 * SESSIONS, expecting, 0..6u8, 0..600u16);
    let appends = proptest::collection::vec(append, 1..=3);
    let claims = proptest::collection::vec(0..KEYS, 0..=2);
    let wait = prop_oneof![4 => Just(Wait::Durable), 1 => Just(Wait::Ordered)];
    (appends, claims, wait).prop_map(|(appends, claims, wait)| Step::Commit { appends, claims, wait })
}

fn run(subject: &mut dyn Subject, history: &[Step]) -> Result<(), TestCaseError> {
    let reference = MemoryLog::new();
    let keys: Vec<ClaimKey> = (0..KEYS).map(|number| key(&number.to_string())).collect();
    let mut log = subject.open();
    for (index, step) in history.iter().enumerate() {
        if matches!(step, Step::Reopen) {
            drop(log);
            log = subject.open();
        }
        let expected = answer(&reference, step);
        same(&format!("the answer to step {index}"), &answer(&*log, step), &expected)?;
        let found = contents(&*log, WITH_FORKS, &keys);
        same(&format!("the log after step {index}"), &found, &contents(&reference, WITH_FORKS, &keys))?;
    }
    let report =
        log.verify(Depth::Full, &mut |_| ()).map_err(|error| TestCaseError::fail(error.to_string()))?;
    same("what is wrong with the log in the end", &report.problems, &Vec::new())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), TestCaseError> {
    if found == expected {
        return Ok(());
    }
    Err(TestCaseError::fail(format!("{what} is\n{found:?}\nand should be\n{expected:?}")))
}

/// What a log answers to a step, errors included, as text.
fn answer(log: &dyn EventLog, step: &Step) -> String {
    match answer_or_error(log, step) {
        Ok(answer) => answer,
        Err(error) => format!("{:?}: {error}", error.kind()),
    }
}

fn answer_or_error(log: &dyn EventLog, step: &Step) -> Result<String, LogError> {
    Ok(match step {
        Step::Commit { appends, claims, wait } => {
            format!("{:?}", log.commit(commit_of(log, appends, claims, *wait)?)?)
        }
        Step::Read { session: number, from, length, direction, kinds } => {
            let range = SeqRange { from: seq(*from), to: seq(*from).plus(*length) };
            let events: Result<Vec<_>, _> =
                log.read_kinds(session(*number), range, *direction, kinds.kinds())?.collect();
            format!("{:?}", events?)
        }
        Step::ReadLog { from } => {
            format!("{:?}", log.read_log(position(*from))?.collect::<Result<Vec<_>, _>>()?)
        }
        Step::Sessions { before, limit } => {
            format!("{:?}", log.sessions(SessionPage { before: before.map(position), limit: *limit })?)
        }
        Step::Blob(byte) => {
            let bytes = vec![*byte; usize::from(*byte)];
            let before = log.blob(&BlobId::of(&bytes))?.is_some();
            let id = log.put_blob(&bytes)?;
            format!("{before} {id} {:?}", log.blob(&id)?)
        }
        Step::Fork { base, at, count } => {
            let all = through(log, *base)?;
            let Some(event) = all.iter().find(|event| event.header.seq.get() == *at) else {
                return Ok("nothing to fork".to_owned());
            };
            let at = Head { seq: event.header.seq, hash: event.header.hash };
            format!("{:?}", log.commit(fork(base + SESSIONS, *base, at, usize::from(*count)))?)
        }
        Step::Settle => log.settle().map(|()| String::new())?,
        Step::Reopen => String::new(),
    })
}

fn commit_of(
    log: &dyn EventLog,
    appends: &[(u8, Expecting, u8, u16)],
    claims: &[u8],
    wait: Wait,
) -> Result<Commit, LogError> {
    let mut commit = Commit { wait, ..Commit::new() };
    for (number, expecting, count, length) in appends {
        let next = log.head(session(*number))?.map_or(seq(1), |head| head.seq.next());
        let expected = match expecting {
            Expecting::Head => Expected::AtHead,
            Expecting::RightSeq => Expected::Seq(next),
            Expecting::Seq(wanted) => Expected::Seq(seq(*wanted)),
        };
        let text = |index| format!("{index} {}", "x".repeat(usize::from(*length)));
        // Three messages to one description, so that runs of one kind and of both come about.
        let event = |index| if index % 4 == 3 { described(&text(index)) } else { message(&text(index)) };
        let events = (0..*count).map(event).collect();
        commit = commit.append(session(*number), expected, events);
    }
    Ok(claims.iter().fold(commit, |commit, number| commit.claim(key(&number.to_string()))))
}
