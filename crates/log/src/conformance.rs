//! The suite that every implementation of the port must pass.
//!
//! [`check`] runs it: fixed cases, one for each promise of the port, and then random histories on the subject and on
//! [`crate::MemoryLog`] side by side. What is wrong is said by a panic, as in any test.

mod cases;
mod follow_cases;
mod history;
mod sample;
mod sift_cases;

use std::sync::Arc;

use crate::EventLog;

/// A log under test.
pub trait Subject {
    /// Opens the log. Every call after the first is a reopening: all that was opened before has been dropped, and
    /// what was acknowledged must be there.
    fn open(&mut self) -> Arc<dyn EventLog>;
}

impl<F: FnMut() -> Arc<dyn EventLog>> Subject for F {
    fn open(&mut self) -> Arc<dyn EventLog> {
        self()
    }
}

/// How much of the suite is random.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// How many random histories are run.
    pub histories: u32,
    /// How many steps a history has at most.
    pub steps: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { histories: 24, steps: 24 }
    }
}

/// Runs the whole suite; `make` gives a new, empty subject each time.
pub fn check<S: Subject>(mut make: impl FnMut() -> S, effort: Effort) {
    for case in cases::ALL.iter().chain(follow_cases::ALL).chain(sift_cases::ALL) {
        case(&mut make());
    }
    history::check(make, effort);
}

/// One promise of the port, and how it is checked.
type Case = fn(&mut dyn Subject);
