//! A clock and ids that are the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use segue::Host;
use segue::event::Timestamp;

/// A clock that moves one second at every look, and counted instead of random bytes.
#[derive(Debug, Default)]
pub struct FixedHost {
    looks: AtomicU64,
    ids: AtomicU64,
}

impl FixedHost {
    /// Begins at 2026-01-01T00:00:00Z, with the number 1.
    pub fn new() -> Self {
        Self { looks: AtomicU64::new(0), ids: AtomicU64::new(1) }
    }
}

impl Host for FixedHost {
    fn now(&self) -> Timestamp {
        let seconds = self.looks.fetch_add(1, Ordering::Relaxed);
        Timestamp::utc_micros(1_767_225_600_000_000 + i64::try_from(seconds).unwrap_or(0) * 1_000_000)
    }

    fn random(&self) -> [u8; 10] {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let mut bytes = [0; 10];
        bytes.iter_mut().rev().zip(number.to_le_bytes()).for_each(|(byte, digit)| *byte = digit);
        bytes
    }
}
