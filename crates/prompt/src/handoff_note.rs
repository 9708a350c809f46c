//! Handoff notes: what was in progress when a harness compacted its context, kept so that the agent goes on with it.
//!
//! Only for agents whose harness compacts; a Segue session never is. A note is made of what the agent said last
//! ([`bullets_of`]), shown as an entry of a file ([`HandoffFile`]), told to the agent once ([`compaction_handoff`]), and
//! decides whether the agent is asked to go on at all ([`resume()`]).

mod block;
mod bullets;
mod file;
mod phrases;
mod resume;
mod settings;

pub use block::compaction_handoff;
pub use bullets::{BULLET_CHARS_MAX, BULLETS_MAX, TEXTS_MAX, bullets_of};
pub use file::{EntryBody, HandoffEntry, HandoffFile};
pub use phrases::is_unfinished;
pub use resume::{CONSOLIDATE_TEXT, CONTINUE_TEXT, Compacted, Nudge, Resume, Retry, resume};
pub use settings::{HANDOFF_KEEP_MAX, HandoffSettings, SettingsProblem};
