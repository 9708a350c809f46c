//! A process that is killed while it continues sessions leaves no half continuation.
//!
//! A child is this test binary again, which continues one session after the other in a store and tells each successor.
//! It is killed at some moment, fifty times in the same store.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use segue::event::{AgentId, Event, SessionId};
use segue::log::Depth;
use segue::{NewSession, Options, Scope, SystemHost, Verdict, Workspace};

use crate::desk::{continued, events, person, said};

const STORE: &str = "SEGUE_TEST_KILL_STORE";
const KILLS: u64 = 50;

/// The child. As an ordinary test it has no store, and nothing to do.
#[test]
#[expect(clippy::disallowed_methods, reason = "the parent tells the child its store in the environment")]
fn child() {
    let Some(store) = std::env::var_os(STORE).map(PathBuf::from) else { return };
    let workspace = Workspace::open(&store, SystemHost, Options::default()).unwrap();
    let mut newest = workspace.start_session(NewSession::of(AgentId::new("coder").unwrap())).unwrap();
    loop {
        workspace.append(newest, [said("go on")]).unwrap();
        newest = continued(&workspace, newest, &person("1")).successor;
        println!("continued {newest}");
        std::io::stdout().flush().unwrap();
    }
}

#[test]
fn every_acknowledged_continuation_is_there_and_none_is_half() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let mut acknowledged = Vec::new();
    for kill in 0..KILLS {
        acknowledged.extend(run_and_kill(&store, 1 + kill * 7 % 12));
    }
    assert!(acknowledged.len() as u64 >= KILLS);
    let workspace = Workspace::open_reader(&store, SystemHost, Options::default()).unwrap();
    let report = workspace.verify(Depth::Full, &mut |_| ()).unwrap();
    assert!(report.is_sound(), "{report:?}");
    let reader = workspace.reader(Scope::Workspace);
    let sessions = reader.sessions(None, usize::MAX).unwrap();
    for session in &acknowledged {
        assert!(sessions.iter().any(|overview| overview.session == *session), "{session} is lost");
    }
    for overview in
        sessions.iter().filter(|overview| overview.state.as_ref().is_some_and(|state| state.edge.is_some()))
    {
        let session = overview.session;
        let whole = matches!(
            events(&workspace, session).as_slice(),
            [Event::SessionStarted(_), Event::Message(_), Event::Message(_), Event::RunQueued(_), ..]
        );
        assert!(whole, "{session} is half");
        assert_eq!(workspace.recompile(session).unwrap().verdict, Verdict::Same);
    }
}

/// Runs a child until it has told `enough` successors, kills it, and answers with all that it told.
fn run_and_kill(store: &Path, enough: u64) -> Vec<SessionId> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--nocapture", "--test-threads", "1"])
        .env(STORE, store)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut told = Vec::new();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        told.extend(line.strip_prefix("continued ").and_then(|id| id.parse::<SessionId>().ok()));
        if told.len() as u64 == enough {
            // What it tells after this is read below, until the pipe ends.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    told
}
