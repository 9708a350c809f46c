//! Segment files: their header, and reading from them.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use segue_event::Position;
use segue_log::LogError;

use crate::blocks::Blocks;
use crate::checked::Checked;
use crate::disk::{DiskFile, Open};
use crate::filter::Filter;
use crate::frame::{FRAME_HEADER_BYTES, Frame, FrameHeader};
use crate::layout::Layout;
use crate::limits::{BLOCK_BYTES, FORMAT_VERSION, SEGMENT_BYTES_MAX};
use crate::map::Map;
use crate::place::{Place, SEGMENT_HEADER_BYTES, SegmentNumber};
use crate::running::RunningHash;
use crate::wire::{Fields, is_sealed, seal};

const HEADER_SIZE: usize = 128;
const MAGIC: [u8; 8] = *b"SegueSeg";

/// How the bytes behind a segment's header are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Storage {
    /// As they were written.
    #[default]
    Plain,
    /// In compressed blocks.
    Packed(Packed),
}

/// Where everything stands in a compressed segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packed {
    /// The byte behind the last frame, as it was before.
    pub(crate) end: u64,
    /// Where the table of blocks stands in the file; the footer stands behind it.
    pub(crate) table: u64,
    pub(crate) table_bytes: u32,
    pub(crate) table_checksum: u32,
}

/// The flag of a compressed segment.
const PACKED: u32 = 2;

/// What a segment says about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SegmentHeader {
    pub(crate) number: SegmentNumber,
    /// Where the log ended before this segment: the segment before, and the byte behind its last frame.
    pub(crate) previous: Option<Place>,
    /// The position that the first event of this segment has.
    pub(crate) first: Position,
    /// The number of the last group before this segment.
    pub(crate) group: u64,
    /// Over the ids of all events before this segment.
    pub(crate) running: RunningHash,
    pub(crate) storage: Storage,
}

impl SegmentHeader {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_SIZE] {
        let (flags, packed) = match self.storage {
            Storage::Plain => (0, Packed { end: 0, table: 0, table_bytes: 0, table_checksum: 0 }),
            Storage::Packed(packed) => (PACKED, packed),
        };
        let previous = self.previous.unwrap_or(Place { segment: SegmentNumber(0), offset: 0 });
        seal(&[
            &MAGIC,
            &FORMAT_VERSION.to_le_bytes(),
            &flags.to_le_bytes(),
            &self.number.0.to_le_bytes(),
            &previous.segment.0.to_le_bytes(),
            &previous.offset.to_le_bytes(),
            &self.first.get().to_le_bytes(),
            &self.group.to_le_bytes(),
            self.running.as_bytes(),
            &packed.end.to_le_bytes(),
            &packed.table.to_le_bytes(),
            &packed.table_bytes.to_le_bytes(),
            &packed.table_checksum.to_le_bytes(),
        ])
    }

    fn from_bytes(bytes: &[u8; HEADER_SIZE]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let known = is_sealed(bytes) && fields.array()? == MAGIC && fields.u32()? == FORMAT_VERSION;
        let flags = fields.u32()?;
        if !known || !matches!(flags, 0 | PACKED) {
            return None;
        }
        let number = SegmentNumber(fields.u32()?);
        let previous = Place { segment: SegmentNumber(fields.u32()?), offset: fields.u64()? };
        Some(Self {
            number,
            previous: (previous.segment.0 != 0).then_some(previous),
            first: Position::new(fields.u64()?)?,
            group: fields.u64()?,
            running: RunningHash::from_bytes(fields.array()?),
            storage: read_storage(flags, &mut fields)?,
        })
    }
}

fn read_storage(flags: u32, fields: &mut Fields<'_>) -> Option<Storage> {
    if flags != PACKED {
        return Some(Storage::Plain);
    }
    let (end, table) = (fields.u64()?, fields.u64()?);
    let is_possible =
        (SEGMENT_HEADER_BYTES..=SEGMENT_BYTES_MAX).contains(&end) && table >= SEGMENT_HEADER_BYTES;
    let packed = Packed { end, table, table_bytes: fields.u32()?, table_checksum: fields.u32()? };
    is_possible.then_some(Storage::Packed(packed))
}

