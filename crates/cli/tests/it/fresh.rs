//! Fresh sessions by the command line.

use insta::assert_snapshot;
use serde_json::Value;

use crate::desk::Desk;
use crate::forking::shown;

#[test]
fn a_dry_run_shows_the_pointer_and_writes_nothing() {
    let desk = Desk::with_sessions();
    let before = desk.run(&["sessions"]).succeeded().stdout;
    let said = desk.run(&["fresh", "ff97", "--dry-run"]).succeeded();
    let (_, behind) = said.stdout.split_once("thread=").unwrap();
    assert_snapshot!(behind);
    assert_eq!(desk.run(&["sessions"]).succeeded().stdout, before);
}

#[test]
fn a_fresh_session_is_made_once_for_a_request_and_listed() {
    let desk = Desk::with_sessions();
    let arguments = ["fresh", "ff97", "--request-id", "r1"];
    let said = desk.run(&arguments).succeeded().stdout;
    assert!(said.contains("made again: the same bytes"), "{said}");
    assert!(shown(&said).starts_with("went on from ff97"), "{said}");
    let again = desk.run(&arguments).succeeded().stdout;
    assert!(again.contains(" (it was there already)\n"), "{again}");
    let sessions = desk.run(&["sessions", "--limit", "1"]).succeeded().stdout;
    assert!(sessions.contains("  goes on afresh from ff97"), "{sessions}");
    let lineage = desk.run(&["lineage", "latest"]).succeeded().stdout;
    assert!(lineage.contains("└ fresh (person) at ["), "{lineage}");
    assert_eq!(desk.run(&["audit", "latest"]).code, Some(0));
    assert_eq!(desk.run(&["verify"]).code, Some(0));
}

#[test]
fn as_json_it_tells_the_manifest() {
    let desk = Desk::with_sessions();
    let answer = |arguments: &[&str]| -> Value {
        serde_json::from_str(&desk.run(arguments).succeeded().stdout).unwrap()
    };
    let preview = answer(&["fresh", "ff97", "--dry-run", "--json"]);
    let made = answer(&["fresh", "ff97", "--json"]);
    assert_eq!(made["switched"], true);
    assert_eq!(made["manifest"]["included"], preview["manifest"]["included"]);
    assert!(preview["pointer"].as_str().unwrap().starts_with("<context_pointer "), "{preview}");
}

#[test]
fn an_imported_session_grows_on_beside_its_pointer() {
    let desk = Desk::with_sessions();
    assert_eq!(desk.run(&["fresh", "ff97"]).code, Some(0));
    let again = desk.run(&["import", ".claude/projects"]);
    assert_eq!(again.code, Some(0), "{again}");
    assert_eq!(desk.run(&["verify"]).code, Some(0));
}
