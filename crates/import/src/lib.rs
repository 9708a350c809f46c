//! Other agents' transcripts as events, with every line kept byte for byte, and the way back.
//!
//! [`import_path`] reads one transcript of Claude Code or pi into a session, [`import_tree`] every transcript below a
//! folder, and [`original_bytes`] gives the file back. What a source is, its content tells.
//!
//! * Nothing is dropped: each line becomes a [`segue_event::ImportedLine`], in one commit with the events made from
//!   it. What cannot be read becomes a [`segue_event::Unreadable`] beside it, with its place and the reason.
//! * Importing again adds nothing. A source that grew is followed. One that was rewritten is a session of its own.
//! * A source that ends without a newline is taken to its end. What follows later continues the same line: a newline
//!   alone is kept as a second piece of it, and a line whose first half could not be read is read when it is whole,
//!   behind the [`segue_event::Unreadable`] that tells of the half.
//! * Memory is bounded by [`limits`], whatever the size of the source. Sources are never written to.
//!
//! Reading order: [`import_path`], then the pure middle in `line.rs`, then the two dialects `claude.rs` and `pi.rs`,
//! which put what they make into `output.rs`.

mod call;
mod claude;
mod content;
mod error;
mod head;
mod holes;
mod identity;
mod import;
mod json;
pub mod limits;
mod line;
mod output;
mod pi;
mod recorded;
mod records;
mod report;
mod source;
mod state;
mod surrogate;
mod title;
mod tree;
#[cfg(test)]
mod watched_log;

pub use error::{ImportError, ImportErrorKind};
pub use identity::session_id;
pub use import::{ImportOptions, import_path};
pub use recorded::original_bytes;
pub use report::{ImportReport, Imported, Outcome, UnreadablePiece};
pub use tree::{TreeEntry, TreeImport, import_tree};
