//! One run of an agent, step by step.

use segue::continuation::RunPhase;
use segue::event::{Lane, ModelName, ResultStatus, RunOutcome, Usage};
use segue::prompt::{PromptContent, PromptRole, ToolContract, Windows};
use segue::{ErrorKind, Said, Scope, Sent, Setup, Step, ToolOutput, Turn, Workspace};

use crate::desk::{HANDOFF, session, user};
use crate::stage::{asked, begin, calls, results, setup, texts};

#[test]
fn a_plain_answer_ends_the_run() {
    let (workspace, first) = asked("hello");
    let mut turn = begin(&workspace, first);
    let prompt = turn.prompt().unwrap();
    assert_eq!(texts(&prompt), ["hello"]);
    assert_eq!(turn.record(Said::text("hi")).unwrap(), Step::Done(RunOutcome::Succeeded));
    assert_eq!(turn.prompt().unwrap_err().kind(), ErrorKind::NoOpenRun);
    assert!(workspace.turn(first, &setup()).unwrap().is_none(), "nothing is queued any more");
}

#[test]
fn tools_answer_in_any_order_and_are_shown_in_the_order_of_the_calls() {
    let (workspace, first) = asked("look");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let said = Said::text("two at once").call("a", "bash", "{\"n\":1}").call("b", "bash", "{\"n\":2}");
    let open = calls(turn.record(said).unwrap());
    assert_eq!(open.len(), 2);
    assert_eq!(turn.prompt().unwrap_err().kind(), ErrorKind::ResultsAwaited);
    let left = calls(turn.answer(open[1].site, ToolOutput::text("second")).unwrap());
    assert_eq!(left, open[..1]);
    assert_eq!(
        turn.answer(open[1].site, ToolOutput::text("again")).unwrap_err().kind(),
        ErrorKind::NoSuchCall
    );
    assert_eq!(turn.answer(open[0].site, ToolOutput::failed("first")).unwrap(), Step::Prompt);
    assert_eq!(texts(&turn.prompt().unwrap()), ["look", "two at once", "first", "second"]);
    assert_eq!(turn.record(Said::text("done")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_prompt_is_the_beginning_of_the_next_one() {
    let (workspace, first) = asked("look");
    let mut turn = begin(&workspace, first);
    let one = turn.prompt().unwrap();
    let open = calls(turn.record(Said::text("looking").call("", "bash", "{}")).unwrap());
    turn.answer(open[0].site, ToolOutput::text("a.txt")).unwrap();
    let two = turn.prompt().unwrap();
    assert_eq!(two.transcript[..one.transcript.len()], one.transcript[..]);
    assert_eq!((&two.system, &two.tools), (&one.system, &one.tools));
    let [.., call, result] = two.transcript.as_slice() else { panic!() };
    let [_, PromptContent::ToolCall { id, .. }] = call.content.as_slice() else { panic!("{call:?}") };
    let [PromptContent::ToolResult { id: of, .. }] = result.content.as_slice() else { panic!("{result:?}") };
    assert_eq!((id, id.as_str()), (of, "call_6_1"), "a call without an id gets one from its place");
}

#[test]
fn the_built_in_tools_write_what_they_are_asked_to() {
    let (workspace, first) = asked("plan it");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let plan = r#"{"steps": [{"id": 1, "label": "read", "status": "active"}]}"#;
    let said = Said::default()
        .call("a", "status", r#"{"title": "Parser", "description": "begun"}"#)
        .call("b", "plan", plan)
        .call("c", "status", "{}")
        .call("d", "shell", "{}");
    assert_eq!(turn.record(said).unwrap(), Step::Prompt);
    let prompt = turn.prompt().unwrap();
    assert_eq!(
        prompt.blocks.concat(),
        "<plan_state>\n- [active] 1: read\n</plan_state>\n<session_status title=\"Parser\">begun</session_status>\n"
    );
    let statuses: Vec<_> =
        results(&workspace, first).into_iter().map(|(tool, status, _)| (tool, status)).collect();
    let of = |tool: &str, status| (tool.to_owned(), status);
    let (ok, error) = (ResultStatus::Ok, ResultStatus::Error);
    assert_eq!(statuses, [of("status", ok), of("plan", ok), of("status", error), of("shell", error)]);
}

#[test]
fn a_hosts_tools_have_names_of_their_own() {
    let (workspace, first) = asked("hello");
    let named = |name: &str| ToolContract::new(name, "", &serde_json::json!({}));
    for names in [["bash", "bash"], ["bash", "recall"]] {
        let setup = Setup { tools: names.map(named).to_vec(), ..setup() };
        let Err(error) = workspace.turn(first, &setup) else { panic!("{names:?}") };
        assert_eq!(error.kind(), ErrorKind::ToolNameTaken);
    }
}

#[test]
fn a_users_title_stays() {
    let (workspace, first) = asked("hello");
    let title = segue::event::Title { text: "Mine".to_owned(), source: segue::event::TitleSource::User };
    workspace.append(first, [segue::event::SessionTitled { title }]).unwrap();
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    turn.record(Said::default().call("a", "status", r#"{"title": "Theirs"}"#)).unwrap();
    assert!(turn.prompt().unwrap().blocks.concat().contains("title=\"Mine\""));
}

#[test]
fn open_steps_are_asked_for_three_times_and_then_let_go() {
    let (workspace, first) = asked("plan it");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let plan = r#"{"steps": [{"id": "1", "label": "read", "status": "pending"}]}"#;
    turn.record(Said::default().call("a", "plan", plan)).unwrap();
    for _ in 0..3 {
        turn.prompt().unwrap();
        assert_eq!(turn.record(Said::text("I am done.")).unwrap(), Step::Prompt);
        assert!(turn.prompt().unwrap().blocks.concat().contains("<obligations>"));
    }
    assert_eq!(turn.record(Said::text("I am done.")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_message_that_comes_while_a_run_is_at_work_is_taken_before_the_next_prompt() {
    let (workspace, first) = asked("begin");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    assert_eq!(
        workspace.send(first, &user("and this"), Lane::Interactive).unwrap(),
        Sent::Behind(turn.run())
    );
    assert_eq!(turn.record(Said::text("done?")).unwrap(), Step::Prompt, "somebody said something meanwhile");
    assert_eq!(texts(&turn.prompt().unwrap()), ["begin", "done?", "and this"]);
    assert_eq!(turn.record(Said::text("done")).unwrap(), Step::Done(RunOutcome::Succeeded));
    let again = workspace.send(first, &user("once more"), Lane::Interactive).unwrap();
    assert!(matches!(again, Sent::ToRun(_)));
}

#[test]
fn the_verb_ends_the_turn_after_its_siblings_and_carries_queued_messages_along() {
    let (workspace, first) = asked("begin");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let said = Said::default()
        .call("a", "continue_session", HANDOFF)
        .call("b", "bash", "{}")
        .call("c", "continue_session", HANDOFF)
        .call("d", "delegate", r#"{"task": "count"}"#);
    let open = calls(turn.record(said).unwrap());
    workspace.send(first, &user("wait, also this"), Lane::Interactive).unwrap();
    let Step::Continued(continued) = turn.answer(open[0].site, ToolOutput::text("ok")).unwrap() else {
        panic!()
    };
    assert_eq!(turn.prompt().unwrap_err().kind(), ErrorKind::NoOpenRun);
    let told: Vec<_> =
        results(&workspace, first).into_iter().map(|(tool, status, _)| (tool, status)).collect();
    let of = |tool: &str, status| (tool.to_owned(), status);
    let (ok, error) = (ResultStatus::Ok, ResultStatus::Error);
    let expected =
        [of("delegate", error), of("bash", ok), of("continue_session", error), of("continue_session", ok)];
    assert_eq!(told, expected);

    let mut next = begin(&workspace, continued.successor);
    let prompt = next.prompt().unwrap();
    let told = texts(&prompt);
    let [projection, rest @ ..] = told.as_slice() else { panic!("{told:?}") };
    assert!(projection.starts_with("<session_continuation"), "{projection}");
    assert_eq!(rest, ["begin", "wait, also this"]);
    assert!(workspace.reader(Scope::Workspace).state(first).unwrap().waiting_messages.is_empty());
    assert_eq!(next.record(Said::text("here I am")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn pressure_is_shown_once_the_provider_has_counted() {
    let (workspace, first) = asked("begin");
    let mut turn = begin(&workspace, first);
    assert!(!turn.prompt().unwrap().blocks.concat().contains("<context_usage"), "nobody knows yet");
    let usage = Usage { input: Some(100), cache_read: Some(600), cache_write: Some(160), output: Some(9) };
    turn.record(Said::default().call("a", "status", r#"{"description": "d"}"#).with_usage(usage)).unwrap();
    assert!(
        turn.prompt()
            .unwrap()
            .blocks
            .concat()
            .contains("<context_usage tokens=\"860\" window=\"1000\" percent=\"86\">")
    );
}

#[test]
fn what_was_cut_off_is_taken_up_again_with_interrupted_results_in_the_prompt_only() {
    let (workspace, first) = asked("look");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let open = calls(turn.record(Said::default().call("a", "bash", "{}").call("b", "bash", "{}")).unwrap());
    turn.answer(open[0].site, ToolOutput::text("one")).unwrap();
    let RunPhase::Queued = turn.retry("the provider is gone").unwrap() else { panic!() };
    let before = results(&workspace, first);

    let mut again = begin(&workspace, first);
    let prompt = again.prompt().unwrap();
    let texts = texts(&prompt);
    assert_eq!(texts[..2], ["look", "one"]);
    assert!(texts[2].starts_with("interrupted"), "{texts:?}");
    assert_eq!(prompt.transcript.last().unwrap().role, PromptRole::Tool);
    assert_eq!(results(&workspace, first), before, "nothing is made up in the record");
    assert_eq!(again.record(Said::text("fine")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_run_that_was_taken_from_a_turn_takes_nothing_more_from_it() {
    let (workspace, first) = asked("look");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let ended = segue::event::RunEnded { run: turn.run(), outcome: RunOutcome::Cancelled };
    workspace.append(first, [ended]).unwrap();
    let before = workspace.log().head(first).unwrap();
    assert_eq!(turn.record(Said::text("too late")).unwrap_err().kind(), ErrorKind::NoOpenRun);
    assert_eq!(workspace.log().head(first).unwrap(), before);
}

#[test]
fn a_run_is_tried_three_times() {
    let (workspace, first) = asked("look");
    for attempt in 1..=3 {
        let phase = begin(&workspace, first).retry("no").unwrap();
        assert_eq!(phase == RunPhase::Queued, attempt < 3, "{phase:?}");
    }
    assert!(workspace.turn(first, &setup()).unwrap().is_none());
}

#[test]
fn threads_are_read_back_page_by_page_and_only_ones_own() {
    let (workspace, first) = asked(&"<excerpt> é".repeat(20_000));
    let other = session(&workspace, "stranger");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let mut cursor = String::new();
    let mut read = String::new();
    loop {
        let arguments = match cursor.as_str() {
            "" => r#"{"toSeq": 2}"#.to_owned(),
            cursor => format!(r#"{{"toSeq": 2, "cursor": "{cursor}"}}"#),
        };
        turn.record(Said::default().call("a", "read", &arguments)).unwrap();
        let (_, status, text) = results(&workspace, first).pop().unwrap();
        assert_eq!(status, ResultStatus::Ok, "{text}");
        assert!(text.len() < 70_000);
        let (head, body) = text.split_once('\n').unwrap();
        let body = body.strip_suffix("</excerpt>\n").unwrap();
        read.push_str(body.split_once("goes on)\n  ").map_or(body, |(_, rest)| rest).trim_end_matches('\n'));
        match head.split_once("cursor=\"") {
            Some((_, rest)) => cursor = rest.split_once('"').unwrap().0.to_owned(),
            None => break,
        }
    }
    let expected = format!("[2] user: {}", "<excerpt> é".repeat(20_000));
    assert!(segue::frame::unescape(&read) == expected, "every byte comes back");
    turn.record(Said::default().call("b", "read", &format!(r#"{{"thread": "thread:{other}"}}"#))).unwrap();
    let (_, status, text) = results(&workspace, first).pop().unwrap();
    assert_eq!((status, text), (ResultStatus::Error, format!("there is no thread {other}")));
}

#[test]
fn a_setup_for_a_model_knows_its_window_or_none() {
    let name = |model: &str| ModelName { provider: "acme".to_owned(), model: model.to_owned() };
    let windows = Windows::shipped().with([(name("big"), 5_000)]);
    let big = setup().for_model(&windows, name("big"));
    assert_eq!((big.window_tokens, big.model), (Some(5_000), Some(name("big"))));
    assert_eq!(setup().for_model(&windows, name("nobody-knows")).window_tokens, None);
}

#[test]
fn a_message_that_came_behind_a_run_that_then_failed_is_answered_by_another() {
    let ends: [fn(Turn<'_>); 3] = [
        |turn| turn.fail("no").unwrap(),
        |turn| turn.cancel().unwrap(),
        |turn| drop(turn.retry("no").unwrap()),
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let (workspace, first) = asked("begin");
        for _ in 0..2 * (number / 2) {
            begin(&workspace, first).retry("no").unwrap();
        }
        let turn = begin(&workspace, first);
        let run = turn.run();
        assert_eq!(workspace.send(first, &user("and this"), Lane::Interactive).unwrap(), Sent::Behind(run));
        end(turn);
        let mut next = begin(&workspace, first);
        assert_ne!(next.run(), run);
        assert_eq!(texts(&next.prompt().unwrap()), ["begin", "and this"]);
        assert_eq!(next.record(Said::text("yes")).unwrap(), Step::Done(RunOutcome::Succeeded));
        assert!(workspace.turn(first, &setup()).unwrap().is_none(), "and once only");
    }
}

#[test]
fn a_session_has_one_run_at_work() {
    let (workspace, first) = asked("begin");
    let turn = begin(&workspace, first);
    let failed = turn.run();
    turn.fail("no").unwrap();
    workspace.send(first, &user("again"), Lane::Interactive).unwrap();
    let mut turn = begin(&workspace, first);
    let again = workspace.retry_run(first, failed).unwrap();
    assert_eq!(workspace.retry_run(first, failed).unwrap(), again, "a run that waits is not queued twice");
    assert!(workspace.turn(first, &setup()).unwrap().is_none(), "another run is at work");
    turn.record(Said::text("yes")).unwrap();
    assert_eq!(begin(&workspace, first).run(), again);
}

/// A host in whose workspace something happens while a continuation is made.
struct Interrupting {
    ids: segue_testkit::FixedHost,
    meanwhile: std::sync::Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl segue::Host for Interrupting {
    fn now(&self) -> segue::event::Timestamp {
        self.ids.now()
    }

    fn random(&self) -> [u8; 10] {
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        self.ids.random().map(|byte| byte ^ 0xff)
    }
}

fn open_plan() -> segue::event::Plan {
    let status = segue::event::StepStatus::Active;
    let step = segue::event::PlanStep { id: "1".to_owned(), label: "read".to_owned(), status };
    segue::event::Plan { owner: None, steps: vec![step] }
}

#[test]
fn a_continuation_that_was_decided_before_a_prompt_and_made_behind_it_does_not_change_it() {
    let (workspace, first) = asked("begin");
    workspace.append(first, [open_plan()]).unwrap();
    let log = std::sync::Arc::clone(workspace.log());
    let meanwhile = move || {
        let prompt = begin(&workspace, first).prompt().unwrap();
        assert!(prompt.blocks.concat().contains("<plan_state>"));
    };
    let meanwhile = std::sync::Mutex::new(Some(Box::new(meanwhile) as Box<dyn FnOnce() + Send>));
    let host = Interrupting { ids: segue_testkit::FixedHost::new(), meanwhile };
    let persons = Workspace::with_options(log, host, segue::Options::default());
    crate::desk::continued(&persons, first, &crate::desk::person("1"));
    let receipt = persons.receipts(first).unwrap().pop().unwrap();
    let rebuilt = persons.rebuild_prompt(first, receipt.seq).unwrap();
    assert_eq!(rebuilt.verdict, segue::ReceiptVerdict::Same);
}

#[test]
fn a_plan_that_a_person_carried_over_while_the_model_was_asked_is_not_asked_for() {
    let (workspace, first) = asked("begin");
    workspace.append(first, [open_plan()]).unwrap();
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    crate::desk::continued(&workspace, first, &crate::desk::person("1"));
    assert_eq!(turn.record(Said::text("done")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_carried_plan_is_owed_by_the_run_that_adopts_it() {
    let (workspace, first) = asked("begin");
    let mut turn = begin(&workspace, first);
    let plan = r#"{"steps": [{"id": "1", "label": "read", "status": "active"}]}"#;
    turn.record(Said::default().call("a", "plan", plan)).unwrap();
    let said = Said::default().call("b", "continue_session", HANDOFF);
    let Step::Continued(continued) = turn.record(said).unwrap() else { panic!() };
    let mut turn = begin(&workspace, continued.successor);
    for _ in 0..3 {
        assert_eq!(turn.record(Said::text("no")).unwrap(), Step::Prompt);
    }
    assert_eq!(turn.record(Said::text("no")).unwrap(), Step::Done(RunOutcome::Succeeded));
    workspace.send(continued.successor, &user("something else"), Lane::Interactive).unwrap();
    let mut turn = begin(&workspace, continued.successor);
    assert_eq!(turn.record(Said::text("fine")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_run_that_is_tried_again_owes_the_plan_of_the_one_that_failed() {
    let (workspace, first) = asked("begin");
    workspace.append(first, [open_plan()]).unwrap();
    let turn = begin(&workspace, first);
    let failed = turn.run();
    turn.fail("no").unwrap();
    workspace.retry_run(first, failed).unwrap();
    assert_eq!(begin(&workspace, first).record(Said::text("done")).unwrap(), Step::Prompt);
}
