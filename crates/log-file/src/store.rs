//! What all users of a store in one process share: its place, and their view of it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use segue_log::{LogError, Subscribers};

use crate::boot::BootId;
use crate::disk::{DiskFile, Open};
use crate::layout::Layout;
use crate::limits::LET_GO_EVERY;
use crate::options::Options;
use crate::place::SegmentNumber;
use crate::published::Published;
use crate::scan::Bound;
use crate::segment::Segment;
use crate::view::View;

/// A store as this process knows it.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) layout: Layout,
    pub(crate) options: Options,
    pub(crate) boot: Option<BootId>,
    pub(crate) subscribers: Subscribers,
    view: RwLock<View>,
    /// `published`, once it was there; it is never replaced, only written over.
    published: OnceLock<Arc<dyn DiskFile>>,
    /// While this process writes, its view is the newest there is.
    writing: AtomicBool,
    looks: Looks,
    /// Segments that stay plain since the disk garbled what they were compressed to.
    garbled: Mutex<BTreeSet<SegmentNumber>>,
    /// The record that the view was last brought up to, where that record could not be trusted.
    scanned: Mutex<Option<Scanned>>,
}

/// How often the view was asked for, and which segment was then looked at last.
#[derive(Debug, Default)]
struct Looks {
    count: AtomicU64,
    last: AtomicU32,
}

/// All files were read when this was what `published` said.
#[derive(Debug, PartialEq, Eq)]
struct Scanned(Option<Published>);

impl Store {
    pub(crate) fn new(layout: Layout, options: Options) -> Self {
        Self {
            boot: layout.disk.boot().and_then(BootId::from_bytes),
            layout,
            options,
            subscribers: Subscribers::new(),
            view: RwLock::new(View::empty()),
            published: OnceLock::new(),
            writing: AtomicBool::new(false),
            looks: Looks::default(),
            garbled: Mutex::default(),
            scanned: Mutex::new(None),
        }
    }

    /// The view, with everything in it that is published.
    pub(crate) fn view(&self) -> Result<RwLockReadGuard<'_, View>, LogError> {
        self.catch_up()?;
        if self.looks.count.fetch_add(1, Ordering::Relaxed).is_multiple_of(LET_GO_EVERY) {
            self.let_go();
        }
        Ok(self.view.read())
    }

    /// Looks whether one of the segments, each in its turn, was compressed by another process meanwhile: the file
    /// that is mapped takes room on the disk as long as it is.
    fn let_go(&self) {
        let last = SegmentNumber(self.looks.last.load(Ordering::Relaxed));
        let Some(segment) = self.view.read().next_plain(last).map(Arc::clone) else { return };
        self.looks.last.store(segment.number.0, Ordering::Relaxed);
        if segment.is_replaced()
            && let Ok(now) = Segment::open(&self.layout, segment.number)
        {
            self.take_compressed(Arc::new(now));
        }
    }

    /// Remembers that what a segment was compressed to was garbled.
    pub(crate) fn note_garbled(&self, number: SegmentNumber) {
        self.garbled.lock().insert(number);
    }

    /// Reads a segment from its compressed file from now on.
    pub(crate) fn take_compressed(&self, segment: Arc<Segment>) {
        self.garbled.lock().remove(&segment.number);
        self.change(|view| view.exchange_segment(segment));
    }

    /// What is worth knowing of the disk.
    pub(crate) fn notes(&self) -> Vec<String> {
        let garbled = self.garbled.lock();
        let note = |number: &SegmentNumber| {
            let file = self.layout.segment(*number);
            format!(
                "{} stays uncompressed: the disk gave back something else than was written",
                file.display()
            )
        };
        garbled.iter().map(note).collect()
    }

    /// The view as it is.
    pub(crate) fn known(&self) -> RwLockReadGuard<'_, View> {
        self.view.read()
    }

    /// Changes the view. What it holds changes only for the writer; which files that is read from, for everybody.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut View) -> T) -> T {
        change(&mut self.view.write())
    }

    pub(crate) fn is_writing(&self) -> bool {
        self.writing.load(Ordering::Acquire)
    }

    /// Brings the view up to date for a writer that holds the lock, and lets nobody else move it from then on.
    ///
    /// # Errors
    /// What `recover` answers; the store is then as it was.
    pub(crate) fn take_over<T>(
        &self,
        recover: impl FnOnce(&mut View) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let _no_catching_up = self.scanned.lock();
        let recovered = recover(&mut self.view.write())?;
        self.writing.store(true, Ordering::Release);
        Ok(recovered)
    }

    /// Lets others write, so that the view has to be brought up to date again.
    pub(crate) fn hand_over(&self) {
        self.writing.store(false, Ordering::Release);
    }

    /// Whether a record was written since the machine was started, so that it is exact.
    pub(crate) fn is_of_this_boot(&self, published: &Published) -> bool {
        self.boot.is_some() && published.boot == self.boot
    }

    fn catch_up(&self) -> Result<(), LogError> {
        if self.is_writing() {
            return Ok(());
        }
        let mut published = self.published();
        if self.is_at(published) {
            return Ok(());
        }
        let mut scanned = self.scanned.lock();
        // The files may have been read, or this process may have begun to write, while the lock was waited for.
        if self.is_writing() || *scanned == Some(Scanned(published)) {
            return Ok(());
        }
        loop {
            if let Some(published) = published.filter(|published| self.is_of_this_boot(published)) {
                return self.advance_to(published, &mut scanned);
            }
            if *scanned == Some(Scanned(published)) {
                return Ok(());
            }
            self.view.write().advance(&self.layout, Bound::Everything(published))?;
            *scanned = Some(Scanned(published));
            // A writer may have begun while the files were read.
            published = self.published();
        }
    }

    /// The durable end of the log as its writer tells it, if it does.
    pub(crate) fn published(&self) -> Option<Published> {
        let file = match self.published.get() {
            Some(file) => file,
            None => {
                let file = self.layout.disk.open(&self.layout.published(), Open::Read).ok()?;
                self.published.get_or_init(|| file)
            }
        };
        Published::read(&**file)
    }

    /// Whether the view ends exactly where the log does, as is mostly the case.
    fn is_at(&self, published: Option<Published>) -> bool {
        published
            .filter(|published| self.is_of_this_boot(published))
            .is_some_and(|published| self.view.read().end.place == Some(published.end))
    }

    fn advance_to(&self, published: Published, scanned: &mut Option<Scanned>) -> Result<(), LogError> {
        if self.view.read().end.place.is_some_and(|place| place >= published.end) && scanned.is_none() {
            return Ok(());
        }
        let mut view = self.view.write();
        if scanned.take().is_some() && view.end.place.is_some_and(|place| place > published.end) {
            // A writer began while the files were read; what was read of it may not be durable.
            *view = View::empty();
        }
        view.advance(&self.layout, Bound::Published(published))
    }
}
