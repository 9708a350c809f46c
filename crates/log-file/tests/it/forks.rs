//! Forked sessions in a store that is reopened, compressed, damaged and repaired.

use std::fs;
use std::path::Path;

use segue_event::{
    AgentId, ContinuationId, Edge, EventRef, Initiator, Kind, KindSet, RawEvent, SeqRange, SessionStarted,
    Timestamp, Title, Transition,
};
use segue_log::{Commit, Direction, EventLog, Expected, Head, NewEvent, read_through};
use segue_log_file::{FileLog, Options, repair};

use crate::sample::{message, open, read_log, say, segment, session, verify};

/// A fork of session 1 behind its third event, with an event of its own and one more after that.
fn forked(path: &Path) -> Vec<RawEvent> {
    let options = Options { index_every: 1, ..Options::default() };
    let log = FileLog::open(path, options).unwrap();
    for number in 0..5 {
        log.commit(say(1, &format!("text {number}"))).unwrap();
    }
    let third = &read_log(&log)[2].header;
    let base = EventRef { seq: third.seq, event: third.hash };
    let edge = Edge {
        continuation: ContinuationId::from_bytes([9; 16]),
        predecessor: session(1),
        predecessor_title: String::new(),
        predecessor_head: base,
        origin: session(1),
        initiator: Initiator::Person { request: "r".to_owned() },
        created_at: Timestamp::default(),
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
    let behind = Expected::Behind(Head { seq: base.seq, hash: base.event });
    let events = vec![NewEvent::new(Timestamp::default(), started), message("elsewhere")];
    log.commit(Commit::new().append(session(2), behind, events)).unwrap();
    log.commit(say(2, "and on")).unwrap();
    read_log(&log)
}

fn whole(log: &dyn EventLog) -> Vec<RawEvent> {
    let all = read_through(log, session(2), SeqRange::ALL, Direction::Forward, KindSet::ALL).unwrap();
    all.map(Result::unwrap).collect()
}

#[test]
fn a_fork_reads_the_same_after_reopening_settling_and_without_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let events = forked(&path);
    let expected = [&events[..3], &events[5..]].concat();
    assert_eq!(whole(&*open(&path)), expected);
    let log = FileLog::open(&path, Options::default()).unwrap();
    log.commit(say(3, &"long ".repeat(300_000))).unwrap();
    log.settle().unwrap();
    drop(log);
    assert_eq!(whole(&*open(&path)), expected, "from compressed blocks, known by their footer");
    fs::remove_dir_all(path.join("index")).unwrap();
    assert_eq!(whole(&*open(&path)), expected);
    assert!(verify(&path).is_sound());
}

#[test]
fn a_repair_keeps_a_fork_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let events = forked(&path);
    let file = segment(&path, 1);
    let bytes = fs::read(&file).unwrap();
    // The fork's own events, its first among them, and those that it holds of the other session.
    for lost in 0..events.len() {
        let body = &events[lost].body;
        let at = bytes.windows(body.len()).position(|window| window == &body[..]).unwrap();
        let mut damaged = bytes.clone();
        damaged[at + body.len() - 1] ^= 1;
        fs::write(&file, damaged).unwrap();
        let into = folder.path().join(format!("mended {lost}"));
        let repaired = repair(&path, &into, &mut |_| ()).unwrap();
        assert_eq!(repaired.lost.len(), 1, "event {lost}: {repaired:?}");
        let report = verify(&into);
        assert!(report.is_sound(), "event {lost}: {report:?}");
        let mended = read_log(&*open(&into));
        for (index, (event, then)) in mended.iter().zip(&events).enumerate() {
            assert_eq!(
                (event.position, event.header.session, event.header.seq),
                (then.position, then.header.session, then.header.seq)
            );
            assert_eq!(event.kind() == Kind::Lost, index == lost, "event {index} of {lost}");
        }
        // Where its first event is lost, so is the word that it is a fork.
        let expected = if lost == 5 { 3 } else { 6 };
        assert_eq!(whole(&*open(&into)).len(), expected, "event {lost}");
        fs::write(&file, &bytes).unwrap();
    }
}
