//! The embedded log, used as a host uses it.

use std::path::Path;

use segue::event::{SeqRange, SessionId};
use segue::log::{Commit, Direction, EventLog};
use segue::log_file::{Compression, FileLog, Options};

/// As much as `cat` reads at once is delivered in one buffer.
const DELIVER_BYTES: usize = 128 * 1024;

pub(super) fn open(folder: &Path) -> anyhow::Result<FileLog> {
    // What is compared with does not compress either; how that reads is measured beside it.
    Ok(FileLog::open(folder, Options { compression: Compression::Never, ..Options::default() })?)
}

/// The same, with cold segments compressed.
pub(super) fn open_compact(folder: &Path) -> anyhow::Result<FileLog> {
    Ok(FileLog::open(folder, Options::default())?)
}

/// Commits one after the other.
pub(super) fn commit_all(log: &dyn EventLog, commits: Vec<Commit>) -> anyhow::Result<()> {
    for commit in commits {
        log.commit(commit)?;
    }
    Ok(())
}

/// Reads events of a session into a buffer, and tells how many bytes they have.
///
/// They are copied, although the log lends them: `cat` and SQLite deliver bytes in a buffer of the caller too.
pub(super) fn read(
    log: &FileLog,
    session: SessionId,
    range: SeqRange,
    buffer: &mut Vec<u8>,
) -> anyhow::Result<u64> {
    let mut bytes = 0;
    buffer.clear();
    for raw in log.read(session, range, Direction::Forward)? {
        let raw = raw?;
        let before = deliver(buffer);
        buffer.extend_from_slice(&raw.header.to_bytes());
        buffer.extend_from_slice(&raw.body);
        bytes += (buffer.len() - before) as u64;
    }
    std::hint::black_box(&buffer);
    Ok(bytes)
}

/// Hands a full buffer on, and tells where the next event begins.
pub(super) fn deliver(buffer: &mut Vec<u8>) -> usize {
    if buffer.len() >= DELIVER_BYTES {
        std::hint::black_box(&buffer);
        buffer.clear();
    }
    buffer.len()
}
