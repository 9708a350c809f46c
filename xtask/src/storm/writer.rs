//! The child: commits as fast as it can, and tells each answer, until it is killed.

use std::io::{Stdout, Write as _};
use std::path::Path;

use anyhow::anyhow;
use segue::event::{SessionId, Timestamp};
use segue::log::{Commit, EventLog as _, Expected, NewEvent, Wait};
use segue::log_file::{FileLog, Options};

use super::label::{Claims, CommitName, Dice, Label};

/// How many threads of a child commit at a time.
pub(super) const THREADS: u64 = 3;

/// How many sessions all children share.
const SESSIONS: u64 = 6;

/// Every other child writes small segments, so that sealing, footers and compression are killed as well.
fn options(round: u64) -> Options {
    match round % 4 {
        1 => Options { segment_bytes: 16 * 1024, index_every: 8 * 1024, ..Options::default() },
        3 => Options { segment_bytes: 256 * 1024, index_every: 64 * 1024, ..Options::default() },
        _ => Options::default(),
    }
}

/// Commits until something fails.
pub(super) fn write_until_killed(store: &Path, round: u64, seed: u64) -> anyhow::Result<()> {
    // Whatever else stands in the line so far, the first answer has one of its own.
    writeln!(std::io::stdout())?;
    let log = FileLog::open(store, options(round))?;
    let log = &log;
    std::thread::scope(|scope| {
        let start = |thread| {
            let dice = Dice::new(seed ^ (thread << 32));
            let next = CommitName { round, thread, number: 0 };
            scope.spawn(move || Committer { log, dice, next, output: std::io::stdout() }.run())
        };
        let committers: Vec<_> = (0..THREADS).map(start).collect();
        committers.into_iter().try_for_each(|committer| {
            committer.join().map_err(|_| anyhow!("a committing thread panicked"))?
        })
    })
}

struct Committer<'l> {
    log: &'l FileLog,
    dice: Dice,
    next: CommitName,
    output: Stdout,
}

impl Committer<'_> {
    fn run(mut self) -> anyhow::Result<()> {
        loop {
            let commit = self.commit()?;
            let wait = commit.wait;
            let committed = self.log.commit(commit)?;
            let word = if wait == Wait::Durable { "durable" } else { "ordered" };
            // One line, one write: a kill cannot cut it.
            writeln!(self.output.lock(), "{word} {} {} {}", self.next, committed.first, committed.last)?;
            self.next.number += 1;
            if self.dice.below(200) == 0 {
                self.log.settle()?;
            }
        }
    }

    /// Mostly one small event, sometimes a batch over several sessions.
    fn commit(&mut self) -> anyhow::Result<Commit> {
        let count = match self.dice.below(10) {
            0..6 => 1,
            6..9 => 2 + self.dice.below(8),
            _ => 30 + self.dice.below(60),
        };
        let claims = if self.dice.below(4) == 0 { Claims::Its } else { Claims::Nothing };
        let mut commit = Commit::new();
        for index in 0..count {
            let label = Label { commit: self.next, index, count, claims };
            let padding = usize::try_from(self.padding())?;
            let event = NewEvent::new(Timestamp::default(), label.message(padding));
            commit = commit.append(self.session(), Expected::AtHead, vec![event]);
        }
        if claims == Claims::Its {
            commit = commit.claim(self.next.claim()?);
        }
        Ok(if self.dice.below(6) == 0 { commit.without_waiting() } else { commit })
    }

    fn padding(&mut self) -> u64 {
        if self.dice.below(100) == 0 { self.dice.below(100_000) } else { self.dice.below(600) }
    }

    /// One of those that all children share, or now and then a new one.
    fn session(&mut self) -> SessionId {
        let shared = self.dice.below(SESSIONS);
        let mut bytes = [0; 16];
        let CommitName { round, thread, number } = self.next;
        let name = if self.dice.below(20) == 0 { [round + 1, thread, number] } else { [0, 0, shared] };
        let digits = name.iter().flat_map(|part| part.to_be_bytes().into_iter().skip(3));
        bytes.iter_mut().zip(digits).for_each(|(byte, digit)| *byte = digit);
        SessionId::from_bytes(bytes)
    }
}
