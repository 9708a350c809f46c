//! Sources that are met again: unchanged, longer, shorter, or rewritten.

use std::fs;

use segue_event::{Event, SourceKind, TranscriptEvent};
use segue_import::limits::LINE_BYTES_MAX;
use segue_import::{ImportReport, Outcome};
use segue_log::EventLog;

use crate::desk::{Desk, claude_lines, claude_said};

/// Imports growing beginnings of `text` one after the other, cut at these bytes, and then all of it.
fn grow(desk: &Desk, text: &[u8], cuts: &[usize]) -> ImportReport {
    let reports: Vec<_> = cuts.iter().map(|cut| desk.import(&text[..*cut])).collect();
    let last = desk.import(text);
    assert!(reports.iter().all(|report| report.session == last.session), "growth made another session");
    desk.assert_sound();
    last
}

#[test]
fn a_source_that_grew_is_followed() {
    let text = claude_lines().concat();
    let second = claude_lines()[..2].concat().len();
    let desk = Desk::new();
    let report = grow(&desk, text.as_bytes(), &[second]);
    assert_eq!((report.outcome, report.lines, report.bytes), (Outcome::Grew, 4, text.len() as u64));
    assert_eq!(report.version, 0);
    let whole = Desk::new();
    let at_once = whole.import(text.as_bytes());
    assert_eq!(at_once.session, report.session);
    assert_eq!(desk.transcript(report.session), whole.transcript(report.session));
}

#[test]
fn a_missing_newline_that_comes_later_belongs_to_the_last_line() {
    for ending in ["\n", "\r\n", " \n", ""] {
        let lines = claude_lines();
        let first = lines[..2].concat().trim_end().to_owned();
        let text = format!("{first}{ending}{}", lines[2..].concat());
        let desk = Desk::new();
        let report = grow(&desk, text.as_bytes(), &[first.len()]);
        assert_eq!(report.unreadable, 0, "{ending:?}");
        assert_eq!(desk.lines(report.session), if ending.is_empty() { 3 } else { 4 });
        assert_eq!(desk.texts(report.session), ["please look", "here it is"]);
        let whole = Desk::new();
        whole.import(text.as_bytes());
        assert_eq!(desk.transcript(report.session), whole.transcript(report.session));
    }
}

#[test]
fn a_line_met_half_is_read_when_it_is_whole() {
    let lines = claude_lines();
    let text = lines.concat();
    let whole = Desk::new();
    let at_once = whole.import(text.as_bytes());
    for cut in lines[0].len()..text.len() {
        let desk = Desk::new();
        let report = grow(&desk, text.as_bytes(), &[cut]);
        assert_eq!(desk.lines(report.session), 4);
        let mut found = desk.transcript(report.session);
        found.retain(|(_, event, _)| !matches!(event, TranscriptEvent::Unreadable(_)));
        assert_eq!(found, whole.transcript(at_once.session), "cut at {cut}");
    }
}

#[test]
fn growth_byte_by_byte_ends_like_the_whole() {
    let text = [claude_lines()[0].clone(), claude_said("x", r"half \ud83d\ude00 pair")].concat();
    let desk = Desk::new();
    let first = claude_lines()[0].len();
    let cuts: Vec<_> = (first..text.len()).collect();
    let report = grow(&desk, text.as_bytes(), &cuts);
    assert_eq!(desk.texts(report.session), ["please look", "half 😀 pair"]);
    assert_eq!(desk.lines(report.session), 2);
}

#[test]
fn an_older_copy_adds_nothing_and_says_so() {
    let desk = Desk::new();
    let lines = claude_lines();
    let whole = desk.import(lines.concat().as_bytes());
    let end = desk.log.end().unwrap();
    for older in [
        lines[..2].concat(),
        lines[..2].concat() + "{\"type\":\"us",
        lines[..3].concat().trim_end().to_owned(),
    ] {
        let matches_so_far = lines.concat().starts_with(&older);
        let path = desk.write("older.jsonl", older.as_bytes());
        let report = desk.import_file(&path);
        assert_eq!(
            report.outcome,
            if matches_so_far { Outcome::OlderCopy } else { Outcome::Rewritten },
            "{older}"
        );
        if matches_so_far {
            let size = (older.split_inclusive('\n').count() as u64, older.len() as u64);
            assert_eq!((report.session, report.events), (whole.session, 0));
            assert_eq!((report.lines, report.bytes), size, "{older}");
            assert_eq!(desk.log.end().unwrap(), end);
        }
    }
}

