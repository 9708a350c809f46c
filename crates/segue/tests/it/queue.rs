//! The queue of runs: who is next, and what becomes of runs whose host is gone.

use segue::event::{Author, Lane, Message, Role, RunOutcome, SessionId};
use segue::{ErrorKind, Recovered, Said, Scope, Sent, Setup, Step, Workspace};

use crate::desk::{session, workspace};

fn host(name: &str) -> Setup {
    Setup { host: name.to_owned(), ..Setup::default() }
}

fn ask(workspace: &Workspace, lane: Lane) -> SessionId {
    let session = session(workspace, "coder");
    let message = Message::text(Role::User, Author::User, "hello");
    assert!(matches!(workspace.send(session, &message, lane).unwrap(), Sent::ToRun(_)));
    session
}

#[test]
fn interactive_runs_come_first_and_then_the_older_ones() {
    let workspace = workspace();
    let lanes = [Lane::Background, Lane::Interactive, Lane::Background, Lane::Interactive];
    let asked = lanes.map(|lane| ask(&workspace, lane));
    let mut queue = workspace.queue().unwrap();
    for expected in [asked[1], asked[3], asked[0], asked[2]] {
        let mut turn = queue.take(&host("a")).unwrap().unwrap();
        assert_eq!(turn.session(), expected);
        turn.prompt().unwrap();
        assert_eq!(turn.record(Said::text("hi")).unwrap(), Step::Done(RunOutcome::Succeeded));
    }
    assert!(queue.take(&host("a")).unwrap().is_none());
}

#[test]
fn a_run_is_started_by_one_host_only() {
    let workspace = workspace();
    ask(&workspace, Lane::Interactive);
    let (mut one, mut other) = (workspace.queue().unwrap(), workspace.queue().unwrap());
    assert!(one.take(&host("a")).unwrap().is_some());
    assert!(other.take(&host("b")).unwrap().is_none());
}

#[test]
fn only_the_holder_of_the_lease_recovers_and_the_old_host_is_shut_out() {
    let workspace = workspace();
    let asked = ask(&workspace, Lane::Interactive);
    let mut old = workspace.queue().unwrap();
    old.take_lease("a").unwrap();
    let mut stale = old.take(&host("a")).unwrap().unwrap();
    stale.prompt().unwrap();

    let mut new = workspace.queue().unwrap();
    assert_eq!(new.recover("b").unwrap_err().kind(), ErrorKind::NotLeaseHolder);
    new.take_lease("b").unwrap();
    assert_eq!(old.recover("a").unwrap_err().kind(), ErrorKind::NotLeaseHolder);
    let recovered = new.recover("b").unwrap();
    assert_eq!(recovered, Recovered { requeued: vec![stale.run()], ..Recovered::default() });
    assert_eq!(new.recover("b").unwrap(), Recovered::default(), "once");

    assert_eq!(stale.record(Said::text("late")).unwrap_err().kind(), ErrorKind::NoOpenRun);
    let mut turn = new.take(&host("b")).unwrap().unwrap();
    assert_eq!((turn.session(), turn.run()), (asked, stale.run()), "it keeps its id");
    assert_eq!(stale.record(Said::text("later")).unwrap_err().kind(), ErrorKind::NoOpenRun);
    turn.prompt().unwrap();
    assert_eq!(turn.record(Said::text("hi")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_run_is_recovered_within_its_attempts() {
    let workspace = workspace();
    ask(&workspace, Lane::Interactive);
    let mut queue = workspace.queue().unwrap();
    for attempt in 1..=3 {
        let turn = queue.take(&host(&format!("host {attempt}"))).unwrap().unwrap();
        let run = turn.run();
        drop(turn);
        queue.take_lease("keeper").unwrap();
        let recovered = queue.recover("keeper").unwrap();
        let list = if attempt < 3 { &recovered.requeued } else { &recovered.failed };
        assert_eq!(list, &[run], "attempt {attempt}");
    }
    assert!(queue.take(&host("again")).unwrap().is_none());
}

#[test]
fn leases_are_in_no_list() {
    let workspace = workspace();
    let mut queue = workspace.queue().unwrap();
    queue.take_lease("a").unwrap();
    assert_eq!(queue.board().lease(), Some("a"));
    assert!(workspace.reader(Scope::Workspace).sessions(None, 10).unwrap().is_empty());
}

#[test]
fn a_message_behind_a_run_that_is_lost_for_good_is_answered_by_another_and_in_its_order() {
    let workspace = workspace();
    let asked = ask(&workspace, Lane::Interactive);
    let mut queue = workspace.queue().unwrap();
    queue.take_lease("keeper").unwrap();
    for attempt in 1..=3 {
        drop(queue.take(&host(&format!("host {attempt}"))).unwrap().unwrap());
        let message = Message::text(Role::User, Author::User, format!("more {attempt}"));
        workspace.send(asked, &message, Lane::Interactive).unwrap();
        queue.recover("keeper").unwrap();
    }
    let mut turn = queue.take(&host("again")).unwrap().unwrap();
    let told = turn.prompt().unwrap().transcript;
    let told: Vec<_> = told.iter().map(|message| format!("{:?}", message.content)).collect();
    let expected = ["hello", "more 1", "more 2", "more 3"].map(|text| format!("[Text({text:?})]"));
    assert_eq!(told, expected);
}

#[test]
fn what_was_left_behind_comes_before_what_is_sent_next() {
    let workspace = workspace();
    let asked = ask(&workspace, Lane::Interactive);
    let turn = workspace.turn(asked, &host("a")).unwrap().unwrap();
    workspace.send(asked, &Message::text(Role::User, Author::User, "one"), Lane::Interactive).unwrap();
    let ended = segue::event::RunEnded { run: turn.run(), outcome: RunOutcome::Cancelled };
    workspace.append(asked, [ended]).unwrap();
    workspace.send(asked, &Message::text(Role::User, Author::User, "two"), Lane::Interactive).unwrap();
    let state = workspace.reader(Scope::Workspace).state(asked).unwrap();
    assert!(state.waiting_messages.is_empty());
    let newest = state.runs.values().max_by_key(|run| run.trigger).unwrap();
    let events = crate::desk::events(&workspace, asked);
    let trigger = &events[usize::try_from(newest.trigger.get()).unwrap() - 1];
    assert_eq!(*trigger, Message::text(Role::User, Author::User, "two").into());
}

#[test]
fn a_run_that_waits_can_be_cancelled_and_one_at_work_only_by_its_turn() {
    let workspace = workspace();
    let asked = ask(&workspace, Lane::Interactive);
    let run = *workspace.reader(Scope::Workspace).state(asked).unwrap().runs.keys().next().unwrap();
    workspace.cancel_run(asked, run).unwrap();
    assert_eq!(workspace.cancel_run(asked, run).unwrap_err().kind(), ErrorKind::NoOpenRun, "it is over");
    let mut queue = workspace.queue().unwrap();
    assert!(queue.take(&host("a")).unwrap().is_none());
    workspace.retry_run(asked, run).unwrap();
    let turn = queue.take(&host("a")).unwrap().unwrap();
    assert_eq!(
        workspace.cancel_run(asked, turn.run()).unwrap_err().kind(),
        ErrorKind::NoOpenRun,
        "it is at work"
    );
    turn.cancel().unwrap();
}
