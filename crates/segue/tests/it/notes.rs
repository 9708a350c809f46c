//! Handoff notes: taken once a compaction, given once to whom they belong, and followed up once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use segue::event::{
    AgentId, CompactionReason, Event, Lane, Message, NoteBody, NoteGiven, Role, Seq, SessionId,
};
use segue::log::{EventLog, MemoryLog};
use segue::log_file::FileLog;
use segue::prompt::Prompt;
use segue::prompt::handoff_note::{BULLETS_MAX, HandoffSettings, Resume, Retry};
use segue::{
    Asker, Compaction, ErrorKind, NewSession, Note, Options, ReceiptVerdict, Said, Step, SystemHost, Task,
    ToolOutput, Turn, Workspace,
};

use crate::crash::{Gone, Mortal};
use crate::desk::{HANDOFF, continued, events, person, said, session, user, workspace};
use crate::stage::{begin, calls, setup};

const HEADING: &str = "## Compaction Handoff\n";

fn compaction(key: &str) -> Compaction {
    Compaction { key: key.to_owned(), reason: CompactionReason::Threshold, retry: Retry::WillNot }
}

fn agent_says(text: &str) -> Event {
    Message::text(Role::Assistant, segue::event::Author::Agent, text).into()
}

fn taken(workspace: &Workspace, session: SessionId, key: &str) -> Note {
    workspace.take_note(session, &compaction(key)).unwrap().unwrap()
}

fn bullets(note: &Note) -> &[String] {
    match &note.taken.body {
        NoteBody::Bullets { bullets, .. } => bullets,
        NoteBody::Summary(summary) => panic!("{summary}"),
    }
}

/// A session in which something was said, and a note taken of it.
fn noted(workspace: &Workspace) -> SessionId {
    let first = session(workspace, "coder");
    workspace.append(first, [said("begin"), agent_says("I need to write the tests.")]).unwrap();
    taken(workspace, first, "c1");
    first
}

fn in_folder(workspace: &Workspace, agent: &str, folder: &str) -> SessionId {
    let new =
        NewSession { working_directory: folder.to_owned(), ..NewSession::of(AgentId::new(agent).unwrap()) };
    workspace.start_session(new).unwrap()
}

fn shows(prompt: &Prompt) -> bool {
    prompt.blocks.iter().any(|block| block.starts_with(HEADING))
}

fn given(workspace: &Workspace, session: SessionId) -> Vec<NoteGiven> {
    let all = events(workspace, session).into_iter().filter_map(|event| match event {
        Event::NoteGiven(given) => Some(given),
        _ => None,
    });
    all.collect()
}

fn send(workspace: &Workspace, session: SessionId, text: &str) {
    workspace.send(session, &user(text), Lane::Interactive).unwrap();
}

/// Whether the first prompt of the next turn shows a note; the turn is ended.
fn next_turn_shows(workspace: &Workspace, session: SessionId, text: &str) -> bool {
    send(workspace, session, text);
    let mut turn = begin(workspace, session);
    let prompt = turn.prompt().unwrap();
    turn.record(Said::text("done")).unwrap();
    shows(&prompt)
}

fn check_receipts(workspace: &Workspace, session: SessionId) {
    for receipt in workspace.receipts(session).unwrap() {
        let rebuilt = workspace.rebuild_prompt(session, receipt.seq).unwrap();
        assert_eq!(rebuilt.verdict, ReceiptVerdict::Same, "[{}]", receipt.seq);
    }
}

#[test]
fn a_note_is_made_of_the_last_texts_of_the_whole_session() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    assert_eq!(workspace.take_note(first, &compaction("c1")).unwrap(), None);
    workspace
        .append(first, [said("begin"), agent_says("one"), agent_says("- two"), agent_says(" ")])
        .unwrap();
    workspace.append(first, [agent_says("# Plan\n**three**"), said("and?"), agent_says("four")]).unwrap();
    let note = taken(&workspace, first, "c1");
    assert_eq!(bullets(&note), ["two", "three", "four"]);
    let seqs = [4, 6, 8].map(|number| Seq::new(number).unwrap());
    assert!(matches!(&note.taken.body, NoteBody::Bullets { messages, .. } if *messages == seqs));
    let nobody = SessionId::from_bytes([9; 16]);
    let error = workspace.take_note(nobody, &compaction("c1")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound);
}

