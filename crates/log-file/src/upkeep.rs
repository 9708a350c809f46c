//! What happens to segments once they are sealed: a footer, and for cold ones compression. Never in the writer's way.
//!
//! A thread of its own does it, in the process that holds the lock. Both steps can be stopped or killed at any
//! moment, and are done again: a footer counts only if its checksum is right, and a compressed segment takes the
//! place of the plain one by a rename once it is durable. The newest sealed segment stays plain, since it is read
//! most, unless [`Reach::Everything`] is asked for.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::background::Background;
use crate::blocks::Packer;
use crate::disk::{DiskFile, Open};
use crate::footer::Footer;
use crate::limits::BLOCK_BYTES;
use crate::options::Compression;
use crate::place::{SEGMENT_HEADER_BYTES, SegmentNumber};
use crate::segment::{Packed, Segment, SegmentHeader, Storage};
use crate::store::Store;

/// Which sealed segments are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// All but the newest.
    Cold,
    /// All.
    Everything,
}

/// Keeps sealed segments up, in a thread; dropping it stops what is under way.
#[derive(Debug)]
pub(crate) struct Upkeep {
    store: Arc<Store>,
    thread: Option<Background>,
}

/// Whether there may be something to do when a turn begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Look {
    /// There may.
    #[default]
    AtOnce,
    /// Only once a segment is sealed.
    WhenSealed,
}

impl Upkeep {
    pub(crate) fn new(store: &Arc<Store>, look: Look) -> Self {
        let mut upkeep = Self { store: Arc::clone(store), thread: None };
        if look == Look::AtOnce {
            upkeep.look();
        }
        upkeep
    }

    /// Says that a segment was sealed.
    pub(crate) fn look(&mut self) {
        if self.thread.is_none() {
            self.thread = self.start();
        }
        if let Some(thread) = &self.thread {
            // If an order is waiting already, that one will do.
            thread.order();
        }
    }

    /// Stops what is under way, until [`Self::look`].
    pub(crate) fn rest(&mut self) {
        self.thread = None;
    }

    /// When the next one should look.
    pub(crate) fn next_look(&self) -> Look {
        if self.is_quiet() { Look::WhenSealed } else { Look::AtOnce }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.thread.as_ref().is_none_or(Background::is_quiet)
    }

    fn start(&self) -> Option<Background> {
        let store = Arc::clone(&self.store);
        Background::start("segue-log-upkeep", move |stop| {
            // A disk that is full or fails keeps the segments as they are, which is no harm.
            drop(look_after(&store, Reach::Cold, stop));
        })
    }
}

/// Brings all sealed segments to where they should be, oldest first.
pub(crate) fn look_after(store: &Store, reach: Reach, stop: &AtomicBool) -> io::Result<()> {
    let sealed = sealed_segments(store)?;
    let cold = match (store.options.compression, reach) {
        (Compression::Never, _) => 0,
        (Compression::Cold, Reach::Cold) => sealed.len().saturating_sub(1),
        (Compression::Cold, Reach::Everything) => sealed.len(),
    };
    for (index, (segment, end)) in sealed.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !segment.is_plain() {
            continue;
        }
        let is_footed = Footer::read(segment, *end).is_some();
        let footer = if is_footed { Footer::stored(segment, *end) } else { Footer::make(segment, *end) };
        // A segment with damage stays exactly as it is.
        let Some(footer) = footer else { continue };
        if index < cold {
            compress(store, segment, *end, &footer, stop)?;
        } else if !is_footed {
            add_footer(store, segment, *end, &footer)?;
        }
    }
    Ok(())
}

/// The segments that nothing is written to any more, each with the byte behind its last frame.
///
/// A plain one is opened anew: another process may have compressed it in its turn, and what this process has mapped
/// is the file that was there before.
fn sealed_segments(store: &Store) -> io::Result<Vec<(Arc<Segment>, u64)>> {
    let mut sealed = known_segments(store);
    for (segment, _) in sealed.iter_mut().filter(|(segment, _)| segment.is_plain()) {
        let Ok(now) = Segment::open(&store.layout, segment.number) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        *segment = Arc::new(now);
        if !segment.is_plain() && segment.header.is_some() {
            let packed = Arc::clone(segment);
            store.change(|view| view.exchange_segment(packed));
        }
    }
    Ok(sealed)
}

fn known_segments(store: &Store) -> Vec<(Arc<Segment>, u64)> {
    let known = store.known();
    let Some(open) = known.end.place.map(|place| place.segment) else { return Vec::new() };
    if !known.damages.is_empty() {
        return Vec::new();
    }
    known.spans.range(..open).map(|(_, span)| (Arc::clone(&span.segment), span.end)).collect()
}

fn add_footer(store: &Store, segment: &Segment, end: u64, footer: &[u8]) -> io::Result<()> {
    let file = store.layout.disk.open(&store.layout.segment(segment.number), Open::Write)?;
    file.write_all_at(footer, end)?;
    file.sync_data()
}

fn compress(store: &Store, segment: &Segment, end: u64, footer: &[u8], stop: &AtomicBool) -> io::Result<()> {
    let Some(header) = segment.header else { return Ok(()) };
    let new = new_path(store, segment.number);
    // A killed writer may have left one behind.
    drop(store.layout.disk.remove(&new));
    let file = store.layout.disk.open(&new, Open::New)?;
    let written = write_packed(&*file, segment, header, end, footer, stop);
    if !matches!(written, Ok(Finished::Whole)) {
        drop(store.layout.disk.remove(&new));
        return written.map(drop);
    }
    store.layout.disk.rename(&new, &store.layout.segment(segment.number))?;
    store.layout.disk.sync_folder(&store.layout.segments())?;
    if let Ok(packed) = Segment::open(&store.layout, segment.number) {
        store.change(|view| view.exchange_segment(Arc::new(packed)));
    }
    Ok(())
}

/// How writing a compressed segment ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Finished {
    Whole,
    Stopped,
}

fn write_packed(
    file: &dyn DiskFile,
    segment: &Segment,
    header: SegmentHeader,
    end: u64,
    footer: &[u8],
    stop: &AtomicBool,
) -> io::Result<Finished> {
    // The real header comes last: until then the file is no segment.
    file.write_all_at(&[0; SEGMENT_HEADER_BYTES as usize], 0)?;
    let mut packer = Packer::new(SEGMENT_HEADER_BYTES)?;
    let mut at = SEGMENT_HEADER_BYTES;
    while at < end {
        if stop.load(Ordering::Relaxed) {
            return Ok(Finished::Stopped);
        }
        let count = BLOCK_BYTES.min(end - at);
        let block = segment.copy(at, count)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let next = packer.next();
        file.write_all_at(&packer.pack(&block)?, next)?;
        at += count;
    }
    let (table_at, table) = packer.finish();
    file.write_all_at(&table, table_at)?;
    file.write_all_at(footer, table_at + table.len() as u64)?;
    let packed = Packed {
        end,
        table: table_at,
        table_bytes: crate::wire::to_u32(table.len() as u64),
        table_checksum: crc32fast::hash(&table),
    };
    let header = SegmentHeader { storage: Storage::Packed(packed), ..header };
    file.write_all_at(&header.to_bytes(), table_at + (table.len() + footer.len()) as u64)?;
    file.write_all_at(&header.to_bytes(), 0)?;
    file.sync_all()?;
    Ok(Finished::Whole)
}

fn new_path(store: &Store, number: SegmentNumber) -> PathBuf {
    store.layout.segment(number).with_extension("new")
}
