//! Forks: another session up to an event, by reference, and then their own.

use proptest::prelude::*;
use segue::event::{
    Author, EdgeKind, Event, Lane, Message, RawEvent, Role, RunOutcome, Seq, SeqRange, SessionId,
};
use segue::log::{Direction, read_through};
use segue::prompt::{Prompt, PromptContent};
use segue::thread::{Budget, Limit, Query};
use segue::{ErrorKind, Outcome, Said, Scope, Setup, Step, Where, Workspace};

use crate::desk::{HANDOFF, continued, events, person, said, session, workspace};

fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap()
}

fn talk(workspace: &Workspace, session: SessionId, texts: &[&str]) {
    workspace.append(session, texts.iter().map(|text| said(text))).unwrap();
}

/// What a session's transcript shows.
fn lines(workspace: &Workspace, session: SessionId) -> Vec<String> {
    let reader = workspace.reader(Scope::Workspace);
    let page = reader.read(session, SeqRange::ALL, Limit::default()).unwrap();
    page.entries.iter().map(|entry| entry.render().trim_end().to_owned()).collect()
}

fn texts(prompt: &Prompt) -> Vec<String> {
    let contents = prompt.transcript.iter().flat_map(|message| &message.content);
    let texts = contents.filter_map(|content| match content {
        PromptContent::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_fork_holds_what_came_before_and_goes_on_by_itself() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    talk(&workspace, first, &["one", "two", "three"]);
    let fork = workspace.fork(first, seq(3), "1").unwrap();
    assert_eq!(workspace.fork(first, seq(2), "1").unwrap(), fork, "a request makes one fork");
    talk(&workspace, fork, &["otherwise"]);
    talk(&workspace, first, &["four"]);
    assert_eq!(lines(&workspace, fork), ["[2] user: one", "[3] user: two", "[5] user: otherwise"]);
    assert_eq!(
        lines(&workspace, first),
        ["[2] user: one", "[3] user: two", "[4] user: three", "[5] user: four"]
    );
    let state = workspace.reader(Scope::Workspace).state(fork).unwrap();
    let edge = state.edge.unwrap();
    assert_eq!((edge.kind(), edge.predecessor, edge.predecessor_head.seq), (EdgeKind::Fork, first, seq(3)));
    assert_eq!(events(&workspace, fork).len(), 2, "nothing is copied");
    assert!(workspace.verify(segue::log::Depth::Full, &mut |_| ()).unwrap().is_sound());
}

#[test]
fn there_is_nothing_to_fork_behind_the_head() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    let error = workspace.fork(first, seq(2), "1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EventNotFound);
}

#[test]
fn recall_from_a_fork_finds_each_line_once_and_nothing_that_came_later() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    talk(&workspace, first, &["needle one", "other", "needle two"]);
    let fork = workspace.fork(first, seq(3), "1").unwrap();
    let again = workspace.fork(fork, seq(2), "2").unwrap();
    talk(&workspace, fork, &["needle three"]);
    talk(&workspace, again, &["needle four"]);
    let reader = workspace.reader(Scope::Workspace);
    let query = Query::literal("needle").unwrap();
    let found = |session| {
        let answer = reader.recall(Where::Chain(session), &query, &Budget::default(), None).unwrap();
        assert!(answer.coverage.complete);
        answer.hits.iter().map(|hit| (hit.thread, hit.seq.get())).collect::<Vec<_>>()
    };
    assert_eq!(found(fork), [(fork, 5), (first, 2)]);
    assert_eq!(found(again), [(again, 4), (first, 2)], "a fork of a fork, at an event that is not its own");
}

#[test]
fn a_turn_on_a_fork_sees_what_the_fork_holds_and_its_receipts_hold() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    talk(&workspace, first, &["one", "two"]);
    let fork = workspace.fork(first, seq(2), "1").unwrap();
    let message = Message::text(Role::User, Author::User, "and now?");
    workspace.send(fork, &message, Lane::Interactive).unwrap();
    let mut turn = workspace.turn(fork, &Setup::default()).unwrap().unwrap();
    assert_eq!(texts(&turn.prompt().unwrap()), ["one", "and now?"]);
    assert_eq!(turn.record(Said::text("this")).unwrap(), Step::Done(RunOutcome::Succeeded));
    let receipts = workspace.receipts(fork).unwrap();
    for receipt in receipts {
        let rebuilt = workspace.rebuild_prompt(fork, receipt.seq).unwrap();
        assert_eq!(rebuilt.verdict, segue::ReceiptVerdict::Same);
    }
}

#[test]
fn a_fork_can_be_continued_and_what_was_continued_forked() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    talk(&workspace, first, &["one", "two"]);
    let fork = workspace.fork(first, seq(2), "1").unwrap();
    // The message that is answered stands in the session that the fork came from.
    let Outcome::Continued(made) = workspace.continue_session(fork, &person("c"), HANDOFF).unwrap() else {
        panic!()
    };
    let [_, _, copied, _] = events(&workspace, made.successor).try_into().unwrap();
    let Event::Message(copied) = copied else { panic!("{copied:?}") };
    assert_eq!(copied.continued_from.map(|origin| (origin.session, origin.seq)), Some((first, seq(2))));
    let verdict = workspace.recompile(made.successor).unwrap().verdict;
    assert_eq!(verdict, segue::Verdict::Same);

    let next = continued(&workspace, first, &person("d"));
    let of_successor = workspace.fork(next.successor, seq(3), "2").unwrap();
    assert_eq!(lines(&workspace, of_successor).len(), 2, "the projection and the message");
    let lineage = workspace.reader(Scope::Workspace).lineage().unwrap();
    assert_eq!(lineage.chain(of_successor), [of_successor, next.successor, first]);
}

