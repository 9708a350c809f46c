//! What stands behind the frames of a sealed segment: all that a reader would find out by reading them.
//!
//! A footer is the view of one segment by itself, as the entries that the index has while the segment is written to. It counts only where the
//! log is known to end in that segment, and only if it continues exactly what is known of the segments before. It is
//! a remembered fold: checking a store reads the frames and holds the footer to them, byte for byte.

use std::sync::Arc;

use segue_event::Position;

use crate::filter::Filter;
use crate::index_entry::{Checkpoint, Entries, changes_since};
use crate::limits::FOOTER_BYTES_MAX;
use crate::place::Place;
use crate::running::RunningHash;
use crate::segment::{Segment, SegmentHeader};
use crate::view::View;
use crate::wire::Fields;

const MAGIC: [u8; 8] = *b"SegueFtr";
/// Magic, payload length, checksum of the payload.
const HEADER_SIZE: u64 = 16;

/// A footer that was read and is whole.
pub(crate) struct Footer {
    /// What had to be known before the segment.
    start: Start,
    /// What the segment adds.
    pub(crate) part: View,
}

/// What is written behind the frames of a segment, made from them.
#[derive(PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) footer: Vec<u8>,
    pub(crate) filter: Vec<u8>,
}

impl Made {
    /// What stands there, if it is whole.
    pub(crate) fn stored(segment: &Segment, end: u64) -> Option<Self> {
        Some(Self { footer: Footer::stored(segment, end)?, filter: Filter::stored(segment, end)? })
    }

    /// What is written, piece by piece, each with its distance from where the footer begins.
    pub(crate) fn pieces(&self) -> [(u64, &[u8]); 2] {
        [(0, self.footer.as_slice()), (self.footer.len() as u64, self.filter.as_slice())]
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.footer.len() + self.filter.len()) as u64
    }

    /// Whether it stands behind the frames of a segment.
    pub(crate) fn is_in(&self, segment: &Segment, end: u64) -> bool {
        self.pieces().iter().all(|(skip, piece)| segment.has_behind(end, *skip, piece))
    }
}

/// Where the log stood before a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Start {
    next: Position,
    running: RunningHash,
}

impl Footer {
    /// How a footer begins.
    pub(crate) const MAGIC: &'static [u8] = &MAGIC;

    /// Reads the footer of a segment whose frames end at a byte; none if there is none, or it is not whole.
    pub(crate) fn read(segment: &Segment, end: u64) -> Option<Self> {
        let (footer, place) = Self::parse(&read_payload(segment, end)?)?;
        (place == Place { segment: segment.number, offset: end }).then_some(footer)
    }

    /// Reads a payload; gives the footer and the place behind the frames that it tells of.
    pub(crate) fn parse(payload: &[u8]) -> Option<(Self, Place)> {
        let mut fields = Fields::new(payload);
        let start =
            Start { next: Position::new(fields.u64()?)?, running: RunningHash::from_bytes(fields.array()?) };
        let checkpoint = Checkpoint::from_bytes(fields.bytes(Checkpoint::SIZE)?)?;
        let mut entries = Entries::default();
        while !fields.is_empty() {
            let (key, value) = (fields.u16()?, fields.u32()?);
            entries.add(fields.bytes(key.into())?, fields.bytes(value as usize)?)?;
        }
        Some((Self { start, part: entries.finish(&checkpoint) }, checkpoint.place))
    }

    /// The position of the segment's first event.
    pub(crate) fn first(&self) -> Position {
        self.start.next
    }

    /// Whether the footer continues what a view knows.
    pub(crate) fn continues(&self, view: &View) -> bool {
        self.start == Start { next: view.end.next, running: view.end.running }
    }

    /// The stored form of what a segment adds, made from its frames; none if one of them is damaged.
    ///
    /// `read` is told of every frame how many events are in it.
    pub(crate) fn make(segment: &Arc<Segment>, end: u64, read: &mut dyn FnMut(u64)) -> Option<Made> {
        let header = segment.header?;
        let part = View::of_segment(segment, &header, end, read)?;
        Some(Made { footer: Self::to_bytes(&header, &part)?, filter: Filter::make(segment, end, &part)? })
    }

    fn to_bytes(header: &SegmentHeader, part: &View) -> Option<Vec<u8>> {
        let mut changes = changes_since(part, None)?;
        // Runs before the sessions they belong to, as the index has them too.
        changes.entries.sort();
        let mut payload = header.first.get().to_le_bytes().to_vec();
        payload.extend_from_slice(header.running.as_bytes());
        payload.extend_from_slice(&changes.checkpoint.to_bytes());
        for (key, value) in &changes.entries {
            payload.extend_from_slice(&u16::try_from(key.len()).ok()?.to_le_bytes());
            payload.extend_from_slice(&u32::try_from(value.len()).ok()?.to_le_bytes());
            payload.extend_from_slice(key);
            payload.extend_from_slice(value);
        }
        let mut footer = MAGIC.to_vec();
        footer.extend_from_slice(&u32::try_from(payload.len()).ok()?.to_le_bytes());
        footer.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        footer.extend_from_slice(&payload);
        Some(footer)
    }

    /// How many bytes a footer takes by what its header says, whatever stands behind that; none if there is no footer.
    pub(crate) fn stored_bytes(segment: &Segment, end: u64) -> Option<u64> {
        let (payload_bytes, _) = read_header(segment, end)?;
        Some(HEADER_SIZE + payload_bytes)
    }

    /// The stored bytes of a footer, if it is whole.
    pub(crate) fn stored(segment: &Segment, end: u64) -> Option<Vec<u8>> {
        let payload = read_payload(segment, end)?;
        segment.copy_footer(end, HEADER_SIZE + payload.len() as u64)
    }
}

fn read_payload(segment: &Segment, end: u64) -> Option<Vec<u8>> {
    let (bytes, checksum) = read_header(segment, end)?;
    let payload =
        segment.copy_footer(end, HEADER_SIZE + bytes)?.split_off(usize::try_from(HEADER_SIZE).ok()?);
    (crc32fast::hash(&payload) == checksum).then_some(payload)
}

/// The length and the checksum of a footer's payload.
fn read_header(segment: &Segment, end: u64) -> Option<(u64, u32)> {
    let header = segment.copy_footer(end, HEADER_SIZE)?;
    let mut fields = Fields::new(&header);
    let is_footer = fields.array()? == MAGIC;
    let (bytes, checksum) = (u64::from(fields.u32()?), fields.u32()?);
    (is_footer && bytes <= FOOTER_BYTES_MAX).then_some((bytes, checksum))
}

impl View {
    /// The view of one segment by itself, made from its frames up to `end`; none if one of them is damaged.
    fn of_segment(
        segment: &Arc<Segment>,
        header: &SegmentHeader,
        end: u64,
        read: &mut dyn FnMut(u64),
    ) -> Option<Self> {
        let mut part = Self::empty();
        part.begin_alone(segment, header);
        part.scan_sealed(segment, end, read);
        let is_whole = part.damages.is_empty() && part.end.place.is_some_and(|place| place.offset == end);
        (is_whole && part.counts.events > 0).then_some(part)
    }

    /// Takes in a segment by its footer instead of its frames; whether that was possible.
    pub(crate) fn join_footer(&mut self, segment: &Segment, end: u64) -> bool {
        match Footer::read(segment, end).filter(|footer| footer.continues(self)) {
            Some(footer) => {
                self.join(footer.part);
                true
            }
            None => false,
        }
    }
}
