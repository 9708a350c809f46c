//! Tasks that a turn gives away, waits for, and is told of.

use segue::event::{Lane, ResultStatus, RunOutcome, SessionId};
use segue::{Said, Scope, Sent, Step, Workspace};

use crate::desk::{HANDOFF, user};
use crate::stage::{asked, begin, results, setup, texts};

#[test]
fn a_task_is_waited_for_and_its_result_told() {
    let (workspace, first) = asked("count the files");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let arguments = r#"{"task": "count", "title": "Count", "resultSchema": {"type": "integer"}}"#;
    assert_eq!(turn.record(Said::default().call("a", "delegate", arguments)).unwrap(), Step::Prompt);
    turn.prompt().unwrap();
    assert_eq!(turn.record(Said::text("I wait.")).unwrap(), Step::Parked);
    assert!(workspace.turn(first, &setup()).unwrap().is_none(), "the task is not done");

    let state = workspace.reader(Scope::Workspace).state(first).unwrap();
    let child = state.runs.values().next().unwrap().children[0];
    let mut working = begin(&workspace, child.session);
    let prompt = working.prompt().unwrap();
    let names: Vec<_> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.contains(&"return_result") && !names.contains(&"continue_session"), "{names:?}");
    assert_eq!(working.record(Said::text("there are 3")).unwrap(), Step::Prompt, "the result is owed");
    assert!(working.prompt().unwrap().blocks.concat().contains("return_result"));
    working.record(Said::default().call("r", "return_result", r#"{"result": 3}"#)).unwrap();
    working.prompt().unwrap();
    assert_eq!(working.record(Said::text("done")).unwrap(), Step::Done(RunOutcome::Succeeded));

    let mut turn = begin(&workspace, first);
    let texts = texts(&turn.prompt().unwrap());
    let last = texts.last().unwrap();
    assert!(last.contains("outcome=\"succeeded\"") && last.contains("\n3\n"), "{last}");
    assert_eq!(turn.record(Said::text("three")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_message_wakes_a_run_that_waits_and_it_waits_again_afterwards() {
    let (workspace, first) = asked("count");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let said = Said::default().call("a", "delegate", r#"{"task": "count the files"}"#).call(
        "b",
        "delegate",
        r#"{"task": "count the lines"}"#,
    );
    turn.record(said).unwrap();
    turn.prompt().unwrap();
    assert_eq!(turn.record(Said::text("I wait.")).unwrap(), Step::Parked);
    let state = workspace.reader(Scope::Workspace).state(first).unwrap();
    let children = state.runs.values().next().unwrap().children.clone();
    let answer = |child: usize, text: &str| {
        let mut working = begin(&workspace, children[child].session);
        working.prompt().unwrap();
        assert_eq!(working.record(Said::text(text)).unwrap(), Step::Done(RunOutcome::Succeeded));
    };
    answer(0, "three files");
    assert!(workspace.turn(first, &setup()).unwrap().is_none(), "one task is not done");

    assert!(matches!(workspace.send(first, &user("how far?"), Lane::Interactive).unwrap(), Sent::Behind(_)));
    let mut queue = workspace.queue().unwrap();
    let startable: Vec<_> = queue.board().startable().iter().map(|(_, run)| run.session).collect();
    assert_eq!(startable, [first, children[1].session]);
    let mut turn = queue.take(&setup()).unwrap().unwrap();
    let told = texts(&turn.prompt().unwrap());
    assert!(told[told.len() - 2].contains("three files"), "what is over is told: {told:?}");
    assert_eq!(told.last().unwrap(), "how far?");
    assert_eq!(turn.record(Said::text("The lines are to come.")).unwrap(), Step::Parked);
    assert!(workspace.turn(first, &setup()).unwrap().is_none());

    answer(1, "nine lines");
    let mut turn = begin(&workspace, first);
    let told = texts(&turn.prompt().unwrap()).concat();
    assert_eq!(
        (told.matches("three files").count(), told.matches("nine lines").count()),
        (1, 1),
        "each once"
    );
    assert_eq!(turn.record(Said::text("done")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_run_that_owes_a_result_and_gives_none_has_failed() {
    let (workspace, first) = asked("count");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let arguments = r#"{"task": "count", "resultSchema": {"type": "integer"}}"#;
    turn.record(Said::default().call("a", "delegate", arguments)).unwrap();
    let state = workspace.reader(Scope::Workspace).state(first).unwrap();
    let child = state.runs.values().next().unwrap().children[0];
    let mut working = begin(&workspace, child.session);
    for _ in 0..3 {
        assert_eq!(working.record(Said::text("no")).unwrap(), Step::Prompt);
    }
    assert!(matches!(working.record(Said::text("no")).unwrap(), Step::Done(RunOutcome::Failed(_))));
}

#[test]
fn a_result_that_does_not_fit_is_not_taken() {
    let (workspace, first) = asked("count");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let arguments = r#"{"task": "count", "resultSchema": {"type": "integer"}}"#;
    turn.record(Said::default().call("a", "delegate", arguments)).unwrap();
    let state = workspace.reader(Scope::Workspace).state(first).unwrap();
    let child = state.runs.values().next().unwrap().children[0];
    let is_integer = |schema: &str, value: &str| {
        assert_eq!(schema, r#"{"type":"integer"}"#);
        value.parse::<u64>().map(drop).map_err(|_| format!("{value} is no integer"))
    };
    let mut working = begin(&workspace, child.session).checking_results(is_integer);
    working.record(Said::default().call("r", "return_result", r#"{"result": "three"}"#)).unwrap();
    working.record(Said::default().call("r", "return_result", r#"{"result": 3}"#)).unwrap();
    let told: Vec<_> = results(&workspace, child.session).into_iter().map(|(_, status, _)| status).collect();
    assert_eq!(told, [ResultStatus::Error, ResultStatus::Ok]);
    let state = workspace.reader(Scope::Workspace).state(child.session).unwrap();
    assert_eq!(state.runs[&child.run].returned.as_deref(), Some("3"));
}

/// The child that a session's run delegated last.
fn newest_child(workspace: &Workspace, session: SessionId) -> segue::continuation::Child {
    let state = workspace.reader(Scope::Workspace).state(session).unwrap();
    *state.runs.values().next().unwrap().children.last().unwrap()
}

fn work_off(workspace: &Workspace, session: SessionId, words: &str) {
    let mut working = begin(workspace, session);
    working.prompt().unwrap();
    assert_eq!(working.record(Said::text(words)).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_task_that_is_done_before_its_run_would_end_is_told_all_the_same() {
    let (workspace, first) = asked("count the files");
    let mut turn = begin(&workspace, first);
    turn.record(Said::default().call("a", "delegate", r#"{"task": "count"}"#)).unwrap();
    work_off(&workspace, newest_child(&workspace, first).session, "there are three");
    assert_eq!(turn.record(Said::text("I wait.")).unwrap(), Step::Parked);
    let mut turn = begin(&workspace, first);
    assert!(texts(&turn.prompt().unwrap()).last().unwrap().contains("there are three"));
    assert_eq!(turn.record(Said::text("three")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn what_became_of_a_task_is_told_once() {
    let (workspace, first) = asked("count the files");
    for words in ["there are three", "there are four"] {
        let mut turn = begin(&workspace, first);
        turn.record(Said::default().call("", "delegate", r#"{"task": "count"}"#)).unwrap();
        assert_eq!(turn.record(Said::text("I wait.")).unwrap(), Step::Parked);
        work_off(&workspace, newest_child(&workspace, first).session, words);
    }
    let told = texts(&begin(&workspace, first).prompt().unwrap()).concat();
    assert_eq!((told.matches("there are three").count(), told.matches("there are four").count()), (1, 1));
}

#[test]
fn nothing_is_asked_for_while_tasks_are_waited_for() {
    let (workspace, first) = asked("count the files");
    let mut turn = begin(&workspace, first);
    let plan = r#"{"steps": [{"id": "1", "label": "count", "status": "active"}]}"#;
    let said = Said::default().call("a", "plan", plan).call("b", "delegate", r#"{"task": "count"}"#);
    turn.record(said).unwrap();
    assert_eq!(turn.record(Said::text("I wait.")).unwrap(), Step::Parked);
    work_off(&workspace, newest_child(&workspace, first).session, "there are three");
    let mut turn = begin(&workspace, first);
    assert_eq!(turn.record(Said::text("three")).unwrap(), Step::Prompt, "now the plan is asked for");
}

#[test]
fn calls_are_told_apart_by_their_place_where_a_provider_gives_ids_again() {
    let (workspace, first) = asked("begin");
    let mut turn = begin(&workspace, first);
    for task in ["one", "two"] {
        let arguments = format!(r#"{{"task": "{task}"}}"#);
        turn.record(Said::default().call("call_0", "delegate", &arguments)).unwrap();
        assert_eq!(
            texts(&begin(&workspace, newest_child(&workspace, first).session).prompt().unwrap()),
            [task]
        );
    }
    let (workspace, first) = asked("begin");
    let mut turn = begin(&workspace, first);
    assert_eq!(turn.record(Said::default().call("call_0", "continue_session", "{}")).unwrap(), Step::Prompt);
    let step = turn.record(Said::default().call("call_0", "continue_session", HANDOFF)).unwrap();
    assert!(matches!(step, Step::Continued(_)), "a call that was mended is another call: {step:?}");
}
