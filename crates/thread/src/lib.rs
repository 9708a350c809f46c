//! Reading the record: a session's lines, its chain of ancestors, and verbatim recall over that chain.
//!
//! * [`read_range`] gives the entries of a session page by page;
//! * [`Chain::of`] walks from a session to its origin;
//! * [`recall`](recall()) finds text, says how far it looked, and gives a cursor where it stopped;
//! * [`fetch`](fetch()) gives entries in full, exactly, piece by piece;
//! * [`before_boundary`] gives the last entries before the newest compaction or continuation.
//!
//! Everything here reads; nothing writes, not even a count.

mod answer;
mod chain;
mod cursor;
mod error;
mod fetch;
mod later;
mod matching;
mod needs;
mod page;
mod query;
mod recall;
mod render;
mod tail;

pub use answer::{Answer, Coverage, Hit, LaterFate, Superseded};
pub use chain::{Chain, ChainLink, EdgeLookup, edge_into};
pub use cursor::Cursor;
pub use error::{ThreadError, ThreadErrorKind};
pub use fetch::{FETCH_BYTES, Fetched, Piece, TextPlace, WINDOW_ENTRIES_MAX, Window, fetch};
pub use later::LATER_EVENTS_MAX;
pub use matching::MATCHES_COUNTED_MAX;
pub use page::{LIMIT_DEFAULT, LIMIT_MAX, Limit, PAGE_BYTES_MAX, Page, entries, entry, read_range};
pub use query::{Only, Order, Query, Style, TextKind};
pub use recall::{BLOB_SEARCHED_BYTES_MAX, Budget, MATCH_SHOWN_BYTES_MAX, RecallLimits, recall};
pub use render::{render_answer, render_fetched};
pub use segue_log::Case;
pub use tail::{Tail, before_boundary};
