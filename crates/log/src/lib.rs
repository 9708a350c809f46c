//! The event log as a port: what an implementation owes, and what can be built on any of them.
//!
//! [`EventLog`] is the port. A [`Commit`] is an atomic batch of events for one or more sessions, each with the
//! number it expects, plus [`ClaimKey`]s that can be taken once. The log gives every event its place in one
//! total order, makes the commit durable, and wakes followers.
//!
//! [`EventLog::sift`] searches through many sessions at once without reading what a [`Sieve`] rules out.
//!
//! Three conveniences stand on any implementation:
//! * [`EventLogExt::follow`] gives a typed [`EventStream`]: history first, then live, without gap or repeat;
//! * [`verify_chains`] recomputes every hash;
//! * [`read_through`] reads a session with what it holds of others by reference.
//!
//! [`MemoryLog`] is the reference implementation, and the `conformance` feature holds the suite that every
//! implementation must pass.

mod commit;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod forked;
pub mod limits;
mod memory;
mod port;
mod progress;
mod report;
mod sieve;
mod sift;
mod stream;
mod wake;

pub use commit::{
    ClaimKey, Commit, Committed, Expected, Extent, NewEvent, Placed, PreparedCommit, SessionAppend, Wait,
};
pub use error::{LogError, LogErrorKind, WrongSeq};
pub use forked::{FORKS_MAX, Stretch, first_event, read_through, stretches};
pub use memory::MemoryLog;
pub use port::{Depth, Direction, EventLog, Head, LogSize, RawEvents, SessionListing, SessionPage};
pub use progress::{Meter, Progress};
pub use report::{Problem, Report, named_blobs, verify_chains};
pub use sieve::{Case, Gram, Literal, Sieve, grams};
pub use sift::{Fate, Sift, Sifted, SiftedEvents, TELLING, sift_by_reading};
pub use stream::{EventLogExt, EventStream};
pub use wake::{Subscribers, Wakeups};
