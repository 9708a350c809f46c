//! What of a sealed segment need not be read in a search: which grams stand in which of its texts.
//!
//! A filter is made from the frames, stands behind the footer, and never rules out what is there. It is a table of
//! bits: a row for each hash of a gram (see [`grams`]), a column for some [kilobytes](FILTER_COLUMN_BYTES) of text; a
//! bit says that a gram with that hash stands in a text of the column. A text can only be in the columns that the rows
//! of all its grams have. A column holds the runs that begin in a stretch of the segment (see [`Run`]), so that whoever
//! has the runs of a session looks up theirs. The rows are read, and checked, only as they are needed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use segue_event::{Family as _, RawEvent, SessionId, TranscriptEvent};
use segue_log::{Gram, Sieve, TELLING, grams};

use crate::columns::Columns;
use crate::footer::Footer;
use crate::frame::Located;
use crate::limits::{
    FILTER_CHUNK_BYTES, FILTER_COLUMN_BYTES, FILTER_COLUMNS_MAX, FILTER_GRAMS_MAX, FILTER_ROW_BITS,
};
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
    /// For each column the byte of the segment from which on runs belong to it.
    starts: Arc<[u32]>,
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
    columns: u32,
}

impl Shape {
    fn row_bytes(self) -> u64 {
        u64::from(self.columns).div_ceil(8)
    }

    /// One more than there are hashes: for the columns that are always read.
    const ROWS: u64 = (1 << FILTER_ROW_BITS) + 1;

    /// The row of the columns that are always read.
    const TELLING: u64 = 1 << FILTER_ROW_BITS;

    fn rows_bytes(self) -> u64 {
        Self::ROWS * self.row_bytes()
    }

    fn rows_in_chunk(self) -> u64 {
        (FILTER_CHUNK_BYTES / self.row_bytes().max(1)).max(1)
    }

    fn chunks(self) -> u64 {
        Self::ROWS.div_ceil(self.rows_in_chunk())
    }

    /// The bytes between the header and the rows: where the columns begin, and the checksums of the chunks.
    fn tables_bytes(self) -> u64 {
        (u64::from(self.columns) + self.chunks()) * 4
    }

    /// The checksums of the chunks of a table.
    fn checksums(self, rows: &[u8]) -> Vec<u32> {
        let chunk_bytes = to_usize((self.rows_in_chunk() * self.row_bytes()).max(1));
        match rows {
            // Without columns there are chunks of nothing.
            [] => vec![crc32fast::hash(&[]); to_usize(self.chunks())],
            rows => rows.chunks(chunk_bytes).map(crc32fast::hash).collect(),
        }
    }

    /// Reads a header; gives the checksum of what stands between it and the rows as well.
    fn from_bytes(bytes: &[u8; HEADER_SIZE]) -> Option<(Self, u32)> {
        let mut fields = Fields::new(bytes);
        let is_filter = is_sealed(bytes) && fields.array()? == MAGIC;
        let (row_bits, columns, checksum) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let is_possible = row_bits == FILTER_ROW_BITS && columns <= FILTER_COLUMNS_MAX;
        (is_filter && is_possible).then_some((Self { columns }, checksum))
    }
}

/// The row of a gram.
fn row_of(gram: Gram) -> u64 {
    u64::from(u32::from_le_bytes(gram).wrapping_mul(0x9e37_79b1) >> (32 - FILTER_ROW_BITS))
}

/// The runs of a segment in which something may pass a sieve.
pub(crate) struct Candidates {
    starts: Arc<[u32]>,
    columns: Columns,
}

impl Candidates {
    /// Whether an event of a run may pass.
    pub(crate) fn may_hold(&self, run: &Run) -> bool {
        self.column_of(run).is_some_and(|column| self.columns.last_up_to(column) == Some(column))
    }

    /// The byte of the segment at which the first runs begin, from one on, that may pass; none if there are none.
    pub(crate) fn first_from(&self, run: &Run) -> Option<u64> {
        let found = self.columns.first_from(self.column_of(run)?)?;
        self.starts.get(found as usize).map(|start| u64::from(*start))
    }

