//! Text that cannot break out: frames, reversible escaping, and the transcript line.
//!
//! What a model is given is made of frames of ours (`<handoff> … </handoff>`) around text that comes from
//! people, models and files. Three promises hold for any text:
//! * it can never open or close one of our frames ([`escape`]), and only what could is touched;
//! * it can never pass for another transcript line ([`line`](mod@line));
//! * the exact text comes back ([`unescape`], [`line::read`]).
//!
//! Pure functions on values; nothing here does I/O.

mod entry;
mod escaping;
pub mod line;
mod tag;

pub use entry::{Entry, Part};
pub use escaping::{escape, indent, unescape, unindent};
pub use line::Who;
pub use tag::{Tag, attribute};
