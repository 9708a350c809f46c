//! One workload, and every way in which a disk can fail below it.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use segue_event::{Author, Message, Position, RawEvent, Role, SessionId, Timestamp};
use segue_log::{ClaimKey, Commit, Depth, EventLog, Expected, LogError, NewEvent};

use super::*;
use crate::footer::Footer;
use crate::layout::Layout;
use crate::place::Place;
use crate::segment::Segment;
use crate::{FileLog, Options};

/// What was tried and what was acknowledged, by the text of each commit's first event.
#[derive(Clone, Default)]
struct Model {
    attempted: Vec<Attempt>,
}

#[derive(Clone)]
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
        let has_claim = round.is_multiple_of(2);
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
    fn check(&mut self, machine: &Machine, what: &str) {
        let log = machine.open().unwrap_or_else(|error| panic!("{what}: {error}"));
        let report = log.verify(Depth::Full, &mut |_| ()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(report.is_sound(), "{what}: {report:?}");
        self.compare(&log, what);
        self.settle_on(&log);
        self.commit(&log, 0);
        assert!(self.attempted.last().unwrap().is_acknowledged, "{what}: writing goes on");
        assert!(log.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "{what}: after another commit");
    }

    /// What was found is durable from now on, and what was not never was.
    fn settle_on(&mut self, log: &FileLog) {
        let events: Vec<_> = log.read_log(Position::FIRST).unwrap().map(Result::unwrap).collect();
        let texts: Vec<_> =
            events.iter().map(|event| format!("{:?}", event.decode().unwrap().event)).collect();
        for attempt in &mut self.attempted {
            attempt.is_acknowledged = texts.iter().any(|text| text.contains(&attempt.name));
            attempt.is_ordered = attempt.is_acknowledged;
        }
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
            model
                .clone()
                .check(&machine.restarted(loss), &format!("crash at {operation} of {operations}, {loss:?}"));
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
                model.clone().check(&machine.restarted(loss), &what);
            }
        }
    }
}

#[test]
fn a_disk_that_garbles_a_compressed_segment_is_told_of_and_does_no_harm() {
    let machine = Machine::new();
    let mut model = Model::default();
    let log = machine.open().unwrap();
    (0..20).for_each(|round| model.commit(&log, round));
    let layout = Layout::on(Arc::new(machine.disk.clone()), machine.folder.path().to_owned());
    let open = layout.segment_numbers().unwrap().pop().unwrap();
    let open = Segment::open(&layout, open).unwrap();
    let Place { segment: newest, offset: end } = open.header.unwrap().previous.unwrap();
    let is_plain = || Segment::open(&layout, newest).unwrap().is_plain();
    // The newest sealed segment gets a footer, and only settling compresses it; then nobody is at it any more.
    while Footer::stored(&Segment::open(&layout, newest).unwrap(), end).is_none() {
        std::thread::yield_now();
    }
    while !machine.disk.open(&layout.segment(newest), Open::Read).unwrap().try_lock().unwrap() {
        std::thread::yield_now();
    }
    let notes = || log.verify(Depth::Full, &mut |_| ()).unwrap().notes;
    // The file is made and its header kept free; then comes the first block.
    machine.disk.plan(2, Fault::Garbled);
    let error = log.settle().unwrap_err();
    assert!(error.to_string().contains("reads back differently"), "{error}");
    assert!(is_plain());
    assert!(notes().iter().any(|note| note.contains("stays uncompressed")), "{:?}", notes());
    log.settle().unwrap();
    assert!(!is_plain());
    assert_eq!(notes(), Vec::<String>::new(), "it was well the second time");
    drop(log);
    model.check(&machine, "after a garbled write");
}

/// A step of a longer workload.
#[derive(Clone, Copy, Debug)]
enum Step {
    Commit(usize),
    Blob,
    Settle,
    Reopen,
    /// The machine stops and starts again.
    Restart(Loss),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..50_usize).prop_map(Step::Commit),
        1 => Just(Step::Blob),
        1 => Just(Step::Settle),
        2 => Just(Step::Reopen),
        1 => loss().prop_map(Step::Restart),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::All),
        Just(Loss::Nothing),
        any::<u64>().prop_map(Loss::Some),
        any::<u64>().prop_map(Loss::Torn),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![Just(Fault::Crash), Just(Fault::Failure), Just(Fault::NoRoom), Just(Fault::Short)]
}

/// How many workloads are tried: few, unless `SEGUE_FAULT_CASES` asks for more.
#[expect(clippy::disallowed_methods, reason = "how a nightly run asks for more")]
fn cases() -> ProptestConfig {
    let cases = std::env::var("SEGUE_FAULT_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases.unwrap_or(40)) }
}

/// Does the steps until one cannot be done, and gives the machine as it is then.
fn run(mut machine: Machine, model: &mut Model, steps: &[Step]) -> Machine {
    let mut log = machine.open().ok();
    for step in steps {
        match (*step, &log) {
            (Step::Commit(round), Some(log)) => model.commit(log, round),
            (Step::Blob, Some(log)) => drop(log.put_blob(b"picture")),
            (Step::Settle, Some(log)) => drop(log.settle()),
            (Step::Restart(loss), _) => {
                machine.disk.crash();
                drop(log.take());
                machine = machine.restarted(loss);
                model.check(&machine, "in the middle");
                log = machine.open().ok();
            }
            (Step::Reopen, _) => {
                drop(log.take());
                log = machine.open().ok();
            }
            (_, None) => {}
        }
    }
    machine
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn longer_workloads_survive_any_failure(
        steps in prop::collection::vec(step(), 1..60),
        faults in prop::collection::vec((0..400_u64, fault()), 0..2),
        loss in loss(),
    ) {
        let machine = Machine::new();
        faults.iter().for_each(|(at, fault)| machine.disk.plan(*at, *fault));
        let mut model = Model::default();
        let machine = run(machine, &mut model, &steps);
        machine.disk.crash();
        model.check(&machine.restarted(loss), &format!("{steps:?}, {faults:?}, {loss:?}"));
    }
}