    /// The byte of the segment behind the last runs, up to one, that may pass; none if there are none.
    pub(crate) fn last_up_to(&self, run: &Run) -> Option<u64> {
        let found = self.columns.last_up_to(self.column_of(run)?)?;
        Some(self.starts.get(found as usize + 1).map_or(u64::MAX, |start| u64::from(*start)))
    }

    fn column_of(&self, run: &Run) -> Option<u32> {
        let behind = self.starts.partition_point(|start| *start <= run.event);
        // What stands before the first column holds no text, and is as good as in it.
        (!self.starts.is_empty()).then(|| to_u32(behind.saturating_sub(1) as u64))
    }
}

impl Filter {
    /// Looks for the filter of a segment whose frames end at a byte; none if there is none, or it is not whole.
    pub(crate) fn open(segment: &Segment, end: u64) -> Option<Self> {
        let at = Footer::stored_bytes(segment, end)?;
        let header = segment.copy_behind(end, at, HEADER_SIZE as u64)?;
        let (shape, checksum) = Shape::from_bytes(header.first_chunk()?)?;
        let tables = segment.copy_behind(end, at + HEADER_SIZE as u64, shape.tables_bytes())?;
        if crc32fast::hash(&tables) != checksum {
            return None;
        }
        let mut fields = Fields::new(&tables);
        let starts = (0..shape.columns).map(|_| fields.u32()).collect::<Option<_>>()?;
        let mut chunk = || Some(Chunk { checksum: fields.u32()?, checked: AtomicBool::new(false) });
        let chunks = (0..shape.chunks()).map(|_| chunk()).collect::<Option<_>>()?;
        Some(Self { shape, starts, rows_at: at + HEADER_SIZE as u64 + tables.len() as u64, chunks })
    }

    /// Whether there is a whole filter of a segment, and how many bytes it takes.
    pub(crate) fn whole_bytes(segment: &Segment, end: u64) -> Option<u64> {
        let filter = Self::open(segment, end)?;
        let table = Table { filter: &filter, segment, end };
        (0..filter.shape.chunks()).all(|number| table.is_whole(number) == Some(true)).then_some(())?;
        Some(filter.rows_at - Footer::stored_bytes(segment, end)? + filter.shape.rows_bytes())
    }

    /// The stored bytes of the filter of a segment, if there is a whole one.
    pub(crate) fn stored(segment: &Segment, end: u64) -> Option<Vec<u8>> {
        let bytes = Self::whole_bytes(segment, end)?;
        segment.copy_behind(end, Footer::stored_bytes(segment, end)?, bytes)
    }

    /// The stored form of the filter of a segment, made from its frames and its view; none if one of them is damaged.
    pub(crate) fn make(segment: &Arc<Segment>, end: u64, part: &View) -> Option<Vec<u8>> {
        let mut text_bytes: BTreeMap<u32, u64> = BTreeMap::new();
        let add = |run: &Run, event: &RawEvent| {
            *text_bytes.entry(run.event).or_default() += event.body.len() as u64;
        };
        for_each_text(segment, end, part, add)?;
        let mut marks = Marks::of(starts(&text_bytes));
        for_each_text(segment, end, part, |run, event| marks.add(run, event))?;
        Some(marks.finish())
    }

    /// The runs of the segment in which something may pass a sieve.
    pub(crate) fn candidates(&self, segment: &Segment, end: u64, sieve: &Sieve) -> Candidates {
        let table = Table { filter: self, segment, end };
        let columns = table.passing(sieve).or(&table.row(Shape::TELLING));
        Candidates { starts: Arc::clone(&self.starts), columns }
    }
}

