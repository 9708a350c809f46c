//! What a projection holds for each reason, as data.

use segue_event::Reason;

/// Texts among recent exchanges are cut beyond this many characters.
pub const RECENT_TEXT_CHARS_MAX: usize = 2_000;

/// A recommended range with more bytes of text than this is linked, not shown: nobody asked for it.
pub const RECOMMENDED_BYTES_MAX: usize = 4 * 1_024;

/// What a projection holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recipe {
    /// The most recent entries that are shown.
    pub recent_entries_max: usize,
    /// The share of the budget, in percent, that cited and recommended ranges can have together at most.
    pub cited_percent_max: usize,
    /// The most ranges that are taken from what the runtime recommends; they get what the cited ones leave.
    pub recommended_max: usize,
}

impl Recipe {
    /// The recipe for a reason.
    ///
    /// A new topic needs little of the talk before, and no reminders of it; a session that strayed needs above all
    /// what it was told; a new phase stands on what it cites; a full context needs most of the talk.
    pub const fn of(reason: Reason) -> Self {
        let (recent_entries_max, cited_percent_max, recommended_max) = match reason {
            Reason::TopicChange => (6, 50, 0),
            Reason::Refocus => (12, 60, 12),
            Reason::PhaseChange => (20, 70, 8),
            Reason::UserRequest | Reason::Other => (40, 60, 8),
            Reason::ContextPressure => (60, 60, 12),
        };
        Self { recent_entries_max, cited_percent_max, recommended_max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COMPILER;

    #[test]
    fn a_recipe_changes_with_the_version_of_the_compiler() {
        let row = |reason: Reason| {
            let Recipe { recent_entries_max, cited_percent_max, recommended_max } = Recipe::of(reason);
            let word = reason.as_str();
            format!("{word:<16} | {recent_entries_max:>6} | {cited_percent_max:>7} | {recommended_max:>11}\n")
        };
        let rows: String = Reason::ALL.into_iter().map(row).collect();
        insta::assert_snapshot!(format!(
            "compiler {COMPILER}\nreason           | recent | cited % | recommended\n{rows}"
        ));
    }
}
