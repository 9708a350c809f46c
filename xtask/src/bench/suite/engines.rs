//! Key-value engines as one would use them for the same purpose: an event a key, found by session and number.
//!
//! Like SQLite they are given the bytes of an event ready made. Each commit is as durable as the engine offers.

use std::path::Path;

use fjall::{KeyspaceCreateOptions, PersistMode};
use redb::TableDefinition;

use super::workload::Batch;

/// An engine that commits batches, one after the other.
pub(super) trait Engine {
    /// Commits a batch; when it returns, the engine says that it is durable.
    fn commit(&mut self, batch: &Batch) -> anyhow::Result<()>;
}

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("events");

pub(super) struct Redb(redb::Database);

impl Redb {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        Ok(Self(redb::Database::create(path)?))
    }
}

impl Engine for Redb {
    fn commit(&mut self, batch: &Batch) -> anyhow::Result<()> {
        let transaction = self.0.begin_write()?;
        {
            let mut table = transaction.open_table(TABLE)?;
            for (key, record) in rows(batch) {
                table.insert(key.as_slice(), record)?;
            }
        }
        Ok(transaction.commit()?)
    }
}

pub(super) struct Fjall {
    database: fjall::Database,
    events: fjall::Keyspace,
}

impl Fjall {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let database = fjall::Database::builder(path).open()?;
        let events = database.keyspace("events", KeyspaceCreateOptions::default)?;
        Ok(Self { database, events })
    }
}

impl Engine for Fjall {
    fn commit(&mut self, batch: &Batch) -> anyhow::Result<()> {
        let mut write = self.database.batch();
        for (key, record) in rows(batch) {
            write.insert(&self.events, key.as_slice(), record);
        }
        write.commit()?;
        Ok(self.database.persist(PersistMode::SyncData)?)
    }
}

/// sled by itself. Its flush does not survive a power cut, so this is less than what the others do.
pub(super) struct Sled(sled::Db);

impl Sled {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        Ok(Self(sled::Config::new().path(path).flush_every_ms(None).open()?))
    }
}

impl Engine for Sled {
    fn commit(&mut self, batch: &Batch) -> anyhow::Result<()> {
        let mut write = sled::Batch::default();
        for (key, record) in rows(batch) {
            write.insert(key.as_slice(), record);
        }
        self.0.apply_batch(write)?;
        self.0.flush()?;
        Ok(())
    }
}

/// The keys and values of a batch: the session's number and the event's, so that a session lies together.
fn rows(batch: &Batch) -> impl Iterator<Item = ([u8; 12], &[u8])> {
    (batch.first..).zip(&batch.records).map(|(seq, record)| {
        let mut key = [0; 12];
        let number = batch.session.0.to_be_bytes().into_iter().chain(seq.to_be_bytes());
        key.iter_mut().zip(number).for_each(|(to, from)| *to = from);
        (key, record.as_slice())
    })
}
