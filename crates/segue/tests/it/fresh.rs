//! Contexts that are full, and what becomes of them.

use std::convert::Infallible;
use std::sync::Arc;

use proptest::prelude::*;
use segue::continuation::{PlanSituation, RunPhase};
use segue::event::{
    Author, Block, EdgeKind, Event, FreshOutcome, FreshTrigger, Initiator, Kind, Lane, Message, ModelName,
    ModelOverride, Role, RunOutcome, Seq, SessionId, ToolCall, Transition, Usage, WhyOmitted,
};
use segue::log::{EventLog, MemoryLog};
use segue::projection::{PICTURES_MAX, POINTER_BYTES_MAX};
use segue::prompt::{Prompt, PromptContent};
use segue::thread::Chain;
use segue::{
    Asker, Driven, ErrorKind, FreshPolicy, Freshened, Kept, ModelAnswer, Options, ReceiptVerdict, Said,
    Scope, Setup, StandIn, Step, SystemHost, Task, ToolOutput, Turn, Verdict, WhyInPlace, Workspace, drive,
};
use segue_testkit::{ScriptedModel, strategies};

use crate::crash::{Gone, Mortal};
use crate::desk::{continued, events, person, said, session, user, workspace};
use crate::stage::{asked, calls, texts};

fn setup() -> Setup {
    Setup {
        host: "host 1".to_owned(),
        fresh: FreshPolicy::At { percent: 80 },
        model: ScriptedModel::setup(1_000).model,
        ..crate::stage::setup()
    }
}

fn begin(workspace: &Workspace, session: SessionId) -> Turn<'_> {
    workspace.turn(session, &setup()).unwrap().unwrap()
}

fn at(tokens: u64, said: Said) -> Said {
    said.with_usage(Usage { input: Some(tokens), ..Usage::default() })
}

fn successor(step: Step) -> SessionId {
    let Step::Continued(continued) = step else { panic!("{step:?}") };
    continued.successor
}

fn trigger(workspace: &Workspace, successor: SessionId) -> FreshTrigger {
    let edge = workspace.reader(Scope::Workspace).state(successor).unwrap().edge.unwrap();
    let Transition::Fresh(fresh) = edge.transition else { panic!("{edge:?}") };
    fresh.trigger
}

fn kinds(workspace: &Workspace, session: SessionId, from: usize) -> Vec<Kind> {
    events(workspace, session).iter().skip(from).map(Event::kind).collect()
}

fn notices(workspace: &Workspace, session: SessionId) -> Vec<String> {
    let all = events(workspace, session).into_iter().filter_map(|event| match event {
        Event::ErrorNoted(noted) => Some(noted.message),
        _ => None,
    });
    all.collect()
}

fn is_pointer(prompt: &Prompt) -> bool {
    let first = prompt.transcript.first().and_then(|message| message.content.first());
    matches!(first, Some(PromptContent::Text(text)) if text.starts_with("<context_pointer"))
}

/// A turn that said something which fills the context, and called a tool.
fn full_turn(workspace: &Workspace, session: SessionId) -> (Turn<'_>, Step) {
    let mut turn = begin(workspace, session);
    turn.prompt().unwrap();
    let open = calls(turn.record(at(800, Said::text("I look.").call("1", "bash", "{}"))).unwrap());
    let step = turn.answer(open.first().unwrap().site, ToolOutput::text("ok")).unwrap();
    (turn, step)
}

