//! Where a search stopped: opaque, checked, and bound to what was searched.

use std::fmt;
use std::str::FromStr;

use segue_event::{EventHash, Position};

use crate::ThreadError;
use crate::error::Detail;

/// Where a search stopped. Its text goes to the caller and comes back; it grants nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    /// What was searched for, and in which chain.
    pub(crate) search: EventHash,
    /// The newest event of the log when the search began; later ones are not part of it.
    pub(crate) up_to: Position,
    /// The id of that event: the record that the cursor belongs to.
    pub(crate) end: EventHash,
    /// Which sessions of the chain are searched now, counted in legs from 0.
    pub(crate) leg: u32,
    /// The event that comes next, going backwards.
    pub(crate) at: Position,
    /// Within that, the text that comes next.
    pub(crate) part: u32,
    /// Places before it that could not be searched.
    pub(crate) damaged: u64,
}

const VERSION: u8 = 2;
/// Version, search, up to, end, leg, at, part, damaged.
const PLAIN_BYTES: usize = 1 + 32 + 8 + 32 + 4 + 8 + 4 + 8;
/// The first bytes of a hash over the rest: not a secret, only a check against slips.
const CHECK_BYTES: usize = 8;
const BYTES: usize = PLAIN_BYTES + CHECK_BYTES;

impl Cursor {
    /// The newest event of the log when the search began.
    pub fn up_to(&self) -> Position {
        self.up_to
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend(self.search.as_bytes());
        bytes.extend(self.up_to.get().to_le_bytes());
        bytes.extend(self.end.as_bytes());
        bytes.extend(self.leg.to_le_bytes());
        bytes.extend(self.at.get().to_le_bytes());
        bytes.extend(self.part.to_le_bytes());
        bytes.extend(self.damaged.to_le_bytes());
        bytes.extend(check(&bytes));
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (plain, found) = bytes.split_last_chunk::<CHECK_BYTES>()?;
        if *found != check(plain) {
            return None;
        }
        let rest = plain.strip_prefix(&[VERSION])?;
        let (search, rest) = rest.split_first_chunk::<32>()?;
        let (up_to, rest) = rest.split_first_chunk::<8>()?;
        let (end, rest) = rest.split_first_chunk::<32>()?;
        let (leg, rest) = rest.split_first_chunk::<4>()?;
        let (at, rest) = rest.split_first_chunk::<8>()?;
        let (part, rest) = rest.split_first_chunk::<4>()?;
        let (damaged, rest) = rest.split_first_chunk::<8>()?;
        let cursor = Self {
            search: EventHash::from_bytes(*search),
            up_to: Position::new(u64::from_le_bytes(*up_to))?,
            end: EventHash::from_bytes(*end),
            leg: u32::from_le_bytes(*leg),
            at: Position::new(u64::from_le_bytes(*at))?,
            part: u32::from_le_bytes(*part),
            damaged: u64::from_le_bytes(*damaged),
        };
        rest.is_empty().then_some(cursor)
    }
}

fn check(plain: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = blake3::derive_key("segue 2026-11-30 recall cursor", plain);
    let mut check = [0; CHECK_BYTES];
    check.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    check
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Cursor {
    type Err = ThreadError;

    fn from_str(text: &str) -> Result<Self, ThreadError> {
        let invalid = || ThreadError::from(Detail::CursorInvalid);
        let digits: Vec<u8> = text
            .chars()
            .map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok()))
            .collect::<Option<_>>()
            .ok_or_else(invalid)?;
        if digits.len() != BYTES * 2 {
            return Err(invalid());
        }
        let bytes: Vec<u8> =
            digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
        Self::from_bytes(&bytes).ok_or_else(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadErrorKind;

    #[test]
    fn a_cursor_reads_back_and_a_slip_shows() {
        let cursor = Cursor {
            search: EventHash::from_bytes([1; 32]),
            up_to: Position::new(77).unwrap(),
            end: EventHash::from_bytes([2; 32]),
            leg: 3,
            at: Position::new(9).unwrap(),
            part: 2,
            damaged: 5,
        };
        let text = cursor.to_string();
        assert_eq!(text.parse::<Cursor>().unwrap(), cursor);
        for at in 0..text.len() {
            let mut wrong = text.clone();
            let other = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
            wrong.replace_range(at..=at, other);
            assert_eq!(wrong.parse::<Cursor>().unwrap_err().kind(), ThreadErrorKind::CursorInvalid);
        }
        assert!("é".parse::<Cursor>().is_err() && "".parse::<Cursor>().is_err());
    }

    #[test]
    fn the_corpus_of_the_fuzz_target_does_no_harm() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../log-file/fuzz/corpus/cursor");
        for entry in folder.read_dir().unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}
