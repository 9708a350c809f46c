//! The bytes of a sealed segment, compressed block by block.
//!
//! A block holds [`BLOCK_BYTES`] of the segment, counted from behind its header; offsets in a segment stay what they
//! were before it was compressed. A table tells where each block stands and what its checksum is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::limits::{BLOCK_BYTES, BLOCKS_KEPT, COMPRESSION_LEVEL, UNPACKERS_MAX};
use crate::map::Map;
use crate::place::SEGMENT_HEADER_BYTES;
use crate::wire::Fields;

/// Where the blocks of a segment stand in its file.
#[derive(Debug)]
pub(crate) struct Blocks {
    map: Arc<Map>,
    table: Vec<BlockPlace>,
    /// The byte behind the last frame, as it was before the segment was compressed.
    end: u64,
    damage: OnDamage,
    /// What the blocks are kept under.
    owner: u64,
    kept: Arc<KeptBlocks>,
}

/// What is answered where a block is damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OnDamage {
    Nothing,
    /// What can be made of it, whatever its checksum says; zeros where that is nothing.
    Remains,
}

/// The blocks that were read last, of all the segments of a store together.
#[derive(Debug, Default)]
pub(crate) struct KeptBlocks {
    owners: AtomicU64,
    newest_first: Mutex<VecDeque<(BlockName, Bytes)>>,
    idle: Mutex<Vec<Unpacker>>,
}

/// What it takes to decompress a block: used again and again, since fresh memory costs as much as the work itself.
struct Unpacker {
    decompressor: zstd::bulk::Decompressor<'static>,
    /// What a block is decompressed into; one that was let go of.
    buffer: Vec<u8>,
}

impl Unpacker {
    fn new() -> std::io::Result<Self> {
        Ok(Self { decompressor: zstd::bulk::Decompressor::new()?, buffer: Vec::new() })
    }

    fn unpack(&mut self, packed: &[u8]) -> Option<Vec<u8>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.reserve_exact(usize::try_from(BLOCK_BYTES).ok()?);
        self.decompressor.decompress_to_buffer(packed, &mut buffer).ok()?;
        Some(buffer)
    }
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacker").finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct BlockName {
    owner: u64,
    index: usize,
}

impl KeptBlocks {
    fn get(&self, name: BlockName) -> Option<Bytes> {
        let kept = self.newest_first.lock();
        kept.iter().find(|(kept, _)| *kept == name).map(|(_, block)| block.clone())
    }

    fn keep(&self, name: BlockName, block: Bytes) {
        let mut kept = self.newest_first.lock();
        kept.push_front((name, block));
        let oldest = if kept.len() > BLOCKS_KEPT { kept.pop_back() } else { None };
        drop(kept);
        // Only where nobody reads it any more is it free.
        if let Some(Ok(free)) = oldest.map(|(_, block)| block.try_into_mut())
            && let Some(unpacker) = self.idle.lock().last_mut()
        {
            unpacker.buffer = free.into();
        }
    }

    fn unpack(&self, packed: &[u8]) -> Option<Vec<u8>> {
        let idle = self.idle.lock().pop();
        let mut unpacker = idle.map_or_else(|| Unpacker::new().ok(), Some)?;
        let block = unpacker.unpack(packed);
        let mut idle = self.idle.lock();
        if idle.len() < UNPACKERS_MAX {
            idle.push(unpacker);
        }
        block
    }
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
    pub(crate) fn read(map: Arc<Map>, table: &[u8], end: u64, kept: &Arc<KeptBlocks>) -> Option<Self> {
        let mut fields = Fields::new(table);
        let mut places = Vec::with_capacity(table.len() / PLACE_SIZE);
        while !fields.is_empty() {
            places.push(BlockPlace { offset: fields.u32()?, bytes: fields.u32()?, checksum: fields.u32()? });
        }
        let expected = (end - SEGMENT_HEADER_BYTES).div_ceil(BLOCK_BYTES);
        (places.len() as u64 == expected).then(|| Self::new(map, places, end, kept))
    }