/// An open segment file.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: SegmentNumber,
    pub(crate) path: PathBuf,
    /// None if it is damaged, or belongs to another segment.
    pub(crate) header: Option<SegmentHeader>,
    map: Arc<Map>,
    /// For a compressed segment whose table is whole.
    blocks: Option<Blocks>,
    checked: Checked,
    filter: OnceLock<Filter>,
}

impl Segment {
    pub(crate) fn open(layout: &Layout, number: SegmentNumber) -> Result<Self, LogError> {
        Self::open_at(layout, layout.segment(number), number)
    }

    /// Opens a file that does not have the segment's name yet.
    pub(crate) fn open_at(layout: &Layout, path: PathBuf, number: SegmentNumber) -> Result<Self, LogError> {
        let failed = |error| LogError::io(format!("opening {}", path.display()), error);
        let file = layout.disk.open(&path, Open::Read).map_err(failed)?;
        let at_the_end = || file.size().ok()?.checked_sub(SEGMENT_HEADER_BYTES);
        let header = read_header(&*file, 0).or_else(|| {
            // A compressed segment has its header at its end as well: without it nothing in it would be found.
            let again = read_header(&*file, at_the_end()?)?;
            again.packed().map(|_| again)
        });
        let capacity = usize::try_from(SEGMENT_BYTES_MAX).unwrap_or(usize::MAX);
        let map = Arc::new(Map::new(file, capacity).map_err(failed)?);
        let header = header.filter(|header| header.number == number);
        let blocks =
            header.and_then(|header| header.packed()).and_then(|packed| open_blocks(layout, &map, packed));
        Ok(Self { number, header, map, blocks, path, checked: Checked::default(), filter: OnceLock::new() })
    }

    /// Opens a segment of which as much is to be read as can be: what is lost of compressed blocks reads as zeros.
    pub(crate) fn open_remains(layout: &Layout, number: SegmentNumber) -> Result<Self, LogError> {
        let mut segment = Self::open(layout, number)?;
        if let Some(packed) = segment.packed() {
            let found = || Blocks::find(Arc::clone(&segment.map), packed.table, packed.end, &layout.blocks);
            let blocks = segment.blocks.take().unwrap_or_else(found);
            segment.blocks = Some(blocks.remains());
        }
        Ok(segment)
    }

    /// The bytes from one on, as far as there are any; fewer than `bytes` only where the file ends.
    pub(crate) fn copy_remains(&self, offset: u64, bytes: u64) -> Bytes {
        let there = self.file_bytes().saturating_sub(offset).min(bytes);
        self.copy(offset, there).ok().flatten().unwrap_or_default()
    }

    /// Whether the segment is stored as it was written.
    pub(crate) fn is_plain(&self) -> bool {
        self.header.is_some_and(|header| header.storage == Storage::Plain)
    }

    /// Whether another file has taken its name, so that this one only takes room.
    pub(crate) fn is_replaced(&self) -> bool {
        self.map.file().has_name().is_ok_and(|has_name| !has_name)
    }

    /// Whether two files hold the same segment, each in its way: `end` is the byte behind the last frame.
    pub(crate) fn stands_for(&self, other: &Self, end: u64) -> bool {
        let plain = |header: SegmentHeader| SegmentHeader { storage: Storage::Plain, ..header };
        let is_same = self.header.is_some() && self.header.map(plain) == other.header.map(plain);
        is_same && self.packed().is_some_and(|packed| packed.end == end)
    }

    /// How far the segment reaches, as it was before it may have been compressed.
    pub(crate) fn file_bytes(&self) -> u64 {
        match self.packed() {
            Some(packed) => packed.end,
            None => self.stored_bytes().min(SEGMENT_BYTES_MAX),
        }
    }

