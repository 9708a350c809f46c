//! Bad input: what, where, what to do, and the exit code.

use insta::assert_snapshot;

use crate::desk::Desk;

#[test]
fn without_a_store_the_answer_says_how_to_get_one() {
    let desk = Desk::new();
    assert_snapshot!(desk.run(&["sessions"]));
    assert_snapshot!(desk.run(&["sessions", "--json"]));
    assert!(!desk.store().exists(), "looking makes nothing");
}

#[test]
fn wrong_usage() {
    let desk = Desk::with_sessions();
    assert_eq!(desk.run(&[]).code, Some(2));
    assert_eq!(desk.run(&["frobnicate"]).code, Some(2));
    assert_eq!(desk.run(&["sessions", "--limit", "0"]).code, Some(2));
    assert_snapshot!(desk.run(&["show", "xyz"]));
    assert_snapshot!(desk.run(&["show", "ff97", "--from", "9", "--to", "3"]));
    assert_snapshot!(desk.run(&["recall", ""]));
    assert_snapshot!(desk.run(&["recall", "x", "--cursor", "00ff"]));
}

#[test]
fn what_is_not_there() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["show", "0123abcd"]));
    assert_snapshot!(desk.run(&["show", "00000000-0000-0000-0000-000000000000"]));
    assert_snapshot!(desk.run(&["recall", "-e", "(stamp"]));
    assert_snapshot!(desk.run(&["recall", "stamp", "--since", "yesterday"]));
    assert_snapshot!(desk.run(&["get", "--file", "nowhere.jsonl", "--entry", "1"]));
    assert_snapshot!(desk.run(&["get", "ff97", "9999"]));
    assert_snapshot!(desk.run(&["get", "ff97", "11", "--part", "7"]));
    assert_snapshot!(desk.run(&["import", "no/such/file"]));
    assert_snapshot!(desk.run(&["continue", "ff97", "--handoff", "none.json"]));
}

#[test]
fn an_import_does_what_it_can() {
    let desk = Desk::new();
    assert_snapshot!(desk.run(&["import", "no/such/file", ".pi"]));
    assert_snapshot!(desk.run(&["import", "no/such/file", "no/other", "--json"]));
    std::fs::create_dir(desk.folder().join("tree")).unwrap();
    std::os::unix::fs::symlink("gone", desk.folder().join("tree/gone.jsonl")).unwrap();
    assert_snapshot!(desk.run(&["import", "tree"]));
}

#[test]
fn an_import_that_the_log_stops_tells_what_it_did() {
    let desk = Desk::with_sessions();
    damage(&desk);
    desk.write("first/notes.jsonl", "not a transcript\n");
    let said = desk.run(&["import", "first", ".claude", ".pi"]);
    assert_eq!(said.code, Some(5), "{said}");
    for part in ["skipped    first/notes.jsonl", "FAILED     .claude/projects/demo/a.jsonl", "1 failed:"] {
        assert!(said.stdout.contains(part), "{part}: {said}");
    }
    assert!(said.stderr.starts_with("error: importing"), "{said}");
    assert!(!said.stdout.contains("b.jsonl"), "{said}");
}

/// Flips a bit of the first segment.
fn damage(desk: &Desk) {
    let segment = desk.store().join("log/00000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    *bytes.get_mut(1_000).unwrap() ^= 1;
    std::fs::write(&segment, bytes).unwrap();
}

#[test]
fn a_refused_continuation_creates_nothing() {
    let desk = Desk::with_sessions();
    for (name, text) in [
        ("broken.json", "{\"reason\":"),
        (
            "reason.json",
            r#"{"reason":"boredom","title":"t","description":"d","handoff":{"purpose":"p","currentRequest":"r"}}"#,
        ),
        (
            "source.json",
            r#"{"reason":"other","title":"t","description":"d","handoff":{"purpose":"p","currentRequest":"r"},"sources":[{"type":"session_event","seq":9999,"relevance":"r"}]}"#,
        ),
    ] {
        desk.write(name, text);
    }
    assert_snapshot!(desk.run(&["continue", "ff97", "--handoff", "broken.json"]));
    assert_snapshot!(desk.run(&["continue", "ff97", "--handoff", "reason.json", "--json"]));
    assert_snapshot!(desk.run(&["continue", "ff97", "--handoff", "source.json", "--dry-run"]));
    assert_eq!(desk.run(&["sessions"]).stdout.lines().count(), 2);
}

#[test]
fn what_cannot_be_read_is_kept_and_told() {
    let desk = Desk::new();
    let transcript = std::fs::read_to_string(desk.folder().join(".claude/projects/demo/a.jsonl")).unwrap();
    let first = transcript.lines().next().unwrap();
    desk.write("bad/a.jsonl", &format!("{first}\n{{\"type\":\"user\",\"message\":\n{first}\n"));
    desk.write("bad/notes.jsonl", "not a transcript\n");
    assert_snapshot!(desk.run(&["import", "bad"]));
    assert_eq!(desk.run(&["verify"]).code, Some(0));
}

#[test]
fn usage_errors_are_json_too_when_asked_for() {
    let desk = Desk::new();
    let said = desk.run(&["sessions", "--limit", "0", "--json"]);
    assert_eq!(said.code, Some(2));
    assert!(said.to_string().contains("{\"error\":{\"code\":2,"), "{said}");
}

#[test]
fn a_store_that_is_a_file_and_a_handoff_that_is_none() {
    let desk = Desk::with_sessions();
    desk.write("file", "x");
    assert_snapshot!(desk.run(&["--store", "file", "sessions"]));
    std::fs::write(desk.folder().join("latin1.json"), b"\xff\xfe").unwrap();
    assert_snapshot!(desk.run(&["continue", "ff97", "--handoff", "latin1.json"]));
    assert_eq!(desk.run(&["continue", "ff97", "--handoff", ".claude"]).code, Some(2));
    let endless = desk.run(&["continue", "ff97", "--handoff", "/dev/zero"]);
    assert_eq!(endless.code, Some(2), "{endless}");
}

#[test]
fn a_damaged_store_is_told_with_its_place() {
    let desk = Desk::with_sessions();
    damage(&desk);
    let said = desk.run(&["verify"]);
    assert_eq!(said.code, Some(5), "{said}");
    assert!(said.stdout.contains("DAMAGED") && said.stdout.contains("00000001.seg"), "{said}");
    // What is whole is shown, with a warning and the code for a part; nothing is built upon it.
    for arguments in [&["sessions"][..], &["recall", "1911"], &["lineage", "latest"], &["show", "latest"]] {
        let said = desk.run(arguments);
        assert_eq!(said.code, Some(8), "{arguments:?} {said}");
        assert!(said.to_string().contains("warning: the record is damaged"), "{said}");
    }
    let said = desk.run(&["recall", "1911"]);
    assert!(said.stdout.contains("Sorted: 1911 to 1947.") && said.stdout.contains("not complete"), "{said}");
    desk.write("handoff.json", "{}");
    assert_eq!(desk.run(&["continue", "latest", "--handoff", "handoff.json", "--dry-run"]).code, Some(5));
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let desk = Desk::with_sessions();
    std::fs::write(desk.store().join("format"), "7\n").unwrap();
    assert_snapshot!(desk.run(&["sessions"]));
    assert_eq!(desk.run(&["import", ".pi"]).code, Some(6));
}
