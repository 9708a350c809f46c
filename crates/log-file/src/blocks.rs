//! The bytes of a sealed segment, compressed block by block.
//!
//! A block holds [`BLOCK_BYTES`] of the segment, counted from behind its header; offsets in a segment stay what they
//! were before it was compressed. A table tells where each block stands and what its checksum is.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use crate::limits::{BLOCK_BYTES, BLOCKS_KEPT, COMPRESSION_LEVEL};
use crate::map::Map;
use crate::place::SEGMENT_HEADER_BYTES;
use crate::wire::Fields;

/// Where the blocks of a segment stand in its file, and those that were read last.
#[derive(Debug)]
pub(crate) struct Blocks {
    map: Arc<Map>,
    table: Vec<BlockPlace>,
    /// The byte behind the last frame, as it was before the segment was compressed.
    end: u64,
    kept: Mutex<Vec<(usize, Bytes)>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct BlockPlace {
    offset: u32,
    bytes: u32,
    checksum: u32,
}

const PLACE_SIZE: usize = 12;

impl Blocks {
    /// Reads the table of a compressed file; none if it is damaged.
    pub(crate) fn read(map: Arc<Map>, table: &[u8], end: u64) -> Option<Self> {
        let mut fields = Fields::new(table);
        let mut places = Vec::with_capacity(table.len() / PLACE_SIZE);
        while !fields.is_empty() {
            places.push(BlockPlace { offset: fields.u32()?, bytes: fields.u32()?, checksum: fields.u32()? });
        }
        let expected = (end - SEGMENT_HEADER_BYTES).div_ceil(BLOCK_BYTES);
        (places.len() as u64 == expected).then(|| Self { map, table: places, end, kept: Mutex::default() })
    }

    /// Bytes of the segment as they were before it was compressed; none if they are damaged or not there.
    pub(crate) fn bytes(&self, offset: u64, count: u64) -> Option<Bytes> {
        let from = offset.checked_sub(SEGMENT_HEADER_BYTES)?;
        let end = offset.checked_add(count)?;
        if end > self.end {
            return None;
        }
        let (first, last) = (from / BLOCK_BYTES, (from + count.max(1) - 1) / BLOCK_BYTES);
        let start = usize::try_from(from % BLOCK_BYTES).ok()?;
        let count = usize::try_from(count).ok()?;
        if first == last {
            let block = self.block(first)?;
            return (start + count <= block.len()).then(|| block.slice(start..start + count));
        }
        let mut joined = Vec::with_capacity(start + count);
        for index in first..=last {
            joined.extend_from_slice(&self.block(index)?);
        }
        (start + count <= joined.len()).then(|| Bytes::from(joined).slice(start..start + count))
    }

    fn block(&self, index: u64) -> Option<Bytes> {
        let index = usize::try_from(index).ok()?;
        if let Some((_, block)) = self.kept.lock().iter().find(|(kept, _)| *kept == index) {
            return Some(block.clone());
        }
        let place = self.table.get(index)?;
        let packed = self.map.settled(place.offset.into(), place.bytes.into())?;
        if crc32fast::hash(&packed) != place.checksum {
            return None;
        }
        let capacity = usize::try_from(BLOCK_BYTES).ok()?;
        let block = Bytes::from(zstd::bulk::decompress(&packed, capacity).ok()?);
        let mut kept = self.kept.lock();
        kept.insert(0, (index, block.clone()));
        kept.truncate(BLOCKS_KEPT);
        Some(block)
    }
}

/// Compresses blocks one after the other, into a file whose next byte is known.
pub(crate) struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
    table: Vec<u8>,
    next: u32,
}

impl Packer {
    /// Begins at a byte of the file.
    pub(crate) fn new(next: u64) -> std::io::Result<Self> {
        let compressor = zstd::bulk::Compressor::new(COMPRESSION_LEVEL)?;
        Ok(Self { compressor, table: Vec::new(), next: crate::wire::to_u32(next) })
    }

    /// Compresses a block and enters it in the table; the answer goes to the file.
    pub(crate) fn pack(&mut self, block: &[u8]) -> std::io::Result<Vec<u8>> {
        let packed = self.compressor.compress(block)?;
        let bytes = crate::wire::to_u32(packed.len() as u64);
        for number in [self.next, bytes, crc32fast::hash(&packed)] {
            self.table.extend_from_slice(&number.to_le_bytes());
        }
        self.next = self.next.saturating_add(bytes);
        Ok(packed)
    }

    /// Where the next block goes.
    pub(crate) fn next(&self) -> u64 {
        self.next.into()
    }

    /// Where the table goes, and the table.
    pub(crate) fn finish(self) -> (u64, Vec<u8>) {
        (self.next.into(), self.table)
    }
}
