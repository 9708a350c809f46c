//! The embedded event log: segment files that hold the truth, and an index that can be rebuilt.
//!
//! [`FileLog`] keeps a log in a folder. Processes write in turn; any number of threads and of other processes
//! read beside the one that does without a lock, through memory maps. A commit that was acknowledged survives a power loss; a crash
//! leaves a prefix of the commits, each whole or absent. `docs/format.md` describes the files byte by byte.
//!
//! ```
//! use std::sync::Arc;
//! use segue_event::{Author, Message, Role, SessionId, Timestamp};
//! use segue_log::{Commit, EventLog, Expected, NewEvent};
//! use segue_log_file::{FileLog, Options};
//!
//! # let folder = tempfile::tempdir().map_err(|error| segue_log::LogError::io("making a folder", error))?;
//! # let path = folder.path().join("store");
//! let log = FileLog::open(&path, Options::default())?;
//! let hello = NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, "hello"));
//! let session = SessionId::from_bytes([1; 16]);
//! log.commit(Commit::new().append(session, Expected::first(), vec![hello]))?;
//! assert_eq!(FileLog::open_reader(&path)?.head(session)?.map(|head| head.seq.get()), Some(1));
//! # Ok::<(), segue_log::LogError>(())
//! ```

mod background;
mod blob;
mod blocks;
mod boot;
mod checked;
mod columns;
mod commit;
mod compress;
mod disk;
#[cfg(any(test, feature = "faults"))]
pub mod faults;
mod file_log;
mod filter;
mod footer;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod index;
mod index_entry;
mod layout;
pub mod limits;
mod lock;
mod map;
mod options;
mod place;
mod published;
mod queue;
mod read;
mod repair;
mod running;
mod scan;
mod segment;
mod sift;
mod size;
mod store;
mod tail;
mod turns;
mod upkeep;
mod verify;
mod view;
mod wire;

pub use disk::{Disk, DiskFile, Entry, EntryKind, Open, RealDisk};
pub use file_log::FileLog;
pub use options::{Compression, Options};
pub use repair::{LostAt, Repaired, repair};
