//! What of a sealed segment need not be read in a search: which trigrams stand in which of its blocks.
//!
//! A filter is made from the frames, stands behind the footer, and never rules out what is there. It is a table of
//! bits: a row for each hash of a trigram, a column for each block; a bit says that a trigram with that hash stands in
//! a text of the block. A text can only be in the columns that all of its trigrams' rows have. An event belongs to the
//! block in which its run begins (see [`Run`](crate::view::Run)), so that whoever has the runs of a session looks up
//! theirs. The rows are read, and checked, only as they are needed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use segue_event::{Family as _, RawEvent, TranscriptEvent};
use segue_log::{Sieve, TELLING, Trigram, trigrams};

use crate::columns::Columns;
use crate::footer::Footer;
use crate::limits::{FILTER_BLOCK_BYTES, FILTER_CHUNK_BYTES, FILTER_ROWS_MAX_BITS, FILTER_TRIGRAMS_MAX};
use crate::place::SEGMENT_HEADER_BYTES;
use crate::segment::{Check, Segment};
use crate::view::{Run, View};
use crate::wire::{Fields, is_sealed, seal, to_u32};

const MAGIC: [u8; 8] = *b"SegueFlt";
const HEADER_SIZE: usize = 32;

/// The filter of a sealed segment.
#[derive(Debug)]
pub(crate) struct Filter {
    shape: Shape,
    /// Where the rows begin, counted from where the footer does.
    rows_at: u64,
    chunks: Vec<Chunk>,
}

/// Some rows, and whether this process has found them whole.
#[derive(Debug)]
struct Chunk {
    checksum: u32,
    checked: AtomicBool,
}

/// How large the table is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    /// There are two to the power of so many rows, and one more for blocks that are always read.
    row_bits: u32,
    blocks: u32,
}

impl Shape {
    fn row_bytes(self) -> u64 {
        u64::from(self.blocks).div_ceil(8)
    }

    fn rows(self) -> u64 {
        (1 << self.row_bits) + 1
    }

    /// The row of the blocks that are always read.
    fn telling(self) -> u64 {
        1 << self.row_bits
    }

    fn row_of(self, trigram: Trigram) -> u64 {
        u64::from(hash(trigram) >> (32 - self.row_bits))
    }

    fn rows_in_chunk(self) -> u64 {
        (FILTER_CHUNK_BYTES / self.row_bytes()).max(1)
    }

    fn chunks(self) -> u64 {
        self.rows().div_ceil(self.rows_in_chunk())
    }

    fn from_bytes(bytes: &[u8; HEADER_SIZE]) -> Option<(Self, u32)> {
        let mut fields = Fields::new(bytes);
        let is_filter = is_sealed(bytes) && fields.array()? == MAGIC;
        let (row_bits, blocks, checksum) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let is_possible = (1..=FILTER_ROWS_MAX_BITS).contains(&row_bits) && blocks > 0;
        (is_filter && is_possible).then_some((Self { row_bits, blocks }, checksum))
    }
}

/// The hash of a trigram, of which the upper bits number its row.
fn hash(trigram: Trigram) -> u32 {
    let [a, b, c] = trigram;
    u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1)
}

/// The block of a segment to which the events of a run belong.
pub(crate) fn block_of(run: &Run) -> u32 {
    block_at(run.event.into())
}

/// The block of a segment in which a byte stands.
fn block_at(byte: u64) -> u32 {
    to_u32(byte.saturating_sub(SEGMENT_HEADER_BYTES) / FILTER_BLOCK_BYTES)
}

/// The byte of a segment behind a block.
pub(crate) fn block_end(block: u32) -> u64 {
    SEGMENT_HEADER_BYTES + (u64::from(block) + 1) * FILTER_BLOCK_BYTES
}

impl Filter {
    /// Looks for the filter of a segment whose frames end at a byte; none if there is none, or it is not whole.
    pub(crate) fn open(segment: &Segment, end: u64) -> Option<Self> {
        let at = Footer::stored_bytes(segment, end)?;
        let header = segment.copy_behind(end, at, HEADER_SIZE as u64)?;
        let (shape, checksum) = Shape::from_bytes(header.first_chunk()?)?;
        let table = segment.copy_behind(end, at + HEADER_SIZE as u64, shape.chunks() * 4)?;
        if crc32fast::hash(&table) != checksum {
            return None;
        }
        let chunk =
            |sum: &[u8]| Some(Chunk { checksum: Fields::new(sum).u32()?, checked: AtomicBool::new(false) });
        let chunks = table.chunks(4).map(chunk).collect::<Option<_>>()?;
        Some(Self { shape, rows_at: at + HEADER_SIZE as u64 + table.len() as u64, chunks })
    }

    /// The stored bytes of the filter of a segment, if there is a whole one.
    pub(crate) fn stored(segment: &Segment, end: u64) -> Option<Vec<u8>> {
        let at = Footer::stored_bytes(segment, end)?;
        let filter = Self::open(segment, end)?;
        let bytes = filter.rows_at - at + filter.shape.rows() * filter.shape.row_bytes();
        segment.copy_behind(end, at, bytes)
    }

