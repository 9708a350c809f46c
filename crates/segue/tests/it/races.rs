//! Many at once: one asker gets one successor, and agents never make more than they may.

use std::collections::BTreeSet;
use std::thread;

use segue::continuation::Batch;
use segue::continuation::caps::AGENT_SUCCESSORS_MAX;
use segue::event::{CallRef, Lane, RunId, RunQueued, Seq};
use segue::{Asker, Outcome, ToolCaller};

use crate::desk::{HANDOFF, continued, person, said, session, session_count, workspace};

#[test]
fn one_request_from_many_threads_makes_one_successor() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin")]).unwrap();
    let made: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| continued(&workspace, first, &person("same")))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let successors: BTreeSet<_> = made.iter().map(|made| made.successor).collect();
    assert_eq!(successors.len(), 1);
    assert_eq!(made.iter().filter(|made| !made.replayed).count(), 1);
    assert_eq!(session_count(&workspace), 2);
}

#[test]
fn agents_at_once_never_make_too_many() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin")]).unwrap();
    let runs: Vec<_> = (1..=12).map(|number| RunId::from_bytes([number; 16])).collect();
    let queue = |run: &RunId| RunQueued {
        run: *run,
        lane: Lane::Interactive,
        trigger: Seq::new(2).unwrap(),
        parent: None,
        attempt: 1,
        result_schema: None,
    };
    workspace.append(first, runs.iter().map(queue)).unwrap();
    let ask = |run: RunId| {
        let call = CallRef { site: None, provider_id: "c".to_owned() };
        Asker::Tool(ToolCaller { run, attempt: 1, call, batch: Batch::First })
    };
    let outcomes: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = runs
            .iter()
            .map(|run| scope.spawn(|| workspace.continue_session(first, &ask(*run), HANDOFF).unwrap()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let made = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Continued(_))).count();
    assert_eq!(made, AGENT_SUCCESSORS_MAX);
    assert_eq!(session_count(&workspace), 1 + AGENT_SUCCESSORS_MAX);
}
