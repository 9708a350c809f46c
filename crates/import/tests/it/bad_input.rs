//! Sources as they are met in the wild, and worse.

use base64::Engine as _;
use segue_event::{BlobId, Block, Event, Hole, SourceKind, Timestamp, Unreadable};
use segue_import::limits::LINE_BYTES_MAX;
use segue_import::{ImportErrorKind, ImportReport, Imported, Outcome, import_path, original_bytes};
use segue_log::EventLog;

use crate::desk::{Desk, claude_lines, claude_said};

/// Imports the four good lines with `bad` between the second and the third.
fn import_around(desk: &Desk, bad: &[u8]) -> ImportReport {
    let lines = claude_lines();
    let good = |from: usize, to: usize| lines[from..to].concat().into_bytes();
    let report = desk.import(&[good(0, 2), bad.to_vec(), good(2, 4)].concat());
    let texts = desk.texts(report.session);
    assert_eq!(texts.first().unwrap(), "please look");
    assert_eq!(texts.last().unwrap(), "here it is");
    desk.assert_sound();
    report
}

fn unreadable(desk: &Desk, report: &ImportReport) -> Vec<Unreadable> {
    let events = desk.events(report.session).into_iter();
    events
        .filter_map(|recorded| if let Event::Unreadable(piece) = recorded.event { Some(piece) } else { None })
        .collect()
}

#[test]
fn a_plain_session_comes_through() {
    let desk = Desk::new();
    let report = desk.import(claude_lines().concat().as_bytes());
    assert_eq!((report.outcome, report.lines, report.unreadable), (Outcome::New, 4, 0));
    let events = desk.events(report.session);
    let Event::SessionStarted(started) = &events[0].event else { panic!("{:?}", events[0]) };
    assert_eq!(
        (started.title.text.as_str(), started.working_directory.as_str()),
        ("please look", "/home/dev/app")
    );
    assert_eq!(desk.source_of(report.session).original_id, "s-1");
    assert_eq!(events[0].time.to_string(), "2026-01-01T10:00:00.000000Z");
    // The session, four lines with an event each, and the progress.
    assert_eq!(report.events, 10);
    assert!(matches!(events.last().unwrap().event, Event::ImportProgress(_)));
}

#[test]
fn two_objects_on_one_line_are_both_read() {
    let desk = Desk::new();
    let joined = [claude_said("x1", "one").trim_end(), claude_said("x2", "two").as_str()].concat();
    let report = import_around(&desk, joined.as_bytes());
    assert_eq!((report.lines, report.unreadable), (5, 0));
    assert_eq!(desk.texts(report.session), ["please look", "one", "two", "here it is"]);
}

#[test]
fn lines_that_cannot_be_read_are_kept_with_place_and_reason() {
    let cases: [(&str, &[u8]); 8] = [
        ("an invalid escape", b"{\"type\":\"user\",\"x\":\"\\*\"}\n"),
        ("a line cut short", b"{\"type\":\"user\",\"message\":{\"con\n"),
        ("a raw NUL", b"{\"type\":\"user\",\"x\":\"\0\"}\n"),
        ("bytes that are not UTF-8", b"{\"type\":\"user\",\"x\":\"\xc3\x28\"}\n"),
        ("a byte order mark within", b"\xef\xbb\xbf{\"type\":\"user\"}\n"),
        ("UTF-16", b"{\0\"\0t\0\"\0}\0\n"),
        ("a list", b"[1,2]\n"),
        ("plain text", b"panic: out of cheese\r\n"),
    ];
    for (what, bad) in cases {
        let desk = Desk::new();
        let report = import_around(&desk, bad);
        assert_eq!((report.lines, report.unreadable), (5, 1), "{what}");
        let piece = unreadable(&desk, &report).remove(0);
        let offset = claude_lines()[..2].concat().len() as u64;
        assert_eq!((piece.line.0, piece.offset, piece.bytes), (3, offset, bad.len() as u64), "{what}");
        assert_eq!(desk.log.blob(&piece.blob).unwrap().unwrap(), bad, "{what}");
        assert!(!piece.reason.is_empty());
        assert_eq!(report.unreadable_pieces[0].reason, piece.reason);
    }
}

#[test]
fn what_stands_before_the_bad_end_of_a_line_is_read() {
    let desk = Desk::new();
    let line = format!("{}{{\"type\":\n", claude_said("x", "good part").trim_end());
    let report = import_around(&desk, line.as_bytes());
    assert_eq!(unreadable(&desk, &report)[0].bytes, 9);
    assert_eq!(desk.texts(report.session)[1], "good part");
}

#[test]
fn a_record_glued_to_half_a_record_is_read() {
    let desk = Desk::new();
    let half = r#"{"type":"assistant","uuid":"h","message":{"content":[{"type":"text","text":"lost"}"#;
    let report = import_around(&desk, format!("{half}{}", claude_said("x", "saved")).as_bytes());
    assert_eq!(unreadable(&desk, &report)[0].bytes, half.len() as u64);
    assert_eq!(desk.texts(report.session), ["please look", "saved", "here it is"]);
}

