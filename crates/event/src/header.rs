//! The fixed header that stands before every stored body.
//!
//! All numbers are little-endian.
//!
//! | offset | width | field | why |
//! |---|---|---|---|
//! | 0 | 2 | kind | which event; an explicit number, never an enum's position |
//! | 2 | 2 | version | the layout of the body |
//! | 4 | 16 | session | whose stream; its bytes in the order of its text |
//! | 20 | 8 | seq | place in that stream, from 1 |
//! | 28 | 8 | time | microseconds since 1970 UTC, signed |
//! | 36 | 2 | offset | minutes east of UTC, signed |
//! | 38 | 4 | body length | in bytes |
//! | 42 | 32 | hash | the event's id, over all of the above and the body |

use crate::{EventHash, Kind, SchemaVersion, Seq, SessionId, Timestamp};

/// The size of a stored header in bytes.
pub const HEADER_BYTES: usize = 74;

/// The part of the header that the hash covers: everything before the hash.
pub(crate) const HASHED_BYTES: usize = 42;

/// The fixed part of a stored event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventHeader {
    /// Which event it is.
    pub kind: Kind,
    /// The layout of its body.
    pub version: SchemaVersion,
    /// Whose stream it stands in.
    pub session: SessionId,
    /// Its number in that stream.
    pub seq: Seq,
    /// When it was written.
    pub time: Timestamp,
    /// The length of its body, in bytes.
    pub body_bytes: u32,
    /// Its id.
    pub hash: EventHash,
}

impl EventHeader {
    /// The stored form.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let (hashed, hash) = bytes.split_at_mut(HASHED_BYTES);
        hashed.copy_from_slice(&self.hashed_bytes());
        hash.copy_from_slice(self.hash.as_bytes());
        bytes
    }

    /// Reads a header; none if `seq` is 0, which no writer writes.
    pub fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let mut rest = bytes.as_slice();
        Some(Self {
            kind: Kind(u16::from_le_bytes(take(&mut rest)?)),
            version: SchemaVersion(u16::from_le_bytes(take(&mut rest)?)),
            session: SessionId::from_bytes(take(&mut rest)?),
            seq: Seq::new(u64::from_le_bytes(take(&mut rest)?))?,
            time: Timestamp {
                micros: i64::from_le_bytes(take(&mut rest)?),
                offset_minutes: i16::from_le_bytes(take(&mut rest)?),
            },
            body_bytes: u32::from_le_bytes(take(&mut rest)?),
            hash: EventHash::from_bytes(take(&mut rest)?),
        })
    }

    pub(crate) fn hashed_bytes(&self) -> [u8; HASHED_BYTES] {
        let mut bytes = [0; HASHED_BYTES];
        let mut rest = bytes.as_mut_slice();
        put(&mut rest, &self.kind.0.to_le_bytes());
        put(&mut rest, &self.version.0.to_le_bytes());
        put(&mut rest, self.session.as_bytes());
        put(&mut rest, &self.seq.get().to_le_bytes());
        put(&mut rest, &self.time.micros.to_le_bytes());
        put(&mut rest, &self.time.offset_minutes.to_le_bytes());
        put(&mut rest, &self.body_bytes.to_le_bytes());
        bytes
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

fn put(rest: &mut &mut [u8], bytes: &[u8]) {
    let (first, after) = std::mem::take(rest).split_at_mut(bytes.len());
    first.copy_from_slice(bytes);
    *rest = after;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back() {
        let header = EventHeader {
            kind: Kind::Message,
            version: SchemaVersion(1),
            session: SessionId::from_bytes([3; 16]),
            seq: Seq::new(258).unwrap(),
            time: Timestamp { micros: -5, offset_minutes: -90 },
            body_bytes: 7,
            hash: EventHash::from_bytes([9; 32]),
        };
        assert_eq!(EventHeader::from_bytes(&header.to_bytes()), Some(header));
    }

    #[test]
    fn seq_zero_is_no_header() {
        assert_eq!(EventHeader::from_bytes(&[0; HEADER_BYTES]), None);
    }
}