    /// How large the file is.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.map.file().size().unwrap_or(0)
    }

    fn packed(&self) -> Option<Packed> {
        self.header.and_then(|header| header.packed())
    }

    /// The beginning of the footer of a segment whose frames end at a byte; none if the file is too short.
    pub(crate) fn copy_footer(&self, end: u64, bytes: u64) -> Option<Vec<u8>> {
        self.copy_behind(end, 0, bytes)
    }

    /// Bytes from where the footer of a segment begins whose frames end at a byte; none if the file is too short.
    pub(crate) fn copy_behind(&self, end: u64, skip: u64, bytes: u64) -> Option<Vec<u8>> {
        let footer = self.packed().map_or(end, |packed| packed.table + u64::from(packed.table_bytes));
        let at = footer.checked_add(skip)?;
        if at.checked_add(bytes)? > self.stored_bytes() {
            return None;
        }
        let mut copy = vec![0; usize::try_from(bytes).ok()?];
        self.map.file().read_exact_at(&mut copy, at).ok()?;
        Some(copy)
    }

    /// Whether these bytes stand behind the frames; looked at in pieces, for there can be many.
    pub(crate) fn has_behind(&self, end: u64, skip: u64, bytes: &[u8]) -> bool {
        let mut at = skip;
        bytes.chunks(PIECE_BYTES).all(|piece| {
            let here = self.copy_behind(end, at, piece.len() as u64);
            at += piece.len() as u64;
            here.as_deref() == Some(piece)
        })
    }

    /// The search filter of a sealed segment whose frames end at a byte, if there is one yet.
    pub(crate) fn filter(&self, end: u64) -> Option<&Filter> {
        if self.filter.get().is_none() {
            let filter = Filter::open(self, end)?;
            return Some(self.filter.get_or_init(|| filter));
        }
        self.filter.get()
    }

    /// Settled bytes, without copying them if that is possible.
    fn settled(&self, offset: u64, bytes: u64) -> Option<Bytes> {
        match (&self.blocks, self.packed()) {
            (Some(blocks), _) => blocks.bytes(offset, bytes),
            (None, Some(_)) => None,
            (None, None) => self.map.settled(offset, bytes),
        }
    }

    /// The frame at a settled place.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::Corrupt`] if what stands there is no whole frame.
    pub(crate) fn settled_frame(&self, offset: u64, check: Check) -> Result<Frame, LogError> {
        let place = Place { segment: self.number, offset };
        let header = self.settled_header(place).map_err(|what| self.corrupt(offset, what))?;
        self.whole_frame(place, header, check, self.settled(offset, header.total_bytes()))
            .map_err(|what| self.corrupt(offset, what))
    }

    /// The frame at a place behind which another process may be writing, by copying it.
    pub(crate) fn copied_frame(&self, offset: u64) -> Result<Frame, &'static str> {
        let place = Place { segment: self.number, offset };
        let read = |bytes| self.copy(offset, bytes).ok().flatten();
        let header = FrameHeader::from_bytes(place, &read(FRAME_HEADER_BYTES).ok_or(HEADER_CUT)?)?;
        self.whole_frame(place, header, Check::Now, read(header.total_bytes()))
    }

    fn settled_header(&self, place: Place) -> Result<FrameHeader, &'static str> {
        let parse = |bytes: &[u8]| FrameHeader::from_bytes(place, bytes);
        let header = match self.packed() {
            Some(_) => self.settled(place.offset, FRAME_HEADER_BYTES).map(|bytes| parse(&bytes)),
            None => self.map.look_at(place.offset, FRAME_HEADER_BYTES, parse),
        };
        header.ok_or(HEADER_CUT)?
    }

    fn whole_frame(
        &self,
        place: Place,
        header: FrameHeader,
        check: Check,
        bytes: Option<Bytes>,
    ) -> Result<Frame, &'static str> {
        let frame = Frame { place, header, bytes: bytes.ok_or("the file ends within a frame")? };
        let is_known = match check {
            Check::Done => true,
            Check::Once => self.checked.contains(place.offset),
            Check::Now => false,
        };
        if !is_known && !frame.is_sound() {
            return Err("a frame's checksum is wrong");
        }
        if check == Check::Once && !is_known {
            self.checked.insert(place.offset);
        }
        Ok(frame)
    }

    /// Copies bytes out of the file; none if it is too short.
    pub(crate) fn copy(&self, offset: u64, bytes: u64) -> io::Result<Option<Bytes>> {
        if offset.saturating_add(bytes) > self.file_bytes() {
            return Ok(None);
        }
        if self.packed().is_some() {
            return Ok(self.settled(offset, bytes));
        }
        let mut copy = vec![0; usize::try_from(bytes).unwrap_or(0)];
        self.map.file().read_exact_at(&mut copy, offset)?;
        Ok(Some(copy.into()))
    }

    /// Where bytes begin that may be whole although those at `offset` are not.
    pub(crate) fn next_border(&self, offset: u64) -> u64 {
        match self.packed() {
            Some(_) => {
                let from = offset.saturating_sub(SEGMENT_HEADER_BYTES);
                SEGMENT_HEADER_BYTES + (from / BLOCK_BYTES + 1) * BLOCK_BYTES
            }
            None => u64::MAX,
        }
    }

    pub(crate) fn corrupt(&self, offset: u64, what: &str) -> LogError {
        LogError::corrupt(&self.path, offset, what)
    }
}