#[test]
fn in_the_middle_of_a_run_the_successor_goes_on_with_it() {
    let (workspace, first) = asked("write a parser");
    let before = events(&workspace, first).len() + 4;
    let (mut turn, step) = full_turn(&workspace, first);
    let next = successor(step);
    assert_eq!(turn.prompt().unwrap_err().kind(), ErrorKind::NoOpenRun, "the turn is over");
    assert_eq!(trigger(&workspace, next), FreshTrigger::MidRun);
    let told = [Kind::ContextCompacted, Kind::FreshArmed, Kind::RunEnded, Kind::FreshSettled];
    assert_eq!(kinds(&workspace, first, before), told, "nothing of the predecessor changes but what is told");
    let opening = [Kind::SessionStarted, Kind::Message, Kind::RunQueued];
    assert_eq!(kinds(&workspace, next, 0), opening);
    let state = workspace.reader(Scope::Workspace).state(next).unwrap();
    let edge = state.edge.clone().unwrap();
    assert_eq!((edge.kind(), edge.predecessor, edge.origin), (EdgeKind::Fresh, first, first));
    assert!(matches!(edge.initiator, Initiator::Runtime { .. }));
    let runs = workspace.reader(Scope::Workspace).state(first).unwrap().runs;
    assert!(runs.values().all(|run| matches!(run.phase, RunPhase::Ended(RunOutcome::Continued(_)))));
    let prompt = begin(&workspace, next).prompt().unwrap();
    assert_eq!(prompt.transcript.len(), 1, "nothing of the old context is retained");
    assert!(texts(&prompt)[0].contains("] user: write a parser\n"), "{prompt:?}");
    assert_eq!(workspace.recompile(next).unwrap().verdict, Verdict::Same);
    let pointer = Seq::new(before as u64 + 1).unwrap();
    assert_eq!(workspace.recompile_pointer(first, pointer).unwrap().verdict, Verdict::Same);
    let chain = Chain::of(&**workspace.log(), next).unwrap();
    assert_eq!(chain.sessions().collect::<Vec<_>>(), [next, first]);
}

#[test]
fn below_the_threshold_and_without_a_policy_nothing_happens() {
    let (workspace, first) = asked("write a parser");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let open = calls(turn.record(at(799, Said::default().call("1", "bash", "{}"))).unwrap());
    assert_eq!(turn.answer(open[0].site, ToolOutput::text("ok")).unwrap(), Step::Prompt);
    drop(turn);
    let (workspace, first) = asked("write a parser");
    let mut turn = crate::stage::begin(&workspace, first);
    turn.prompt().unwrap();
    assert_eq!(turn.record(at(999, Said::text("done"))).unwrap(), Step::Done(RunOutcome::Succeeded));
    assert!(!kinds(&workspace, first, 0).contains(&Kind::ContextCompacted));
}

#[test]
fn at_the_end_of_a_run_the_successor_waits_for_its_first_message() {
    let (workspace, first) = asked("hello");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let next = successor(turn.record(at(900, Said::text("hello yourself"))).unwrap());
    assert_eq!(trigger(&workspace, next), FreshTrigger::RunEnd);
    assert!(workspace.turn(next, &setup()).unwrap().is_none(), "what was answered is not answered again");
    let state = workspace.reader(Scope::Workspace).state(first).unwrap();
    assert!(state.runs.values().all(|run| run.phase == RunPhase::Ended(RunOutcome::Succeeded)));
    workspace.send(next, &user("and now?"), Lane::Interactive).unwrap();
    let prompt = begin(&workspace, next).prompt().unwrap();
    assert!(is_pointer(&prompt) && texts(&prompt)[0].contains("which was answered"), "{prompt:?}");
    assert_eq!(texts(&prompt)[1], "and now?");
}

#[test]
fn what_somebody_stopped_does_not_begin_again_by_itself() {
    let (workspace, first) = asked("push it");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    turn.record(Said::text("I push.").call("c", "bash", "{}")).unwrap();
    turn.cancel().unwrap();
    let Freshened::Switched(continued) = workspace.fresh(first, "1").unwrap() else { panic!() };
    assert!(workspace.turn(continued.successor, &setup()).unwrap().is_none(), "no run is queued");
    workspace.append(first, [said("now what?")]).unwrap();
    let Freshened::Switched(continued) = workspace.fresh(first, "2").unwrap() else { panic!() };
    assert!(workspace.turn(continued.successor, &setup()).unwrap().is_some(), "what was asked later is open");
}

#[test]
fn before_a_prompt_the_run_moves() {
    let (workspace, first) = asked("hello");
    let mut turn = crate::stage::begin(&workspace, first);
    turn.prompt().unwrap();
    turn.record(at(900, Said::text("hello yourself"))).unwrap();
    workspace.send(first, &user("and now?"), Lane::Background).unwrap();
    let mut turn = begin(&workspace, first);
    let next = successor(turn.make_room().unwrap());
    assert_eq!(trigger(&workspace, next), FreshTrigger::BeforePrompt);
    let run = workspace.reader(Scope::Workspace).state(next).unwrap().runs.into_values().next().unwrap();
    assert_eq!(run.lane, Lane::Background);
    assert!(texts(&begin(&workspace, next).prompt().unwrap())[0].contains("] user: and now?\n"));
}