    /// Finds the blocks of a file whose table is damaged, which begins at byte `table` of the file.
    pub(crate) fn find(map: Arc<Map>, table: u64, end: u64, kept: &Arc<KeptBlocks>) -> Self {
        let mut places = Vec::new();
        let mut at = SEGMENT_HEADER_BYTES;
        while let Some(bytes) = map.settled(at, table.saturating_sub(at)).filter(|bytes| !bytes.is_empty())
            && let Ok(bytes) = zstd::zstd_safe::find_frame_compressed_size(&bytes)
        {
            let (offset, bytes) = (crate::wire::to_u32(at), crate::wire::to_u32(bytes as u64));
            places.push(BlockPlace { offset, bytes, checksum: 0 });
            at += u64::from(bytes);
        }
        Self::new(map, places, end, kept)
    }

    fn new(map: Arc<Map>, table: Vec<BlockPlace>, end: u64, kept: &Arc<KeptBlocks>) -> Self {
        let owner = kept.owners.fetch_add(1, Ordering::Relaxed);
        Self { map, table, end, damage: OnDamage::Nothing, owner, kept: Arc::clone(kept) }
    }

    /// The same blocks, of which as much is read as can be: what cannot be read is zeros.
    pub(crate) fn remains(self) -> Self {
        Self { damage: OnDamage::Remains, ..self }
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
        let mut joined = Vec::with_capacity(count);
        let mut start = start;
        for index in first..=last {
            let block = self.block(index)?;
            let end = block.len().min(start + count - joined.len());
            joined.extend_from_slice(block.get(start..end)?);
            start = 0;
        }
        (joined.len() == count).then(|| Bytes::from(joined))
    }

    fn block(&self, index: u64) -> Option<Bytes> {
        let index = usize::try_from(index).ok()?;
        let name = BlockName { owner: self.owner, index };
        if let Some(block) = self.kept.get(name) {
            return Some(block);
        }
        let block = match (self.read_block(index), self.damage) {
            (Some(block), _) => block,
            (None, OnDamage::Nothing) => return None,
            (None, OnDamage::Remains) => Bytes::from(vec![0; self.size(index)?]),
        };
        self.kept.keep(name, block.clone());
        Some(block)
    }

    fn read_block(&self, index: usize) -> Option<Bytes> {
        let place = self.table.get(index)?;
        let packed = self.map.settled(place.offset.into(), place.bytes.into())?;
        let is_whole = crc32fast::hash(&packed) == place.checksum;
        if !is_whole && self.damage == OnDamage::Nothing {
            return None;
        }
        let block = self.kept.unpack(&packed)?;
        // Others follow it, whose places depend on its size.
        (self.damage == OnDamage::Nothing || Some(block.len()) == self.size(index)).then(|| block.into())
    }

    /// How many bytes a block has when it is not compressed.
    fn size(&self, index: usize) -> Option<usize> {
        let from = SEGMENT_HEADER_BYTES + index as u64 * BLOCK_BYTES;
        usize::try_from(self.end.saturating_sub(from).min(BLOCK_BYTES)).ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_segments_together_only_so_many_blocks_are_kept() {
        let kept = KeptBlocks::default();
        let name = |number: usize| BlockName { owner: number as u64 % 5, index: number / 5 };
        for number in 0..3 * BLOCKS_KEPT {
            kept.keep(name(number), Bytes::from(vec![number as u8]));
            assert_eq!(kept.get(name(number)), Some(Bytes::from(vec![number as u8])));
        }
        let found = (0..3 * BLOCKS_KEPT).filter(|number| kept.get(name(*number)).is_some());
        assert_eq!(found.collect::<Vec<_>>(), (2 * BLOCKS_KEPT..3 * BLOCKS_KEPT).collect::<Vec<_>>());
    }
}
