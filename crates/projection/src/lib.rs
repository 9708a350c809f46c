//! Compiles the first context of a successor session, with the manifest that accounts for it.
//!
//! [`compile()`] turns an [`Input`] into a [`Projection`]: the text that the successor begins with, and the
//! [`Manifest`](segue_event::Manifest) that says where every byte of it comes from and what was left out.
//! It cannot fail: what does not fit is left out and listed, and the text never exceeds its
//! [`Budget`](segue_continuation::Budget). The one thing that is never cut is what the agent wrote, so its size is
//! checked beforehand by [`admit()`].
//!
//! The same input gives the same bytes, on any machine; [`COMPILER`] counts the versions of the output.
//!
//! Where the context is full and nobody wrote a handoff, [`point()`] makes a [`Pointer`] in its place: what was asked
//! for, what was done last, and where all the rest is read. It cannot fail either.
//!
//! Around a continuation: [`estimate()`] says beforehand what it would cost, [`Worth`] keeps up what is worth citing,
//! and [`Audit`] counts afterwards what was read back.
//!
//! Pure functions on values; nothing here does I/O.

mod admit;
mod audit;
mod compile;
mod estimate;
mod excerpts;
mod input;
mod lineage;
mod look_back;
mod not_loaded;
mod pointer;
mod ranges;
mod recent;
mod recipe;
mod recommended;
mod worth;

pub use admit::{Admitted, Sizes, admit, measure};
pub use audit::{Audit, AuditedSource, CitedBy, Fate};
pub use compile::{Diagnostic, Projection, compile};
pub use estimate::{BYTES_PER_TOKEN, Estimate, Loaded, Measured, Staying, estimate};
pub use input::{Cited, CitedRange, CutEntry, EarlierHandoff, Input, Origin, Recent, RecommendedRange};
pub use look_back::{Asked, Ending, FILES_MAX, INDEX_MAX, LookBack, PICTURES_MAX, Reach};
pub use pointer::{
    POINTER_BYTES_GOAL, POINTER_BYTES_MAX, POINTER_COMPILER, Pointer, PointerInput, REQUEST_BYTES_MAX, point,
};
pub use recipe::{RECENT_TEXT_CHARS_MAX, RECOMMENDED_BYTES_MAX, Recipe};
pub use worth::{READ_EVENTS_MAX, READ_OFTEN, READINGS_MAX, RECOMMENDED_EACH_MAX, REMEMBERED_MAX, Worth};

/// The version of the compiler. It goes up whenever the same input would give other bytes.
pub const COMPILER: u32 = 2;
