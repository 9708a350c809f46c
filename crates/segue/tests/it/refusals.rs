//! A refused or failed request leaves the log as it was, but for the tool's error result.

use segue::continuation::{Batch, Refusal};
use segue::event::{CallRef, Event, ResultStatus, RunId};
use segue::{Asker, ErrorKind, Outcome, Preview, ToolCaller};

use crate::desk::{HANDOFF, events, person, said, session, workspace};

#[test]
fn a_persons_refused_request_leaves_no_trace() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    let end = workspace.log().end().unwrap();
    let outcome = workspace.continue_session(first, &person("1"), HANDOFF).unwrap();
    assert_eq!(outcome, Outcome::Refused(Refusal::NothingToContinue));
    assert_eq!(workspace.log().end().unwrap(), end);
}

#[test]
fn a_tools_refused_call_gets_an_error_result_and_nothing_else() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin")]).unwrap();
    let asker = Asker::Tool(ToolCaller {
        run: RunId::from_bytes([1; 16]),
        attempt: 1,
        call: CallRef { site: None, provider_id: "c".to_owned() },
        batch: Batch::First,
    });
    let before = events(&workspace, first).len();
    let outcome = workspace.continue_session(first, &asker, HANDOFF).unwrap();
    assert_eq!(outcome, Outcome::Refused(Refusal::NoRun));
    for _ in 0..3 {
        // A call that is replayed gets no second result.
        let again = workspace.continue_session(first, &asker, HANDOFF).unwrap();
        assert_eq!(again, Outcome::Refused(Refusal::AnsweredBefore { text: Refusal::NoRun.to_string() }));
    }
    let events = events(&workspace, first);
    let [Event::ToolResult(result)] = &events[before..] else { panic!("{events:?}") };
    assert_eq!((result.status, result.continuation), (ResultStatus::Error, None));
}

#[test]
fn a_dry_run_writes_nothing() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin")]).unwrap();
    let end = workspace.log().end().unwrap();
    let preview = workspace.preview_continuation(first, &person("1"), HANDOFF).unwrap();
    assert!(matches!(preview, Preview::WouldContinue { .. }), "{preview:?}");
    assert_eq!(workspace.log().end().unwrap(), end);
}

#[test]
fn a_session_that_is_not_there_is_an_error() {
    let workspace = workspace();
    let missing = segue::event::SessionId::from_bytes([7; 16]);
    let error = workspace.continue_session(missing, &person("1"), HANDOFF).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound);
    assert_eq!(workspace.append(missing, [said("x")]).unwrap_err().kind(), ErrorKind::SessionNotFound);
    assert_eq!(workspace.log().end().unwrap(), None);
}
