//! Whatever hosts, people and models do in whatever order: prompts that providers take, each the beginning of the
//! next, and receipts that hold.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use segue::event::{
    Author, CompactionReason, EdgeKind, Event, Lane, Message, Role, Seq, SeqRange, SessionId,
};
use segue::log::Direction;
use segue::prompt::handoff_note::{HandoffSettings, Retry};
use segue::prompt::{Prompt, PromptContent, PromptRole, ToolContract};
use segue::{Compaction, ReceiptVerdict, Said, Scope, Setup, Step, Tasks, ToolOutput, Workspace};

use crate::desk::{HANDOFF, events, person, session, workspace};

/// What somebody does to one of the sessions, which is drawn with it.
#[derive(Clone, Copy, Debug)]
enum Act {
    Send,
    Fork(u64),
    GoBack,
    Continue,
    Retry,
    Compact,
    Work(Answer),
}

/// What a model says to the next prompts of a session, and what becomes of the turn.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Words,
    Nothing,
    Calls { answered: usize },
    Plan,
    Delegate,
    Verb,
    BadVerb,
    Fail,
    Again,
}

fn acts() -> impl Strategy<Value = Act> {
    use Answer::*;
    let answers = [Words, Words, Nothing, Plan, Delegate, Verb, BadVerb, Fail, Again];
    let calls = (0..3usize).prop_map(|answered| Calls { answered });
    prop_oneof![
        3 => Just(Act::Send),
        1 => (0..12u64).prop_map(Act::Fork),
        1 => Just(Act::GoBack),
        1 => Just(Act::Continue),
        1 => Just(Act::Retry),
        2 => Just(Act::Compact),
        6 => prop::sample::select(answers.to_vec()).prop_map(Act::Work),
        3 => calls.prop_map(Act::Work),
    ]
}

fn setup() -> Setup {
    let bash = ToolContract::new("bash", "runs a command", &serde_json::json!({"type": "object"}));
    Setup { tools: vec![bash], tasks: Tasks::Offered, window_tokens: Some(1_000), ..Setup::default() }
}

