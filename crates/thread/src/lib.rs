//! Reading the record: a session's lines, its chain of ancestors, and verbatim recall over that chain.
//!
//! * [`read_range`] gives the entries of a session page by page;
//! * [`Chain::of`] walks from a session to its origin;
//! * [`recall`](recall()) finds text, says how far it looked, and gives a cursor where it stopped;
//! * [`entry`] gives one event's text, exactly.
//!
//! Everything here reads; nothing writes, not even a count.

mod chain;
mod cursor;
mod error;
mod page;
mod recall;
mod render;

pub use chain::{Chain, ChainLink, EdgeLookup, edge_into};
pub use cursor::Cursor;
pub use error::{ThreadError, ThreadErrorKind};
pub use page::{LIMIT_DEFAULT, LIMIT_MAX, Limit, PAGE_BYTES_MAX, Page, entries, entry, read_range};
pub use recall::{Answer, Coverage, Hit, Query, RecallLimits, recall};
pub use render::render_answer;