#[test]
fn a_note_reads_no_more_of_a_long_session_than_it_is_made_of() {
    let log = Mortal::new(&(Arc::new(MemoryLog::new()) as Arc<dyn EventLog>), usize::MAX, Gone::BeforeCommit);
    let read = Arc::clone(&log.read);
    let workspace = Workspace::with_options(Arc::new(log), SystemHost, Options::default());
    let first = session(&workspace, "coder");
    workspace.append(first, (0..500).map(|number| agent_says(&format!("text {number}")))).unwrap();
    let before = read.load(Ordering::SeqCst);
    assert_eq!(bullets(&taken(&workspace, first, "c1")), ["text 497", "text 498", "text 499"]);
    assert!(read.load(Ordering::SeqCst) - before <= 4);
}

#[test]
fn a_fork_notes_what_it_holds_of_the_other() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin"), agent_says("kept"), agent_says("beyond")]).unwrap();
    let fork = workspace.fork(first, Seq::new(3).unwrap(), "f").unwrap();
    workspace.append(fork, [agent_says("own")]).unwrap();
    assert_eq!(bullets(&taken(&workspace, fork, "c1")), ["kept", "own"]);
}

#[test]
fn one_compaction_has_one_note_whoever_tells_it() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [agent_says("working")]).unwrap();
    let notes: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| taken(&workspace, first, "same"))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(notes.iter().all(|note| Some(note) == notes.first()));
    workspace.append(first, [agent_says("more")]).unwrap();
    assert_eq!(Some(&taken(&workspace, first, "same")), notes.first());
    assert_eq!(bullets(&taken(&workspace, first, "other")), ["working", "more"]);
    let count = events(&workspace, first).iter().filter(|event| matches!(event, Event::NoteTaken(_))).count();
    assert_eq!(count, 2);
}

#[test]
fn of_many_that_ask_at_once_one_is_given_the_note() {
    for _ in 0..20 {
        let workspace = workspace();
        let first = noted(&workspace);
        let second = continued(&workspace, first, &person("1")).successor;
        let give = |asker: usize| {
            let asking = if asker.is_multiple_of(2) { first } else { second };
            workspace.give_note(asking).unwrap()
        };
        let found: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|asker| scope.spawn(move || give(asker))).collect();
            threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(given(&workspace, first).len() + given(&workspace, second).len(), 1);
    }
}

#[test]
fn workspaces_on_one_store_give_a_note_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let log = FileLog::open(folder.path().join("store"), segue::log_file::Options::default()).unwrap();
        Workspace::with_options(Arc::new(log), SystemHost, Options::default())
    };
    let (one, other) = (open(), open());
    for round in 0..10 {
        let first = noted(if round % 2 == 0 { &one } else { &other });
        let found: Vec<_> = thread::scope(|scope| {
            let askers = [&one, &other, &one, &other];
            let threads = askers.map(|here| scope.spawn(move || here.give_note(first).unwrap()));
            threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(found.len(), 1, "round {round}");
        assert!(one.give_note(first).unwrap().is_none() && other.give_note(first).unwrap().is_none());
    }
}

#[test]
fn the_run_that_answers_the_next_message_is_given_it_and_no_later_one() {
    let workspace = workspace();
    let first = noted(&workspace);
    send(&workspace, first, "go on");
    let mut turn = begin(&workspace, first);
    let prompt = turn.prompt().unwrap();
    assert!(shows(&prompt));
    assert!(prompt.blocks.last().unwrap().ends_with("\n- I need to write the tests.\n"));
    let open = calls(turn.record(Said::default().call("b", "bash", "{}")).unwrap());
    turn.answer(open[0].site, ToolOutput::text("ok")).unwrap();
    // The transcript does not hold it, so each prompt of the run shows it.
    assert!(shows(&turn.prompt().unwrap()));
    turn.record(Said::text("done")).unwrap();
    assert!(!next_turn_shows(&workspace, first, "and now?"));
    assert_eq!(given(&workspace, first).len(), 1);
    check_receipts(&workspace, first);
}

#[test]
fn a_note_waits_for_the_users_next_message() {
    let (workspace, first) = crate::stage::asked("begin");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let open = calls(turn.record(Said::text("half done").call("b", "bash", "{}")).unwrap());
    taken(&workspace, first, "c1");
    turn.answer(open[0].site, ToolOutput::text("ok")).unwrap();
    assert!(!shows(&turn.prompt().unwrap()), "nothing was asked since");
    send(&workspace, first, "how far is it?");
    assert!(shows(&turn.prompt().unwrap()), "the run takes the message, and the note with it");
    turn.record(Said::text("done")).unwrap();
    check_receipts(&workspace, first);
}

#[test]
fn of_two_notes_the_newer_is_given_and_the_older_not_any_more() {
    let workspace = workspace();
    let first = noted(&workspace);
    workspace.append(first, [agent_says("newer")]).unwrap();
    let newer = taken(&workspace, first, "c2");
    assert_eq!(workspace.give_note(first).unwrap(), Some(newer));
    assert_eq!(workspace.give_note(first).unwrap(), None);
}

#[test]
fn the_successor_is_given_it_in_place_of_the_predecessor() {
    let workspace = workspace();
    let first = noted(&workspace);
    let second = continued(&workspace, first, &person("1")).successor;
    workspace.append(second, [said("and then?")]).unwrap();
    let third = continued(&workspace, second, &person("1")).successor;
    let mut turn = begin(&workspace, third);
    assert!(shows(&turn.prompt().unwrap()));
    turn.record(Said::text("done")).unwrap();
    assert!(!next_turn_shows(&workspace, third, "again"));
    let mut turn = begin(&workspace, second);
    assert!(!shows(&turn.prompt().unwrap()));
    turn.record(Said::text("done")).unwrap();
    assert!(!next_turn_shows(&workspace, first, "again"));
    check_receipts(&workspace, third);
}

#[test]
fn what_is_taken_in_a_session_after_it_was_continued_is_its_own() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin")]).unwrap();
    let second = continued(&workspace, first, &person("1")).successor;
    workspace.append(first, [agent_says("went on here")]).unwrap();
    taken(&workspace, first, "c1");
    assert_eq!(workspace.give_note(second).unwrap(), None);
    assert!(workspace.give_note(first).unwrap().is_some());
}

