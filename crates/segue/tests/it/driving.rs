//! Turns driven to their end, on threads and on a bare executor.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll, Waker};

use segue::continuation::RunPhase;
use segue::event::{Event, Lane, ResultStatus, RunOutcome, SessionId};
use segue::prompt::ToolContract;
use segue::{Driven, Said, Setup, ToolOutput, Workspace, drive, drive_async};
use segue_testkit::ScriptedModel;

use crate::desk::{HANDOFF, events, session, user, workspace};

fn setup() -> Setup {
    let tool = |name| ToolContract::new(name, "a tool", &serde_json::json!({"type": "object"}));
    Setup { tools: vec![tool("left"), tool("right")], ..ScriptedModel::setup(1_000) }
}

fn asked() -> (Workspace, SessionId) {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.send(first, &user("go"), Lane::Interactive).unwrap();
    (workspace, first)
}

fn both() -> ScriptedModel {
    ScriptedModel::new()
        .says(Said::text("both").call("a", "left", "{}").call("b", "right", "{}"))
        .says(Said::text("done"))
}

/// How many results a session holds, by whether they are fine.
fn results(workspace: &Workspace, session: SessionId) -> Vec<ResultStatus> {
    let all = events(workspace, session).into_iter().filter_map(|event| match event {
        Event::ToolResult(result) => Some(result.status),
        _ => None,
    });
    all.collect()
}

/// Polls a future until it is ready; it must not wait for anything outside.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("the future never becomes ready");
}

/// Lets whatever else is polled go first, once.
async fn step_aside() {
    let mut is_first = true;
    std::future::poll_fn(|_| match std::mem::replace(&mut is_first, false) {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
    .await;
}

#[test]
fn tools_of_one_answer_run_at_once() {
    let (workspace, first) = asked();
    let turn = workspace.turn(first, &setup()).unwrap().unwrap();
    let mut model = both();
    // Neither tool gets past the barrier unless the other one runs at the same time.
    let barrier = Barrier::new(2);
    let tool = |call: &segue::HostCall| {
        barrier.wait();
        ToolOutput::text(&call.call.name)
    };
    let driven = drive(turn, |prompt| model.answer(prompt), tool).unwrap();
    assert_eq!(driven, Driven::Done(RunOutcome::Succeeded));
    assert_eq!(results(&workspace, first), [ResultStatus::Ok; 2]);
    assert_eq!((model.asked().len(), model.left()), (2, 0));
}

#[test]
fn so_they_do_without_threads() {
    let (workspace, first) = asked();
    let turn = workspace.turn(first, &setup()).unwrap().unwrap();
    let mut model = both();
    let order = std::cell::RefCell::new(Vec::new());
    let tool = async |call: segue::HostCall| {
        order.borrow_mut().push(format!("{} begins", call.call.name));
        step_aside().await;
        order.borrow_mut().push(format!("{} ends", call.call.name));
        ToolOutput::text("")
    };
    let driven = block_on(drive_async(turn, async |prompt| model.answer(&prompt), tool)).unwrap();
    assert_eq!(driven, Driven::Done(RunOutcome::Succeeded));
    let order = order.into_inner();
    let begun: Vec<_> = order.iter().take(2).map(String::as_str).collect();
    assert_eq!((begun.as_slice(), order.len()), (["left begins", "right begins"].as_slice(), 4));
    assert_eq!(results(&workspace, first).len(), 2);
}

#[test]
fn a_model_that_fails_is_asked_again_by_a_later_attempt() {
    let (workspace, first) = asked();
    let mut model = ScriptedModel::new().fails("overloaded").says(Said::text("done"));
    let mut go = || {
        let turn = workspace.turn(first, &setup()).unwrap()?;
        Some(drive(turn, |prompt| model.answer(prompt), |_| ToolOutput::text("")).unwrap())
    };
    assert_eq!(go(), Some(Driven::GivenUp(RunPhase::Queued)));
    assert_eq!(go(), Some(Driven::Done(RunOutcome::Succeeded)));
    assert_eq!(go(), None);
}

#[test]
fn a_model_that_always_fails_fails_the_run_with_its_reason() {
    let (workspace, first) = asked();
    let mut last = None;
    while let Some(turn) = workspace.turn(first, &setup()).unwrap() {
        let model = async |_| Err::<Said, _>("no such model");
        last = Some(block_on(drive_async(turn, model, async |_| ToolOutput::text(""))).unwrap());
    }
    let failed = RunOutcome::Failed("no such model".to_owned());
    assert_eq!(last, Some(Driven::GivenUp(RunPhase::Ended(failed))));
}

#[test]
fn a_continuation_ends_the_turn() {
    let (workspace, first) = asked();
    let turn = workspace.turn(first, &setup()).unwrap().unwrap();
    let said = || Ok::<_, Infallible>(Said::default().call("c", "continue_session", HANDOFF));
    let driven = drive(turn, |_| said(), |_| ToolOutput::text("")).unwrap();
    let Driven::Continued(continued) = driven else { panic!("{driven:?}") };
    let turn = workspace.turn(continued.successor, &setup()).unwrap().unwrap();
    let driven = drive(turn, |_| Ok::<_, Infallible>(Said::text("on")), |_| ToolOutput::text("")).unwrap();
    assert_eq!(driven, Driven::Done(RunOutcome::Succeeded));
}

/// A runtime of several threads can move the future between them.
#[test]
fn the_future_can_be_sent() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let (workspace, first) = asked();
    let turn = workspace.turn(first, &setup()).unwrap().unwrap();
    let model = async |_| Ok::<_, Infallible>(Said::text("hi"));
    let driven = block_on(is_send(drive_async(turn, model, async |_| ToolOutput::text("")))).unwrap();
    assert_eq!(driven, Driven::Done(RunOutcome::Succeeded));
}
