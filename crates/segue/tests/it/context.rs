//! How full the context is: before anything was said, after an import, after a continuation.

use std::path::Path;

use segue::event::{AgentId, Lane, SessionId, Timestamp, Usage};
use segue::prompt::{ContextMeter, ContextParts};
use segue::{Asker, ErrorKind, Outcome, Said, Scope, Setup, Workspace};
use segue_import::{ImportOptions, Imported, import_path};

use crate::desk::{HANDOFF, person, session, user, workspace};

fn setup() -> Setup {
    Setup { window_tokens: Some(1_000), ..Setup::default() }
}

fn usage(input: u64, cache_read: u64) -> Usage {
    Usage { input: Some(input), cache_read: Some(cache_read), ..Usage::default() }
}

/// What a reader and a turn say; they always agree.
fn context(workspace: &Workspace, session: SessionId) -> Option<ContextMeter> {
    let read = workspace.reader(Scope::Workspace).context(session, setup().window_tokens).unwrap();
    if let Some(turn) = workspace.turn(session, &setup()).unwrap() {
        assert_eq!(turn.context(), read);
        turn.retry("only looked").unwrap();
    }
    read
}

fn answer(workspace: &Workspace, session: SessionId, usage: Option<Usage>) {
    let mut turn = workspace.turn(session, &setup()).unwrap().unwrap();
    turn.prompt().unwrap();
    turn.record(Said { usage, ..Said::text("here") }).unwrap();
}

#[test]
fn it_is_unknown_before_the_first_turn_and_then_the_sum_of_its_parts() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    assert_eq!(context(&workspace, first), None);
    workspace.send(first, &user("hello"), Lane::Interactive).unwrap();
    assert_eq!(context(&workspace, first), None, "a message of a user counts nothing");
    answer(&workspace, first, Some(usage(100, 600)));
    let meter = context(&workspace, first).unwrap();
    assert_eq!((meter.tokens(), meter.percent(), meter.parts().total()), (700, 70, 700));
    let parts = ContextParts { input: Some(100), cache_read: Some(600), cache_write: None };
    assert_eq!(meter.parts(), parts);
    assert_eq!(workspace.reader(Scope::Workspace).context(first, None).unwrap(), None, "an unknown window");
}

#[test]
fn what_a_provider_does_not_count_stays_unknown() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.send(first, &user("hello"), Lane::Interactive).unwrap();
    answer(&workspace, first, Some(Usage { output: Some(5), ..Usage::default() }));
    assert_eq!(context(&workspace, first), None);
    workspace.send(first, &user("again"), Lane::Interactive).unwrap();
    answer(&workspace, first, Some(usage(1, 1)));
    workspace.send(first, &user("and again"), Lane::Interactive).unwrap();
    answer(&workspace, first, None);
    assert_eq!(context(&workspace, first).unwrap().tokens(), 2, "the newest counts that there are");
}

#[test]
fn a_successor_begins_unknown_and_its_predecessor_keeps_its_figure() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.send(first, &user("hello"), Lane::Interactive).unwrap();
    answer(&workspace, first, Some(usage(900, 0)));
    let by = person("1");
    let Outcome::Continued(made) = continue_by(&workspace, first, &by) else { panic!() };
    assert_eq!(context(&workspace, made.successor), None);
    answer(&workspace, made.successor, Some(usage(50, 0)));
    assert_eq!(context(&workspace, made.successor).unwrap().tokens(), 50);
    assert_eq!(context(&workspace, first).unwrap().tokens(), 900);
}

#[test]
fn a_fork_has_the_figure_of_what_it_holds_of_the_other() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.send(first, &user("hello"), Lane::Interactive).unwrap();
    answer(&workspace, first, Some(usage(100, 0)));
    let head = workspace.log().head(first).unwrap().unwrap().seq;
    workspace.send(first, &user("more"), Lane::Interactive).unwrap();
    answer(&workspace, first, Some(usage(200, 0)));
    let fork = workspace.fork(first, head, "1").unwrap();
    let read = |session| workspace.reader(Scope::Workspace).context(session, Some(1_000)).unwrap().unwrap();
    assert_eq!((read(first).tokens(), read(fork).tokens()), (200, 100));
}

fn continue_by(workspace: &Workspace, session: SessionId, by: &Asker) -> Outcome {
    workspace.continue_session(session, by, HANDOFF).unwrap()
}

#[test]
fn an_imported_session_has_the_counts_of_its_source() {
    let workspace = workspace();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/imported-session/transcript.jsonl");
    let now = Timestamp::utc_micros(0);
    let options = ImportOptions { agent: AgentId::new("coder").unwrap(), now, kind: None };
    let Imported::Session(report) = import_path(&**workspace.log(), &file, &options).unwrap() else {
        panic!()
    };
    let meter = context(&workspace, report.session).unwrap();
    let parts = ContextParts { input: Some(1_200), cache_read: Some(9_000), cache_write: Some(300) };
    assert_eq!((meter.parts(), meter.tokens()), (parts, 10_500));
    workspace.send(report.session, &user("go on"), Lane::Interactive).unwrap();
    let prompt = workspace.turn(report.session, &setup()).unwrap().unwrap().prompt().unwrap();
    assert!(prompt.blocks.concat().contains("<context_usage tokens=\"10500\""), "{:?}", prompt.blocks);
}

#[test]
fn another_scope_finds_nothing() {
    let workspace = workspace();
    let (first, other) = (session(&workspace, "coder"), session(&workspace, "coder"));
    let error = workspace.reader(Scope::Chain(other)).context(first, Some(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound);
}
