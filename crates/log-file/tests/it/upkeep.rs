//! Sealed segments are looked after while everybody goes on: this process, others, and those that are killed at it.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use segue_log::EventLog;
use segue_log_file::{Compression, FileLog, Options};

use crate::sample::{answers, is_packed, open, read_log, say, segment, verify};

const STORE: &str = "SEGUE_TEST_UPKEEP";
const PROCESSES: usize = 4;
const COMMITS: u32 = 120;

fn small() -> Options {
    Options { segment_bytes: 16 * 1024, busy_wait: Duration::from_secs(60), ..Options::default() }
}

/// A store of a few sealed segments, all of them plain.
fn plain(path: &Path) {
    let log = FileLog::open(path, Options { compression: Compression::Never, ..small() }).unwrap();
    (0..60_u8).for_each(|round| drop(log.commit(say(round % 4, &"text ".repeat(200))).unwrap()));
}

/// Somebody else who is at a segment, until it is dropped.
fn at_segment(path: &Path, number: u32) -> File {
    let file = File::open(segment(path, number)).unwrap();
    flock(&file, FlockOperation::LockExclusive).unwrap();
    file
}

#[test]
fn while_the_log_settles_this_process_and_others_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    plain(&path);
    let (log, other) = (FileLog::open(&path, small()).unwrap(), FileLog::open(&path, small()).unwrap());
    log.commit(say(0, "before")).unwrap();
    let busy = at_segment(&path, 2);
    thread::scope(|scope| {
        let settling = scope.spawn(|| log.settle().unwrap());
        while !is_packed(&segment(&path, 1)) {
            thread::sleep(Duration::from_millis(1));
        }
        for round in 0..3 {
            log.commit(say(1, &format!("here {round}"))).unwrap();
            other.commit(say(1, &format!("there {round}"))).unwrap();
        }
        assert!(!settling.is_finished() && !is_packed(&segment(&path, 2)), "it is still at it");
        drop(busy);
        settling.join().unwrap();
    });
    assert!(is_packed(&segment(&path, 2)) && is_packed(&segment(&path, 3)));
    assert_eq!(read_log(&log).len(), 67);
    assert!(verify(&path).is_sound(), "{:?}", verify(&path));
}

#[test]
fn a_segment_that_somebody_else_is_at_is_left_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    plain(&path);
    let before = read_log(&*open(&path));
    let busy = at_segment(&path, 2);
    let log = FileLog::open(&path, Options { busy_wait: Duration::from_millis(20), ..small() }).unwrap();
    log.commit(say(9, "one more")).unwrap();
    log.settle().unwrap();
    assert!(is_packed(&segment(&path, 1)) && !is_packed(&segment(&path, 2)) && is_packed(&segment(&path, 3)));
    // The other one was killed in the middle of it.
    fs::write(segment(&path, 2).with_extension("new"), "half of").unwrap();
    drop(busy);
    log.settle().unwrap();
    assert!(is_packed(&segment(&path, 2)));
    assert!(!segment(&path, 2).with_extension("new").exists());
    drop(log);
    let after = read_log(&*open(&path));
    assert_eq!((after.len(), &after[..60]), (61, before.as_slice()));
    assert!(verify(&path).is_sound(), "{:?}", verify(&path));
}

#[test]
fn two_logs_that_settle_at_once_do_it_once() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..5 {
        let path = folder.path().join(format!("store-{round}"));
        plain(&path);
        let logs = [FileLog::open(&path, small()).unwrap(), FileLog::open(&path, small()).unwrap()];
        logs.iter().for_each(|log| drop(log.commit(say(0, "mine")).unwrap()));
        let expected = answers(&logs[0]);
        thread::scope(|scope| {
            logs.iter().for_each(|log| drop(scope.spawn(|| log.settle().unwrap())));
        });
        assert!(logs.iter().all(|log| answers(log) == expected), "round {round}");
        assert!(is_packed(&segment(&path, 1)) && is_packed(&segment(&path, 2)));
        assert_eq!(leftovers(&path), Vec::<String>::new());
        assert!(verify(&path).is_sound(), "{:?}", verify(&path));
    }
}

fn leftovers(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path.join("log")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| !name.ends_with(".seg")).collect()
}

/// The child: commits, and settles again and again. Without the variable it does nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
fn child() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let log = FileLog::open(path, small()).unwrap();
    for round in 0..COMMITS {
        log.commit(say(u8::try_from(round % 3).unwrap(), &"text ".repeat(150))).unwrap();
        if round % 10 == 9 {
            log.settle().unwrap();
        }
    }
}

fn spawn(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "upkeep::child", "--test-threads", "1"])
        .env(STORE, path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn processes_that_settle_at_once_lose_nothing_even_if_one_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    open(&path).commit(say(0, "first")).unwrap();
    let reader = FileLog::open_reader(&path).unwrap();
    let mut children: Vec<_> = (0..PROCESSES).map(|_| spawn(&path)).collect();
    let mut victim = spawn(&path);
    while read_log(&reader).len() < 60 {
        thread::sleep(Duration::from_millis(1));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let log = FileLog::open(&path, small()).unwrap();
    log.commit(say(0, "last")).unwrap();
    log.settle().unwrap();
    let written = 2 + PROCESSES * COMMITS as usize;
    let found = read_log(&log).len();
    assert!((written..=written + COMMITS as usize).contains(&found), "{found} of {written} commits");
    assert_eq!(read_log(&reader).len(), found, "and who reads all along sees the same");
    let newest = (1..).take_while(|number| segment(&path, *number).exists()).last().unwrap();
    assert!((1..newest).all(|number| is_packed(&segment(&path, number))), "all that is sealed is compressed");
    assert_eq!(leftovers(&path), Vec::<String>::new());
    assert!(verify(&path).is_sound(), "{:?}", verify(&path));
}

/// How many replaced segments of a store this process has mapped.
#[cfg(target_os = "linux")]
fn held(path: &Path) -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let store = path.display().to_string();
    maps.lines().filter(|line| line.contains(&store) && line.ends_with("(deleted)")).count()
}

#[cfg(target_os = "linux")]
#[test]
fn who_reads_lets_go_of_segments_that_were_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    plain(&path);
    let reader = FileLog::open_reader(&path).unwrap();
    let expected = answers(&reader);
    let sealed = (1..).take_while(|number| segment(&path, *number).exists()).count() - 1;
    {
        let log = FileLog::open(&path, small()).unwrap();
        log.commit(say(9, "one more")).unwrap();
        log.settle().unwrap();
    }
    assert_eq!(held(&path), sealed, "the reader has mapped what was there before");
    // It is enough to ask where the log ends; nobody need write for that.
    let looks = (sealed as u64 + 1) * segue_log_file::limits::LET_GO_EVERY;
    (0..looks).for_each(|_| assert!(reader.end().unwrap().is_some()));
    assert_eq!(held(&path), 0);
    assert_ne!(answers(&reader), expected);
    assert_eq!(answers(&reader), answers(&*open(&path)));
}