#[test]
fn a_growing_series_accounts_for_the_same_lines_each_time() {
    let desk = Desk::new();
    let lines = claude_lines();
    let copies: Vec<_> = (1..=lines.len())
        .map(|count| desk.write(&format!("copy-{count}.jsonl"), lines[..count].concat().as_bytes()))
        .collect();
    let total = || copies.iter().map(|copy| desk.import_file(copy).lines).sum::<u64>();
    assert_eq!((total(), total()), (10, 10));
}

#[test]
fn a_rewritten_source_is_a_session_of_its_own() {
    let desk = Desk::new();
    let lines = claude_lines();
    let first = desk.import(lines.concat().as_bytes());
    let rewritten = [lines[0].clone(), claude_said("x", "something else"), lines[3].clone()].concat();
    let second = desk.import(rewritten.as_bytes());
    assert_eq!((second.outcome, second.version), (Outcome::Rewritten, 1));
    assert_ne!(second.session, first.session);
    assert_eq!(desk.source_of(second.session).version, 1);
    let third = desk.import(lines[..1].concat().replace('\n', "\n\n").as_bytes());
    assert_eq!((third.outcome, third.version), (Outcome::Rewritten, 2));
    // Each of them is found again, and each of them can grow.
    assert_eq!(desk.import(lines.concat().as_bytes()).outcome, Outcome::Unchanged);
    let grown = desk.import((rewritten + &claude_said("y", "more")).as_bytes());
    assert_eq!((grown.outcome, grown.session), (Outcome::Grew, second.session));
    desk.assert_sound();
}

#[test]
fn another_path_to_the_same_source_adds_nothing() {
    let desk = Desk::new();
    let report = desk.import(claude_lines().concat().as_bytes());
    let copy = desk.write("copy.jsonl", claude_lines().concat().as_bytes());
    let again = desk.import_file(&copy);
    assert_eq!((again.outcome, again.session), (Outcome::Unchanged, report.session));
}

#[test]
fn a_source_that_tells_its_id_only_later_stays_the_same() {
    let desk = Desk::new();
    let nameless = "{\"type\":\"file-history-snapshot\",\"messageId\":\"x\",\"snapshot\":{}}\n";
    let text = nameless.to_owned() + &claude_lines().concat();
    let report = grow(&desk, text.as_bytes(), &[nameless.len()]);
    assert_eq!(desk.source_of(report.session).original_id, "");
    assert_eq!(report.outcome, Outcome::Grew);
}

#[test]
fn what_others_wrote_into_the_session_is_no_obstacle() {
    use segue_event::{Author, Message, Role, Timestamp};
    use segue_log::{Commit, Expected, NewEvent};
    let desk = Desk::new();
    let lines = claude_lines();
    let report = desk.import(lines[..2].concat().as_bytes());
    let note = NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, "typed here"));
    desk.log.commit(Commit::new().append(report.session, Expected::AtHead, vec![note])).unwrap();
    let grown = desk.import(lines.concat().as_bytes());
    assert_eq!((grown.outcome, grown.session), (Outcome::Grew, report.session));
    assert_eq!(desk.texts(report.session), ["please look", "typed here", "here it is"]);
}

#[test]
fn a_line_over_the_limit_that_grows_is_kept() {
    let desk = Desk::for_kind(SourceKind::ClaudeCode);
    let text = claude_lines()[0].clone() + &"z".repeat(LINE_BYTES_MAX + 5) + "\n" + &claude_lines()[3];
    let cut = claude_lines()[0].len() + LINE_BYTES_MAX + 2;
    let report = grow(&desk, text.as_bytes(), &[cut]);
    assert_eq!(desk.lines(report.session), 3);
    assert_eq!(desk.texts(report.session), ["please look", "here it is"]);
}

#[test]
fn an_import_that_was_cut_off_goes_on() {
    let desk = Desk::new();
    let many: String = (0..2_000).map(|number| claude_said(&format!("m{number}"), "again")).collect();
    let path = desk.write("source.jsonl", many.as_bytes());
    let report = desk.import_file(&path);
    let commits = desk
        .events(report.session)
        .iter()
        .filter(|recorded| matches!(recorded.event, Event::ImportProgress(_)))
        .count();
    assert_eq!(commits as u64, 2_000_u64.div_ceil(segue_import::limits::COMMIT_LINES_MAX));
    assert_eq!(desk.exported(report.session), many.as_bytes());
    assert_eq!(fs::read(&path).unwrap(), many.as_bytes(), "the source was touched");
}
