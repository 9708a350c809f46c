//! Frames: one commit as it stands in a segment.

use bytes::Bytes;
use segue_event::{ContinuationEvent, EventHeader, HEADER_BYTES, Position, RawEvent, Recorded, SessionId};
use segue_log::{ClaimKey, Placed};

use crate::limits::PAYLOAD_BYTES_MAX;
use crate::place::{Place, SegmentNumber};
use crate::wire::{Fields, to_u32};

/// The size of a frame's header; the events stand behind it.
pub(crate) const FRAME_HEADER_BYTES: u64 = 52;

pub(crate) const FRAME_MAGIC: [u8; 8] = *b"SegueFrm";

const HEADER_SIZE: usize = 52;
/// What the checksums cover of the header: all but themselves.
const CHECKED_SIZE: usize = 44;

/// What a frame says about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameHeader {
    pub(crate) payload_bytes: u32,
    /// The group: all frames between two syncs have the same number.
    pub(crate) group: u64,
    pub(crate) first: Position,
    /// The byte of the segment where the first frame of this group begins. Everything before it was synced before
    /// this frame was written; that is how damage is told from a torn tail.
    pub(crate) group_start: u32,
    pub(crate) events: u32,
    pub(crate) claims: u32,
    /// Over the place, this header and the payload.
    checksum: u32,
}

impl FrameHeader {
    /// Reads the header of a frame that stands at a place, and checks it without looking at anything behind it.
    pub(crate) fn from_bytes(place: Place, bytes: &[u8]) -> Result<Self, &'static str> {
        let header = Self::parse(bytes).ok_or("there is no frame")?;
        let sum = bytes.get(CHECKED_SIZE..).and_then(|sum| Fields::new(sum).u32());
        if sum.is_none() || sum != begin_checksum(place, bytes).map(crc32fast::Hasher::finalize) {
            return Err("the checksum of a frame's header is wrong");
        }
        if !header.is_plausible(place) {
            return Err("a frame's header contradicts itself");
        }
        Ok(header)
    }

    /// Whether the numbers fit each other and the place.
    fn is_plausible(&self, place: Place) -> bool {
        u64::from(self.group_start) <= place.offset
            && u64::from(self.events) * HEADER_BYTES as u64 <= u64::from(self.payload_bytes)
    }

    /// Reads a header, whatever its checksum says.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        if fields.array()? != FRAME_MAGIC {
            return None;
        }
        let payload_bytes = fields.u32()?;
        let flags = fields.u32()?;
        let header = Self {
            payload_bytes,
            group: fields.u64()?,
            first: Position::new(fields.u64()?)?,
            group_start: fields.u32()?,
            events: fields.u32()?,
            claims: fields.u32()?,
            checksum: {
                // The header's own comes first.
                fields.u32()?;
                fields.u32()?
            },
        };
        (flags == 0 && header.events > 0 && payload_bytes as usize <= PAYLOAD_BYTES_MAX).then_some(header)
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        FRAME_HEADER_BYTES + u64::from(self.payload_bytes)
    }
}

/// A frame with its bytes, header and all.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) place: Place,
    pub(crate) header: FrameHeader,
    pub(crate) bytes: Bytes,
}

impl Frame {
    /// Whether the checksum is right.
    pub(crate) fn is_sound(&self) -> bool {
        checksums(self.place, &self.bytes).is_some_and(|sums| sums.frame == self.header.checksum)
    }

    pub(crate) fn end(&self) -> u64 {
        self.place.offset + self.header.total_bytes()
    }

    pub(crate) fn events(&self) -> EventCursor {
        EventCursor { frame: self.clone(), at: HEADER_SIZE, index: 0 }
    }

    /// The events from one on, whose number in the frame and byte in the segment are known.
    pub(crate) fn events_from(&self, index: u32, offset: u32) -> EventCursor {
        let at = u64::from(offset).saturating_sub(self.place.offset);
        EventCursor { frame: self.clone(), at: usize::try_from(at).unwrap_or(usize::MAX), index }
    }

    /// Everything the index needs to know of the frame; none if its inside is not as its header says.
    pub(crate) fn outline(&self) -> Option<Outline> {
        let mut cursor = self.events();
        let mut edges = Vec::new();
        let mut events = Vec::new();
        for Located { raw, offset } in cursor.by_ref() {
            edges.extend(edge(&raw));
            events.push((raw.header, offset));
        }
        if events.len() != self.header.events as usize {
            return None;
        }
        let mut fields = Fields::new(self.bytes.get(cursor.at..)?);
        let claims = (0..self.header.claims).map(|_| read_claim(&mut fields)).collect::<Option<Vec<_>>>()?;
        let (place, end, group, first) = (self.place, self.end(), self.header.group, self.header.first);
        fields.is_empty().then_some(Outline { place, end, group, first, events, claims, edges })
    }
}

/// What the index needs to know of a frame.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) place: Place,
    pub(crate) end: u64,
    pub(crate) group: u64,
    pub(crate) first: Position,
    /// The events' headers, each with the byte of the segment where it stands.
    pub(crate) events: Vec<(EventHeader, u32)>,
    pub(crate) claims: Vec<ClaimKey>,
    /// Successors and their predecessors.
    pub(crate) edges: Vec<(SessionId, SessionId)>,
}

/// An event of a frame, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) raw: RawEvent,
    /// The byte of the segment where the event begins.
    pub(crate) offset: u32,
}

/// Walks the events of a frame; ends early if the frame's inside is not as its header says.
#[derive(Debug)]
pub(crate) struct EventCursor {
    frame: Frame,
    at: usize,
    index: u32,
}