impl SegmentHeader {
    fn packed(&self) -> Option<Packed> {
        match self.storage {
            Storage::Plain => None,
            Storage::Packed(packed) => Some(packed),
        }
    }
}

fn read_header(file: &dyn DiskFile, offset: u64) -> Option<SegmentHeader> {
    let mut header = [0; HEADER_SIZE];
    file.read_exact_at(&mut header, offset).ok()?;
    SegmentHeader::from_bytes(&header)
}

fn open_blocks(layout: &Layout, map: &Arc<Map>, packed: Packed) -> Option<Blocks> {
    let mut table = vec![0; usize::try_from(packed.table_bytes).ok()?];
    let stored = map.file().size().ok()?;
    if packed.table.checked_add(u64::from(packed.table_bytes))? > stored {
        return None;
    }
    map.file().read_exact_at(&mut table, packed.table).ok()?;
    let is_whole = crc32fast::hash(&table) == packed.table_checksum;
    is_whole.then(|| Blocks::read(Arc::clone(map), &table, packed.end, &layout.blocks)).flatten()
}

/// How much is compared in one go.
const PIECE_BYTES: usize = 64 * 1024;

const HEADER_CUT: &str = "the file ends within a frame's header";

/// Whether a frame's checksum is recomputed when it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    /// It is.
    Now,
    /// It is when the frame is read for the first time.
    Once,
    /// It was, by this process, when it took the frame into its view.
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back() {
        let header = SegmentHeader {
            number: SegmentNumber(3),
            previous: Some(Place { segment: SegmentNumber(1), offset: 4711 }),
            first: Position::new(99).unwrap(),
            group: 12,
            running: RunningHash::from_bytes([7; 32]),
            storage: Storage::Plain,
        };
        assert_eq!(SegmentHeader::from_bytes(&header.to_bytes()), Some(header));
        let first = SegmentHeader { number: SegmentNumber::FIRST, previous: None, ..header };
        assert_eq!(SegmentHeader::from_bytes(&first.to_bytes()), Some(first));
        let packed = Packed { end: 9_000, table: 700, table_bytes: 24, table_checksum: 7 };
        let packed = SegmentHeader { storage: Storage::Packed(packed), ..header };
        assert_eq!(SegmentHeader::from_bytes(&packed.to_bytes()), Some(packed));
    }
}
