//! After each kill: what was acknowledged is there, whole, in order, and nothing else is.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context as _, bail, ensure};
use segue::event::{Block, Event, Position, RawEvent, Seq, SessionId};
use segue::log::{Depth, EventLog, LogErrorKind, Wait};
use segue::log_file::FileLog;

use super::label::{Claims, CommitName, Label};
use super::writer::THREADS;

/// What a child said about one commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Answer {
    pub(super) wait: Wait,
    commit: CommitName,
    first: Position,
    last: Position,
}

impl FromStr for Answer {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> anyhow::Result<Self> {
        let (word, numbers) = line.split_once(' ').context("no answer")?;
        let wait = match word {
            "durable" => Wait::Durable,
            "ordered" => Wait::Ordered,
            _ => bail!("no answer"),
        };
        let mut words = numbers.split(' ');
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).context("no answer");
        let commit = CommitName { round: number()?, thread: number()?, number: number()? };
        let mut position = || Position::new(number()?).context("no position");
        Ok(Self { wait, commit, first: position()?, last: position()? })
    }
}

/// A commit that stands in the log.
struct Found {
    first: Position,
    last: Position,
}

/// What is known of the store from the rounds before. Each round reads what is new, and verifies all of it.
#[derive(Default)]
pub(super) struct Checker {
    /// The newest position that was read.
    end: Option<Position>,
    heads: BTreeMap<SessionId, Seq>,
    commits: BTreeMap<CommitName, Found>,
    /// The commit that each thread of each child would have made next.
    next: BTreeMap<(u64, u64), u64>,
    /// How many answers came from each.
    answered: BTreeMap<(u64, u64), u64>,
}

impl Checker {
    /// Checks a store after the child of `round`, which gave these answers, was killed.
    pub(super) fn check(&mut self, store: &Path, round: u64, answers: &[Answer]) -> anyhow::Result<()> {
        let log = match FileLog::open_reader(store) {
            Err(error) if error.kind() == LogErrorKind::NotFound && answers.is_empty() => return Ok(()),
            opened => opened?,
        };
        for answer in answers {
            *self.answered.entry((answer.commit.round, answer.commit.thread)).or_default() += 1;
        }
        self.read_on(&log)?;
        self.check_answers(answers)?;
        self.check_absent(&log, round)?;
        for (session, seq) in &self.heads {
            let head = log.head(*session)?.with_context(|| format!("session {session} is gone"))?;
            ensure!(head.seq == *seq, "session {session} ends at {} instead of {seq}", head.seq);
        }
        let report = log.verify(Depth::Full, &mut |_| ())?;
        ensure!(report.is_sound(), "the record is damaged: {:?}", report.problems);
        ensure!(report.events == self.events(), "{} events of {} are left", report.events, self.events());
        Ok(())
    }

    pub(super) fn events(&self) -> u64 {
        self.end.map_or(0, Position::get)
    }

    pub(super) fn commits(&self) -> usize {
        self.commits.len()
    }

    fn read_on(&mut self, log: &FileLog) -> anyhow::Result<()> {
        let mut open: Option<(Label, Position)> = None;
        for raw in log.read_log(self.end.map_or(Position::FIRST, Position::next))? {
            let raw = raw?;
            let label = label_of(&raw)?;
            self.place(&raw)?;
            let first = match open.take() {
                Some((before, first)) => {
                    let goes_on = Label { index: before.index + 1, ..before } == label;
                    ensure!(goes_on, "{before:?} is followed by {label:?}");
                    first
                }
                None => {
                    ensure!(label.index == 0, "a commit begins with {label:?}");
                    raw.position
                }
            };
            if label.index + 1 < label.count {
                open = Some((label, first));
            } else {
                self.found(log, label, Found { first, last: raw.position })?;
            }
        }
        ensure!(open.is_none(), "the log ends within a commit: {open:?}");
        Ok(())
    }

    /// Positions and numbers of events have no gaps.
    fn place(&mut self, raw: &RawEvent) -> anyhow::Result<()> {
        let expected = self.end.map_or(Position::FIRST, Position::next);
        ensure!(raw.position == expected, "position {} instead of {expected}", raw.position);
        self.end = Some(expected);
        let session = raw.header.session;
        let expected = self.heads.get(&session).map_or(Seq::FIRST, |head| head.next());
        ensure!(raw.header.seq == expected, "{session} has {} instead of {expected}", raw.header.seq);
        self.heads.insert(session, expected);
        Ok(())
    }