#[test]
fn a_note_reaches_no_other_session_folder_agent_fork_or_task() {
    let workspace = workspace();
    let first = in_folder(&workspace, "coder", "/a");
    workspace.append(first, [said("begin"), agent_says("I need to write the tests.")]).unwrap();
    taken(&workspace, first, "c1");
    let head = workspace.log().head(first).unwrap().unwrap().seq;
    let fork = workspace.fork(first, head, "f").unwrap();
    send(&workspace, first, "give it away");
    let turn = begin(&workspace, first);
    let task = Task { text: "a task".to_owned(), title: "task".to_owned(), result_schema: None };
    let asker = Asker::Person { request: "t".to_owned() };
    let child = workspace.delegate(first, turn.run(), &asker, &task).unwrap().session;
    let others = [
        in_folder(&workspace, "coder", "/a"),
        in_folder(&workspace, "coder", "/b"),
        in_folder(&workspace, "writer", "/a"),
    ];
    for other in others.into_iter().chain([fork, child]) {
        assert_eq!(workspace.give_note(other).unwrap(), None);
    }
    for other in others.into_iter().chain([fork]) {
        assert!(!next_turn_shows(&workspace, other, "hello"));
    }
    assert!(workspace.give_note(first).unwrap().is_some());
}

#[test]
fn a_successor_elsewhere_is_not_given_the_note() {
    // Continuing keeps agent and folder; a host can write such a session all the same.
    for (agent, folder) in [("coder", "/b"), ("writer", "/a")] {
        let workspace = workspace();
        let first = in_folder(&workspace, "coder", "/a");
        workspace.append(first, [said("begin"), agent_says("working")]).unwrap();
        taken(&workspace, first, "c1");
        let second = continued(&workspace, first, &person("1")).successor;
        let Some(Event::SessionStarted(mut started)) = events(&workspace, second).into_iter().next() else {
            panic!("a session begins with its start");
        };
        (started.agent, started.working_directory) = (AgentId::new(agent).unwrap(), folder.to_owned());
        let elsewhere = SessionId::from_bytes([7; 16]);
        let event = segue::log::NewEvent::new(segue::event::Timestamp::default(), started);
        let commit = segue::log::Commit::new().append(elsewhere, segue::log::Expected::first(), vec![event]);
        workspace.log().commit(commit).unwrap();
        assert_eq!(workspace.give_note(elsewhere).unwrap(), None, "{agent} in {folder}");
        assert!(!next_turn_shows(&workspace, elsewhere, "hello"));
        assert!(workspace.give_note(second).unwrap().is_some());
    }
}