#[test]
fn an_overflow_is_the_successor_whatever_the_policy() {
    let (workspace, first) = asked("write a parser");
    let mut turn = crate::stage::begin(&workspace, first);
    turn.prompt().unwrap();
    let step = turn.overflowed().unwrap();
    assert_eq!(step, Step::Prompt, "no model is set: the pointer stands in the same session");
    assert!(is_pointer(&turn.prompt().unwrap()));
    assert!(
        matches!(turn.overflowed().unwrap(), Step::Done(RunOutcome::Failed(_))),
        "it cannot be any shorter"
    );
    let (workspace, first) = asked("write a parser");
    let never = Setup { fresh: FreshPolicy::Never, ..setup() };
    let mut turn = workspace.turn(first, &never).unwrap().unwrap();
    turn.prompt().unwrap();
    assert_eq!(trigger(&workspace, successor(turn.overflowed().unwrap())), FreshTrigger::Overflow);
}

#[test]
fn a_driver_goes_on_with_the_successor() {
    let (workspace, first) = asked("write a parser");
    let mut queue = workspace.queue().unwrap();
    let mut answers = vec![
        ModelAnswer::Said(at(100, Said::text("I look.").call("1", "bash", "{}"))),
        ModelAnswer::TooLong,
        ModelAnswer::Said(at(900, Said::text("Here it is."))),
    ]
    .into_iter();
    let mut ends = Vec::new();
    while let Some(turn) = queue.take(&setup()).unwrap() {
        let model = |_: &Prompt| Ok::<_, Infallible>(answers.next().unwrap());
        ends.push(drive(turn, model, |_| ToolOutput::text("ok")).unwrap());
    }
    assert!(matches!(ends.as_slice(), [Driven::Continued(_), Driven::Continued(_)]), "{ends:?}");
    let sessions = workspace.reader(Scope::Workspace).sessions(None, 9).unwrap();
    assert_eq!(sessions.len(), 3, "an overflow, and the threshold at the end");
    assert_eq!(Chain::of(&**workspace.log(), sessions[0].session).unwrap().sessions().last(), Some(first));
}

#[test]
fn messages_that_come_meanwhile_move_along_once() {
    let (workspace, first) = asked("write a parser");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let open = calls(turn.record(at(850, Said::default().call("1", "bash", "{}"))).unwrap());
    for text in ["shorter", "and faster"] {
        workspace.send(first, &user(text), Lane::Interactive).unwrap();
    }
    let next = successor(turn.answer(open[0].site, ToolOutput::text("ok")).unwrap());
    let prompt = begin(&workspace, next).prompt().unwrap();
    assert_eq!(texts(&prompt)[1..], ["shorter", "and faster"]);
    let state = workspace.reader(Scope::Workspace).state(first).unwrap();
    assert!(state.waiting_messages.is_empty());
    assert!(workspace.turn(first, &setup()).unwrap().is_none());
}

