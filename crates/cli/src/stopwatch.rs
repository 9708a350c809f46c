//! The time that a command has taken.

use std::time::Instant;

/// Measures the time since it was started.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "a person limits how long a search takes")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn milliseconds(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
