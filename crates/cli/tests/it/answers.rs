//! What the commands say when all is well.

use insta::assert_snapshot;

use crate::desk::Desk;

const HANDOFF: &str = r#"{"reason": "phase_change", "title": "The report", "description": "next",
    "handoff": {"purpose": "Look after the postcards.", "currentRequest": "Plan the move."}}"#;

#[test]
fn a_first_import_and_a_second() {
    let desk = Desk::new();
    assert_snapshot!(desk.run(&["import", ".claude", ".pi"]));
    assert_snapshot!(desk.run(&["import", ".claude", ".pi"]));
}

#[test]
fn sessions_are_listed_newest_first_and_page_by_page() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["sessions"]));
    assert_snapshot!(desk.run(&["sessions", "--limit", "1"]));
}

#[test]
fn a_session_is_shown_in_part() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["show", "ff97", "--from", "7", "--to", "11"]));
}

#[test]
fn one_event_is_given_to_the_byte() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["get", "ff97", "11"]));
    assert_snapshot!(desk.run(&["get", "ff97", "11", "--before", "2", "--after", "1", "--max-bytes", "150"]));
    assert_snapshot!(desk.run(&["get", "ff97", "11", "--max-bytes", "40", "--json"]));
    let exact = desk.run(&["get", "ff97", "17", "--part", "0"]).succeeded();
    assert_eq!(
        exact.stdout,
        "def import_batch(cards):\n    for card in cards:\n        stamp = read_stamp(card)   # raises StampError\n        store(card, stamp)\n"
    );
}

#[test]
fn text_is_recalled_from_everywhere() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["recall", "ERR_STAMP_MISSING"]));
    assert_snapshot!(desk.run(&["recall", "1911", "--thread", "ff97"]));
    assert_snapshot!(desk.run(&[
        "recall",
        "err_stamp",
        "-i",
        "--kind",
        "tool_result",
        "--context",
        "10",
        "--oldest-first"
    ]));
    assert_snapshot!(desk.run(&["recall", "-e", "card \\d{5}: E", "--thread", "ff97", "--alone"]));
    assert_snapshot!(desk.run(&["recall", "-w", "stamp read", "--tool", "Write", "--context", "10"]));
    assert_snapshot!(desk.run(&["recall", "--tail", "2", "--thread", "ff97"]));
    assert_snapshot!(desk.run(&["recall", "stamp", "--since", "2030-01-01T00:00:00Z"]));
}

#[test]
fn a_dry_run_shows_what_the_successor_would_begin_with() {
    let desk = Desk::with_sessions();
    desk.write("handoff.json", HANDOFF);
    let said = desk.run(&["continue", "ff97", "--handoff", "handoff.json", "--dry-run"]).succeeded();
    assert!(
        said.stdout.starts_with("<session_continuation ") && said.stdout.contains("Plan the move."),
        "{said}"
    );
    assert_eq!(desk.run(&["sessions"]).stdout.lines().count(), 2);
}

#[test]
fn a_dry_run_tells_what_it_costs_against_staying() {
    let desk = Desk::with_sessions();
    desk.write("handoff.json", HANDOFF);
    let arguments = ["continue", "ff97", "--handoff", "handoff.json", "--dry-run"];
    let said = desk.run(&arguments).succeeded();
    let (_, estimate) = said.stdout.split_once("\n\n").unwrap();
    assert_snapshot!(estimate);
    let said = desk.run(&[&arguments[..], &["--json"]].concat()).succeeded();
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_snapshot!(json["estimate"]);
}

#[test]
fn the_sources_of_a_continuation_are_audited() {
    let desk = Desk::with_sessions();
    let cited = r#", "sources": [
        {"type": "session_events", "fromSeq": 7, "toSeq": 11, "relevance": "the failure"},
        {"type": "resource", "url": "https://example.org/a", "relevance": "the rules"}]}"#;
    desk.write("handoff.json", &format!("{}{cited}", HANDOFF.trim_end_matches('}').to_owned() + "}"));
    assert_eq!(desk.run(&["continue", "ff97", "--handoff", "handoff.json"]).code, Some(0));
    assert_snapshot!(desk.run(&["audit", "latest"]));
    let said = desk.run(&["audit", "latest", "--json"]).succeeded();
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_snapshot!(json["sources"]);
    assert_eq!(json["sessions"], serde_json::json!([json["successor"]]));
    assert_snapshot!(desk.run(&["audit", "ff97"]));
}

#[test]
fn the_same_handoff_twice_makes_one_successor() {
    let desk = Desk::with_sessions();
    desk.write("handoff.json", HANDOFF);
    let arguments = ["continue", "ff97", "--handoff", "handoff.json", "--json"];
    let first = desk.run(&arguments).succeeded();
    let again = desk.run(&arguments).succeeded();
    assert_eq!(first.stdout.replace("\"replayed\":false", "\"replayed\":true"), again.stdout);
    assert_eq!(desk.run(&["sessions"]).stdout.lines().count(), 3);
    let lineage = desk.run(&["lineage", "latest"]).succeeded();
    assert!(
        lineage.stdout.contains("└ phase_change at [49]") && lineage.stdout.contains(" *\n"),
        "{lineage}"
    );
}

#[test]
fn the_size_of_the_store_is_told() {
    let desk = Desk::with_sessions();
    let said = desk.run(&["stats"]).succeeded();
    assert!(said.stdout.starts_with("57 events in 2 sessions\n"), "{said}");
    let said = desk.run(&["stats", "--json"]).succeeded();
    assert!(said.stdout.contains("\"blobs\":0,") && said.stdout.contains("\"written_bytes\":"), "{said}");
}

#[test]
fn the_record_is_sound() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["verify"]));
    assert_snapshot!(desk.run(&["verify", "--quick", "--json"]));
}

#[test]
fn the_demo_runs_in_a_store_of_its_own() {
    let desk = Desk::new();
    let said = desk.run(&["demo"]).succeeded();
    for part in ["1. Imported", "ERR_STAMP_MISSING", "the same bytes", "sound: 54 events in 2 sessions"] {
        assert!(said.stdout.contains(part), "{part}: {said}");
    }
    assert!(!desk.store().exists(), "the user's own store is left alone");
}

#[test]
fn json_has_the_fields_it_promises() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["sessions", "--json"]));
    assert_snapshot!(desk.run(&["show", "ff97", "--from", "11", "--to", "11", "--json"]));
    assert_snapshot!(desk.run(&["recall", "ERR_STAMP_MISSING", "--json"]));
    assert_snapshot!(desk.run(&["import", ".pi", "--json"]));
}
