//! One large store with many sessions, the same in every form.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use segue::log::EventLog as _;
use segue::log_file::FileLog;

use super::ours;
use super::sqlite::Database;
use super::workload::{Batch, Growing, Session, Sizes};

/// Events of one commit.
const COMMIT_EVENTS: u64 = 16;
/// Events of every session but the long one.
const SESSION_EVENTS: u64 = 960;
/// Sessions that are written to at the same time.
const OPEN_SESSIONS: u32 = 4;
/// Commits that share a transaction while the database is filled.
const TRANSACTION_COMMITS: usize = 64;

/// Where the store is, and what is in it.
pub(super) struct Library {
    pub(super) segue: PathBuf,
    /// The same store with all that is sealed compressed.
    pub(super) compact: PathBuf,
    pub(super) sqlite: PathBuf,
    /// The bytes of the long session, one event after the other.
    pub(super) cat: PathBuf,
    /// The length of that file.
    pub(super) long_bytes: u64,
    /// The session of many events; its pieces are spread over all of the log.
    pub(super) long: Session,
    /// The other sessions that are complete.
    pub(super) others: Vec<Session>,
    pub(super) events: u64,
}

impl Library {
    /// The number of events of each of [`Self::others`].
    pub(super) const EVENTS_OF_OTHERS: u64 = SESSION_EVENTS;

    pub(super) fn fill(folder: &Path, sizes: &Sizes) -> anyhow::Result<Self> {
        std::fs::create_dir(folder)?;
        let mut library = Self {
            segue: folder.join("segue"),
            compact: folder.join("compact"),
            sqlite: folder.join("sqlite"),
            cat: folder.join("cat"),
            long_bytes: 0,
            long: Session(0),
            others: Vec::new(),
            events: 0,
        };
        let mut filling = Filling::start(&library)?;
        for_each_batch(sizes, |batch| {
            library.take(&batch);
            filling.take(batch)
        })?;
        filling.finish()?;
        Ok(library)
    }

    fn take(&mut self, batch: &Batch) {
        self.events += COMMIT_EVENTS;
        if batch.session == self.long {
            self.long_bytes += batch.bytes();
        } else if batch.first + COMMIT_EVENTS > SESSION_EVENTS {
            self.others.push(batch.session);
        }
    }
}

/// The three forms while they are filled.
struct Filling {
    log: FileLog,
    compact: FileLog,
    database: Database,
    cat: BufWriter<File>,
    long: Session,
    waiting: Vec<Batch>,
}

impl Filling {
    fn start(library: &Library) -> anyhow::Result<Self> {
        Ok(Self {
            log: ours::open(&library.segue)?,
            compact: ours::open_compact(&library.compact)?,
            database: Database::open(&library.sqlite)?.without_waiting()?,
            cat: BufWriter::new(File::create_new(&library.cat)?),
            long: library.long,
            waiting: Vec::new(),
        })
    }

    fn take(&mut self, mut batch: Batch) -> anyhow::Result<()> {
        if batch.session == self.long {
            batch.records.iter().try_for_each(|record| self.cat.write_all(record))?;
        }
        let commit = std::mem::take(&mut batch.commit).without_waiting();
        self.compact.commit(commit.clone())?;
        self.log.commit(commit)?;
        self.waiting.push(batch);
        if self.waiting.len() < TRANSACTION_COMMITS { Ok(()) } else { self.hand_over() }
    }

    fn hand_over(&mut self) -> anyhow::Result<()> {
        self.database.commit(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        self.hand_over()?;
        self.compact.settle()?;
        Ok(self.cat.flush()?)
    }
}

/// The long session's batches spread evenly over those of the others, of which a few are open at any time.
fn for_each_batch(sizes: &Sizes, mut take: impl FnMut(Batch) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut long = Growing::new(Session(0));
    let mut open: VecDeque<_> = (1..=OPEN_SESSIONS).map(|number| Growing::new(Session(number))).collect();
    let mut newest = OPEN_SESSIONS;
    let (mut bytes, mut long_events) = (0, 0);
    while bytes < sizes.library_bytes || long_events < sizes.long_session {
        let due = sizes.long_session * bytes / sizes.library_bytes;
        let batch = if long_events < sizes.long_session && long_events <= due {
            long_events += COMMIT_EVENTS;
            long.batch(COMMIT_EVENTS)?
        } else {
            let Some(mut session) = open.pop_front() else { return Ok(()) };
            let batch = session.batch(COMMIT_EVENTS)?;
            if batch.first + COMMIT_EVENTS > SESSION_EVENTS {
                newest += 1;
                session = Growing::new(Session(newest));
            }
            open.push_back(session);
            batch
        };
        bytes += batch.bytes();
        take(batch)?;
    }
    Ok(())
}