#[test]
fn half_an_emoji_nul_escapes_and_odd_separators_come_through() {
    let desk = Desk::new();
    let cases = [
        (r"a\ud83d!", "a\u{fffd}!"),
        (r"\ude00", "\u{fffd}"),
        (r"\ud83d\ude00", "😀"),
        (r"nul\u0000", "nul\0"),
        ("line\u{2028}para\u{2029}", "line\u{2028}para\u{2029}"),
    ];
    let lines: String = cases.iter().map(|(json, _)| claude_said("x", json)).collect();
    let report = import_around(&desk, lines.as_bytes());
    assert_eq!(report.unreadable, 0);
    let texts = desk.texts(report.session);
    assert_eq!(texts[1..=5], cases.map(|(_, text)| text.to_owned()));
}

#[test]
fn carriage_returns_blank_lines_and_a_mark_at_the_beginning_are_no_harm() {
    let desk = Desk::new();
    let text = format!("\u{feff}{}", claude_lines().join("\r\n").replace("}\n", "}\r\n"));
    let report = desk.import(text.as_bytes());
    assert_eq!((report.lines, report.unreadable, report.metadata_lines), (7, 0, 3));
    assert_eq!(desk.texts(report.session), ["please look", "here it is"]);
}

#[test]
fn of_a_repeated_key_the_last_counts() {
    let desk = Desk::new();
    let line = r#"{"type":"progress","type":"user","message":{"content":"one","content":"two"}}"#;
    let report = import_around(&desk, format!("{line}\n").as_bytes());
    assert_eq!(desk.texts(report.session)[1], "two");
}

#[test]
fn repeated_ids_and_missing_parents_are_read_in_order() {
    let desk = Desk::new();
    let lines = claude_lines();
    let report = desk.import([lines.concat(), lines.concat(), lines[2].clone()].concat().as_bytes());
    let results = desk.transcript(report.session).into_iter().filter_map(|(_, _, call)| call);
    // Each result belongs to the newest call with its id.
    assert_eq!(results.collect::<Vec<_>>(), [(2, 0), (6, 0), (6, 0)]);
}

#[test]
fn a_cut_off_head_leaves_results_without_calls() {
    let desk = Desk::new();
    let report = desk.import(claude_lines()[2..].concat().as_bytes());
    let Event::ToolResult(result) = &desk.events(report.session)[2].event else { panic!("no result") };
    assert_eq!((result.call.site, result.call.provider_id.as_str()), (None, "t1"));
}

#[test]
fn clocks_that_run_back_or_stand_still_change_nothing() {
    let desk = Desk::new();
    let mut lines = claude_lines();
    lines.reverse();
    lines.insert(0, "{\"type\":\"file-history-snapshot\",\"messageId\":\"x\",\"snapshot\":{}}\n".to_owned());
    let report = desk.import(lines.concat().as_bytes());
    let seconds: Vec<_> = desk
        .events(report.session)
        .iter()
        .filter(|recorded| matches!(recorded.event, Event::ImportedLine(_)))
        .map(|recorded| recorded.time.micros / 1_000_000 % 60)
        .collect();
    assert_eq!(seconds, [3, 3, 2, 1, 0]);
}

#[test]
fn a_source_that_tells_no_time_has_the_time_of_the_import() {
    let desk = Desk::new();
    let report = desk.import(claude_said("x", "now").as_bytes());
    assert!(
        desk.events(report.session).iter().all(|recorded| recorded.time == Timestamp::utc_micros(1_000_000))
    );
}

#[test]
fn a_picture_of_megabytes_becomes_one_blob() {
    let desk = Desk::new();
    let picture: Vec<u8> = (0..1_500_000_u32).map(|number| (number % 251) as u8).collect();
    let data = base64::engine::general_purpose::STANDARD.encode(&picture);
    let block = format!(
        "{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"{data}\"}}}}"
    );
    let line =
        format!("{{\"type\":\"user\",\"message\":{{\"content\":[{block},{block}]}},\"x\":\"{data}\"}}\n");
    assert!(line.len() > 2_000_000);
    let report = import_around(&desk, line.as_bytes());
    let blob = BlobId::of(&picture);
    assert_eq!(desk.log.blob(&blob).unwrap().unwrap(), picture);
    for recorded in desk.events(report.session) {
        match recorded.event {
            Event::Message(message) if message.blocks.len() == 2 => {
                assert!(
                    message
                        .blocks
                        .iter()
                        .all(|block| matches!(block, Block::Image(image) if image.blob == blob))
                );
            }
            Event::ImportedLine(line) if line.line.0 == 3 => {
                assert!(line.bytes.len() < 1_000);
                assert!(
                    line.holes.iter().all(|hole| matches!(hole, Hole::Base64 { .. }) && hole.blob() == blob)
                );
                assert_eq!(line.holes.len(), 3);
            }
            _ => {}
        }
    }
}

