//! What a host can choose when it opens a store.

use std::time::Duration;

use crate::limits::{BUSY_WAIT, INDEX_EVERY_BYTES, KEEP_LOCK, SEGMENT_BYTES_USUAL};

/// How a store is written to. The default suits everybody but tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How long a commit waits while another process writes, before it is refused as busy: 5 s by default.
    pub busy_wait: Duration,
    /// How long the lock is kept after the last commit while no other process waits for it: 100 ms by default.
    pub keep_lock: Duration,
    /// When a new segment is begun, in bytes: 64 MiB by default, at most 256 MiB; see [`crate::limits`].
    pub segment_bytes: u64,
    /// How much new log brings the writer's index up to date, in bytes: 8 MiB by default.
    pub index_every: u64,
    /// Which sealed segments are compressed: by default the cold ones.
    pub compression: Compression,
}

/// Which sealed segments are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// All but the newest, which is read most; and that one too when the log is settled.
    #[default]
    Cold,
    /// None: reading costs less, and the store takes three to five times the room.
    Never,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_wait: BUSY_WAIT,
            keep_lock: KEEP_LOCK,
            segment_bytes: SEGMENT_BYTES_USUAL,
            index_every: INDEX_EVERY_BYTES,
            compression: Compression::Cold,
        }
    }
}
