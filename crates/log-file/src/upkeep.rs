//! What happens to segments once they are sealed: a footer, a search filter, and for cold ones compression. In nobody's way.
//!
//! A thread of its own does it, or whoever settles the log. Neither the writer nor the lock of the store is held
//! meanwhile: this process and others go on committing. Nothing but upkeep writes to a sealed segment, and upkeep
//! holds the lock of the segment's file while it is at it, so that two processes, or two threads, are never at the
//! same one. Whoever replaces a file holds the lock of the one that is there; who gets the lock of a file that was
//! replaced meanwhile sees that when it looks at the segment again.
//!
//! All steps can be stopped or killed at any moment, and are done again: footer and filter count only if their checksums
//! are right, and a compressed segment takes the place of the plain one by a rename once it is durable and was read back.
//! The lock of a killed process is free. The newest sealed segment stays plain, since it is read most, unless
//! [`Reach::Everything`] is asked for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use segue_log::LogError;

use crate::background::Background;
use crate::compress::{Outcome, Sealed, compress};
use crate::disk::{DiskFile, Open};
use crate::footer::{Footer, Made};
use crate::limits::LOCK_RETRY;
use crate::options::Compression;
use crate::place::SegmentNumber;
use crate::segment::Segment;
use crate::store::Store;

/// Which sealed segments are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reach {
    /// All but the newest; those that somebody else is at are left to them.
    Cold,
    /// All; those that somebody else is at are waited for, so long.
    Everything(Duration),
}

/// Keeps sealed segments up, in a thread; dropping it stops what is under way.
#[derive(Debug)]
pub(crate) struct Upkeep {
    store: Arc<Store>,
    thread: Option<Background>,
}

impl Upkeep {
    /// Begins with what may have been left undone.
    pub(crate) fn begin(store: &Arc<Store>) -> Self {
        let mut upkeep = Self { store: Arc::clone(store), thread: None };
        upkeep.look();
        upkeep
    }

    /// Says that there may be something to do.
    pub(crate) fn look(&mut self) {
        if self.thread.is_none() {
            self.thread = self.start();
        }
        if let Some(thread) = &self.thread {
            // If an order is waiting already, that one will do.
            thread.order();
        }
    }

    fn start(&self) -> Option<Background> {
        let store = Arc::clone(&self.store);
        Background::start("segue-log-upkeep", move |stop| {
            // A disk that is full or fails keeps the segments as they are, which is no harm.
            drop(Pass { store: &store, reach: Reach::Cold, stop }.run());
        })
    }
}

/// Brings all sealed segments to where they should be, and answers when that is done. One that another process is at
/// is waited for as long as a commit would wait for the lock, and then left to that process.
///
/// # Errors
/// What the disk answers, or that it gave back something else than it was given. The log is as good as before.
pub(crate) fn settle(store: &Store) -> Result<(), LogError> {
    let never = AtomicBool::new(false);
    let pass = Pass { store, reach: Reach::Everything(store.options.busy_wait), stop: &never };
    pass.run().map_err(|error| LogError::io("compressing sealed segments", error))
}

/// One look at all sealed segments, oldest first.
#[derive(Clone, Copy)]
struct Pass<'a> {
    store: &'a Store,
    reach: Reach,
    stop: &'a AtomicBool,
}

/// What a sealed segment should become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    Footed,
    Compressed,
}

/// What became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kept {
    /// All that can be done is done, or somebody else is at it.
    Up,
    /// The disk gave back something else than it was given.
    Garbled,
}

impl Pass<'_> {
    fn run(self) -> io::Result<()> {
        let sealed = sealed_segments(self.store);
        let cold = match (self.store.options.compression, self.reach) {
            (Compression::Never, _) => 0,
            (Compression::Cold, Reach::Cold) => sealed.len().saturating_sub(1),
            (Compression::Cold, Reach::Everything(_)) => sealed.len(),
        };
        let mut worst = Kept::Up;
        for (index, (segment, end)) in
            sealed.iter().enumerate().filter(|(_, (segment, _))| segment.is_plain())
        {
            if self.is_stopped() {
                break;
            }
            let wanted = if index < cold { Wanted::Compressed } else { Wanted::Footed };
            if self.keep_up(segment.number, *end, wanted)? == Kept::Garbled {
                worst = Kept::Garbled;
            }
        }
        match worst {
            Kept::Up => Ok(()),
            Kept::Garbled => Err(io::Error::other("what was written reads back differently")),
        }
    }

    fn keep_up(self, number: SegmentNumber, end: u64, wanted: Wanted) -> io::Result<Kept> {
        let Some(_lock) = self.lock(number)? else { return Ok(Kept::Up) };
        // Opened only now: somebody may have compressed it, and what this process has mapped is the file before.
        let segment = Segment::open(&self.store.layout, number).map_err(|_| io::ErrorKind::NotFound)?;
        let segment = Arc::new(segment);
        if !segment.is_plain() {
            self.store.take_compressed(segment);
            return Ok(Kept::Up);
        }
        let stored = Made::stored(&segment, end);
        let is_footed = stored.is_some();
        let made = stored.or_else(|| Footer::make(&segment, end, &mut |_| ()));
        // A segment with damage stays exactly as it is.
        let (Some(header), Some(made)) = (segment.header, made) else { return Ok(Kept::Up) };
        match wanted {
            Wanted::Compressed => self.compress(Sealed { segment: &segment, header, end, behind: &made }),
            Wanted::Footed if is_footed => Ok(Kept::Up),
            Wanted::Footed => write_behind(self.store, number, end, &made),
        }
    }

    /// The lock of a segment's file; none if somebody else has it and keeps it.
    fn lock(self, number: SegmentNumber) -> io::Result<Option<Arc<dyn DiskFile>>> {
        let layout = &self.store.layout;
        let file = layout.disk.open(&layout.segment(number), Open::Read)?;
        let patience = match self.reach {
            Reach::Cold => Duration::ZERO,
            Reach::Everything(patience) => patience,
        };
        let mut waited = Duration::ZERO;
        while !file.try_lock()? {
            if waited >= patience || self.is_stopped() {
                return Ok(None);
            }
            std::thread::sleep(LOCK_RETRY);
            waited += LOCK_RETRY;
        }
        Ok(Some(file))
    }

    fn compress(self, sealed: Sealed<'_>) -> io::Result<Kept> {
        match compress(&self.store.layout, sealed, self.stop)? {
            Outcome::Replaced(packed) => self.store.take_compressed(packed),
            Outcome::Stopped => {}
            Outcome::Garbled => {
                self.store.note_garbled(sealed.segment.number);
                return Ok(Kept::Garbled);
            }
        }
        Ok(Kept::Up)
    }

    fn is_stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The segments that nothing is written to any more, each with the byte behind its last frame.
fn sealed_segments(store: &Store) -> Vec<(Arc<Segment>, u64)> {
    let known = store.known();
    let Some(open) = known.end.place.map(|place| place.segment) else { return Vec::new() };
    if !known.damages.is_empty() {
        return Vec::new();
    }
    known.spans.range(..open).map(|(_, span)| (Arc::clone(&span.segment), span.end)).collect()
}

fn write_behind(store: &Store, number: SegmentNumber, end: u64, behind: &Made) -> io::Result<Kept> {
    let file = store.layout.disk.open(&store.layout.segment(number), Open::Write)?;
    for (skip, piece) in behind.pieces() {
        file.write_all_at(piece, end + skip)?;
    }
    file.sync_data()?;
    Ok(Kept::Up)
}
