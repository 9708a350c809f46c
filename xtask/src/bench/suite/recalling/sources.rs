//! Reference sessions in stores, and as the transcripts that ripgrep searches.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use segue::event::{AgentId, Author, Event, Message, Role, SessionId};
use segue::log::EventLog;
use segue::log_file::{FileLog, Options};
use segue::{Asker, NewSession, Outcome, SystemHost, Workspace};

use super::super::continuing::HANDOFF;
use crate::reference;

/// How long each session is as a transcript, in bytes.
pub(super) const SESSION_BYTES: u64 = 3_600_000;

/// Said once, in the middle of all: first something that is like nothing else, and a hash of the kind of which there
/// are many, then words that are said all the time, as they never follow each other else.
pub(super) const SAID_ONCE: &str = "Remember that the north gate of the paddock stays shut until the vet has been, \
    as in 3f9a61c0d27be845. The planner drains the sanitizer late. 牧場の北門は閉めておいてください。";

/// How sessions follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// Each is the continuation of the one before it.
    Continued,
    /// None knows of another.
    None,
}

/// How many sessions make so many bytes.
pub(super) fn sessions(bytes: u64) -> u64 {
    bytes.div_ceil(SESSION_BYTES).max(1)
}

/// The length of a session, if they have so many bytes together.
fn length(bytes: u64) -> u64 {
    bytes / sessions(bytes)
}

/// What of a store is sealed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Seal {
    /// What is full.
    Full,
    /// All of it.
    Everything,
}

/// Fills a store with sessions, and answers with the last of them.
pub(super) fn fill(
    store: &Path,
    options: Options,
    bytes: u64,
    bond: Bond,
    seal: Seal,
) -> anyhow::Result<SessionId> {
    let log: Arc<dyn EventLog> = Arc::new(FileLog::open(store, options)?);
    let workspace = Workspace::with_options(Arc::clone(&log), SystemHost, segue::Options::default());
    let last = say_all(&workspace, bytes, bond)?;
    if seal == Seal::Everything {
        log.settle()?;
    }
    Ok(last)
}

fn say_all(workspace: &Workspace, bytes: u64, bond: Bond) -> anyhow::Result<SessionId> {
    let count = sessions(bytes);
    let mut last = None;
    for seed in 0..count {
        let session = match last.filter(|_| bond == Bond::Continued) {
            Some(before) => continue_from(workspace, before, seed)?,
            None => workspace.start_session(NewSession::of(AgentId::new("coder")?))?,
        };
        reference::append(&**workspace.log(), session, seed, length(bytes))?;
        if seed == count / 2 {
            workspace.append(session, [said_once()])?;
        }
        last = Some(session);
    }
    last.context("there is no session")
}

fn continue_from(workspace: &Workspace, before: SessionId, request: u64) -> anyhow::Result<SessionId> {
    let asker = Asker::Person { request: request.to_string() };
    match workspace.continue_session(before, &asker, HANDOFF)? {
        Outcome::Continued(continued) => Ok(continued.successor),
        other => bail!("not continued: {other:?}"),
    }
}

fn said_once() -> Message {
    Message::text(Role::User, Author::User, SAID_ONCE)
}

/// Writes the same sessions as transcripts, each into a file of its own in a folder.
pub(super) fn write_transcripts(folder: &Path, bytes: u64) -> anyhow::Result<()> {
    std::fs::create_dir(folder)?;
    let count = sessions(bytes);
    for seed in 0..count {
        let mut file = BufWriter::new(File::create_new(folder.join(format!("{seed:04}.jsonl")))?);
        let (events, _) = reference::write_jsonl(&mut file, seed, length(bytes))?;
        if seed == count / 2 {
            let line = reference::line(&Event::from(said_once()), seed, events + 2);
            file.write_all(line.as_bytes())?;
        }
        file.flush()?;
    }
    Ok(())
}
