//! A request for a continuation whose shapes are checked.

use segue_event::{Handoff, PlanTransfer, Reason, Source};

/// What an agent or a person asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Why.
    pub reason: Reason,
    /// The successor's title, 1 to [`crate::caps::TITLE_BYTES_MAX`] bytes.
    pub title: String,
    /// The successor's status, 1 to [`crate::caps::DESCRIPTION_BYTES_MAX`] bytes.
    pub description: String,
    /// The prose for the successor.
    pub handoff: Handoff,
    /// What it cites, at most [`crate::caps::SOURCES_MAX`].
    pub sources: Vec<Source>,
    /// What becomes of the plan; none: carried while it has open steps.
    pub plan: Option<PlanTransfer>,
}
