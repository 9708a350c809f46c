//! Forks and going back by the command line.

use insta::assert_snapshot;

use crate::desk::Desk;

const HANDOFF: &str = r#"{"reason": "phase_change", "title": "The report", "description": "next",
    "handoff": {"purpose": "Look after the postcards.", "currentRequest": "Plan the move."}}"#;

/// Hides ids that are made of the time: those of version 7.
pub(crate) fn shown(said: &impl ToString) -> String {
    let words = said.to_string();
    let is_new = |word: &str| word.len() == 36 && word.as_bytes().get(14) == Some(&b'7');
    let hide = |word: &str| if is_new(word) { "(new id)".to_owned() } else { word.to_owned() };
    words
        .split(' ')
        .map(|word| word.split('\n').map(hide).collect::<Vec<_>>().join("\n"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_fork_shows_what_it_holds_and_is_listed_and_left() {
    let desk = Desk::with_sessions();
    assert_snapshot!(shown(&desk.run(&["fork", "ff97", "--at", "7", "--request", "r1"])));
    assert_snapshot!(desk.run(&["show", "latest", "--from", "6"]));
    let sessions = desk.run(&["sessions", "--limit", "1"]).succeeded().stdout;
    assert!(sessions.contains("  forks ff97"), "{sessions}");
    assert_snapshot!(shown(&desk.run(&["back", "latest", "--note", "no"])));
    let sessions = desk.run(&["sessions", "--limit", "1"]).succeeded().stdout;
    assert!(sessions.contains(", and was left for it again"), "{sessions}");
    let lineage = desk.run(&["lineage", "latest"]).succeeded().stdout;
    assert!(lineage.contains("└ fork at [7]") && lineage.contains(", left again"), "{lineage}");
    assert_eq!(desk.run(&["verify"]).code, Some(0));
}

#[test]
fn a_fork_needs_an_event_and_going_back_a_way() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["fork", "ff97", "--at", "9999"]));
    assert_snapshot!(desk.run(&["back", "ff97"]));
    desk.write("handoff.json", HANDOFF);
    assert_eq!(desk.run(&["continue", "ff97", "--handoff", "handoff.json"]).code, Some(0));
    assert_eq!(desk.run(&["back", "latest"]).code, Some(0));
}
