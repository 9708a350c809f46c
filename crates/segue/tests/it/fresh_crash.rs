//! A host that is gone at any step of the way into a fresh session: the same session can be used, or the successor runs.

use std::sync::Arc;
use std::thread;

use segue::event::{Event, FreshTrigger, Role, SessionId, Timestamp, Transition, Usage};
use segue::log::{Depth, EventLog, MemoryLog};
use segue::log_file::FileLog;
use segue::prompt::{Prompt, PromptContent, ToolContract};
use segue::{
    Error, FreshPolicy, Freshened, Host, Options, Said, Scope, Setup, Step, SystemHost, ToolOutput, Turn,
    WhyInPlace, Workspace,
};
use segue_testkit::ScriptedModel;

use crate::crash::{Gone, Mortal, asked};
use crate::desk::events;

fn setup(host: &str) -> Setup {
    let bash = ToolContract::new("bash", "runs a command", &serde_json::json!({"type": "object"}));
    Setup {
        host: host.to_owned(),
        tools: vec![bash],
        fresh: FreshPolicy::At { percent: 80 },
        ..ScriptedModel::setup(1_000)
    }
}

fn begins_with_pointer(prompt: &Prompt) -> bool {
    let first = prompt.transcript.first().and_then(|message| message.content.first());
    matches!(first, Some(PromptContent::Text(text)) if text.starts_with("<context_pointer"))
}

/// A model whose context is full as soon as it called a tool, and who answers from the pointer.
fn model(prompt: &Prompt) -> Said {
    let full = Usage { input: Some(900), ..Usage::default() };
    match begins_with_pointer(prompt) {
        true => Said::text("answered"),
        false => Said::text("I look.").call("b", "bash", "{}").with_usage(full),
    }
}

fn play(mut turn: Turn<'_>) -> Result<(), Error> {
    loop {
        if turn.make_room()? != Step::Prompt {
            return Ok(());
        }
        let prompt = turn.prompt()?;
        let mut step = turn.record(model(&prompt))?;
        while let Step::CallTools(open) = &step {
            let Some(call) = open.first() else { break };
            step = turn.answer(call.site, ToolOutput::text("ok"))?;
        }
        if step != Step::Prompt {
            return Ok(());
        }
    }
}

/// Works off the queue until it is empty, as a host of that name that finds others gone.
fn host(log: Arc<dyn EventLog>, name: &str) -> Result<(), Error> {
    let workspace = Workspace::with_options(log, SystemHost, Options::default());
    let mut queue = workspace.queue()?;
    queue.take_lease(name)?;
    queue.recover(name)?;
    while let Some(turn) = queue.take(&setup(name))? {
        play(turn)?;
    }
    Ok(())
}

/// The successors of a session.
fn successors(workspace: &Workspace, first: SessionId) -> Vec<SessionId> {
    let lineage = workspace.reader(Scope::Workspace).lineage().unwrap();
    lineage.edges_out_of(first).map(|(successor, _)| successor).collect()
}

fn final_answers(workspace: &Workspace, session: SessionId) -> usize {
    let is_answer = |event: &Event| matches!(event, Event::Message(message) if message.role == Role::Assistant && message.blocks.len() == 1);
    events(workspace, session).iter().filter(|event| is_answer(event)).count()
}

/// The request was answered once, in the session or in its one successor, and nothing is left to do.
fn check(workspace: &Workspace, first: SessionId, what: &str) -> usize {
    let successors = successors(workspace, first);
    assert!(successors.len() <= 1, "{what}: {successors:?}");
    let all = || std::iter::once(&first).chain(&successors);
    let answers: usize = all().map(|session| final_answers(workspace, *session)).sum();
    assert_eq!(answers, 1, "{what}: answered once");
    for session in all() {
        let state = workspace.reader(Scope::Workspace).state(*session).unwrap();
        assert!(state.runs.values().all(|run| run.is_over()), "{what}: {:?}", state.runs);
        assert_eq!(state.armed, None, "{what}: settled");
    }
    if let [successor] = successors.as_slice() {
        assert_eq!(final_answers(workspace, *successor), 1, "{what}: by the successor");
        assert_eq!(workspace.recompile(*successor).unwrap().verdict, segue::Verdict::Same, "{what}");
    }
    assert!(workspace.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "{what}");
    successors.len()
}

#[test]
fn wherever_a_host_is_gone_the_session_goes_on_or_its_one_successor_does() {
    let (mut crashes, mut switched) = (0, 0);
    for gone in [Gone::BeforeCommit, Gone::AfterCommit] {
        for commits in 0.. {
            let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
            let (workspace, first) = asked(&log);
            let mortal = Mortal::new(&log, commits, gone);
            let survived = host(Arc::new(mortal), "mortal").is_ok();
            host(log, "next").unwrap();
            switched += check(&workspace, first, &format!("{gone:?} {commits}"));
            if survived && successors(&workspace, first).len() == 1 {
                break;
            }
            crashes += 1;
        }
    }
    assert!(crashes >= 16, "{crashes} crashes: every step was one");
    assert!(
        switched >= crashes - 2,
        "only without an armed record the session goes on itself: {switched} of {crashes}"
    );
}

