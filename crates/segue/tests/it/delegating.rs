//! Tasks that a run gives to sessions of their own.

use segue::continuation::{Batch, Refusal, RunPhase};
use segue::event::{
    Author, CallRef, EdgeKind, Event, Lane, Message, Role, RunEnded, RunId, RunOutcome, RunQueued,
    RunWaiting, Seq, SessionId,
};
use segue::thread::Chain;
use segue::{Asker, ErrorKind, Outcome, Scope, Setup, Task, ToolCaller, Workspace};

use crate::desk::{HANDOFF, events, said, session, workspace};

const RUN: RunId = RunId::from_bytes([1; 16]);

fn by_call(call: &str) -> Asker {
    let call = CallRef { site: None, provider_id: call.to_owned() };
    Asker::Tool(ToolCaller { run: RUN, attempt: 1, call, batch: Batch::First })
}

fn task() -> Task {
    let schema = Some(r#"{"type": "object"}"#.to_owned());
    Task { text: "count the files".to_owned(), title: "Count".to_owned(), result_schema: schema }
}

/// A session whose run is open.
fn parent(workspace: &Workspace) -> SessionId {
    let parent = session(workspace, "coder");
    let queued = RunQueued {
        run: RUN,
        lane: Lane::Background,
        trigger: Seq::new(2).unwrap(),
        parent: None,
        attempt: 1,
        result_schema: None,
    };
    workspace.append(parent, [said("begin"), queued.into()]).unwrap();
    parent
}

#[test]
fn a_child_begins_with_its_task_and_its_parent_knows_it() {
    let workspace = workspace();
    let parent = parent(&workspace);
    let child = workspace.delegate(parent, RUN, &by_call("c1"), &task()).unwrap();
    let [started, message, queued] = events(&workspace, child.session).try_into().unwrap();
    let Event::SessionStarted(started) = started else { panic!("{started:?}") };
    let edge = started.edge.unwrap();
    assert_eq!((edge.kind(), edge.predecessor, edge.origin), (EdgeKind::Delegate, parent, child.session));
    assert_eq!(message, Message::text(Role::User, Author::Agent, "count the files").into());
    let Event::RunQueued(queued) = queued else { panic!("{queued:?}") };
    assert_eq!((queued.run, queued.parent, queued.lane), (child.run, Some(RUN), Lane::Background));
    assert_eq!(queued.result_schema, task().result_schema);
    let state = workspace.reader(Scope::Workspace).state(parent).unwrap();
    let run = &state.runs[&RUN];
    assert_eq!((run.children.len(), run.children[0].session), (1, child.session));
    assert_eq!(run.phase, RunPhase::Queued);
}

#[test]
fn the_same_call_gets_the_same_child_and_another_call_another() {
    let workspace = workspace();
    let parent = parent(&workspace);
    let one = workspace.delegate(parent, RUN, &by_call("c1"), &task()).unwrap();
    assert_eq!(workspace.delegate(parent, RUN, &by_call("c1"), &Task::default()).unwrap(), one);
    assert_ne!(workspace.delegate(parent, RUN, &by_call("c2"), &task()).unwrap(), one);
}

#[test]
fn a_childs_chain_is_its_own() {
    let workspace = workspace();
    let parent = parent(&workspace);
    let child = workspace.delegate(parent, RUN, &by_call("c1"), &task()).unwrap();
    let chain = Chain::of(&**workspace.log(), child.session).unwrap();
    assert_eq!(chain.sessions().collect::<Vec<_>>(), [child.session]);
    let lineage = workspace.reader(Scope::Workspace).lineage().unwrap();
    assert_eq!(lineage.chain(child.session), [child.session]);
    assert_eq!(lineage.edge_into(child.session).unwrap().predecessor, parent);
}

#[test]
fn a_run_continues_only_when_its_tasks_are_done() {
    let workspace = workspace();
    let parent = parent(&workspace);
    let child = workspace.delegate(parent, RUN, &by_call("c1"), &task()).unwrap();
    let refused = workspace.continue_session(parent, &by_call("c2"), HANDOFF).unwrap();
    assert_eq!(refused, Outcome::Refused(Refusal::ChildrenParked { count: 1 }));
    workspace.append(child.session, [RunEnded { run: child.run, outcome: RunOutcome::Succeeded }]).unwrap();
    let untold = workspace.continue_session(parent, &by_call("c3"), HANDOFF).unwrap();
    assert_eq!(untold, Outcome::Refused(Refusal::ChildrenParked { count: 1 }), "its result would be lost");
    workspace.append(parent, [RunWaiting { run: RUN }]).unwrap();
    drop(workspace.turn(parent, &Setup::default()).unwrap().unwrap());
    let continued = workspace.continue_session(parent, &by_call("c4"), HANDOFF).unwrap();
    assert!(matches!(continued, Outcome::Continued(_)), "{continued:?}");
}

#[test]
fn who_lost_the_run_gives_no_task_away_and_continues_nothing() {
    let workspace = workspace();
    let parent = parent(&workspace);
    let again = RunQueued {
        run: RUN,
        lane: Lane::Background,
        trigger: Seq::new(2).unwrap(),
        parent: None,
        attempt: 2,
        result_schema: None,
    };
    workspace.append(parent, [again]).unwrap();
    let error = workspace.delegate(parent, RUN, &by_call("c1"), &task()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoOpenRun);
    let refused = workspace.continue_session(parent, &by_call("c2"), HANDOFF).unwrap();
    assert_eq!(refused, Outcome::Refused(Refusal::NoRun));
}

#[test]
fn what_is_over_gives_no_task_away() {
    let workspace = workspace();
    let parent = parent(&workspace);
    workspace.append(parent, [RunEnded { run: RUN, outcome: RunOutcome::Cancelled }]).unwrap();
    let error = workspace.delegate(parent, RUN, &by_call("c1"), &task()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoOpenRun);
}
