//! Prompts rebuilt by the command line.

use insta::assert_snapshot;
use segue::event::{AgentId, Author, Lane, Message, Role, SessionId};
use segue::{NewSession, Options, Said, Setup, Workspace};
use segue_testkit::FixedHost;

use crate::desk::Desk;

/// A store in which a run was given two prompts.
fn desk_with_a_run() -> (Desk, SessionId) {
    let desk = Desk::new();
    let workspace = Workspace::open(&desk.store(), FixedHost::new(), Options::default()).unwrap();
    let session = workspace.start_session(NewSession::of(AgentId::new("coder").unwrap())).unwrap();
    let message = Message::text(Role::User, Author::User, "Sort the letters.");
    workspace.send(session, &message, Lane::Interactive).unwrap();
    let setup = Setup { host: "test".to_owned(), ..Setup::default() };
    let mut turn = workspace.turn(session, &setup).unwrap().unwrap();
    turn.prompt().unwrap();
    let status = r#"{"title": "Letters", "description": "sorting"}"#;
    turn.record(Said::text("Sorting.").call("a", "status", status)).unwrap();
    turn.prompt().unwrap();
    turn.record(Said::text("Sorted.")).unwrap();
    (desk, session)
}

#[test]
fn every_prompt_of_a_session_is_held_to_its_receipt() {
    let (desk, session) = desk_with_a_run();
    assert_snapshot!(desk.run(&["replay", "--session", &session.to_string()]));
}

#[test]
fn a_prompt_is_shown_as_the_model_saw_it() {
    let (desk, session) = desk_with_a_run();
    let said = desk.run(&["replay", "--session", &session.to_string(), "--at", "12"]).succeeded();
    let (_, transcript) = said.stdout.split_once("the message of event 2:\n").unwrap();
    assert_snapshot!(transcript);
}

#[test]
fn two_prompts_differ_where_something_was_said() {
    let (desk, session) = desk_with_a_run();
    let session = session.to_string();
    let prompts = ["--session", &session, "--at", "5", "--diff", "12"];
    assert_snapshot!(desk.run(&[&["replay"], prompts.as_slice()].concat()));
    assert_snapshot!(desk.run(&[&["replay", "--json"], prompts.as_slice()].concat()));
}

#[test]
fn where_no_prompt_was_given_out_there_is_none() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["replay", "--session", "ff97"]));
    assert_snapshot!(desk.run(&["replay", "--session", "ff97", "--at", "3"]));
}