#[test]
fn a_person_who_asks_again_after_a_crash_has_one_successor() {
    for gone in [Gone::BeforeCommit, Gone::AfterCommit] {
        for commits in 0..5 {
            let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
            let (workspace, first) = asked(&log);
            let mortal = Mortal::new(&log, commits, gone);
            let mortal = Workspace::with_options(Arc::new(mortal), SystemHost, Options::default());
            let lost = mortal.fresh(first, "request");
            let what = format!("{gone:?} {commits}: {lost:?}");
            let Freshened::Switched(continued) = workspace.fresh(first, "request").unwrap() else {
                panic!("{what}");
            };
            assert_eq!(successors(&workspace, first), [continued.successor], "{what}");
            host(Arc::clone(&log), "next").unwrap();
            check(&workspace, first, &what);
        }
    }
}

#[test]
fn one_request_from_many_threads_makes_one_successor() {
    for round in 0..20 {
        let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
        let (workspace, first) = asked(&log);
        let made: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| workspace.fresh(first, "same").unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let expected = successors(&workspace, first);
        assert_eq!(expected.len(), 1, "round {round}: {made:?}");
        for freshened in made {
            let Freshened::Switched(continued) = freshened else { panic!("{round}: {freshened:?}") };
            assert_eq!(continued.successor, expected[0]);
        }
        host(log, "last").unwrap();
        check(&workspace, first, &format!("round {round}"));
    }
}

/// Leaves an armed record, as a host that is gone right behind it.
fn armed(log: &Arc<dyn EventLog>) -> (Workspace, SessionId) {
    let (workspace, first) = asked(log);
    // The pointer and the armed record are written, and the switch is not.
    let mortal = Mortal::new(log, 2, Gone::BeforeCommit);
    let mortal = Workspace::with_options(Arc::new(mortal), SystemHost, Options::default());
    let freshened = mortal.fresh(first, "lost").unwrap();
    assert!(matches!(freshened, Freshened::InPlace(WhyInPlace::Failed(_))), "{freshened:?}");
    assert!(workspace.reader(Scope::Workspace).state(first).unwrap().armed.is_some());
    (workspace, first)
}

#[test]
fn an_armed_record_is_used_once_however_many_find_it() {
    for round in 0..20 {
        let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
        let (workspace, first) = armed(&log);
        thread::scope(|scope| {
            for number in 0..8 {
                let (workspace, name) = (&workspace, format!("host {number}"));
                scope.spawn(move || {
                    let mut queue = workspace.queue().unwrap();
                    queue.take_lease(&name).unwrap();
                    // Another one may have the lease by now.
                    drop(queue.recover(&name));
                });
            }
        });
        host(log, "last").unwrap();
        assert_eq!(check(&workspace, first, &format!("round {round}")), 1);
    }
}

#[test]
fn two_workspaces_on_one_store_use_it_once_too() {
    let folder = tempfile::tempdir().unwrap();
    let open = || -> Arc<dyn EventLog> {
        Arc::new(FileLog::open(folder.path(), segue::log_file::Options::default()).unwrap())
    };
    for round in 0..8 {
        let (one, other) = (open(), open());
        let (workspace, first) = armed(&one);
        let beside = Workspace::with_options(Arc::clone(&other), SystemHost, Options::default());
        let made: Vec<_> = thread::scope(|scope| {
            let threads =
                [&workspace, &beside].map(|at| scope.spawn(move || at.fresh(first, "lost").unwrap()));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let expected = successors(&workspace, first);
        assert_eq!(expected.len(), 1, "round {round}: {made:?}");
        for freshened in &made {
            assert!(
                matches!(freshened, Freshened::Switched(continued) if continued.successor == expected[0]),
                "round {round}: {made:?}"
            );
        }
        drop(workspace);
        host(one, "last").unwrap();
        check(&beside, first, &format!("round {round}"));
    }
}

/// A clock that stands some time after that of the machine.
struct Later(i64);

impl Host for Later {
    fn now(&self) -> Timestamp {
        let now = SystemHost.now();
        Timestamp { micros: now.micros + self.0, ..now }
    }

    fn random(&self) -> [u8; 10] {
        SystemHost.random()
    }
}

#[test]
fn an_armed_record_that_is_too_old_is_only_told_of_and_that_once() {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let (workspace, first) = armed(&log);
    let late = Workspace::with_options(Arc::clone(&log), Later(61_000_000), Options::default());
    let mut queue = late.queue().unwrap();
    queue.take_lease("next").unwrap();
    assert_eq!(queue.recover("next").unwrap().kept, [(first, WhyInPlace::Late)]);
    assert_eq!(queue.recover("next").unwrap().kept, []);
    let notices = || {
        let notes = events(&workspace, first).into_iter();
        notes.filter(|event| matches!(event, Event::ErrorNoted(_))).count()
    };
    assert_eq!(notices(), 1);
    host(log, "next").unwrap();
    assert_eq!(check(&workspace, first, "late"), 0);
    assert_eq!(notices(), 1);
}

#[test]
fn the_next_turn_of_the_session_finishes_what_was_armed() {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let (workspace, first) = armed(&log);
    let mut turn = workspace.turn(first, &setup("next")).unwrap().unwrap();
    let Step::Continued(continued) = turn.make_room().unwrap() else { panic!("it was armed") };
    assert_eq!(successors(&workspace, first), [continued.successor]);
    let edge = workspace.reader(Scope::Workspace).state(continued.successor).unwrap().edge.unwrap();
    let Transition::Fresh(fresh) = edge.transition else { panic!("{edge:?}") };
    assert_eq!(fresh.trigger, FreshTrigger::Person { request: "lost".to_owned() });
}
