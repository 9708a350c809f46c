//! Several processes, and several logs in one process, that write to one store in turn.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use segue_event::{Event, Position, Seq};
use segue_log::{ClaimKey, Commit, EventLog, EventLogExt as _, Expected, LogErrorKind};
use segue_log_file::{FileLog, Options};

use crate::sample::{answers, claiming, message, open, read_log, say, session, verify};

const STORE: &str = "SEGUE_TEST_TURNS";
const NUMBER: &str = "SEGUE_TEST_TURNS_NUMBER";
const PROCESSES: u8 = 8;
const COMMITS: u32 = 150;

fn patient() -> Options {
    Options {
        busy_wait: Duration::from_secs(60),
        segment_bytes: 256 * 1024,
        index_every: 64 * 1024,
        ..Options::default()
    }
}

/// The child: commits to sessions that all share, and claims. Without the variables it does nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
fn child() {
    let (Some(path), Ok(number)) = (std::env::var_os(STORE), std::env::var(NUMBER)) else { return };
    let log = FileLog::open(path, patient()).unwrap();
    for round in 0.. {
        if !number.starts_with("endless") && round == COMMITS {
            return;
        }
        let text = format!("{number}/{round}");
        let commit = say(u8::try_from(round % 3).unwrap(), &text);
        log.commit(commit.claim(ClaimKey::new(&text).unwrap())).unwrap();
    }
}

fn spawn(path: &Path, number: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "turns::child", "--test-threads", "1"])
        .env(STORE, path)
        .env(NUMBER, number)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn eight_processes_write_in_turn_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    open(&path).commit(say(0, "first")).unwrap();
    let mut children: Vec<_> = (0..PROCESSES).map(|number| spawn(&path, &number.to_string())).collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let reader = FileLog::open_reader(&path).unwrap();
            let mut seen = Vec::new();
            while !done.load(Ordering::Relaxed) {
                seen.push(read_log(&reader).len());
                thread::sleep(Duration::from_millis(5));
            }
            seen
        });
        let ended: Vec<_> = children.iter_mut().map(|child| child.wait().unwrap().success()).collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(ended, [true; PROCESSES as usize]);
        let seen = reader.join().unwrap();
        assert!(seen.is_sorted() && seen.first() < seen.last(), "readers go on meanwhile: {seen:?}");
    });
    let report = verify(&path);
    let commits = 1 + u64::from(PROCESSES) * u64::from(COMMITS);
    assert!(report.is_sound() && report.events == commits, "{report:?}");
    let log = open(&path);
    let events = read_log(&*log);
    assert_eq!(events.last().unwrap().position.get(), commits);
    for number in 0..PROCESSES {
        let of_round = |round| log.claimed(&ClaimKey::new(format!("{number}/{round}")).unwrap()).unwrap();
        let places: Vec<_> = (0..COMMITS).map(|round| of_round(round).expect("its claim is there")).collect();
        assert!(places.is_sorted(), "process {number}: {places:?}");
    }
}

#[test]
fn a_writer_that_is_killed_leaves_the_lock_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let log = open(&path);
    log.commit(say(0, "first")).unwrap();
    for round in 0..5 {
        let mut child = spawn(&path, &format!("endless-{round}"));
        let before = read_log(&*log).len();
        while read_log(&*log).len() < before + 5 {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        log.commit(say(1, &format!("after kill {round}"))).unwrap();
        drop(std::fs::remove_dir_all(path.join("index")));
    }
    assert!(verify(&path).is_sound(), "{:?}", verify(&path));
}

#[test]
fn each_turn_sees_what_the_turns_before_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let options = Options { segment_bytes: 4096, ..patient() };
    let logs: Vec<_> = (0..3).map(|_| FileLog::open(&path, options).unwrap()).collect();
    for round in 0..30_u8 {
        let (log, other) = (&logs[usize::from(round) % 3], &logs[usize::from(round + 1) % 3]);
        let key = ClaimKey::new([round]).unwrap();
        let expected =
            log.head(session(0)).unwrap().map_or(Expected::first(), |head| Expected::after(head.seq));
        let commit =
            Commit::new().append(session(0), expected, vec![message(&"x".repeat(700))]).claim(key.clone());
        log.commit(commit.clone()).unwrap();
        let again = other.commit(commit).unwrap_err();
        assert!(matches!(again.kind(), LogErrorKind::ClaimTaken | LogErrorKind::WrongSeq), "{again}");
        let stale = Commit::new().append(session(0), expected, vec![message("stale")]);
        let wrong = other.commit(stale).unwrap_err().as_wrong_seq().expect("the session went on");
        assert_eq!(wrong.head.map(Seq::get), Some(u64::from(round) + 1));
        assert_eq!(answers(other), answers(log), "round {round}");
    }
    drop(logs);
    assert!(verify(&path).is_sound());
}

#[test]
fn an_idle_writer_gives_the_lock_back_and_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let log = FileLog::open(&path, Options { keep_lock: Duration::from_millis(10), ..patient() }).unwrap();
    for round in 0..3 {
        log.commit(say(0, "waits")).unwrap();
        log.commit(say(0, "does not wait").without_waiting()).unwrap();
        let lock = std::fs::File::open(path.join("LOCK")).unwrap();
        while flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(
            read_log(&FileLog::open_reader(&path).unwrap()).len(),
            2 * (round + 1),
            "it is durable by then"
        );
    }
    log.settle().unwrap();
    assert!(verify(&path).is_sound());
}

#[test]
fn a_follower_in_a_process_that_wrote_sees_what_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (mine, theirs) = (open(&path), open(&path));
    mine.commit(claiming(0, "1")).unwrap();
    let mut stream = mine.follow::<Event>(Position::FIRST).unwrap();
    theirs.commit(claiming(0, "2")).unwrap();
    for position in 1..=2 {
        let event = stream.wait(Duration::from_secs(30)).unwrap().expect("an event comes");
        assert_eq!(event.position.get(), position);
    }
}