#[test]
fn a_run_that_owes_something_stays_and_gives_it() {
    let (workspace, first) = asked("count the files");
    let mut parent = begin(&workspace, first);
    parent.prompt().unwrap();
    let schema = Some("{}".to_owned());
    let task = Task { text: "count".to_owned(), title: "Count".to_owned(), result_schema: schema };
    let person = Asker::Person { request: "1".to_owned() };
    let child = workspace.delegate(first, parent.run(), &person, &task).unwrap();
    let (mut turn, step) = full_turn(&workspace, child.session);
    assert_eq!(step, Step::Prompt, "the pointer stands in the same session");
    let prompt = turn.prompt().unwrap();
    assert!(is_pointer(&prompt) && prompt.tools.iter().any(|tool| tool.name == "return_result"));
    assert!(texts(&prompt)[0].contains("] agent: count\n"), "{prompt:?}");
    turn.record(Said::default().call("r", "return_result", r#"{"result": 3}"#)).unwrap();
    turn.prompt().unwrap();
    assert_eq!(turn.record(at(900, Said::text("done"))).unwrap(), Step::Done(RunOutcome::Succeeded));
    assert_eq!(notices(&workspace, child.session), [""; 0]);
    // The parent waits for a task by its session, so it stays as well until it was told.
    assert_eq!(parent.record(at(900, Said::text("I wait"))).unwrap(), Step::Parked);
    let freshened = workspace.fresh(first, "now").unwrap();
    assert_eq!(freshened, Freshened::InPlace(WhyInPlace::BoundRun));
    let prompt = begin(&workspace, first).prompt().unwrap();
    assert!(is_pointer(&prompt) && texts(&prompt)[1].contains("Count"), "{prompt:?}");
}

#[test]
fn results_of_tasks_are_told_behind_the_pointer_of_a_full_context() {
    let (workspace, first) = asked("count the files");
    let mut parent = begin(&workspace, first);
    parent.prompt().unwrap();
    let person = |request: &str| Asker::Person { request: request.to_owned() };
    let task = Task { text: "count".to_owned(), title: "Count".to_owned(), result_schema: None };
    let children = ["1", "2"]
        .map(|request| workspace.delegate(first, parent.run(), &person(request), &task).unwrap().session);
    assert_eq!(parent.record(at(900, Said::text("I wait"))).unwrap(), Step::Parked);
    for (child, text) in children.into_iter().zip(["three files", "nine lines"]) {
        let mut turn = begin(&workspace, child);
        turn.prompt().unwrap();
        assert_eq!(turn.record(Said::text(text)).unwrap(), Step::Done(RunOutcome::Succeeded));
    }
    let mut turn = begin(&workspace, first);
    assert_eq!(turn.make_room().unwrap(), Step::Prompt);
    let prompt = turn.prompt().unwrap();
    assert!(is_pointer(&prompt), "{prompt:?}");
    let told = texts(&prompt).concat();
    assert!(told.contains("three files") && told.contains("nine lines"), "{told}");
    assert_eq!(
        turn.record(at(100, Said::text("three and nine"))).unwrap(),
        Step::Done(RunOutcome::Succeeded)
    );
    let seq = (1..).zip(events(&workspace, first)).find(|(_, event)| event.kind() == Kind::ContextCompacted);
    let seq = Seq::new(seq.unwrap().0).unwrap();
    assert_eq!(workspace.recompile_pointer(first, seq).unwrap().verdict, Verdict::Same);
    for receipt in workspace.receipts(first).unwrap() {
        assert_eq!(workspace.rebuild_prompt(first, receipt.seq).unwrap().verdict, ReceiptVerdict::Same);
    }
}

#[test]
fn without_a_model_the_session_goes_on_itself_and_says_so_once() {
    let (workspace, first) = asked("write a parser");
    let nameless = Setup { model: None, ..setup() };
    let mut turn = workspace.turn(first, &nameless).unwrap().unwrap();
    turn.prompt().unwrap();
    let open = calls(turn.record(at(850, Said::default().call("1", "bash", "{}"))).unwrap());
    assert_eq!(turn.answer(open[0].site, ToolOutput::text("ok")).unwrap(), Step::Prompt);
    assert!(is_pointer(&turn.prompt().unwrap()));
    assert_eq!(turn.record(at(100, Said::text("done"))).unwrap(), Step::Done(RunOutcome::Succeeded));
    assert_eq!(
        notices(&workspace, first),
        ["no fresh session was started: no model is set; this one goes on with the pointer"]
    );
    let settled = events(&workspace, first).into_iter().filter_map(|event| match event {
        Event::FreshSettled(settled) => Some(settled.outcome),
        _ => None,
    });
    assert_eq!(settled.collect::<Vec<_>>(), [FreshOutcome::GivenUp("no model is set".to_owned())]);
    // One that the session has of its own will do.
    let (workspace, first) = asked("write a parser");
    let name = ModelName { provider: "p".to_owned(), model: "m".to_owned() };
    workspace.append(first, [ModelOverride { name, settings: String::new() }]).unwrap();
    let mut turn = workspace.turn(first, &nameless).unwrap().unwrap();
    turn.prompt().unwrap();
    successor(turn.overflowed().unwrap());
}

#[test]
fn a_log_that_cannot_be_written_is_told_by_the_answer() {
    for (commits, has_pointer) in [(0, false), (1, true), (2, true)] {
        let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
        let workspace = Workspace::with_options(Arc::clone(&log), SystemHost, Options::default());
        let first = session(&workspace, "coder");
        workspace.send(first, &user("write a parser"), Lane::Interactive).unwrap();
        let mortal = Arc::new(Mortal::new(&log, commits, Gone::BeforeCommit));
        let mortal = Workspace::with_options(mortal, SystemHost, Options::default());
        let freshened = mortal.fresh(first, "1");
        let is_kept = matches!(&freshened, Ok(Freshened::InPlace(WhyInPlace::Failed(_))));
        assert_eq!((freshened.is_err(), is_kept), (!has_pointer, has_pointer), "{commits}: {freshened:?}");
        // The run is there as before, and the pointer too.
        let mut turn = crate::stage::begin(&workspace, first);
        assert_eq!(is_pointer(&turn.prompt().unwrap()), has_pointer);
        assert_eq!(turn.record(Said::text("done")).unwrap(), Step::Done(RunOutcome::Succeeded));
    }
}

#[test]
fn the_agent_went_on_in_the_session_so_it_stays_there() {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let workspace = Workspace::with_options(Arc::clone(&log), SystemHost, Options::default());
    let first = session(&workspace, "coder");
    workspace.send(first, &user("write a parser"), Lane::Interactive).unwrap();
    let mortal = Arc::new(Mortal::new(&log, 2, Gone::BeforeCommit));
    let mortal = Workspace::with_options(mortal, SystemHost, Options::default());
    mortal.fresh(first, "1").unwrap();
    // A host that does not look finds its context with the pointer in it, and goes on.
    let mut turn = crate::stage::begin(&workspace, first);
    turn.prompt().unwrap();
    turn.record(Said::text("the parser stands").call("1", "status", r#"{"title": "Parser"}"#)).unwrap();
    assert_eq!(turn.make_room().unwrap(), Step::Prompt);
    let why = "no fresh session was started: the session went on before; this one goes on with the pointer";
    assert_eq!(notices(&workspace, first), [why]);
    turn.prompt().unwrap();
    assert_eq!(turn.record(Said::text("done")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn pictures_of_the_request_go_along() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    let pictures: Vec<_> = (0..6_u8)
        .map(|number| workspace.attach(&[number], "image/png", &format!("{number}.png")).unwrap())
        .collect();
    let mut message = user("what is on these?");
    message.blocks.extend(pictures.iter().take(2).cloned().map(Block::Image));
    message.attachments = pictures[2..].to_vec();
    workspace.send(first, &message, Lane::Interactive).unwrap();
    workspace.append(first, [Message::text(Role::Assistant, Author::Agent, "I look.")]).unwrap();
    let Freshened::Switched(continued) = workspace.fresh(first, "1").unwrap() else { panic!("not bound") };
    let mut turn = begin(&workspace, continued.successor);
    let shown: Vec<_> = turn.prompt().unwrap().transcript[0].attachments().cloned().collect();
    assert_eq!(shown, pictures[..PICTURES_MAX]);
    // Refused as too long even so, it goes on without them, and then not at all.
    assert_eq!(turn.overflowed().unwrap(), Step::Prompt);
    let prompt = turn.prompt().unwrap();
    assert!(is_pointer(&prompt) && prompt.transcript[0].attachments().next().is_none());
    assert!(matches!(turn.overflowed().unwrap(), Step::Done(RunOutcome::Failed(_))));
}

#[test]
fn the_same_request_gets_the_same_successor() {
    let (workspace, first) = asked("write a parser");
    let preview = workspace.preview_fresh(first).unwrap();
    let before = events(&workspace, first);
    assert!(preview.text.contains("write a parser") && preview.text.len() <= POINTER_BYTES_MAX);
    assert_eq!(events(&workspace, first), before, "a preview writes nothing");
    let Freshened::Switched(one) = workspace.fresh(first, "1").unwrap() else { panic!("not bound") };
    let after = events(&workspace, first);
    let Freshened::Switched(again) = workspace.fresh(first, "1").unwrap() else { panic!("not bound") };
    assert_eq!((again.successor, again.replayed, one.replayed), (one.successor, true, false));
    assert_eq!(events(&workspace, first), after);
    let Freshened::Switched(other) = workspace.fresh(first, "2").unwrap() else { panic!("not bound") };
    assert_ne!(other.successor, one.successor);
    let state = workspace.reader(Scope::Workspace).state(one.successor).unwrap();
    let person = Initiator::Person { request: "1".to_owned() };
    assert_eq!(state.edge.unwrap().initiator, person);
}

#[test]
fn a_person_takes_a_run_over_from_its_host() {
    let (workspace, first) = asked("write a parser");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let Freshened::Switched(continued) = workspace.fresh(first, "1").unwrap() else { panic!("not bound") };
    let error = turn.record(Said::text("too late")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoOpenRun, "what the host still says is refused");
    let mut turn = begin(&workspace, continued.successor);
    turn.prompt().unwrap();
    assert_eq!(turn.record(Said::text("here")).unwrap(), Step::Done(RunOutcome::Succeeded));
}

#[test]
fn a_pointer_is_no_recent_exchange_of_a_continuation() {
    let (workspace, first) = asked("write a parser");
    workspace.compact(first, &StandIn::Pointer, Kept::Nothing).unwrap();
    workspace.append(first, [said("and its tests"), said("now")]).unwrap();
    let made = continued(&workspace, first, &person("1"));
    let recompiled = workspace.recompile(made.successor).unwrap();
    assert_eq!(recompiled.verdict, Verdict::Same);
    let manifest = recompiled.manifest;
    let shown: Vec<_> = manifest.included.iter().map(|included| included.range).collect();
    let [one, other] = shown.as_slice() else { panic!("a run on either side of the pointer: {shown:?}") };
    assert!(manifest.omitted.iter().any(|omitted| omitted.why == WhyOmitted::EarlierProjection));
    assert!(one.to < other.from);
    let text = recompiled.stored;
    assert!(text.contains("user: and its tests\n") && !text.contains("context_pointer"), "{text}");
}

#[test]
fn a_plan_goes_along_and_reads_as_handed_over() {
    let (workspace, first) = asked("write a parser");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let steps = r#"{"steps": [{"id": "1", "label": "grammar", "status": "active"}]}"#;
    let next = successor(turn.record(at(900, Said::default().call("p", "plan", steps))).unwrap());
    let reader = workspace.reader(Scope::Workspace);
    let (state, edge) = (reader.state(first).unwrap(), reader.state(next).unwrap().edge.unwrap());
    assert_eq!(state.plan_situation([&edge]), PlanSituation::HandedOver);
    let prompt = begin(&workspace, next).prompt().unwrap();
    assert!(prompt.blocks.concat().contains("- [active] 1: grammar"), "{prompt:?}");
    assert!(texts(&prompt)[0].contains("Open steps of the plan:\n- [active] 1: grammar\n"), "{prompt:?}");
}

#[test]
fn a_request_is_still_stated_when_the_successor_is_full_as_well() {
    let (workspace, first) = asked("write a parser");
    let (_, step) = full_turn(&workspace, first);
    let second = successor(step);
    let (_, step) = full_turn(&workspace, second);
    let third = successor(step);
    let text = texts(&begin(&workspace, third).prompt().unwrap()).remove(0);
    assert!(text.contains(&format!("in thread:{first}:\n[2] user: write a parser\n")), "{text}");
    assert_eq!(workspace.recompile(third).unwrap().verdict, Verdict::Same);
}

#[test]
fn what_comes_after_a_summary_or_a_pointer_is_counted_anew() {
    let (workspace, first) = asked("hello");
    let mut turn = crate::stage::begin(&workspace, first);
    turn.prompt().unwrap();
    turn.record(at(900, Said::text("hello yourself"))).unwrap();
    let reader = workspace.reader(Scope::Workspace);
    assert!(reader.context(first, Some(1_000)).unwrap().is_some());
    let compacted = workspace.compact(first, &StandIn::Pointer, Kept::From(Seq::FIRST)).unwrap();
    assert_eq!(reader.context(first, Some(1_000)).unwrap(), None);
    let beyond = Kept::From(compacted.at.next());
    let error = workspace.compact(first, &StandIn::Pointer, beyond).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EventNotFound);
}

/// How many events are read on the way from a session of so many messages into a fresh one.
fn events_read(messages: usize) -> usize {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let workspace = Workspace::with_options(Arc::clone(&log), SystemHost, Options::default());
    let first = session(&workspace, "coder");
    let both = |number: usize| {
        let arguments = format!(r#"{{"path": "file {number}"}}"#);
        let call = ToolCall { provider_id: String::new(), name: "edit".to_owned(), arguments };
        let mut answer = Message::text(Role::Assistant, Author::Agent, "I look.");
        answer.blocks.push(Block::ToolCall(call));
        [user(&format!("request {number}")), answer]
    };
    workspace.append(first, (0..messages).flat_map(both)).unwrap();
    let counted = Arc::new(Mortal::new(&log, usize::MAX, Gone::BeforeCommit));
    let workspace =
        Workspace::with_options(Arc::clone(&counted) as Arc<dyn EventLog>, SystemHost, Options::default());
    assert!(matches!(workspace.fresh(first, "1").unwrap(), Freshened::Switched(_)));
    counted.events_read()
}

#[test]
fn a_long_session_is_not_read_any_further_than_a_short_one() {
    let short = events_read(20);
    assert_eq!(events_read(2_000), short);
    assert!(short < 60, "{short}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_was_said_a_pointer_comes_out_again(
        one in strategies::transcript(),
        other in strategies::transcript(),
        kept in any::<prop::sample::Index>(),
    ) {
        let workspace = workspace();
        let first = session(&workspace, "coder");
        workspace.append(first, [vec![said("begin")], one].concat()).unwrap();
        let head = workspace.log().head(first).unwrap().unwrap().seq;
        let kept = Kept::From(Seq::FIRST.plus(kept.index(usize::try_from(head.get()).unwrap()) as u64));
        let compacted = workspace.compact(first, &StandIn::Pointer, kept).unwrap();
        workspace.append(first, [vec![said("and on")], other].concat()).unwrap();
        let Freshened::Switched(continued) = workspace.fresh(first, "1").unwrap() else { panic!("not bound") };
        prop_assert_eq!(workspace.recompile_pointer(first, compacted.at).unwrap().verdict, Verdict::Same);
        let recompiled = workspace.recompile(continued.successor).unwrap();
        prop_assert_eq!(recompiled.verdict, Verdict::Same);
        prop_assert!(recompiled.stored.len() <= POINTER_BYTES_MAX);
    }
}

/// A session whose run is done, and in which a fresh one is armed that was never started.
fn left_armed() -> (Workspace, SessionId) {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let workspace = Workspace::with_options(Arc::clone(&log), SystemHost, Options::default());
    let first = session(&workspace, "coder");
    workspace.append(first, [said("hello")]).unwrap();
    let mortal = Arc::new(Mortal::new(&log, 2, Gone::BeforeCommit));
    let mortal = Workspace::with_options(mortal, SystemHost, Options::default());
    mortal.fresh(first, "of another").unwrap();
    (workspace, first)
}

#[test]
fn a_request_that_finishes_what_another_armed_gets_the_same_successor_again() {
    let (workspace, first) = left_armed();
    let Freshened::Switched(made) = workspace.fresh(first, "mine").unwrap() else { panic!("it stays") };
    for request in ["mine", "of another", "mine"] {
        let Freshened::Switched(again) = workspace.fresh(first, request).unwrap() else { panic!("it stays") };
        assert_eq!((again.successor, again.replayed), (made.successor, true), "{request}");
    }
    assert_eq!(workspace.reader(Scope::Workspace).sessions(None, 9).unwrap().len(), 2);
}

#[test]
fn what_the_host_says_behind_the_pointer_goes_along() {
    let (workspace, first) = left_armed();
    let word = Message::text(Role::User, Author::System, "Go on.");
    workspace.send(first, &word, Lane::Interactive).unwrap();
    let next = successor(begin(&workspace, first).make_room().unwrap());
    let prompt = begin(&workspace, next).prompt().unwrap();
    assert_eq!(texts(&prompt)[1..], ["Go on."]);
}
