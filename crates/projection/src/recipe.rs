//! What a projection holds for each reason, as data.

use segue_event::Reason;

/// Texts among recent exchanges are cut beyond this many characters.
pub const RECENT_TEXT_CHARS_MAX: usize = 2_000;

/// What a projection holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recipe {
    /// The most recent entries that are shown.
    pub recent_entries_max: usize,
    /// The share of the budget, in percent, that cited ranges can have at most.
    pub cited_percent_max: usize,
}

impl Recipe {
    /// The recipe for a reason.
    ///
    /// A new topic needs little of the talk before; a full context needs most of it; a new phase stands on what
    /// it cites.
    pub const fn of(reason: Reason) -> Self {
        let (recent_entries_max, cited_percent_max) = match reason {
            Reason::TopicChange => (6, 50),
            Reason::Refocus => (12, 60),
            Reason::PhaseChange => (20, 70),
            Reason::UserRequest | Reason::Other => (40, 60),
            Reason::ContextPressure => (60, 60),
        };
        Self { recent_entries_max, cited_percent_max }
    }
}