/// Walks through the events of a segment that hold text, each with its run; none if a frame is damaged.
fn for_each_text(
    segment: &Arc<Segment>,
    end: u64,
    part: &View,
    mut take: impl FnMut(&Run, &RawEvent),
) -> Option<()> {
    let mut runs = RunsInOrder { view: part, at: BTreeMap::new() };
    let mut offset = SEGMENT_HEADER_BYTES;
    while offset < end {
        let frame = segment.settled_frame(offset, Check::Done).ok()?;
        offset = frame.end();
        for Located { raw, offset } in frame.events() {
            if TranscriptEvent::accepts(raw.kind()) {
                take(runs.run_of(&raw, offset)?, &raw);
            }
        }
    }
    Some(())
}

/// Where columns begin that hold about as much text each, by how much there is in each run.
fn starts(text_bytes: &BTreeMap<u32, u64>) -> Vec<u32> {
    let total: u64 = text_bytes.values().sum();
    let each = FILTER_COLUMN_BYTES.max(total / u64::from(FILTER_COLUMNS_MAX) + 1);
    let (mut starts, mut filled) = (Vec::new(), each);
    for (run, bytes) in text_bytes {
        if filled >= each {
            starts.push(*run);
            filled = 0;
        }
        filled += bytes;
    }
    starts
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
        Columns::all(self.filter.shape.columns)
    }

    fn passing(self, sieve: &Sieve) -> Columns {
        match sieve {
            Sieve::Everything => self.all(),
            Sieve::Holds(literal) => self.holding(literal.bytes()),
            Sieve::All(all) => {
                all.iter().fold(self.all(), |columns, sieve| columns.and(&self.passing(sieve)))
            }
            Sieve::Any(any) => {
                let none = Columns::none(self.filter.shape.columns);
                any.iter().fold(none, |columns, sieve| columns.or(&self.passing(sieve)))
            }
        }
    }

    fn holding(self, text: &[u8]) -> Columns {
        // Of a long text some grams, from all over it, tell as much.
        let step = (text.len() / FILTER_GRAMS_MAX).max(1);
        let mut columns = self.all();
        for gram in grams(text).step_by(step) {
            if columns.is_empty() {
                break;
            }
            columns = columns.and(&self.row(row_of(gram)));
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
        if !self.is_whole(number)? {
            return None;
        }
        Some(Columns::from_bytes(shape.columns, &self.copy_rows(row, 1)?))
    }

    /// Whether a chunk is as it was written; none if there is none. Each is looked at once.
    fn is_whole(self, number: u64) -> Option<bool> {
        let shape = self.filter.shape;
        let chunk = self.filter.chunks.get(usize::try_from(number).ok()?)?;
        if !chunk.checked.load(Ordering::Relaxed) {
            let first = number * shape.rows_in_chunk();
            let rows = shape.rows_in_chunk().min(Shape::ROWS - first);
            let is_whole = crc32fast::hash(&self.copy_rows(first, rows)?) == chunk.checksum;
            chunk.checked.store(is_whole, Ordering::Relaxed);
        }
        Some(chunk.checked.load(Ordering::Relaxed))
    }

    fn copy_rows(self, first: u64, rows: u64) -> Option<Vec<u8>> {
        let row_bytes = self.filter.shape.row_bytes();
        self.segment.copy_behind(self.end, self.filter.rows_at + first * row_bytes, rows * row_bytes)
    }
}

/// The runs of all sessions of a segment, for a walk through its events.
struct RunsInOrder<'a> {
    view: &'a View,
    at: BTreeMap<SessionId, usize>,
}

impl<'a> RunsInOrder<'a> {
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

/// A filter that is being made.
struct Marks {
    shape: Shape,
    starts: Vec<u32>,
    /// The header and what stands before the rows, for which there is room, and the rows.
    bytes: Vec<u8>,
    /// How much room that is.
    front: usize,
    /// The rows of the event that is added.
    rows: [u64; ROW_WORDS],
}

const ROW_WORDS: usize = 1 << (FILTER_ROW_BITS - 6);

impl Marks {
    fn of(starts: Vec<u32>) -> Self {
        let shape = Shape { columns: to_u32(starts.len() as u64) };
        let front = HEADER_SIZE + to_usize(shape.tables_bytes());
        let bytes = vec![0; front + to_usize(shape.rows_bytes())];
        Self { shape, starts, bytes, front, rows: [0; ROW_WORDS] }
    }

