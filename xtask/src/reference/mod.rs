//! The reference session: realistic tool traffic, seeded, as long as one wants.

mod jsonl;
mod session;
mod words;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use segue::event::{AgentId, Seq, SessionId, Timestamp};
use segue::log::{Commit, EventLog, Expected, NewEvent};
use segue::{NewSession, Options, SystemHost, Workspace};

pub(crate) use jsonl::line;
pub(crate) use session::Reference;

/// How long the session is, and where it goes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many bytes the session has as a transcript of Claude Code.
    #[arg(long, default_value_t = BYTES)]
    bytes: u64,
    /// Another session of the same kind.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Writes it as a transcript that `segue import` reads.
    #[arg(long, value_name = "FILE", required_unless_present = "store")]
    jsonl: Option<PathBuf>,
    /// Writes it to a store.
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

/// The length of the reference session, in bytes: about 890,000 tokens.
const BYTES: u64 = 3_600_000;

/// Events of one commit.
const COMMIT_EVENTS: usize = 64;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(path) = &arguments.jsonl {
        let file = File::create_new(path).with_context(|| format!("cannot make {}", path.display()))?;
        let mut file = BufWriter::new(file);
        let (events, bytes) = write_jsonl(&mut file, arguments.seed, arguments.bytes)?;
        file.flush()?;
        println!("{events} events, {bytes} bytes in {}", path.display());
    }
    if let Some(folder) = &arguments.store {
        let workspace = Workspace::open(folder, SystemHost, Options::default())?;
        let session = fill(&workspace, arguments.seed, arguments.bytes)?;
        println!("session {session} in {}", folder.display());
    }
    Ok(())
}

/// Writes a session as lines; tells how many, and of how many bytes.
pub(crate) fn write_jsonl(out: &mut dyn Write, seed: u64, bytes: u64) -> anyhow::Result<(u64, u64)> {
    let (mut events, mut written) = (0, 0);
    for (event, number) in Reference::new(seed, SECOND).zip(2..) {
        if written >= bytes {
            break;
        }
        let line = line(&event, seed, number);
        out.write_all(line.as_bytes())?;
        (events, written) = (events + 1, written + line.len() as u64);
    }
    Ok((events, written))
}

/// The first event of a session is its start.
const SECOND: Seq = Seq::FIRST.next();

/// Writes a session to a workspace, as long as it is with so many bytes of lines.
pub(crate) fn fill(workspace: &Workspace, seed: u64, bytes: u64) -> anyhow::Result<SessionId> {
    let session = workspace.start_session(NewSession::of(AgentId::new("coder")?))?;
    append(&**workspace.log(), session, seed, bytes)?;
    Ok(session)
}

/// Goes on in a session with what a reference session says, as long as that is with so many bytes of lines.
pub(crate) fn append(log: &dyn EventLog, session: SessionId, seed: u64, bytes: u64) -> anyhow::Result<()> {
    let head = log.head(session)?.context("there is no such session")?;
    let (mut written, first) = (0, head.seq.next());
    let mut events = Reference::new(seed, first).zip(first.get()..);
    while written < bytes {
        let mut batch = Vec::with_capacity(COMMIT_EVENTS);
        while let Some((event, number)) = events.next().filter(|_| written < bytes) {
            written += line(&event, seed, number).len() as u64;
            batch.push(NewEvent::new(time(number), event));
            if batch.len() == COMMIT_EVENTS {
                break;
            }
        }
        log.commit(Commit::new().append(session, Expected::AtHead, batch).without_waiting())?;
    }
    Ok(())
}

/// Every event ten seconds after the one before it.
fn time(number: u64) -> Timestamp {
    let micros = i64::try_from(number).unwrap_or(0) * 10_000_000;
    Timestamp::utc_micros(1_767_225_600_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use segue::event::Event;

    use super::*;

    #[test]
    fn the_session_is_the_same_in_every_run_and_another_for_another_seed() {
        let text = |seed| {
            let mut text = Vec::new();
            write_jsonl(&mut text, seed, 50_000).unwrap();
            text
        };
        assert_eq!(text(0), text(0));
        assert_ne!(text(0), text(1));
        assert!((50_000..200_000).contains(&text(0).len()));
    }

    #[test]
    fn every_result_answers_the_call_before_it() {
        let events: Vec<_> = Reference::new(3, SECOND).zip(2..).take(2_000).collect();
        let mut results = 0;
        for ((event, number), (before, _)) in events.iter().skip(1).zip(&events) {
            let Event::ToolResult(result) = event else { continue };
            let site = result.call.site.unwrap();
            assert_eq!(site.message.get(), number - 1);
            let Event::Message(message) = before else { panic!("{before:?}") };
            let call = &message.blocks[site.block as usize];
            assert!(matches!(call, segue::event::Block::ToolCall(call) if call.name == result.tool));
            results += 1;
        }
        assert!(results > 500, "{results} results");
    }
}
