//! Several logs on one store: readers beside a writer, and writers in each other's way.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use segue_event::{Event, Position};
use segue_log::{EventLog, EventLogExt, LogErrorKind};
use segue_log_file::{FileLog, Options};

use crate::sample::{answers, open, read_log, say};

#[test]
fn a_reader_sees_what_a_writer_acknowledged_over_many_segments() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let options = Options { segment_bytes: 2048, ..Options::default() };
    let writer = FileLog::open(&path, options).unwrap();
    assert_eq!(FileLog::open_reader(&path).unwrap_err().kind(), LogErrorKind::NotFound, "nothing there yet");
    writer.commit(say(0, "first")).unwrap();
    let reader = FileLog::open_reader(&path).unwrap();
    for number in 0..60 {
        writer.commit(say(number % 4, &format!("text {number}"))).unwrap();
        assert_eq!(answers(&reader), answers(&writer), "after commit {number}");
    }
    assert_eq!(answers(&FileLog::open_reader(&path).unwrap()), answers(&writer), "a reader that comes later");
    assert_eq!(reader.commit(say(0, "no")).unwrap_err().kind(), LogErrorKind::ReadOnly);
}

#[test]
fn a_commit_that_did_not_wait_is_seen_by_others_once_it_is_durable() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { keep_lock: Duration::from_secs(600), ..Options::default() };
    let writer = FileLog::create(folder.path().join("store"), options).unwrap();
    let reader = FileLog::open_reader(writer.path()).unwrap();
    writer.commit(say(0, "durable")).unwrap();
    writer.commit(say(0, "ordered").without_waiting()).unwrap();
    assert_eq!((read_log(&writer).len(), read_log(&reader).len()), (2, 1));
    writer.commit(say(0, "durable")).unwrap();
    assert_eq!((read_log(&writer).len(), read_log(&reader).len()), (3, 3));
    writer.commit(say(0, "ordered").without_waiting()).unwrap();
    drop(writer);
    assert_eq!(read_log(&reader).len(), 4, "closing makes it durable");
}

#[test]
fn a_follower_beside_the_writer_misses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let writer = FileLog::open(&path, Options { segment_bytes: 4096, ..Options::default() }).unwrap();
    writer.commit(say(0, "first")).unwrap();
    let reader: Arc<dyn EventLog> = Arc::new(FileLog::open_reader(&path).unwrap());
    let mut stream = reader.follow::<Event>(Position::FIRST).unwrap();
    let follower = thread::spawn(move || {
        let next = || stream.wait(Duration::from_secs(30)).unwrap().map(|event| event.position.get());
        std::iter::from_fn(next).take(201).collect::<Vec<_>>()
    });
    (0..200_u8).for_each(|number| drop(writer.commit(say(number % 4, "next")).unwrap()));
    assert_eq!(follower.join().unwrap(), (1..=201).collect::<Vec<_>>());
}

#[test]
fn a_second_writer_is_told_who_holds_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    open(&path).commit(say(0, "mine")).unwrap();
    let options = Options { busy_wait: Duration::from_millis(30), ..Options::default() };
    let second = FileLog::open(&path, options).unwrap();
    // A writer that is stuck: it left its name, and does not give the lock back.
    let stuck = std::fs::File::open(path.join("LOCK")).unwrap();
    flock(&stuck, FlockOperation::LockExclusive).unwrap();
    let error = second.commit(say(0, "mine too")).unwrap_err();
    assert_eq!((error.kind(), error.owner()), (LogErrorKind::Busy, Some(std::process::id())), "{error}");
    assert_eq!(read_log(&second).len(), 1, "it can read meanwhile");
    drop(stuck);
    assert_eq!(second.commit(say(0, "now mine")).unwrap().first.get(), 2, "and write once the store is free");
}

#[test]
fn opening_and_reading_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let log = open(&path);
    assert_eq!(read_log(&*log), []);
    assert!(!path.exists(), "a store is made by its first commit");
    log.commit(say(0, "first")).unwrap();
    for (name, mode) in [("", 0o700), ("log", 0o700), ("log/00000001.seg", 0o600), ("published", 0o600)] {
        let found = std::fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "only the owner can read {name:?}");
    }
}