#[test]
fn a_picture_that_was_redacted_is_told_and_kept() {
    let desk = Desk::new();
    let data = format!("{}REDACTED!{}", "A".repeat(20_000), "B".repeat(20_000));
    let line = format!(
        "{{\"type\":\"user\",\"message\":{{\"content\":[{{\"type\":\"image\",\"source\":{{\"data\":\"{data}\"}}}}]}}}}\n"
    );
    let report = import_around(&desk, line.as_bytes());
    assert!(desk.texts(report.session)[1].starts_with("[image that cannot be decoded"));
}

#[test]
fn a_line_of_two_megabytes_of_text_stays_whole() {
    let desk = Desk::new();
    let long = "word ".repeat(420_000);
    let report = import_around(&desk, claude_said("x", &long).as_bytes());
    assert_eq!(desk.texts(report.session)[1], long);
}

#[test]
fn a_line_over_the_limit_is_kept_in_pieces() {
    let desk = Desk::new();
    let long = claude_said("x", &"y".repeat(LINE_BYTES_MAX * 2));
    let report = import_around(&desk, long.as_bytes());
    assert_eq!((report.lines, report.unreadable), (5, 1));
    let piece = unreadable(&desk, &report).remove(0);
    assert_eq!(piece.bytes, long.len() as u64);
}

#[test]
fn a_first_line_over_the_limit_is_passed_over_to_see_what_the_source_is() {
    let long = claude_said("x", &"y".repeat(LINE_BYTES_MAX + 10));
    let text = long.clone() + &claude_lines().concat();
    let desk = Desk::new();
    let report = desk.import(text.as_bytes());
    assert_eq!((report.lines, report.unreadable), (5, 1));
    assert_eq!(desk.texts(report.session), ["please look", "here it is"]);
    let source = desk.source_of(report.session);
    assert_eq!((source.kind, source.original_id.as_str()), (SourceKind::ClaudeCode, "s-1"));
    // A part of it is not yet a transcript, and no harm.
    let path = desk.write("part.jsonl", long.as_bytes());
    assert!(matches!(import_path(&desk.log, &path, &desk.options).unwrap(), Imported::Skipped(_)));
}

#[test]
fn a_long_line_within_the_limit_is_read_and_its_text_becomes_a_blob() {
    let desk = Desk::new();
    let long = "y".repeat(LINE_BYTES_MAX - 1_000);
    let report = import_around(&desk, claude_said("x", &long).as_bytes());
    assert_eq!(report.unreadable, 0);
    let has_file = |recorded: &segue_event::Recorded| {
        matches!(&recorded.event, Event::Message(message)
            if matches!(message.blocks.as_slice(), [Block::File(file)] if file.blob == BlobId::of(long.as_bytes())))
    };
    assert!(desk.events(report.session).iter().any(has_file));
}

#[test]
fn what_is_no_transcript_is_skipped_and_writes_nothing() {
    let desk = Desk::new();
    for bytes in
        [b"".as_slice(), b"hello\n", b"{\"type\":\"session\",\"version\":0,\"id\":\"x\"}\n", b"\xff\xfe{\0"]
    {
        let path = desk.write("other.jsonl", bytes);
        let imported = import_path(&desk.log, &path, &desk.options).unwrap();
        assert!(matches!(imported, Imported::Skipped(_)), "{imported:?}");
    }
    assert_eq!(desk.log.end().unwrap(), None);
}

#[test]
fn a_path_that_cannot_be_read_is_an_error_that_says_where() {
    let desk = Desk::new();
    let folder = desk.folder.path();
    let missing = import_path(&desk.log, &folder.join("none.jsonl"), &desk.options).unwrap_err();
    assert_eq!(missing.kind(), ImportErrorKind::NotFound);
    assert!(missing.to_string().contains("none.jsonl"));
    let wrong = import_path(&desk.log, folder, &desk.options).unwrap_err();
    assert_eq!(wrong.kind(), ImportErrorKind::NotAFile);
}

#[test]
fn a_session_that_was_not_imported_is_not_exported() {
    let desk = Desk::new();
    let session = segue_event::SessionId::from_bytes([1; 16]);
    let error = original_bytes(&desk.log, session, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::NotExportable);
}

#[test]
fn a_pi_session_of_the_first_version_comes_through() {
    let desk = Desk::new();
    let text = [
        r#"{"type":"session","id":"p1","timestamp":"2026-01-01T00:00:00Z","cwd":"/w","provider":"a","modelId":"b"}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"one"}}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}"#,
        r#"{"type":"compaction","timestamp":"2026-01-01T00:00:03Z","summary":"three","firstKeptEntryIndex":2}"#,
    ]
    .join("\n");
    let report = desk.import(text.as_bytes());
    assert_eq!(report.kind, SourceKind::Pi);
    assert_eq!(desk.texts(report.session), ["one", "two", "three"]);
    let Event::SessionStarted(started) = desk.events(report.session).remove(0).event else {
        panic!("no start")
    };
    assert_eq!(started.model.unwrap().name.model, "b");
}
