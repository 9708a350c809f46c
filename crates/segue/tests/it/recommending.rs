//! What is worth citing, what became of it, and what a continuation would cost.

use std::sync::Arc;

use segue::event::{
    Author, Block, CallRef, Event, Message, Reason, ResultStatus, Role, Seq, SeqRange, SessionId, ToolResult,
    Touched, Usage, WhyRecommended,
};
use segue::limits::{LOOK_BACK_EVENTS, WORTH_KEPT_MAX};
use segue::log::{Commit, Expected, NewEvent};
use segue::projection::{Measured, Staying};
use segue::{ErrorKind, Options, Preview, Scope, Workspace};
use segue_testkit::FixedHost;

use crate::desk::{HANDOFF, continued, person, said, session, workspace};

fn read(thread: SessionId, seq: Seq) -> Event {
    ToolResult {
        call: CallRef { site: None, provider_id: String::new() },
        tool: "read".to_owned(),
        status: ResultStatus::Ok,
        blocks: vec![Block::Text("lines".to_owned())],
        touched: vec![Touched { thread, range: SeqRange::one(seq) }],
        continuation: None,
        provenance: None,
    }
    .into()
}

fn reasons(workspace: &Workspace, session: SessionId) -> Vec<(u64, WhyRecommended)> {
    let recommended = workspace.reader(Scope::Workspace).recommend(session).unwrap();
    recommended.iter().map(|recommended| (recommended.range.from.get(), recommended.why)).collect()
}

/// The same log, with nothing kept in memory.
fn anew(workspace: &Workspace) -> Workspace {
    Workspace::with_options(Arc::clone(workspace.log()), FixedHost::new(), Options::default())
}

#[test]
fn who_kept_it_up_and_who_looks_for_the_first_time_find_the_same() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    for round in 0..5 {
        workspace.append(first, [said(&format!("No, number {round}")), read(first, Seq::FIRST)]).unwrap();
        let kept = reasons(&workspace, first);
        assert_eq!(kept, reasons(&anew(&workspace), first));
        assert!(kept.contains(&(2 + 2 * round, WhyRecommended::Correction)), "{kept:?}");
    }
}

#[test]
fn only_the_newest_events_are_looked_at() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("No, not so.")]).unwrap();
    let filler = (0..LOOK_BACK_EVENTS - 1).map(|_| NewEvent::new(Default::default(), said("and on")));
    let commit = Commit::new().append(first, Expected::AtHead, filler.collect());
    workspace.log().commit(commit).unwrap();
    assert_eq!(reasons(&workspace, first), [(2, WhyRecommended::Correction)]);
    workspace.append(first, [said("one more")]).unwrap();
    assert_eq!(reasons(&workspace, first), []);
    assert_eq!(reasons(&anew(&workspace), first), []);
}

#[test]
fn more_sessions_than_are_kept_change_no_answer() {
    let workspace = workspace();
    let sessions: Vec<_> = (0..=WORTH_KEPT_MAX).map(|_| session(&workspace, "coder")).collect();
    for _ in 0..2 {
        for session in &sessions {
            workspace.append(*session, [said("No.")]).unwrap();
            assert_eq!(reasons(&workspace, *session), reasons(&anew(&workspace), *session));
        }
    }
}

#[test]
fn what_the_agent_may_not_read_is_not_recommended() {
    let workspace = workspace();
    let (own, other) = (session(&workspace, "coder"), session(&workspace, "painter"));
    let first = session(&workspace, "coder");
    let beyond = Seq::new(99).unwrap();
    for thread in [own, other] {
        workspace.append(first, [read(thread, Seq::FIRST), read(thread, Seq::FIRST)]).unwrap();
    }
    workspace.append(first, [read(own, beyond), read(own, beyond)]).unwrap();
    let recommend = |scope| workspace.reader(scope).recommend(first).unwrap();
    let [found] = recommend(Scope::Workspace)[..] else { panic!() };
    assert_eq!((found.thread, found.range), (own, SeqRange::one(Seq::FIRST)));
    assert_eq!(recommend(Scope::Chain(first)), [], "outside the scope reads as not there");
}

#[test]
fn readings_are_counted_along_the_chain_and_inside_the_scope() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("No, not so."), said("begin")]).unwrap();
    let second = continued(&workspace, first, &person("1")).successor;
    let rule = Seq::new(2).unwrap();
    workspace.append(second, [read(first, rule), said("and on")]).unwrap();
    let third = continued(&workspace, second, &person("1")).successor;
    workspace.append(third, [read(first, rule), read(second, rule)]).unwrap();
    let audit = |scope, session| workspace.reader(scope).audit(session);
    let audited = audit(Scope::Workspace, second).unwrap();
    assert_eq!(audited.sessions, [second, third]);
    assert_eq!(audited.audit.sources()[0].readings, 2);
    let of_chain = audit(Scope::Chain(second), second).unwrap();
    assert_eq!((of_chain.sessions, of_chain.audit.sources()[0].readings), (vec![second], 1));
    let outside = audit(Scope::Chain(second), third).unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::SessionNotFound);
    assert_eq!(audit(Scope::Workspace, first).unwrap_err().kind(), ErrorKind::NotContinued);
}

#[test]
fn an_estimate_is_a_count_where_there_is_one_and_writes_nothing() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin")]).unwrap();
    let staying = || {
        let end = workspace.log().end().unwrap();
        let preview = workspace.preview_continuation(first, &person("1"), HANDOFF).unwrap();
        assert_eq!(workspace.log().end().unwrap(), end);
        let Preview::WouldContinue { estimate, projection, .. } = preview else { panic!("{preview:?}") };
        assert_eq!(estimate.continuing.bytes, (projection.text.len() + "begin".len()) as u64);
        estimate.staying
    };
    assert_eq!(staying(), Staying::Measured(Measured { bytes: "[2] user: begin\n".len() as u64 }));
    let mut answer = Message::text(Role::Assistant, Author::Agent, "well");
    answer.usage = Some(Usage { output: Some(7), ..Usage::default() });
    workspace.append(first, [answer.clone()]).unwrap();
    assert!(matches!(staying(), Staying::Measured(_)), "what was said is no prompt");
    answer.usage = Some(Usage { input: Some(10), cache_read: Some(300), ..Usage::default() });
    workspace.append(first, [answer]).unwrap();
    assert_eq!(staying(), Staying::Counted { tokens: 310 });
}

#[test]
fn a_new_topic_is_given_nothing_that_nobody_asked_for() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("No, not so."), said("begin")]).unwrap();
    let recommended = |reason: Reason| {
        let handoff = HANDOFF.replace("phase_change", reason.as_str());
        match workspace.preview_continuation(first, &person("1"), &handoff).unwrap() {
            Preview::WouldContinue { projection, .. } => projection.manifest.recommended.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(Reason::ALL.map(recommended), [0, 1, 1, 1, 1, 1]);
}

#[test]
fn a_fork_is_judged_by_what_it_holds_by_reference_too() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("No, not so."), said("begin"), said("No, otherwise.")]).unwrap();
    let fork = workspace.fork(first, Seq::new(3).unwrap(), "1").unwrap();
    assert_eq!(reasons(&workspace, fork), [(2, WhyRecommended::Correction)]);
    let preview = workspace.preview_continuation(fork, &person("1"), HANDOFF).unwrap();
    let Preview::WouldContinue { estimate, .. } = preview else { panic!("{preview:?}") };
    let bytes = "[2] user: No, not so.\n[3] user: begin\n".len() as u64;
    assert_eq!(estimate.staying, Staying::Measured(Measured { bytes }));
}
