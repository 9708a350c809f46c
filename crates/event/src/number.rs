//! Where an event stands: its number in its session and its place in the whole log.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// The number of an event within its session, from 1, without gaps, never renumbered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(NonZeroU64);

/// The ordinal of an event in the one total order of a workspace's log, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(NonZeroU64);

macro_rules! ordinal {
    ($name:ident) => {
        impl $name {
            /// The first one: 1.
            pub const FIRST: Self = Self(NonZeroU64::MIN);

            /// Makes one from a number; 0 is none.
            pub const fn new(number: u64) -> Option<Self> {
                match NonZeroU64::new(number) {
                    Some(number) => Some(Self(number)),
                    None => None,
                }
            }

            /// The plain number.
            pub const fn get(self) -> u64 {
                self.0.get()
            }

            /// The one after this; stays at `u64::MAX`, which no log can reach.
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }

            /// The one `count` places further on; stays at `u64::MAX`.
            pub const fn plus(self, count: u64) -> Self {
                Self(self.0.saturating_add(count))
            }

            /// The one before this, if this is not the first.
            pub const fn previous(self) -> Option<Self> {
                Self::new(self.get() - 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

ordinal!(Seq);
ordinal!(Position);

/// A run of event numbers in one session, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SeqRange {
    /// The first number of the range.
    pub from: Seq,
    /// The last number of the range; not smaller than `from`.
    pub to: Seq,
}

impl SeqRange {
    /// Every event a session can have.
    pub const ALL: Self = Self { from: Seq::FIRST, to: Seq(NonZeroU64::MAX) };

    /// Makes a range; none if it would be empty.
    pub fn new(from: Seq, to: Seq) -> Option<Self> {
        (from <= to).then_some(Self { from, to })
    }

    /// The range of one event.
    pub const fn one(seq: Seq) -> Self {
        Self { from: seq, to: seq }
    }

    /// Everything from the first event up to `to`.
    pub const fn up_to(to: Seq) -> Self {
        Self { from: Seq::FIRST, to }
    }

    /// Everything from `from` on.
    pub const fn starting_at(from: Seq) -> Self {
        Self { from, to: Seq(NonZeroU64::MAX) }
    }

    /// Whether `seq` lies inside.
    pub fn contains(&self, seq: Seq) -> bool {
        self.from <= seq && seq <= self.to
    }
}

impl fmt::Display for SeqRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { self.from.fmt(f) } else { write!(f, "{}-{}", self.from, self.to) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_start_at_one_and_never_wrap() {
        assert_eq!(Seq::new(0), None);
        assert_eq!(Seq::FIRST.get(), 1);
        assert_eq!(Seq::FIRST.previous(), None);
        assert_eq!(Seq::new(u64::MAX).unwrap().next().get(), u64::MAX);
    }

    #[test]
    fn a_range_is_never_empty() {
        let (two, three) = (Seq::new(2).unwrap(), Seq::new(3).unwrap());
        assert_eq!(SeqRange::new(three, two), None);
        assert!(SeqRange::new(two, three).unwrap().contains(three));
        assert_eq!(SeqRange::one(two).to_string(), "2");
        assert_eq!(SeqRange::new(two, three).unwrap().to_string(), "2-3");
    }
}