/// Plays a run to its end on a log whose host may be gone at any commit.
fn play(log: Arc<dyn EventLog>, host: &str) -> Result<(), segue::Error> {
    let workspace = Workspace::with_options(log, SystemHost, Options::default());
    let mut queue = workspace.queue()?;
    queue.take_lease(host)?;
    queue.recover(host)?;
    let setup = segue::Setup { host: host.to_owned(), ..setup() };
    while let Some(turn) = queue.take(&setup)? {
        answer(turn)?;
    }
    Ok(())
}

fn answer(mut turn: Turn<'_>) -> Result<(), segue::Error> {
    turn.prompt()?;
    let step = turn.record(Said::default().call("b", "bash", "{}"))?;
    if let Step::CallTools(open) = step
        && let Some(call) = open.first()
    {
        turn.answer(call.site, ToolOutput::text("ok"))?;
    }
    turn.prompt()?;
    turn.record(Said::text("done"))?;
    Ok(())
}

#[test]
fn wherever_a_host_is_gone_the_note_is_given_once_and_not_lost() {
    let mut crashes = 0;
    for gone in [Gone::BeforeCommit, Gone::AfterCommit] {
        for commits in 0.. {
            let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
            let workspace = Workspace::with_options(Arc::clone(&log), SystemHost, Options::default());
            let first = noted(&workspace);
            send(&workspace, first, "go on");
            let survived = play(Arc::new(Mortal::new(&log, commits, gone)), "mortal").is_ok();
            play(Arc::clone(&log), "next").unwrap();
            let what = format!("{gone:?} {commits}");
            assert_eq!(given(&workspace, first).len(), 1, "{what}");
            let receipts = workspace.receipts(first).unwrap();
            let shown = |at: Seq| shows(&workspace.rebuild_prompt(first, at).unwrap().prompt);
            assert!(receipts.iter().all(|receipt| shown(receipt.seq)), "{what}: every prompt of the run");
            check_receipts(&workspace, first);
            assert!(!next_turn_shows(&workspace, first, "and now?"), "{what}");
            if survived {
                break;
            }
            crashes += 1;
        }
    }
    assert!(crashes >= 14, "{crashes} crashes: every step was one");
}

#[test]
fn a_run_that_is_queued_anew_for_the_same_message_still_has_the_note() {
    let workspace = workspace();
    let first = noted(&workspace);
    send(&workspace, first, "go on");
    let mut turn = begin(&workspace, first);
    let failed = turn.run();
    assert!(shows(&turn.prompt().unwrap()));
    turn.fail("no network").unwrap();
    workspace.retry_run(first, failed).unwrap();
    let mut turn = begin(&workspace, first);
    assert!(shows(&turn.prompt().unwrap()));
    assert_ne!(turn.run(), failed);
    turn.record(Said::text("done")).unwrap();
    check_receipts(&workspace, first);
}

#[test]
fn a_summary_takes_the_place_of_the_note_and_one_of_both_is_given() {
    let workspace = workspace();
    let first = noted(&workspace);
    let made = workspace.consolidate_note(first, &compaction("c1"), "## Goal\na parser").unwrap();
    let replaced = made.replaced.clone().unwrap();
    assert_eq!(made.note.taken.replaces, Some(replaced.at.seq));
    assert_eq!(workspace.consolidate_note(first, &compaction("c1"), "another").unwrap(), made);
    assert_eq!(taken(&workspace, first, "c1"), made.note, "the summary is the note now");
    let note = workspace.give_note(first).unwrap().unwrap();
    assert!(note.handoff().ends_with("\n> ## Goal\n> a parser\n"));
    assert_eq!(workspace.give_note(first).unwrap(), None);

    let second = noted(&workspace);
    workspace.give_note(second).unwrap().unwrap();
    workspace.consolidate_note(second, &compaction("c1"), "late").unwrap();
    assert_eq!(workspace.give_note(second).unwrap(), None, "one compaction gives one note");
    let unheard = workspace.consolidate_note(second, &compaction("c9"), "no note before").unwrap();
    assert_eq!(unheard.replaced, None);
}

fn follow_up(workspace: &Workspace, session: SessionId, key: &str) -> Resume {
    workspace.follow_up(session, &compaction(key), &HandoffSettings::default()).unwrap()
}

