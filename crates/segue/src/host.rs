//! Where the time and the random bytes of ids come from.

use std::time::{SystemTime, UNIX_EPOCH};

use segue_event::Timestamp;

/// The outside world of a workspace: its clock, and random bytes for ids.
pub trait Host: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Ten bytes that nobody can have seen before.
    fn random(&self) -> [u8; 10];
}

/// The machine's clock and random source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    #[expect(clippy::disallowed_methods, reason = "this is the one place where the machine's clock is read")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::utc_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        // Without a random source the time still tells ids of different moments apart.
        if getrandom::fill(&mut bytes).is_err() {
            let micros = self.now().micros.to_le_bytes();
            bytes.iter_mut().zip(micros).for_each(|(byte, micro)| *byte = micro);
        }
        bytes
    }
}