#[test]
fn a_plan_goes_along_with_a_fork_as_it_was_then() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    let step = |status| segue::event::PlanStep { id: "1".to_owned(), label: "look".to_owned(), status };
    let plan = |status| segue::event::Plan { owner: None, steps: vec![step(status)] };
    workspace.append(first, [plan(segue::event::StepStatus::Active)]).unwrap();
    workspace.append(first, [plan(segue::event::StepStatus::Done)]).unwrap();
    let fork = workspace.fork(first, seq(2), "1").unwrap();
    let state = workspace.reader(Scope::Workspace).state(fork).unwrap();
    assert_eq!(state.plan.unwrap().1, plan(segue::event::StepStatus::Active));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The oracle: a fork is the list of the other's events up to a place, and then its own.
    #[test]
    fn any_tree_of_forks_reads_as_lists_do(steps in prop::collection::vec((0..6usize, 0..8u64, 0..4usize), 1..14)) {
        let workspace = workspace();
        let mut sessions = vec![session(&workspace, "coder")];
        let mut oracle: Vec<Vec<RawEvent>> = vec![own(&workspace, sessions[0], 1)];
        for (number, (which, at, count)) in steps.into_iter().enumerate() {
            let which = which % sessions.len();
            let all = &oracle[which];
            let at = usize::try_from(at).unwrap() % all.len();
            let fork = workspace.fork(sessions[which], seq(at as u64 + 1), &number.to_string()).unwrap();
            let texts: Vec<_> = (0..count).map(|index| format!("{number} {index}")).collect();
            if count > 0 {
                talk(&workspace, fork, &texts.iter().map(String::as_str).collect::<Vec<_>>());
            }
            let mut list = all[..=at].to_vec();
            list.extend(own(&workspace, fork, at as u64 + 2));
            sessions.push(fork);
            oracle.push(list);
        }
        for (session, list) in sessions.iter().zip(&oracle) {
            let kinds = segue::event::KindSet::ALL;
            let read = read_through(&**workspace.log(), *session, SeqRange::ALL, Direction::Forward, kinds).unwrap();
            prop_assert_eq!(&read.map(Result::unwrap).collect::<Vec<_>>(), list);
        }
        prop_assert!(workspace.verify(segue::log::Depth::Full, &mut |_| ()).unwrap().is_sound());
    }
}

/// The session's own events from a number on.
fn own(workspace: &Workspace, session: SessionId, from: u64) -> Vec<RawEvent> {
    let range = SeqRange { from: seq(from), ..SeqRange::ALL };
    workspace.log().read(session, range, Direction::Forward).unwrap().map(Result::unwrap).collect()
}

#[test]
fn every_view_can_be_had_as_it_was() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    talk(&workspace, first, &["one"]);
    let described = |text: &str| segue::event::SessionDescribed { description: text.to_owned() };
    workspace.append(first, [described("early")]).unwrap();
    let before = workspace.log().end().unwrap().unwrap();
    let made = continued(&workspace, first, &person("1"));
    workspace.append(first, [described("late")]).unwrap();
    let fork = workspace.fork(first, seq(4), "2").unwrap();
    let reader = workspace.reader(Scope::Workspace);
    assert_eq!(reader.state_at(first, seq(2)).unwrap().description, "");
    assert_eq!(reader.state_at(first, seq(3)).unwrap().description, "early");
    assert_eq!(reader.state_at(fork, seq(3)).unwrap().description, "early", "held by reference");
    assert_eq!(reader.state(fork).unwrap().description, "late");
    assert!(reader.lineage_at(before).unwrap().edge_into(made.successor).is_none());
    assert!(reader.lineage().unwrap().edge_into(made.successor).is_some());
}

#[test]
fn a_row_of_forks_ends_before_anything_of_it_would_be_cut_off() {
    let workspace = workspace();
    let mut newest = session(&workspace, "coder");
    for number in 1..segue::log::FORKS_MAX {
        newest = workspace.fork(newest, seq(number as u64), "1").unwrap();
    }
    let error = workspace.fork(newest, seq(segue::log::FORKS_MAX as u64), "1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyForks);
}

#[test]
fn a_plan_that_was_handed_over_is_not_opened_again_by_a_fork() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    let status = segue::event::StepStatus::Active;
    let step = segue::event::PlanStep { id: "1".to_owned(), label: "look".to_owned(), status };
    workspace.append(first, [segue::event::Plan { owner: None, steps: vec![step] }]).unwrap();
    talk(&workspace, first, &["one"]);
    continued(&workspace, first, &person("1"));
    talk(&workspace, first, &["two"]);
    let plan_at = |at, request| {
        let fork = workspace.fork(first, seq(at), request).unwrap();
        workspace.reader(Scope::Workspace).state(fork).unwrap().plan
    };
    assert!(plan_at(2, "before").is_some(), "it was open then");
    assert!(plan_at(4, "after").is_none(), "a successor has it");
}