    /// The stored form of the filter of a segment, made from its frames and its view; none if one of them is damaged.
    pub(crate) fn make(segment: &Arc<Segment>, end: u64, part: &View) -> Option<Vec<u8>> {
        let mut marks = Marks::of(end);
        let mut runs = RunsInOrder::of(part);
        let mut offset = SEGMENT_HEADER_BYTES;
        while offset < end {
            let frame = segment.settled_frame(offset, Check::Done).ok()?;
            // The runs of a frame begin in it.
            marks.close_before(block_at(offset));
            offset = frame.end();
            for event in frame.events().filter(|event| TranscriptEvent::accepts(event.raw.kind())) {
                marks.add(block_of(runs.run_of(&event.raw, event.offset)?), &event.raw)?;
            }
        }
        Some(marks.finish())
    }

    /// The blocks of the segment in which something may pass a sieve.
    pub(crate) fn candidates(&self, segment: &Segment, end: u64, sieve: &Sieve) -> Columns {
        let table = Table { filter: self, segment, end };
        table.passing(sieve).or(&table.row(self.shape.telling()))
    }
}

/// A filter, and where it is read from.
#[derive(Clone, Copy)]
struct Table<'a> {
    filter: &'a Filter,
    segment: &'a Segment,
    end: u64,
}

impl Table<'_> {
    fn all(self) -> Columns {
        Columns::all(self.filter.shape.blocks)
    }

    fn passing(self, sieve: &Sieve) -> Columns {
        match sieve {
            Sieve::Everything => self.all(),
            Sieve::Holds(literal) => self.holding(literal.bytes()),
            Sieve::All(all) => {
                all.iter().fold(self.all(), |columns, sieve| columns.and(&self.passing(sieve)))
            }
            Sieve::Any(any) => {
                let none = Columns::none(self.filter.shape.blocks);
                any.iter().fold(none, |columns, sieve| columns.or(&self.passing(sieve)))
            }
        }
    }

    fn holding(self, text: &[u8]) -> Columns {
        // Of a long text some trigrams, from all over it, tell as much.
        let step = (text.len() / FILTER_TRIGRAMS_MAX).max(1);
        let mut columns = self.all();
        for trigram in trigrams(text).step_by(step) {
            if columns.is_empty() {
                break;
            }
            columns = columns.and(&self.row(self.filter.shape.row_of(trigram)));
        }
        columns
    }

    /// A row; all columns if it is damaged.
    fn row(self, row: u64) -> Columns {
        self.stored_row(row).unwrap_or_else(|| self.all())
    }

    fn stored_row(self, row: u64) -> Option<Columns> {
        let shape = self.filter.shape;
        let number = row / shape.rows_in_chunk();
        let chunk = self.filter.chunks.get(usize::try_from(number).ok()?)?;
        if !chunk.checked.load(Ordering::Relaxed) {
            let first = number * shape.rows_in_chunk();
            let rows = shape.rows_in_chunk().min(shape.rows() - first);
            let bytes = self.copy_rows(first, rows)?;
            if crc32fast::hash(&bytes) != chunk.checksum {
                return None;
            }
            chunk.checked.store(true, Ordering::Relaxed);
        }
        Some(Columns::from_bytes(shape.blocks, &self.copy_rows(row, 1)?))
    }

    fn copy_rows(self, first: u64, rows: u64) -> Option<Vec<u8>> {
        let row_bytes = self.filter.shape.row_bytes();
        self.segment.copy_behind(self.end, self.filter.rows_at + first * row_bytes, rows * row_bytes)
    }
}

/// The runs of all sessions of a segment, for a walk through its events.
struct RunsInOrder<'a> {
    view: &'a View,
    at: BTreeMap<segue_event::SessionId, usize>,
}

impl<'a> RunsInOrder<'a> {
    fn of(view: &'a View) -> Self {
        Self { view, at: BTreeMap::new() }
    }

    /// The run of the event that comes next in its session, and begins at a byte.
    fn run_of(&mut self, event: &RawEvent, offset: u32) -> Option<&'a Run> {
        let session = event.header.session;
        let runs = &self.view.sessions.get(&session)?.runs;
        let at = self.at.entry(session).or_default();
        while runs.get(*at + 1).is_some_and(|next| next.event <= offset) {
            *at += 1;
        }
        runs.get(*at)
    }
}

/// A filter that is being made, with as many rows as there can be. No second table is made of it: it is folded where
/// it is, since that of a large segment is most of what sealing it takes in memory.
struct Marks {
    widest: Shape,
    /// The rows, behind room for the header and the checksums.
    bytes: Vec<u8>,
    /// How much room that is.
    front: usize,
    /// Of the blocks to which events are still added the hashes that stand in them, as bits.
    open: BTreeMap<u32, Vec<u64>>,
    /// How many hashes stand in the block that has most.
    fullest: u64,
}

