//! Where the time and the random bytes of ids come from.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use segue_event::Timestamp;

/// The outside world of a workspace: its clock, and random bytes for ids.
pub trait Host: Send + Sync {
    /// The time now, with the offset of the local clock: it is shown to people, and never used for order.
    fn now(&self) -> Timestamp;

    /// Ten bytes that nobody can have seen before.
    fn random(&self) -> [u8; 10];

    /// Milliseconds on a clock that never runs back, by which long searches are cut; 0 where there is none, and nothing
    /// is cut.
    fn steady_millis(&self) -> u64 {
        0
    }
}

/// The machine's clock and random source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    #[expect(clippy::disallowed_methods, reason = "this is the one place where the machine's clock is read")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
        Timestamp { micros, offset_minutes: offset_minutes(&TimeZone::system(), micros) }
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

    #[expect(clippy::disallowed_methods, reason = "this is the one place where the machine's clock is read")]
    fn steady_millis(&self) -> u64 {
        static BEGIN: OnceLock<Instant> = OnceLock::new();
        u64::try_from(BEGIN.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Minutes east of UTC at that time in a zone; 0 where that cannot be told.
fn offset_minutes(zone: &TimeZone, micros: i64) -> i16 {
    let Ok(time) = jiff::Timestamp::from_microsecond(micros) else { return 0 };
    i16::try_from(zone.to_offset(time).seconds() / 60).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_has_its_offset_at_each_time() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let (winter, summer) = (1_767_225_600_000_000, 1_782_864_000_000_000);
        assert_eq!([winter, summer].map(|micros| offset_minutes(&berlin, micros)), [60, 120]);
        let newfoundland = TimeZone::posix("NST3:30").unwrap();
        assert_eq!(offset_minutes(&newfoundland, winter), -210);
        assert_eq!(offset_minutes(&berlin, i64::MAX), 0);
    }
}