    fn add(&mut self, run: &Run, event: &RawEvent) {
        let column =
            to_u32(self.starts.partition_point(|start| *start <= run.event) as u64).saturating_sub(1);
        if TELLING.may_hold(event.kind()) {
            self.set(Shape::TELLING, column);
        }
        self.mark(&event.body);
        // What does not decode is opaque, and holds no text.
        let unescaped = event.unescaped().unwrap_or_default();
        unescaped.iter().for_each(|string| self.mark(string.text().as_bytes()));
        // Grams come again and again: each is entered in the table once for an event.
        let rows = std::mem::replace(&mut self.rows, [0; ROW_WORDS]);
        set_bits(&rows).for_each(|row| self.set(row, column));
    }

    fn mark(&mut self, text: &[u8]) {
        for gram in grams(text) {
            let row = row_of(gram);
            self.rows.get_mut(to_usize(row / 64)).into_iter().for_each(|word| *word |= 1 << (row % 64));
        }
    }

    fn set(&mut self, row: u64, column: u32) {
        let at = self.front + to_usize(row * self.shape.row_bytes() + u64::from(column / 8));
        self.bytes.get_mut(at).into_iter().for_each(|byte| *byte |= 1 << (column % 8));
    }

    fn finish(self) -> Vec<u8> {
        let Self { shape, starts, mut bytes, front, .. } = self;
        let sums = shape.checksums(bytes.get(front..).unwrap_or_default());
        let tables: Vec<u8> = starts.iter().chain(&sums).flat_map(|number| number.to_le_bytes()).collect();
        let header: [u8; HEADER_SIZE] = seal(&[
            &MAGIC,
            &FILTER_ROW_BITS.to_le_bytes(),
            &shape.columns.to_le_bytes(),
            &crc32fast::hash(&tables).to_le_bytes(),
        ]);
        bytes.splice(..front, header.into_iter().chain(tables));
        bytes
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

/// The table of a segment fits in memory many times over.
fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_about_as_much_text_each() {
        let runs =
            |bytes: &[u64]| (0..).step_by(100).zip(bytes.iter().copied()).collect::<BTreeMap<u32, u64>>();
        assert_eq!(starts(&runs(&[])), [0_u32; 0]);
        assert_eq!(starts(&runs(&[1])), [0]);
        assert_eq!(starts(&runs(&[5_000, 5_000, 5_000, 90_000, 1])), [0, 200, 400]);
        let many = starts(&runs(&vec![10_000; 20_000]));
        assert!(many.len() <= FILTER_COLUMNS_MAX as usize && many.len() > 6_000, "{}", many.len());
    }

    #[test]
    fn a_run_belongs_to_the_column_before_it() {
        let run = |event| Run {
            seq: segue_event::Seq::FIRST,
            segment: 1,
            frame: 0,
            event,
            index: 0,
            kinds: segue_event::KindSet::ALL,
        };
        let columns = Columns::from_bytes(3, &[0b101]);
        let candidates = Candidates { starts: vec![100, 200, 300].into(), columns };
        let may = [50, 100, 199, 200, 299, 300, 999].map(|event| candidates.may_hold(&run(event)));
        assert_eq!(may, [true, true, true, false, false, true, true]);
        assert_eq!(candidates.first_from(&run(250)), Some(300));
        assert_eq!(candidates.last_up_to(&run(250)), Some(200));
        assert_eq!(candidates.last_up_to(&run(350)), Some(u64::MAX));
        let none = Candidates { starts: Vec::new().into(), columns: Columns::none(0) };
        assert!(!none.may_hold(&run(1)) && none.first_from(&run(1)).is_none());
    }
}