    /// Commits of one thread follow each other without a gap, and there are no more than it tried.
    fn found(&mut self, log: &FileLog, label: Label, found: Found) -> anyhow::Result<()> {
        let CommitName { round, thread, number } = label.commit;
        let next = self.next.entry((round, thread)).or_default();
        ensure!(number == *next, "commit {} comes where {next} is missing", label.commit);
        *next += 1;
        // One more than it told may have been under way.
        let tried = self.answered.get(&(round, thread)).copied().unwrap_or_default() + 1;
        ensure!(number < tried, "commit {} was never made", label.commit);
        let claimed = log.claimed(&label.commit.claim()?)?;
        let expected = (label.claims == Claims::Its).then_some(found.first);
        ensure!(claimed == expected, "the claim of commit {}: {claimed:?}", label.commit);
        self.commits.insert(label.commit, found);
        Ok(())
    }

    fn check_answers(&self, answers: &[Answer]) -> anyhow::Result<()> {
        for answer in answers {
            match self.commits.get(&answer.commit) {
                Some(Found { first, last }) => {
                    let same = (*first, *last) == (answer.first, answer.last);
                    ensure!(same, "commit {} stands elsewhere than it was told", answer.commit);
                }
                None if answer.wait == Wait::Ordered => {}
                None => bail!("commit {} was acknowledged and is gone", answer.commit),
            }
        }
        Ok(())
    }

    /// A commit that is not there has left no claim behind.
    fn check_absent(&self, log: &FileLog, round: u64) -> anyhow::Result<()> {
        for thread in 0..THREADS {
            let number = self.next.get(&(round, thread)).copied().unwrap_or_default();
            let absent = CommitName { round, thread, number };
            let claimed = log.claimed(&absent.claim()?)?;
            ensure!(claimed.is_none(), "commit {absent} is not there, but its claim is");
        }
        Ok(())
    }
}

fn label_of(raw: &RawEvent) -> anyhow::Result<Label> {
    let place = || format!("position {}", raw.position);
    match raw.decode().with_context(place)?.event {
        Event::Message(message) => match message.blocks.as_slice() {
            [Block::Text(text)] => text.parse().with_context(place),
            _ => bail!("{} is no event of a storm", place()),
        },
        _ => bail!("{} is no event of a storm", place()),
    }
}

#[cfg(test)]
mod tests {
    use segue::event::Timestamp;
    use segue::log::{Commit, Expected, NewEvent};
    use segue::log_file::Options;

    use super::*;

    /// What a check says of a store into which these events were written one by one.
    fn checked(indexes: &[u64], answers: &[&str]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        let log = FileLog::open(&store, Options::default()).unwrap();
        for index in indexes {
            let commit = CommitName { round: 0, thread: 0, number: 0 };
            let label = Label { commit, index: *index, count: 2, claims: Claims::Nothing };
            let event = NewEvent::new(Timestamp::default(), label.message(0));
            let session = SessionId::from_bytes([1; 16]);
            log.commit(Commit::new().append(session, Expected::AtHead, vec![event])).unwrap();
        }
        let answers: Vec<_> = answers.iter().map(|answer| answer.parse().unwrap()).collect();
        Checker::default().check(&store, 0, &answers).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_lost_is_noticed() {
        let whole = [0, 1];
        assert_eq!(checked(&whole, &["durable 0 0 0 1 2"]), Ok(()));
        assert_eq!(checked(&whole, &[]), Ok(()));
        assert_eq!(checked(&whole, &["durable 0 0 0 1 2", "ordered 0 0 1 3 4"]), Ok(()));
        for (indexes, answers, what) in [
            ([0, 1].as_slice(), ["durable 0 0 1 3 4"].as_slice(), "is gone"),
            (&[0, 1], &["durable 0 0 0 2 3"], "elsewhere"),
            (&[0], &[], "ends within a commit"),
            (&[1], &[], "begins with"),
            (&[0, 0], &[], "is followed by"),
            (&[0, 1, 0, 1], &["durable 0 0 0 1 2"], "is missing"),
        ] {
            let complaint = checked(indexes, answers).unwrap_err();
            assert!(complaint.contains(what), "{complaint}");
        }
    }
}
