//! A writer that is killed at any moment loses nothing that it acknowledged.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use segue_log::{Commit, EventLog, Expected};
use segue_log_file::{FileLog, Options};

use crate::sample::{message, open, read_log, session, verify};

const STORE: &str = "SEGUE_TEST_STORE";
const KILLS: u64 = 50;

/// The child: commits as fast as it can and prints each position that was acknowledged. Without the variable it is
/// a test that does nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
fn child() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let options = Options { segment_bytes: 64 * 1024, index_every: 16 * 1024, ..Options::default() };
    let log = FileLog::open(path, options).unwrap();
    let log = &log;
    thread::scope(|scope| {
        for number in 0..2 {
            scope.spawn(move || commit_for_ever(log, number));
        }
    });
}

fn commit_for_ever(log: &FileLog, number: u8) {
    for round in 0_usize.. {
        let events = vec![message(&"x".repeat(round % 700)); round % 3 + 1];
        let commit = Commit::new().append(session(number), Expected::AtHead, events);
        let commit = if round % 7 == 0 { commit.without_waiting() } else { commit };
        let acknowledged = log.commit(commit.clone()).unwrap();
        if commit.wait == segue_log::Wait::Durable {
            let mut output = std::io::stdout();
            writeln!(output, "\nacknowledged {}", acknowledged.last).unwrap();
        }
    }
}

#[test]
fn what_a_killed_writer_acknowledged_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut acknowledged = 0;
    for kill in 0..KILLS {
        acknowledged = acknowledged.max(run_and_kill(&path, 1 + kill * 37 % 90));
        let events = read_log(&FileLog::open_reader(&path).unwrap()).len() as u64;
        assert!(events >= acknowledged, "kill {kill}: {events} of {acknowledged} acknowledged events");
    }
    assert!(acknowledged > KILLS, "the children did commit: {acknowledged}");
    let report = verify(&path);
    assert!(report.is_sound() && report.events >= acknowledged, "{report:?}");
    let answer = open(&path).commit(crate::sample::say(0, "and on it goes")).unwrap();
    assert!(answer.first.get() > acknowledged);
    assert!(verify(&path).is_sound());
}

/// The newest position that a child acknowledged before it was killed, which was some time after `enough` of them.
fn run_and_kill(path: &Path, enough: u64) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--nocapture", "--test-threads", "1"])
        .env(STORE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (now, told) = mpsc::channel();
    let listener = thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        let numbers = lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok());
        let count = |(newest, count): (u64, u64), number: u64| {
            if count + 1 == enough {
                now.send(()).unwrap();
            }
            (newest.max(number), count + 1)
        };
        numbers.fold((0, 0), count).0
    });
    told.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    listener.join().unwrap()
}
