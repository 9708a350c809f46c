//! A host that is gone at any step between the call of the verb and the successor's answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use segue::continuation::RunPhase;
use segue::event::{
    Author, BlobId, Event, KindSet, Lane, Message, Position, Role, RunOutcome, Seq, SeqRange, SessionId,
};
use segue::log::{
    ClaimKey, Commit, Committed, Depth, Direction, EventLog, Head, LogError, LogSize, MemoryLog, RawEvents,
    SessionListing, SessionPage, Wakeups,
};
use segue::prompt::{Prompt, PromptContent, ToolContract};
use segue::{Error, Options, Said, Scope, Setup, Step, SystemHost, ToolOutput, Turn, Workspace};

use crate::desk::{HANDOFF, events, session};

/// When a host is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gone {
    /// Nothing of the commit is written.
    BeforeCommit,
    /// The commit is written, and nobody is told.
    AfterCommit,
}

/// A log whose process is killed at a commit.
struct Mortal {
    log: Arc<dyn EventLog>,
    commits_left: AtomicUsize,
    gone: Gone,
    is_dead: AtomicBool,
}

impl Mortal {
    fn check(&self) -> Result<(), LogError> {
        if self.is_dead.load(Ordering::SeqCst) { Err(LogError::read_only("killed")) } else { Ok(()) }
    }
}

impl EventLog for Mortal {
    fn commit(&self, commit: Commit) -> Result<Committed, LogError> {
        self.check()?;
        let left = self.commits_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_ok() {
            return self.log.commit(commit);
        }
        self.is_dead.store(true, Ordering::SeqCst);
        if self.gone == Gone::AfterCommit {
            self.log.commit(commit)?;
        }
        Err(LogError::read_only("killed"))
    }

    fn read_kinds(
        &self,
        session: SessionId,
        range: SeqRange,
        direction: Direction,
        kinds: KindSet,
    ) -> Result<RawEvents, LogError> {
        self.log.read_kinds(session, range, direction, kinds)
    }

    fn read_log(&self, from: Position) -> Result<RawEvents, LogError> {
        self.log.read_log(from)
    }

    fn head(&self, session: SessionId) -> Result<Option<Head>, LogError> {
        self.log.head(session)
    }

    fn first(&self, session: SessionId) -> Result<Option<Seq>, LogError> {
        self.log.first(session)
    }

    fn end(&self) -> Result<Option<Position>, LogError> {
        self.log.end()
    }

    fn sessions(&self, page: SessionPage) -> Result<Vec<SessionListing>, LogError> {
        self.log.sessions(page)
    }

    fn claimed(&self, key: &ClaimKey) -> Result<Option<Position>, LogError> {
        self.log.claimed(key)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<BlobId, LogError> {
        self.check()?;
        self.log.put_blob(bytes)
    }

    fn blob(&self, id: &BlobId) -> Result<Option<bytes::Bytes>, LogError> {
        self.log.blob(id)
    }

    fn subscribe(&self) -> Wakeups {
        self.log.subscribe()
    }

    fn settle(&self) -> Result<(), LogError> {
        self.log.settle()
    }

    fn size(&self) -> Result<LogSize, LogError> {
        self.log.size()
    }

    fn known_damage(&self) -> Option<LogError> {
        self.log.known_damage()
    }

    fn verify(
        &self,
        depth: Depth,
        progress: &mut dyn FnMut(segue::log::Progress),
    ) -> Result<segue::log::Report, LogError> {
        self.log.verify(depth, progress)
    }
}

fn setup(host: &str) -> Setup {
    let bash = ToolContract::new("bash", "runs a command", &serde_json::json!({"type": "object"}));
    Setup { host: host.to_owned(), tools: vec![bash], ..Setup::default() }
}

/// A model that carries on in a successor, with a sibling call, and answers there.
fn model(prompt: &Prompt) -> Said {
    let first = prompt.transcript.first().and_then(|message| message.content.first());
    match first {
        Some(PromptContent::Text(text)) if text.starts_with("<session_continuation") => {
            Said::text("answered")
        }
        _ => Said::default().call("b", "bash", "{}").call("c", "continue_session", HANDOFF),
    }
}

fn play(mut turn: Turn<'_>) -> Result<(), Error> {
    loop {
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

fn asked(log: &Arc<dyn EventLog>) -> (Workspace, SessionId) {
    let workspace = Workspace::with_options(Arc::clone(log), SystemHost, Options::default());
    let first = session(&workspace, "coder");
    let message = Message::text(Role::User, Author::User, "go on");
    workspace.send(first, &message, Lane::Interactive).unwrap();
    (workspace, first)
}

/// Exactly one successor, its run queued once and answered once, and the predecessor's turn closed.
fn check(workspace: &Workspace, first: SessionId, what: &str) {
    let reader = workspace.reader(Scope::Workspace);
    let sessions = reader.sessions(None, 100).unwrap();
    assert_eq!(sessions.len(), 2, "{what}: one successor");
    let state = reader.state(first).unwrap();
    let phases: Vec<_> = state.runs.values().map(|run| run.phase.clone()).collect();
    assert!(
        matches!(phases.as_slice(), [RunPhase::Ended(RunOutcome::Continued(_))]),
        "{what}: the predecessor's turn is closed: {phases:?}"
    );
    let successor = sessions.iter().map(|overview| overview.session).find(|id| *id != first).unwrap();
    let state = reader.state(successor).unwrap();
    assert_eq!(state.runs.len(), 1, "{what}");
    assert!(state.runs.values().all(|run| run.phase == RunPhase::Ended(RunOutcome::Succeeded)), "{what}");
    let answers = events(workspace, successor)
        .into_iter()
        .filter(|event| matches!(event, Event::Message(message) if message.role == Role::Assistant));
    assert_eq!(answers.count(), 1, "{what}: answered once");
    assert!(workspace.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "{what}");
}

#[test]
fn wherever_a_host_is_gone_there_is_one_successor_and_it_answers() {
    let mut crashes = 0;
    for gone in [Gone::BeforeCommit, Gone::AfterCommit] {
        for commits in 0.. {
            let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
            let (workspace, first) = asked(&log);
            let mortal = Mortal {
                log: Arc::clone(&log),
                commits_left: AtomicUsize::new(commits),
                gone,
                is_dead: AtomicBool::new(false),
            };
            let survived = host(Arc::new(mortal), "mortal").is_ok();
            host(log, "next").unwrap();
            check(&workspace, first, &format!("{gone:?} {commits}"));
            if survived {
                break;
            }
            crashes += 1;
        }
    }
    assert!(crashes >= 18, "{crashes} crashes: every step was one");
}

#[test]
fn two_hosts_that_race_make_one_successor_too() {
    for round in 0..20 {
        let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
        let (workspace, first) = asked(&log);
        thread::scope(|scope| {
            for name in ["one", "other"] {
                let log = Arc::clone(&log);
                // The one that comes second shuts the first one out, wherever that is.
                scope.spawn(move || drop(host(log, name)));
            }
        });
        host(Arc::clone(&log), "last").unwrap();
        check(&workspace, first, &format!("round {round}"));
    }
}