#[test]
fn an_agent_is_asked_to_go_on_once_between_two_words_of_the_user() {
    let workspace = workspace();
    let first = noted(&workspace);
    assert_eq!(follow_up(&workspace, first, "c1"), Resume::Continue);
    assert_eq!(follow_up(&workspace, first, "c1"), Resume::No);
    // A harness sends the follow-up in the user's name.
    workspace.append(first, [said("Continue."), agent_says("this is pending")]).unwrap();
    taken(&workspace, first, "c2");
    assert_eq!(follow_up(&workspace, first, "c2"), Resume::No);
    // A task's result, or a timer, is no word of the user.
    let timer = Message::text(Role::User, segue::event::Author::Trigger, "it is Monday");
    workspace.append(first, [timer]).unwrap();
    assert_eq!(follow_up(&workspace, first, "c2"), Resume::No);
    workspace.append(first, [said("and now?")]).unwrap();
    assert_eq!(follow_up(&workspace, first, "c2"), Resume::Continue);
    // The user may say the same word.
    workspace.append(first, [said("Continue."), said("Continue.")]).unwrap();
    assert_eq!(follow_up(&workspace, first, "c2"), Resume::Continue);
}

#[test]
fn a_copied_message_is_no_new_word() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin"), agent_says("this is pending")]).unwrap();
    taken(&workspace, first, "c1");
    assert_eq!(follow_up(&workspace, first, "c1"), Resume::Continue);
    // Continued before the follow-up comes, and after it came in the user's name.
    let early = continued(&workspace, first, &person("1")).successor;
    workspace.append(first, [said("Continue.")]).unwrap();
    let late = continued(&workspace, first, &person("2")).successor;
    for successor in [early, late] {
        workspace.append(successor, [agent_says("still pending")]).unwrap();
        taken(&workspace, successor, "c2");
        assert_eq!(follow_up(&workspace, successor, "c2"), Resume::No);
        workspace.append(successor, [said("go on")]).unwrap();
        assert_eq!(follow_up(&workspace, successor, "c2"), Resume::Continue);
    }
}

#[test]
fn what_waited_when_a_session_was_continued_is_a_word_in_the_successor() {
    let (workspace, first) = crate::stage::asked("begin");
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    workspace.append(first, [agent_says("this is pending")]).unwrap();
    taken(&workspace, first, "c1");
    assert_eq!(follow_up(&workspace, first, "c1"), Resume::Continue);
    turn.prompt().unwrap();
    send(&workspace, first, "and this");
    let step = turn.record(Said::default().call("c", "continue_session", HANDOFF)).unwrap();
    let Step::Continued(second) = step else { panic!("{step:?}") };
    workspace.append(second.successor, [agent_says("this is pending too")]).unwrap();
    taken(&workspace, second.successor, "c1");
    assert_eq!(follow_up(&workspace, second.successor, "c1"), Resume::Continue);
    assert_eq!(follow_up(&workspace, second.successor, "c1"), Resume::No);
}

#[test]
fn an_agent_is_asked_only_where_something_is_left() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    assert_eq!(follow_up(&workspace, first, "nothing was said"), Resume::No);
    workspace.append(first, [said("begin"), agent_says("All is done, nothing pending.")]).unwrap();
    taken(&workspace, first, "c1");
    assert_eq!(follow_up(&workspace, first, "c1"), Resume::No);
    let manual = Compaction { reason: CompactionReason::Manual, ..compaction("c1") };
    let settings = HandoffSettings { auto_resume_after_threshold_compaction: true, ..Default::default() };
    assert_eq!(workspace.follow_up(first, &manual, &settings).unwrap(), Resume::No);
    assert_eq!(workspace.follow_up(first, &compaction("c1"), &settings).unwrap(), Resume::Continue);
}

#[test]
fn of_many_that_ask_whether_to_go_on_one_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let log = FileLog::open(folder.path().join("store"), segue::log_file::Options::default()).unwrap();
        Workspace::with_options(Arc::new(log), SystemHost, Options::default())
    };
    let (one, other) = (open(), open());
    let first = noted(&one);
    let told: Vec<_> = thread::scope(|scope| {
        let askers = [&one, &other, &one, &other, &one, &other, &one, &other];
        let threads = askers.map(|here| scope.spawn(move || follow_up(here, first, "c1")));
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(told.iter().filter(|told| **told == Resume::Continue).count(), 1, "{told:?}");
}

#[test]
fn a_long_history_makes_a_short_note() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    let long: String = (1..=40).map(|number| format!("- line {number}\n")).collect();
    workspace.append(first, [agent_says(&long), agent_says("the newest")]).unwrap();
    let note = taken(&workspace, first, "c1");
    assert_eq!(bullets(&note).len(), BULLETS_MAX);
    assert_eq!(bullets(&note).last().unwrap(), "the newest");
}
