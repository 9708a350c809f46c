//! The limits and sizes of the embedded log, each in one place.

use std::time::Duration;

/// The format of the files that this build writes and the newest that it reads.
pub const FORMAT_VERSION: u32 = 0;

/// The largest segment, in bytes: 256 MiB. A segment is mapped whole, and offsets in it fit 32 bits.
pub const SEGMENT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// When a new segment is begun unless the options say otherwise, in bytes: 64 MiB.
///
/// Whoever opens a store reads the frames of the open segment, and of no other; and only sealed ones are compressed.
pub const SEGMENT_BYTES_USUAL: u64 = 64 * 1024 * 1024;

/// The smallest limit that [`crate::Options::segment_bytes`] can set, in bytes.
pub const SEGMENT_BYTES_MIN: u64 = 1024;

/// The largest payload of one frame, in bytes: bodies and claims at their limits, and a header for each event.
pub const PAYLOAD_BYTES_MAX: usize = segue_log::limits::COMMIT_BYTES_MAX
    + segue_log::limits::COMMIT_EVENTS_MAX * segue_event::HEADER_BYTES
    + segue_log::limits::COMMIT_CLAIMS_MAX * (segue_log::limits::CLAIM_BYTES_MAX + 2);

/// How far ahead of the end a segment is filled with zeros, in bytes: 1 MiB.
///
/// A commit then changes neither the file's length nor its block map, and its sync writes data only.
pub const PREALLOCATE_BYTES: u64 = 1024 * 1024;

/// A group of at least this many bytes is written without filling ahead, in bytes: 1 MiB.
///
/// Writing zeros first doubles what goes to the disk; only smaller groups win more by it than they lose.
pub const FILL_AHEAD_BELOW_BYTES: u64 = PREALLOCATE_BYTES;

/// A group takes no further commit once it has this many bytes of bodies: 8 MiB.
pub const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Commits that did not wait are synced at the latest when so many bytes are unsynced: 8 MiB.
pub const UNSYNCED_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How many events of one session in one frame share an entry of the index.
///
/// A search passes over such a stretch as a whole, or reads all of it.
pub const RUN_EVENTS: u64 = 4;

/// How many further entries of the index are read in one go with one, where they stand in the same frame.
pub const RUNS_TOGETHER_MAX: usize = 15;

/// How many bytes of a segment share an entry of the table of positions: 64 KiB.
pub const PLACE_BYTES: u64 = 64 * 1024;

/// How long a commit waits for another process's writer unless the options say otherwise.
pub const BUSY_WAIT: Duration = Duration::from_secs(5);

/// How often a waiting commit tries the lock.
pub const LOCK_RETRY: Duration = Duration::from_millis(2);

/// How long the lock is kept without a commit unless the options say otherwise.
pub const KEEP_LOCK: Duration = Duration::from_millis(100);

/// How often a writer looks whether another process waits for the lock; about as long lasts its turn then.
pub const TURN_CHECK: Duration = Duration::from_millis(10);

/// How long a writer that gave the lock back to others waits for one of them to take it.
pub const LOCK_COURTESY: Duration = Duration::from_millis(20);

/// How often a follower looks for what another process wrote: 20 times a second.
pub const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How many calls that read it takes until one of them looks whether a segment it has mapped was replaced.
pub const LET_GO_EVERY: u64 = 32;

/// How often a torn read of `published` is tried again before it counts as garbled.
pub const PUBLISHED_RETRIES: u32 = 64;

/// How much log may be missing in the writer's index before it is brought up to date, in bytes: 8 MiB.
pub const INDEX_EVERY_BYTES: u64 = 8 * 1024 * 1024;

/// The writer's index keeps at most this much in memory, in bytes; the engine exceeds it a few times over.
pub const INDEX_CACHE_BYTES: u64 = 1024 * 1024;

/// How many index entries are written at once.
pub const INDEX_BATCH_ENTRIES: usize = 4096;

/// How many references to runs of events one index entry holds.
pub const INDEX_RUNS_PER_ENTRY: usize = 512;

/// How long it is waited before the index is tried to be opened again.
pub const INDEX_OPEN_RETRY: Duration = Duration::from_millis(10);

/// How often the index is tried to be opened before the log does without it.
pub const INDEX_OPEN_TRIES: u32 = 5;

/// The largest footer that is read, in bytes: 256 MiB, far more than the events of a segment can make.
pub const FOOTER_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How many bytes of a segment are compressed together: 128 KiB.
///
/// Larger blocks take less room and longer to read one event from.
pub const BLOCK_BYTES: u64 = 128 * 1024;

/// How many blocks of compressed segments are kept ready after they were read, of all in a store together: 4 MiB.
pub const BLOCKS_KEPT: usize = 32;

/// How many threads find what they need to decompress blocks ready; others make it anew.
pub const UNPACKERS_MAX: usize = 8;

/// How hard segments are compressed: zstd's level.
pub const COMPRESSION_LEVEL: i32 = 6;

/// A segment that has fewer bytes than this is not sealed before it is full, in bytes: 1 MiB.
pub const SETTLE_BYTES_MIN: u64 = 1024 * 1024;

/// How many bytes of text share a column of a search filter, about: 8 KiB.
///
/// Smaller columns find better and make a larger filter: each takes 1 KiB.
pub const FILTER_COLUMN_BYTES: u64 = 8 * 1024;

/// The most columns of a search filter: 8,192, so that it has at most 8 MiB. Where there is more text, columns hold more.
pub const FILTER_COLUMNS_MAX: u32 = 8_192;

/// How many rows a search filter has, as a power of two: 8,192.
pub const FILTER_ROW_BITS: u32 = 13;

/// How many bytes of a search filter share a checksum: 64 KiB.
pub const FILTER_CHUNK_BYTES: u64 = 64 * 1024;

/// About how many grams of a text are looked up in a search filter at most.
pub const FILTER_GRAMS_MAX: usize = 48;

/// How many frames a search reads at most before it tells where it stands.
pub const SIFT_QUIET_FRAMES: u32 = 256;