const WORDS: usize = 1 << (FILTER_ROWS_MAX_BITS - 6);

impl Marks {
    fn of(end: u64) -> Self {
        let blocks = to_u32((end - SEGMENT_HEADER_BYTES).div_ceil(FILTER_BLOCK_BYTES).max(1));
        let widest = Shape { row_bits: FILTER_ROWS_MAX_BITS, blocks };
        let front = HEADER_SIZE + to_usize(widest.chunks() * 4);
        let bytes = vec![0; front + to_usize(widest.rows() * widest.row_bytes())];
        Self { widest, bytes, front, open: BTreeMap::new(), fullest: 0 }
    }

    fn add(&mut self, block: u32, event: &RawEvent) -> Option<()> {
        if block >= self.widest.blocks {
            return None;
        }
        if TELLING.may_hold(event.kind()) {
            self.set(self.widest.telling(), block);
        }
        let marks = self.open.entry(block).or_insert_with(|| vec![0; WORDS]);
        mark(marks, &event.body);
        // What does not decode is opaque, and holds no text.
        let unescaped = event.unescaped().unwrap_or_default();
        unescaped.iter().for_each(|string| mark(marks, string.text().as_bytes()));
        Some(())
    }

    /// Enters the blocks before one in the table: nothing is added to them any more.
    fn close_before(&mut self, block: u32) {
        while let Some(first) = self.open.first_entry().filter(|first| *first.key() < block) {
            let (block, marks) = first.remove_entry();
            self.fullest = self.fullest.max(marks.iter().map(|word| u64::from(word.count_ones())).sum());
            set_bits(&marks).for_each(|row| self.set(row, block));
        }
    }

    fn set(&mut self, row: u64, block: u32) {
        let at = self.front + to_usize(row * self.widest.row_bytes() + u64::from(block / 8));
        self.bytes.get_mut(at).into_iter().for_each(|byte| *byte |= 1 << (block % 8));
    }

    fn finish(mut self) -> Vec<u8> {
        self.close_before(u32::MAX);
        let shape = Shape { row_bits: self.row_bits(), ..self.widest };
        self.fold(shape);
        let Self { mut bytes, front, .. } = self;
        let chunk_bytes = to_usize(shape.rows_in_chunk() * shape.row_bytes());
        let rows = bytes.get(front..).unwrap_or_default();
        let table: Vec<u8> =
            rows.chunks(chunk_bytes).flat_map(|chunk| crc32fast::hash(chunk).to_le_bytes()).collect();
        let header: [u8; HEADER_SIZE] = seal(&[
            &MAGIC,
            &shape.row_bits.to_le_bytes(),
            &shape.blocks.to_le_bytes(),
            &crc32fast::hash(&table).to_le_bytes(),
        ]);
        bytes.splice(..front, header.into_iter().chain(table));
        bytes
    }

    /// As many rows as leave most bits of the fullest block unset.
    fn row_bits(&self) -> u32 {
        let is_enough = |bits: &u32| self.fullest * 3 <= 1 << bits;
        (3..FILTER_ROWS_MAX_BITS).find(is_enough).unwrap_or(FILTER_ROWS_MAX_BITS)
    }

    /// Makes one row of those whose hashes begin with the same bits, and leaves no others.
    fn fold(&mut self, shape: Shape) {
        let row_bytes = to_usize(shape.row_bytes());
        let (rows, telling) = (to_usize(shape.telling()), to_usize(self.widest.telling()));
        let (_, table) = self.bytes.split_at_mut(self.front);
        let folded = telling / rows;
        for row in 0..if folded > 1 { rows } else { 0 } {
            for from in (row * folded..(row + 1) * folded).filter(|from| *from > 0) {
                let (before, source) = table.split_at_mut(from * row_bytes);
                let target = before.get_mut(row * row_bytes..(row + 1) * row_bytes).unwrap_or_default();
                if from == row * folded {
                    // What stood there belongs to a row before it.
                    target.fill(0);
                }
                target.iter_mut().zip(source).for_each(|(target, source)| *target |= *source);
            }
        }
        table.copy_within(telling * row_bytes..(telling + 1) * row_bytes, rows * row_bytes);
        self.bytes.truncate(self.front + (rows + 1) * row_bytes);
    }
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Sets the bit of each trigram of a text.
fn mark(marks: &mut [u64], text: &[u8]) {
    for trigram in trigrams(text) {
        let bit = hash(trigram) >> (32 - FILTER_ROWS_MAX_BITS);
        if let Some(word) = marks.get_mut((bit / 64) as usize) {
            *word |= 1 << (bit % 64);
        }
    }
}

fn set_bits(words: &[u64]) -> impl Iterator<Item = u64> + '_ {
    (0..).zip(words).flat_map(|(index, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| u64::from(left.trailing_zeros()))?;
            left &= left - 1;
            Some(index * 64 + bit)
        })
    })
}
