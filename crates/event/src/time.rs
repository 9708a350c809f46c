//! Wall-clock time as it was told to us; never used for order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Microseconds since 1970 UTC, with the offset of the writer's clock in minutes.
///
/// Clocks stand still and run back; events are ordered by [`crate::Seq`] and [`crate::Position`] only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Timestamp {
    /// Microseconds since 1970-01-01T00:00:00Z; negative before.
    pub micros: i64,
    /// Minutes east of UTC where the writer's clock stood.
    pub offset_minutes: i16,
}

impl Timestamp {
    /// A time in UTC.
    pub const fn utc_micros(micros: i64) -> Self {
        Self { micros, offset_minutes: 0 }
    }

    /// Reads a time with its offset, such as `2026-01-31T09:30:00Z` or `2026-01-31T10:30:00+01:00`; none if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(|time: jiff::Timestamp| Self::utc_micros(time.as_microsecond()))
    }

    /// RFC 3339 on the writer's clock, in whole seconds, with its offset, such as `2026-01-31T10:30:00+01:00`.
    ///
    /// In UTC where there is no such offset; a time outside the years -9999 to 9999 as in [`Display`](fmt::Display).
    pub fn to_local_string(self) -> String {
        let Ok(time) = jiff::Timestamp::from_microsecond(self.micros) else { return self.to_string() };
        let offset = jiff::tz::Offset::from_seconds(i32::from(self.offset_minutes) * 60);
        format!("{:.0}", time.display_with_offset(offset.unwrap_or(jiff::tz::Offset::UTC)))
    }

    /// Whole milliseconds since 1970; 0 for earlier times.
    pub fn unix_millis(self) -> u64 {
        u64::try_from(self.micros.div_euclid(1_000)).unwrap_or(0)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with microseconds, such as `2026-01-31T09:30:00.000000Z`.
    ///
    /// A time outside the years -9999 to 9999 is shown as its number of microseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.micros) {
            Ok(time) => write!(f, "{time:.6}"),
            Err(_) => write!(f, "{} µs", self.micros),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_utc() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (i64::MAX, "9223372036854775807 µs"),
            (1_764_547_199_500_000, "2025-11-30T23:59:59.500000Z"),
        ];
        for (micros, text) in cases {
            assert_eq!(Timestamp::utc_micros(micros).to_string(), text);
            let read = Timestamp::parse(text);
            assert_eq!(read, text.ends_with('Z').then_some(Timestamp::utc_micros(micros)));
        }
        assert_eq!(Timestamp::parse("1970-01-01T01:00:00+01:00"), Some(Timestamp::default()));
        assert_eq!(Timestamp::parse("yesterday"), None);
    }

    #[test]
    fn local_times_have_their_offset() {
        let cases = [
            (0, 60, "1970-01-01T01:00:00+01:00"),
            (0, -150, "1969-12-31T21:30:00-02:30"),
            (951_782_400_999_999, 0, "2000-02-29T00:00:00+00:00"),
            (0, i16::MAX, "1970-01-01T00:00:00+00:00"),
            (i64::MAX, 60, "9223372036854775807 µs"),
        ];
        for (micros, offset_minutes, text) in cases {
            assert_eq!(Timestamp { micros, offset_minutes }.to_local_string(), text);
        }
    }
}
