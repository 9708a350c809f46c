//! What happens to a source or to the log while an import is under way.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use segue_event::Kind;
use segue_import::limits::LINE_BYTES_MAX;
use segue_import::{ImportErrorKind, Imported, import_path};
use segue_log::{LogError, LogErrorKind, Wait};

use crate::desk::{Desk, claude_lines, claude_said};
use crate::watched_log::{WatchedLog, Write};

/// Appends to a file when it is called for the `nth` time, from 1.
fn append_at<'a>(nth: usize, path: &'a Path, rest: &'a [u8]) -> impl Fn() + Send + Sync + 'a {
    let calls = AtomicUsize::new(0);
    move || {
        if calls.fetch_add(1, Ordering::Relaxed) + 1 == nth {
            OpenOptions::new().append(true).open(path).unwrap().write_all(rest).unwrap();
        }
    }
}

/// Imports a source whose writer goes on while the `nth` blob is kept, and then once more.
fn import_while_it_grows(desk: &Desk, text: &[u8], cut: usize, nth: usize) -> segue_import::ImportReport {
    let path = desk.write("source.jsonl", &text[..cut]);
    let append = append_at(nth, &path, &text[cut..]);
    let log = WatchedLog::new(&desk.log, |write| {
        if matches!(write, Write::Blob) {
            append();
        }
        Ok(())
    });
    let first = import_path(&log, &path, &desk.options).unwrap();
    let again = desk.import_file(&path);
    assert_eq!(first.report().unwrap().session, again.session);
    assert_eq!(desk.exported(again.session), text);
    desk.assert_sound();
    again
}

#[test]
fn a_line_that_is_completed_while_it_is_imported_is_read() {
    let desk = Desk::new();
    let text = claude_lines().concat();
    let report = import_while_it_grows(&desk, text.as_bytes(), text.len() - 20, 1);
    assert_eq!((report.lines, desk.lines(report.session)), (4, 4));
    assert_eq!(desk.texts(report.session), ["please look", "here it is"]);
    let events = desk.events(report.session);
    // The half that was met first stays told of.
    let unreadable = events.iter().filter(|recorded| recorded.event.kind() == Kind::Unreadable);
    assert_eq!(unreadable.count(), 1);
}

#[test]
fn a_line_over_the_limit_that_goes_on_meanwhile_is_one_line() {
    let desk = Desk::new();
    let text = claude_lines()[0].clone() + &"z".repeat(LINE_BYTES_MAX + 5) + "\n" + &claude_lines()[3];
    let cut = claude_lines()[0].len() + LINE_BYTES_MAX + 2;
    let report = import_while_it_grows(&desk, text.as_bytes(), cut, 2);
    assert_eq!((report.lines, desk.lines(report.session)), (3, 3));
    assert_eq!(desk.texts(report.session), ["please look", "here it is"]);
}

#[test]
fn an_import_that_the_log_stops_tells_what_it_wrote() {
    let desk = Desk::new();
    let text: String = (0..2_000).map(|number| claude_said(&format!("m{number}"), "again")).collect();
    let path = desk.write("source.jsonl", text.as_bytes());
    let waits = Mutex::new(Vec::new());
    let log = WatchedLog::new(&desk.log, |write| {
        let Write::Commit(commit) = write else { return Ok(()) };
        let mut waits = waits.lock().unwrap();
        waits.push(commit.wait);
        if waits.len() == 3 { Err(LogError::io("writing", io::Error::other("no more"))) } else { Ok(()) }
    });
    let error = import_path(&log, &path, &desk.options).unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::Log);
    assert_eq!(error.as_log_error().unwrap().kind(), LogErrorKind::Io);
    let committed = error.committed().unwrap();
    assert_eq!(committed.lines, 2 * segue_import::limits::COMMIT_LINES_MAX);
    assert_eq!(committed.events, desk.events(committed.session).len() as u64);
    let Imported::Session(rest) = import_path(&log, &path, &desk.options).unwrap() else { panic!("skipped") };
    assert_eq!((rest.session, rest.lines), (committed.session, 2_000));
    assert_eq!(rest.events + committed.events, desk.events(rest.session).len() as u64);
    assert_eq!(desk.exported(rest.session), text.as_bytes());
    // Only the very last commit waits until all of them are durable.
    let waits = waits.lock().unwrap();
    let (last, others) = waits.split_last().unwrap();
    assert_eq!(*last, Wait::Durable);
    assert!(others.len() > 3 && others.iter().all(|wait| *wait == Wait::Ordered), "{others:?}");
}

#[test]
fn an_import_that_fails_before_it_wrote_has_nothing_to_tell() {
    let desk = Desk::new();
    let path = desk.write("source.jsonl", claude_lines().concat().as_bytes());
    let log = WatchedLog::new(&desk.log, |_| Err(LogError::io("writing", io::Error::other("no more"))));
    let error = import_path(&log, &path, &desk.options).unwrap_err();
    assert_eq!(error.committed(), None);
}