fn said(answer: Answer) -> Said {
    let plan = r#"{"steps": [{"id": "1", "label": "read", "status": "active"}]}"#;
    match answer {
        Answer::Words | Answer::Fail | Answer::Again => Said::text("words"),
        Answer::Nothing => Said::text(""),
        Answer::Calls { .. } => Said::text("two").call("c", "bash", "{}").call("", "bash", "{}"),
        Answer::Plan => Said::default().call("c", "plan", plan),
        Answer::Delegate => Said::default().call("c", "delegate", r#"{"task": "count"}"#),
        Answer::Verb => Said::default().call("c", "continue_session", HANDOFF).call("c", "bash", "{}"),
        Answer::BadVerb => Said::default().call("c", "continue_session", "{}"),
    }
}

/// Every call has its result directly behind it, in order, and nothing is empty.
fn check_taken(prompt: &Prompt) {
    let mut open: Vec<&str> = Vec::new();
    for message in &prompt.transcript {
        assert!(!message.content.is_empty(), "{prompt:#?}");
        assert_eq!(message.role == PromptRole::Tool, !open.is_empty(), "{prompt:#?}");
        for content in &message.content {
            match content {
                PromptContent::ToolCall { id, .. } => open.push(id),
                PromptContent::ToolResult { id, .. } => assert_eq!(open.remove(0), id, "{prompt:#?}"),
                PromptContent::Text(text) => assert!(!text.is_empty()),
                _ => {}
            }
        }
    }
    assert!(open.is_empty(), "{prompt:#?}");
}

#[derive(Default)]
struct Seen(BTreeMap<SessionId, Prompt>);

impl Seen {
    fn take(&mut self, session: SessionId, prompt: Prompt) {
        check_taken(&prompt);
        if let Some(before) = self.0.get(&session) {
            assert!(prompt.transcript.starts_with(&before.transcript), "{before:#?}\n{prompt:#?}");
        }
        self.0.insert(session, prompt);
    }
}

fn work(workspace: &Workspace, session: SessionId, answer: Answer, seen: &mut Seen) {
    let Some(mut turn) = workspace.turn(session, &setup()).unwrap() else { return };
    let mut left = if let Answer::Calls { answered } = answer { answered } else { usize::MAX };
    let mut step = Step::Prompt;
    // Twice the same, and then an end as soon as nothing is asked for.
    for round in 0.. {
        if step != Step::Prompt {
            return;
        }
        seen.take(session, turn.prompt().unwrap());
        match answer {
            Answer::Fail => return turn.fail("no").unwrap(),
            Answer::Again => return drop(turn.retry("no").unwrap()),
            _ => {}
        }
        let words = if round < 2 { said(answer) } else { Said::text("done") };
        step = turn.record(words).unwrap();
        while let Step::CallTools(open) = &step {
            if left == 0 {
                return drop(turn.retry("gone").unwrap());
            }
            left -= 1;
            step = turn.answer(open.last().unwrap().site, ToolOutput::text("")).unwrap();
        }
    }
}

fn act(workspace: &Workspace, session: SessionId, number: usize, act: Act, seen: &mut Seen) {
    match act {
        Act::Send => {
            let message = Message::text(Role::User, Author::User, format!("message {number}"));
            workspace.send(session, &message, Lane::Interactive).unwrap();
        }
        Act::Fork(at) => {
            let head = workspace.log().head(session).unwrap().unwrap().seq.get();
            let at = Seq::new(at % head + 1).unwrap();
            workspace.fork(session, at, &number.to_string()).unwrap();
        }
        Act::GoBack => drop(workspace.go_back(session, "")),
        Act::Continue => {
            drop(workspace.continue_session(session, &person(&number.to_string()), HANDOFF).unwrap());
        }
        Act::Retry => {
            let state = workspace.reader(Scope::Workspace).state(session).unwrap();
            for run in state.runs.keys() {
                drop(workspace.retry_run(session, *run));
            }
        }
        Act::Compact => compact(workspace, session, number),
        Act::Work(answer) => work(workspace, session, answer, seen),
    }
}

/// A harness compacts: a note is taken, now and then its summary takes the place of it, and the agent may be nudged.
fn compact(workspace: &Workspace, session: SessionId, number: usize) {
    let reason = CompactionReason::Threshold;
    let compaction = Compaction { key: number.to_string(), reason, retry: Retry::WillNot };
    workspace.take_note(session, &compaction).unwrap();
    if number.is_multiple_of(3) {
        workspace.consolidate_note(session, &compaction, "a summary").unwrap();
    }
    let settings = HandoffSettings { auto_resume_after_threshold_compaction: true, ..Default::default() };
    if let Some(text) = workspace.follow_up(session, &compaction, &settings).unwrap().text() {
        let message = Message::text(Role::User, Author::System, text);
        workspace.send(session, &message, Lane::Interactive).unwrap();
    }
}

/// No compaction is given twice, nothing is given to a session that does not go on with the work, and between two
/// nudges of a session the user said something.
fn check_notes(workspace: &Workspace) {
    let mut compactions = BTreeSet::new();
    for session in sessions(workspace) {
        let mut is_nudged = false;
        for event in events(workspace, session) {
            match event {
                Event::NoteGiven(given) => {
                    let note = &events_at(workspace, given.session, given.note.seq);
                    let Event::NoteTaken(taken) = note else { panic!("{note:?}") };
                    assert!(compactions.insert((given.session, taken.compaction.clone())), "{given:?}");
                    assert!(is_in_line(workspace, session, given.session), "{session}: {given:?}");
                }
                Event::NudgeSent(_) => assert!(!std::mem::replace(&mut is_nudged, true), "{session}"),
                Event::Message(message) if message.author == Author::User => is_nudged = false,
                _ => {}
            }
        }
    }
}

fn events_at(workspace: &Workspace, session: SessionId, seq: Seq) -> Event {
    let log = workspace.log();
    let mut found = log.read(session, SeqRange::one(seq), Direction::Forward).unwrap();
    found.next().unwrap().unwrap().decode().unwrap().event
}

/// Whether a session is another one, or goes on from it in however many steps.
fn is_in_line(workspace: &Workspace, session: SessionId, ancestor: SessionId) -> bool {
    let state = workspace.reader(Scope::Workspace).state(session).unwrap();
    let is_aside = |kind| matches!(kind, EdgeKind::Fork | EdgeKind::Delegate);
    let before = || state.edge.filter(|edge| !is_aside(edge.kind())).map(|edge| edge.predecessor);
    session == ancestor || before().is_some_and(|before| is_in_line(workspace, before, ancestor))
}

fn sessions(workspace: &Workspace) -> Vec<SessionId> {
    let listed = workspace.reader(Scope::Workspace).sessions(None, 1_000).unwrap();
    let mut all: Vec<_> = listed.into_iter().map(|listed| listed.session).collect();
    all.sort();
    all
}

/// Works off every run there is; nothing that somebody said may be left.
fn work_off(workspace: &Workspace, seen: &mut Seen) {
    let mut queue = workspace.queue().unwrap();
    while let Some(turn) = queue.take(&setup()).unwrap() {
        let session = turn.session();
        drop(turn.retry("to begin anew").unwrap());
        work(workspace, session, Answer::Words, seen);
    }
    assert_eq!(queue.board().startable().len() + queue.board().running().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn prompts_and_receipts_hold(row in prop::collection::vec((0..8usize, acts()), 1..40)) {
        let workspace = workspace();
        session(&workspace, "coder");
        let mut seen = Seen::default();
        for (number, (which, what)) in row.into_iter().enumerate() {
            let all = sessions(&workspace);
            act(&workspace, all[which % all.len()], number, what, &mut seen);
        }
        work_off(&workspace, &mut seen);
        for session in sessions(&workspace) {
            let state = workspace.reader(Scope::Workspace).state(session).unwrap();
            prop_assert!(state.went_back.is_some() || state.waiting_messages.is_empty());
            for receipt in workspace.receipts(session).unwrap() {
                let rebuilt = workspace.rebuild_prompt(session, receipt.seq).unwrap();
                prop_assert_eq!(rebuilt.verdict, ReceiptVerdict::Same);
            }
        }
        check_notes(&workspace);
        prop_assert!(workspace.verify(segue::log::Depth::Full, &mut |_| ()).unwrap().is_sound());
    }
}