impl Iterator for EventCursor {
    type Item = Located;

    fn next(&mut self) -> Option<Located> {
        if self.index >= self.frame.header.events {
            return None;
        }
        let header = EventHeader::from_bytes(self.frame.bytes.get(self.at..)?.first_chunk()?)?;
        let begin = self.at.checked_add(HEADER_BYTES)?;
        let end = begin.checked_add(header.body_bytes as usize)?;
        if end > self.frame.bytes.len() {
            return None;
        }
        let offset = u32::try_from(self.frame.place.offset + self.at as u64).ok()?;
        let position = self.frame.header.first.plus(u64::from(self.index));
        let body = self.frame.bytes.slice(begin..end);
        (self.at, self.index) = (end, self.index + 1);
        Some(Located { raw: RawEvent { header, position, body }, offset })
    }
}

/// The session that an event begins, and the one that it was continued from.
fn edge(raw: &RawEvent) -> Option<(SessionId, SessionId)> {
    match raw.decode_as::<ContinuationEvent>() {
        Ok(Some(Recorded { session, event: ContinuationEvent::Continued(edge), .. })) => {
            Some((session, edge.predecessor))
        }
        Ok(Some(_)) => None,
        // A body that cannot be read is no matter of the index; whoever reads the event is told.
        Ok(None) | Err(_) => None,
    }
}

/// The group that a frame is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Group {
    pub(crate) number: u64,
    pub(crate) start: u64,
}

/// How many bytes a commit takes in a segment.
pub(crate) fn frame_bytes(placed: &Placed) -> u64 {
    FRAME_HEADER_BYTES + payload_bytes(placed) as u64
}

fn payload_bytes(placed: &Placed) -> usize {
    let events: usize = placed.events.iter().map(|event| HEADER_BYTES + event.body.len()).sum();
    let claims: usize = placed.claims.iter().map(|claim| 2 + claim.as_bytes().len()).sum();
    events + claims
}

/// Appends the frame of a commit to `buffer`, which will be written so that the frame stands at `place`.
pub(crate) fn write_frame(buffer: &mut Vec<u8>, place: Place, group: Group, placed: &Placed) -> Outline {
    let begin = buffer.len();
    write_header(buffer, group, placed);
    let mut events = Vec::with_capacity(placed.events.len());
    for event in &placed.events {
        events.push((event.header, to_u32(place.offset + (buffer.len() - begin) as u64)));
        buffer.extend_from_slice(&event.header.to_bytes());
        buffer.extend_from_slice(&event.body);
    }
    for claim in placed.claims.iter().map(ClaimKey::as_bytes) {
        buffer.extend_from_slice(&u16::try_from(claim.len()).unwrap_or(u16::MAX).to_le_bytes());
        buffer.extend_from_slice(claim);
    }
    let frame = buffer.get_mut(begin..).unwrap_or_default();
    let sums = checksums(place, frame).unwrap_or_default();
    let sums = sums.header.to_le_bytes().into_iter().chain(sums.frame.to_le_bytes());
    frame.iter_mut().skip(CHECKED_SIZE).zip(sums).for_each(|(to, from)| *to = from);
    let end = place.offset + frame.len() as u64;
    let (first, claims) = (placed.committed.first, placed.claims.clone());
    let edges = placed.events.iter().filter_map(edge).collect();
    Outline { place, end, group: group.number, first, events, claims, edges }
}

fn write_header(buffer: &mut Vec<u8>, group: Group, placed: &Placed) {
    buffer.extend_from_slice(&FRAME_MAGIC);
    buffer.extend_from_slice(&to_u32(payload_bytes(placed) as u64).to_le_bytes());
    buffer.extend_from_slice(&0u32.to_le_bytes());
    buffer.extend_from_slice(&group.number.to_le_bytes());
    buffer.extend_from_slice(&placed.committed.first.get().to_le_bytes());
    buffer.extend_from_slice(&to_u32(group.start).to_le_bytes());
    buffer.extend_from_slice(&to_u32(placed.events.len() as u64).to_le_bytes());
    buffer.extend_from_slice(&to_u32(placed.claims.len() as u64).to_le_bytes());
    buffer.extend_from_slice(&[0; HEADER_SIZE - CHECKED_SIZE]);
}

/// Both checksums of a frame.
#[derive(Default)]
struct Checksums {
    /// Over the place and the header: tells whether the rest is worth looking at.
    header: u32,
    /// Over the same and the payload.
    frame: u32,
}

fn checksums(place: Place, frame: &[u8]) -> Option<Checksums> {
    let mut hasher = begin_checksum(place, frame)?;
    let header = hasher.clone().finalize();
    hasher.update(frame.get(HEADER_SIZE..)?);
    Some(Checksums { header, frame: hasher.finalize() })
}

/// The checksums cover the place too, so that the copy of a frame inside an event's body is no frame, nor is one
/// that a disk wrote to the wrong place.
fn begin_checksum(place: Place, header: &[u8]) -> Option<crc32fast::Hasher> {
    let SegmentNumber(segment) = place.segment;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&segment.to_le_bytes());
    hasher.update(&place.offset.to_le_bytes());
    hasher.update(header.get(..CHECKED_SIZE)?);
    Some(hasher)
}

pub(crate) fn read_claim(fields: &mut Fields<'_>) -> Option<ClaimKey> {
    let bytes = fields.u16()?;
    ClaimKey::new(fields.bytes(bytes.into())?).ok()
}
