//! A host that is gone at any step between the call of the verb and the successor's answer.
//!
//! First at each commit in turn, in memory; then real processes, which race on one store and are killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use segue::continuation::RunPhase;
use segue::event::{
    Author, BlobId, Event, KindSet, Lane, Message, Position, Role, RunOutcome, Seq, SeqRange, SessionId,
};
use segue::log::{
    ClaimKey, Commit, Committed, Depth, Direction, EventLog, Head, LogError, LogSize, MemoryLog, RawEvents,
    SessionListing, SessionPage, Sift, SiftedEvents, Wakeups,
};
use segue::log_file::FileLog;
use segue::prompt::{Prompt, PromptContent, ToolContract};
use segue::{Error, Options, Said, Scope, Setup, Step, SystemHost, ToolOutput, Turn, Workspace};

use crate::desk::{HANDOFF, events, session};

/// When a host is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gone {
    /// Nothing of the commit is written.
    BeforeCommit,
    /// The commit is written, and nobody is told.
    AfterCommit,
}

/// A log whose process is killed at a commit.
pub(crate) struct Mortal {
    log: Arc<dyn EventLog>,
    commits_left: AtomicUsize,
    gone: Gone,
    is_dead: AtomicBool,
    pub(crate) read: Arc<AtomicUsize>,
}

impl Mortal {
    /// A log that lives for so many commits.
    pub(crate) fn new(log: &Arc<dyn EventLog>, commits: usize, gone: Gone) -> Self {
        let (log, commits_left) = (Arc::clone(log), AtomicUsize::new(commits));
        Self { log, commits_left, gone, is_dead: AtomicBool::new(false), read: Arc::default() }
    }

    /// How many events of sessions were read.
    pub(crate) fn events_read(&self) -> usize {
        self.read.load(Ordering::SeqCst)
    }

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
        let read = Arc::clone(&self.read);
        let count = move |_: &_| {
            read.fetch_add(1, Ordering::SeqCst);
        };
        Ok(Box::new(self.log.read_kinds(session, range, direction, kinds)?.inspect(count)))
    }

    fn sift(&self, sift: &Sift) -> Result<SiftedEvents, LogError> {
        self.log.sift(sift)
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

pub(crate) fn asked(log: &Arc<dyn EventLog>) -> (Workspace, SessionId) {
    let workspace = Workspace::with_options(Arc::clone(log), SystemHost, Options::default());
    let first = session(&workspace, "coder");
    let message = Message::text(Role::User, Author::User, "go on");
    workspace.send(first, &message, Lane::Interactive).unwrap();
    (workspace, first)
}

/// Exactly one successor, its run queued once and answered once, and the predecessor's turn closed.
fn check(workspace: &Workspace, first: SessionId, what: &str) {
    let sessions = workspace.reader(Scope::Workspace).sessions(None, 100).unwrap();
    assert_eq!(sessions.len(), 2, "{what}: one successor");
    check_one(workspace, first, what);
    assert!(workspace.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "{what}");
}

/// The same, whatever else is in the log.
fn check_one(workspace: &Workspace, first: SessionId, what: &str) {
    let reader = workspace.reader(Scope::Workspace);
    let lineage = reader.lineage().unwrap();
    let successors: Vec<_> = lineage.edges_out_of(first).map(|(successor, _)| successor).collect();
    let [successor] = successors.as_slice() else { panic!("{what}: not one successor: {successors:?}") };
    let state = reader.state(first).unwrap();
    let phases: Vec<_> = state.runs.values().map(|run| run.phase.clone()).collect();
    assert!(
        matches!(phases.as_slice(), [RunPhase::Ended(RunOutcome::Continued(_))]),
        "{what}: the predecessor's turn is closed: {phases:?}"
    );
    let state = reader.state(*successor).unwrap();
    assert_eq!(state.runs.len(), 1, "{what}");
    assert!(state.runs.values().all(|run| run.phase == RunPhase::Ended(RunOutcome::Succeeded)), "{what}");
    let answers = events(workspace, *successor)
        .into_iter()
        .filter(|event| matches!(event, Event::Message(message) if message.role == Role::Assistant));
    assert_eq!(answers.count(), 1, "{what}: answered once");
}

#[test]
fn wherever_a_host_is_gone_there_is_one_successor_and_it_answers() {
    let mut crashes = 0;
    for gone in [Gone::BeforeCommit, Gone::AfterCommit] {
        for commits in 0.. {
            let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
            let (workspace, first) = asked(&log);
            let mortal = Mortal::new(&log, commits, gone);
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

const STORE: &str = "SEGUE_TEST_HOST_STORE";
const NAME: &str = "SEGUE_TEST_HOST_NAME";

/// A host of its own process. As an ordinary test it has no store, and nothing to do.
#[test]
#[expect(clippy::disallowed_methods, reason = "the parent tells the child its store in the environment")]
fn child() {
    let (Some(store), Ok(name)) = (std::env::var_os(STORE), std::env::var(NAME)) else { return };
    let log = FileLog::open(store, segue::log_file::Options::default()).unwrap();
    // Another one may take the lease, and the runs with it.
    drop(host(Arc::new(log), &name));
}

fn start_child(store: &Path, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture", "--test-threads", "1"])
        .env(STORE, store)
        .env(NAME, name)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn processes_that_race_and_are_killed_make_one_successor_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    for round in 0..12_u64 {
        let open = || FileLog::open(&store, segue::log_file::Options::default()).unwrap();
        let log: Arc<dyn EventLog> = Arc::new(open());
        let (workspace, first) = asked(&log);
        drop((workspace, log));
        let mut children = [start_child(&store, "one"), start_child(&store, "other")];
        // At moments that differ from round to round, whatever the children are doing then.
        for child in &mut children {
            thread::sleep(Duration::from_millis(round * 5 % 23));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let log: Arc<dyn EventLog> = Arc::new(open());
        host(Arc::clone(&log), "last").unwrap();
        let workspace = Workspace::with_options(log, SystemHost, Options::default());
        check_one(&workspace, first, &format!("round {round}"));
    }
    let workspace = Workspace::open_reader(&store, SystemHost, Options::default()).unwrap();
    assert!(workspace.verify(Depth::Full, &mut |_| ()).unwrap().is_sound());
    let sessions = workspace.reader(Scope::Workspace).sessions(None, 1_000).unwrap();
    assert_eq!(sessions.len(), 24, "a session and a successor a round");
}

#[test]
fn no_prompt_is_given_out_with_a_call_whose_result_could_not_be_recorded() {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let (_, first) = asked(&log);
    // The run is started, and what the model said recorded.
    let mortal = Mortal::new(&log, 2, Gone::BeforeCommit);
    let workspace = Workspace::with_options(Arc::new(mortal), SystemHost, Options::default());
    let mut turn = workspace.turn(first, &setup("a")).unwrap().unwrap();
    turn.record(Said::default().call("c", "continue_session", HANDOFF)).unwrap_err();
    assert_eq!(turn.prompt().unwrap_err().kind(), segue::ErrorKind::ResultsAwaited);
}
