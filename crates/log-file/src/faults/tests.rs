//! One workload, and every way in which a disk can fail below it.

use std::collections::BTreeMap;
use std::sync::Arc;

use segue_event::{Author, Message, Position, RawEvent, Role, SessionId, Timestamp};
use segue_log::{ClaimKey, Commit, Depth, EventLog, Expected, LogError, NewEvent};

use super::*;
use crate::{FileLog, Options};

/// What was tried and what was acknowledged, by the text of each commit's first event.
#[derive(Default)]
struct Model {
    attempted: Vec<Attempt>,
}

struct Attempt {
    name: String,
    events: usize,
    is_acknowledged: bool,
    /// It was answered, perhaps before it was durable.
    is_ordered: bool,
    has_claim: bool,
}

/// A disk, and the folder of this machine where the lock is.
struct Machine {
    folder: tempfile::TempDir,
    disk: FaultyDisk,
}

impl Machine {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), disk: FaultyDisk::new() }
    }

    fn open(&self) -> Result<FileLog, LogError> {
        let options = Options { segment_bytes: 2048, ..Options::default() };
        FileLog::open_on(Arc::new(self.disk.clone()), self.folder.path(), options)
    }

    /// The machine after a crash. The lock's folder is another one, as if it had been started again.
    fn restarted(&self, loss: Loss) -> Self {
        let after = Self { folder: tempfile::tempdir().unwrap(), disk: self.disk.after_crash(loss) };
        after.disk.move_to(self.folder.path(), after.folder.path());
        after
    }
}

impl FaultyDisk {
    fn move_to(&self, from: &Path, to: &Path) {
        let mut state = self.state.lock();
        let moved = |path: &PathBuf| path.strip_prefix(from).map_or(path.clone(), |rest| to.join(rest));
        state.folders = state.folders.iter().map(moved).collect();
        state.names = state.names.iter().map(|(path, file)| (moved(path), *file)).collect();
        state.durable_names = state.names.clone();
    }
}

fn session(number: usize) -> SessionId {
    SessionId::from_bytes([u8::try_from(number % 3).unwrap() + 1; 16])
}

fn message(text: &str) -> NewEvent {
    NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, text))
}

impl Model {
    fn commit(&mut self, log: &FileLog, round: usize) {
        let name = format!("commit {} ", self.attempted.len());
        let text = format!("{name}{}", "x".repeat(round * 97 % 700));
        let events = round % 3 + 1;
        let has_claim = round % 2 == 0;
        let commit = Commit::new().append(session(round), Expected::AtHead, vec![message(&text); events]);
        let commit = if has_claim { commit.claim(ClaimKey::new(&name).unwrap()) } else { commit };
        let waits = round % 4 != 1;
        let commit = if waits { commit } else { commit.without_waiting() };
        let committed = log.commit(commit);
        let is_acknowledged = committed.is_ok() && waits;
        if is_acknowledged {
            // What was answered without waiting became durable with this.
            self.attempted.iter_mut().for_each(|attempt| attempt.is_acknowledged |= attempt.is_ordered);
        }
        let is_ordered = committed.is_ok();
        self.attempted.push(Attempt { name, events, is_acknowledged, is_ordered, has_claim });
    }

    /// The small workload; it goes on after errors, as a stubborn host would.
    fn work(&mut self, machine: &Machine, rounds: usize) {
        for part in 0..2 {
            let Ok(log) = machine.open() else { return };
            (0..rounds).for_each(|round| self.commit(&log, part * rounds + round));
            drop(log.put_blob(b"picture"));
            drop(log.settle());
            self.commit(&log, 1);
            self.commit(&log, 2);
        }
    }

    /// acknowledged ⊆ recovered ⊆ attempted, in order, each commit whole; and never called corruption.
    fn check(&self, machine: &Machine, what: &str) {
        let log = machine.open().unwrap_or_else(|error| panic!("{what}: {error}"));
        let report = log.verify(Depth::Full).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(report.is_sound(), "{what}: {report:?}");
        self.compare(&log, what);
        let again = log.commit(Commit::new().append(session(0), Expected::AtHead, vec![message("again")]));
        again.unwrap_or_else(|error| panic!("{what}: writing goes on: {error}"));
        assert!(log.verify(Depth::Full).unwrap().is_sound(), "{what}: after another commit");
    }

    fn compare(&self, log: &FileLog, what: &str) {
        let events: Result<Vec<RawEvent>, _> = log.read_log(Position::FIRST).unwrap().collect();
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        let mut order = Vec::new();
        for event in events.unwrap_or_else(|error| panic!("{what}: {error}")) {
            let text = format!("{:?}", event.decode().unwrap().event);
            let attempt = self.attempted.iter().position(|attempt| text.contains(&attempt.name));
            let attempt = attempt.unwrap_or_else(|| panic!("{what}: never attempted: {text}"));
            *found.entry(self.attempted[attempt].name.clone()).or_default() += 1;
            order.push(attempt);
        }
        assert!(order.is_sorted(), "{what}: {order:?}");
        for attempt in &self.attempted {
            let events = found.get(&attempt.name).copied().unwrap_or(0);
            let is_whole = events == attempt.events;
            assert!(
                is_whole || (events == 0 && !attempt.is_acknowledged),
                "{what}: {events} of {}",
                attempt.name
            );
            let claim = log.claimed(&ClaimKey::new(&attempt.name).unwrap()).unwrap();
            assert_eq!(claim.is_some(), is_whole && attempt.has_claim, "{what}: claim of {}", attempt.name);
        }
    }
}

const LOSSES: [Loss; 6] =
    [Loss::All, Loss::Nothing, Loss::Some(1), Loss::Some(2), Loss::Torn(3), Loss::Torn(4)];

#[test]
fn a_crash_at_every_operation_leaves_whole_commits() {
    let machine = Machine::new();
    let mut model = Model::default();
    model.work(&machine, 8);
    assert!(model.attempted.iter().filter(|attempt| attempt.is_acknowledged).count() > 10);
    model.check(&machine, "nothing went wrong");
    let operations = machine.disk.operations();
    for operation in 0..operations {
        let machine = Machine::new();
        machine.disk.plan(operation, Fault::Crash);
        let mut model = Model::default();
        model.work(&machine, 8);
        machine.disk.crash();
        for loss in LOSSES {
            model.check(&machine.restarted(loss), &format!("crash at {operation} of {operations}, {loss:?}"));
        }
    }
}

#[test]
fn a_failure_of_every_operation_is_survived() {
    let machine = Machine::new();
    Model::default().work(&machine, 8);
    let operations = machine.disk.operations();
    for operation in 0..operations {
        for fault in [Fault::Failure, Fault::NoRoom, Fault::Short] {
            let machine = Machine::new();
            machine.disk.plan(operation, fault);
            let mut model = Model::default();
            model.work(&machine, 8);
            machine.disk.crash();
            for loss in [Loss::All, Loss::Some(operation)] {
                let what = format!("{fault:?} at {operation} of {operations}, {loss:?}");
                model.check(&machine.restarted(loss), &what);
            }
        }
    }
}
