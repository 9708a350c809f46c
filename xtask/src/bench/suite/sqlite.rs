//! SQLite as one would use it for the same purpose: a row an event, found by session and number.
//!
//! It is given the bytes of an event ready made, header and all, while the log has to encode and hash them.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::anyhow;
use rusqlite::{Connection, params};

use super::ours::deliver;
use super::workload::{Batch, Session};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS events (
    session INTEGER NOT NULL, seq INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (session, seq))";
const INSERT: &str = "INSERT INTO events (session, seq, record) VALUES (?1, ?2, ?3)";
const SELECT: &str = "SELECT record FROM events WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq";

/// A committer that failed answers nobody.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// The most that is mapped instead of copied through the page cache.
const MAP_BYTES: i64 = 2 << 30;

pub(super) struct Database(Connection);

impl Database {
    /// Opens a database whose commits survive a power loss.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute(TABLE, [])?;
        Ok(Self(connection))
    }

    /// Lets commits return before they survive a power loss, as WAL does by default in many programs.
    pub(super) fn losing_the_newest(self) -> anyhow::Result<Self> {
        self.0.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(self)
    }

    /// Reads through a memory map, which it does not do by itself.
    pub(super) fn mapped(self) -> anyhow::Result<Self> {
        self.0.pragma_update(None, "mmap_size", MAP_BYTES)?;
        Ok(self)
    }

    /// Lets commits return before they are durable, to fill a database.
    pub(super) fn without_waiting(self) -> anyhow::Result<Self> {
        self.0.pragma_update(None, "synchronous", "OFF")?;
        Ok(self)
    }

    /// Commits batches in one transaction.
    pub(super) fn commit<'a>(&mut self, batches: impl IntoIterator<Item = &'a Batch>) -> anyhow::Result<()> {
        let transaction = self.0.transaction()?;
        {
            let mut insert = transaction.prepare_cached(INSERT)?;
            for batch in batches {
                for (seq, record) in (batch.first..).zip(&batch.records) {
                    insert.execute(params![batch.session.0, seq.cast_signed(), record])?;
                }
            }
        }
        Ok(transaction.commit()?)
    }

    /// Reads events of a session into a buffer, and tells how many bytes they have.
    pub(super) fn read(
        &self,
        session: Session,
        numbers: std::ops::RangeInclusive<u64>,
        buffer: &mut Vec<u8>,
    ) -> anyhow::Result<u64> {
        let mut select = self.0.prepare_cached(SELECT)?;
        let (from, to) = (numbers.start().cast_signed(), numbers.end().cast_signed());
        let mut rows = select.query(params![session.0, from, to])?;
        let mut bytes = 0;
        buffer.clear();
        while let Some(row) = rows.next()? {
            let before = deliver(buffer);
            buffer.extend_from_slice(row.get_ref(0)?.as_blob()?);
            bytes += (buffer.len() - before) as u64;
        }
        std::hint::black_box(&buffer);
        Ok(bytes)
    }

    pub(super) fn count(&self) -> anyhow::Result<i64> {
        Ok(self.0.query_row("SELECT count(*) FROM events", [], |row| row.get(0))?)
    }
}

/// A thread that puts everything that waits into one transaction: what one builds to share syncs with SQLite.
pub(super) struct GroupCommitter {
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
}

struct Request {
    batch: Batch,
    done: SyncSender<()>,
}

impl GroupCommitter {
    pub(super) fn start(database: Database) -> Self {
        let (requests, waiting) = channel();
        let thread = std::thread::spawn(move || commit_groups(database, &waiting));
        Self { requests: Some(requests), thread: Some(thread) }
    }

    /// Somebody who commits through the thread.
    pub(super) fn client(&self) -> anyhow::Result<Client> {
        let requests = self.requests.clone().ok_or_else(|| anyhow!("the committer is stopped"))?;
        let (done, answers) = sync_channel(1);
        Ok(Client { requests, done, answers })
    }
}

impl Drop for GroupCommitter {
    fn drop(&mut self) {
        drop(self.requests.take());
        // What went wrong in the thread was seen by its clients already.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

pub(super) struct Client {
    requests: Sender<Request>,
    done: SyncSender<()>,
    answers: Receiver<()>,
}

impl Client {
    pub(super) fn commit(&self, batch: Batch) -> anyhow::Result<()> {
        let request = Request { batch, done: self.done.clone() };
        self.requests.send(request).map_err(|_| anyhow!("the committer is gone"))?;
        Ok(self.answers.recv_timeout(ANSWER_WAIT)?)
    }
}

fn commit_groups(mut database: Database, waiting: &Receiver<Request>) -> anyhow::Result<()> {
    while let Ok(first) = waiting.recv() {
        let group: Vec<_> = std::iter::once(first).chain(waiting.try_iter()).collect();
        database.commit(group.iter().map(|request| &request.batch))?;
        for request in group {
            request.done.send(()).map_err(|_| anyhow!("a client is gone"))?;
        }
    }
    Ok(())
}
