//! The end of the log as its writer holds it: recovery when it begins, then one group after the other.

use std::sync::Arc;

use crossbeam_channel::Sender;
use segue_log::{LogError, Placed};

use crate::disk::{DiskFile, Open};
use crate::frame::{Group, Outline, frame_bytes, write_frame};
use crate::index::{self, Indexer, Known};
use crate::limits::{
    FILL_AHEAD_BELOW_BYTES, GROUP_BYTES_MAX, PREALLOCATE_BYTES, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN,
    SETTLE_BYTES_MIN, UNSYNCED_BYTES_MAX,
};
use crate::lock::{Manners, Signature, WriterLock};
use crate::place::{Place, SEGMENT_HEADER_BYTES, SegmentNumber};
use crate::published::Published;
use crate::scan::{Bound, Memory, is_blank};
use crate::segment::{Segment, SegmentHeader, Storage};
use crate::store::Store;
use crate::upkeep::Upkeep;
use crate::view::{End, Span, View};

/// The writer's hold on the end of the log, for one turn.
#[derive(Debug)]
pub(crate) struct Tail {
    // Dropped first, so that nobody else writes to the index while it does.
    indexer: Indexer,
    /// Goes on when the lock is given back.
    upkeep: Upkeep,
    lock: WriterLock,
    published: Arc<dyn DiskFile>,
    /// The segment that is written to, and its file; none before the first one is made.
    open: Option<OpenSegment>,
    /// The open group: everything since the last sync.
    group: Group,
    unsynced: u64,
    buffer: Vec<u8>,
    /// How many groups were written, or begun, in this turn.
    groups: u64,
    _turn: Option<Turn>,
}

/// Tells the thread that gives the lock back that the turn is over, by being dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _over: Sender<()>,
}

impl Turn {
    pub(crate) fn new(over: Sender<()>) -> Self {
        Self { _over: over }
    }
}

/// What a log keeps between its turns.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// The last turn; none if there was none.
    last: Option<Signature>,
    open: Option<OpenSegment>,
    group: Group,
    asked_at: u64,
    upkeep: Option<Upkeep>,
    manners: Manners,
}

impl Rest {
    /// Whether this log ever wrote.
    pub(crate) fn has_written(&self) -> bool {
        self.last.is_some()
    }
}

#[derive(Debug)]
struct OpenSegment {
    number: SegmentNumber,
    file: Arc<dyn DiskFile>,
    /// Where the next frame goes.
    offset: u64,
    /// The file's length: filled with zeros from `offset` on.
    allocated: u64,
}

/// Why a group was not written.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There was no room for it; nothing happened.
    NoRoom(LogError),
    /// A write or a sync failed: what is on the disk is unknown, and nothing more may be acknowledged.
    Broken(String),
}

/// When a group becomes durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sync {
    Now,
    Later,
}

impl Tail {
    /// Takes the lock and makes the log ready to be written to, going on from the last turn.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::Busy`], or [`segue_log::LogErrorKind::Corrupt`] for a log with damage: its heads
    /// and claims are not known for sure, so that nothing may be built upon them.
    pub(crate) fn open(store: &Arc<Store>, rest: &mut Rest) -> Result<Self, LogError> {
        store.layout.create()?;
        let lock = WriterLock::take(&store.layout, store.options.busy_wait, rest.manners)?;
        rest.manners = Manners::AtOnce;
        let failed = |error| opening_failed(store, error);
        let published = Published::create_file(&store.layout).map_err(failed)?;
        let is_undisturbed = rest.last.as_ref().is_some_and(|last| lock.follows(last));
        let recovered = store.take_over(|view| {
            if is_undisturbed {
                let Rest { group, asked_at, .. } = *rest;
                return Ok(Recovered { open: rest.open.take(), group, known: Known::Unread, asked_at });
            }
            recover(store, view, &*published, rest)
        })?;
        let Recovered { open, group, known, asked_at } = recovered;
        Ok(Self {
            indexer: Indexer::new(store, known, asked_at),
            upkeep: rest.upkeep.take().unwrap_or_else(|| Upkeep::begin(store)),
            lock,
            published,
            open,
            group,
            unsynced: 0,
            buffer: Vec::new(),
            groups: 0,
            _turn: None,
        })
    }

    /// Makes it known when the turn is over.
    pub(crate) fn begin_turn(&mut self, turn: Turn) {
        self._turn = Some(turn);
    }

    /// Gives the lock back; what was written without waiting must be flushed before.
    pub(crate) fn end_turn(self, store: &Store, manners: Manners) -> Rest {
        let rest = Rest {
            last: Some(self.lock.signature()),
            asked_at: self.indexer.asked_at(),
            upkeep: Some(self.upkeep),
            open: self.open,
            group: self.group,
            manners,
        };
        // Nothing of this process may touch the index once another can.
        match manners {
            Manners::AtOnce => self.indexer.finish(),
            Manners::AfterOthers => drop(self.indexer),
        }
        store.hand_over();
        drop(self.lock);
        rest
    }

    /// How many groups were written in this turn.
    pub(crate) fn groups(&self) -> u64 {
        self.groups
    }

    /// Whether nothing is going on behind the commits that needs the lock.
    pub(crate) fn is_quiet(&self) -> bool {
        self.indexer.is_quiet()
    }

    /// Writes placed commits as one group and, unless that has time, makes it durable and publishes it.
    pub(crate) fn write(&mut self, store: &Store, commits: &[&Placed], sync: Sync) -> Result<(), Failure> {
        self.groups += 1;
        let bytes = commits.iter().map(|placed| frame_bytes(placed)).sum();
        self.make_room(store, bytes)?;
        let group = self.group;
        let Some(open) = self.open.as_mut() else { return Err(broken("no segment is open", "")) };
        self.buffer.clear();
        let outlines: Vec<Outline> = commits
            .iter()
            .map(|placed| {
                let place = Place { segment: open.number, offset: open.offset + self.buffer.len() as u64 };
                write_frame(&mut self.buffer, place, group, placed)
            })
            .collect();
        let written = open.file.write_all_at(&self.buffer, open.offset);
        written.map_err(|error| broken("writing a commit", error))?;
        open.offset += bytes;
        self.unsynced += bytes;
        self.buffer.shrink_to(GROUP_BYTES_MAX);
        self.settle(store, outlines, sync)
    }

    /// Makes durable what was written without waiting, and publishes it.
    pub(crate) fn flush(&mut self, store: &Store) -> Result<(), Failure> {
        if self.unsynced == 0 {
            return Ok(());
        }
        self.settle(store, Vec::new(), Sync::Now)
    }

    /// The end of a group: durable first, then seen by this process, then published to others.
    fn settle(&mut self, store: &Store, outlines: Vec<Outline>, sync: Sync) -> Result<(), Failure> {
        let now = sync == Sync::Now || self.unsynced > UNSYNCED_BYTES_MAX;
        if now && let Some(open) = &self.open {
            open.file.sync_data().map_err(|error| broken("syncing a commit", error))?;
        }
        let (end, counts) = store.change(|view| {
            outlines.into_iter().for_each(|outline| view.take(outline));
            (view.end, view.counts)
        });
        self.indexer.log_grew(counts.log_bytes, store.options.index_every);
        if !now {
            return Ok(());
        }
        self.unsynced = 0;
        self.group = Group { number: self.group.number + 1, start: self.offset() };
        self.publish(store, &end).map_err(|error| broken("publishing a commit", error))
    }

    /// Seals the open segment if there is enough in it: what comes next goes to a new one.
    pub(crate) fn seal(&mut self, store: &Store) -> Result<(), Failure> {
        self.flush(store)?;
        if self.open.as_ref().is_some_and(|open| open.offset >= SETTLE_BYTES_MIN) {
            self.begin_segment(store)?;
            self.publish(store, &store.known().end).map_err(|error| broken("publishing a segment", error))?;
        }
        Ok(())
    }

    fn begin_segment(&mut self, store: &Store) -> Result<(), Failure> {
        let open = begin_segment(store).map_err(Failure::NoRoom)?;
        self.group.start = open.offset;
        self.open = Some(open);
        self.upkeep.look();
        Ok(())
    }

    fn publish(&self, store: &Store, end: &End) -> std::io::Result<()> {
        publish(store, end, &*self.published)
    }

    /// Exchanges the file that is written to, so that tests can make writing fail.
    #[cfg(test)]
    pub(crate) fn exchange_file(&mut self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        std::mem::replace(&mut self.open.as_mut().unwrap().file, file)
    }

    fn offset(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.offset)
    }

    fn make_room(&mut self, store: &Store, bytes: u64) -> Result<(), Failure> {
        let limit = store.options.segment_bytes.clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
        let fits = self
            .open
            .as_ref()
            .is_some_and(|open| open.offset + bytes <= limit || open.offset == SEGMENT_HEADER_BYTES);
        if !fits {
            // The next segment's header says that the log is durable up to here.
            self.flush(store)?;
            self.begin_segment(store)?;
        }
        self.open.as_mut().map_or(Ok(()), |open| open.allocate(bytes, limit)).map_err(Failure::NoRoom)
    }
}

impl OpenSegment {
    /// Makes sure that `bytes` can be written, so that a full disk shows before anything is written.
    fn allocate(&mut self, bytes: u64, limit: u64) -> Result<(), LogError> {
        let end = self.offset + bytes;
        if end <= self.allocated {
            return Ok(());
        }
        let target = if bytes < FILL_AHEAD_BELOW_BYTES {
            (self.allocated + PREALLOCATE_BYTES).min(limit).max(end)
        } else {
            end
        };
        // A nearly full disk may still have room for this one commit.
        let extended = self.extend(target, end).or_else(|_| self.extend(end, end));
        extended.map_err(|error| LogError::io("making room for a commit", error))
    }

    /// Makes the file longer; what lies behind `written`, where the next group ends, is filled with zeros.
    fn extend(&mut self, target: u64, written: u64) -> std::io::Result<()> {
        self.file.allocate(self.allocated, target - self.allocated)?;
        let from = written.max(self.allocated);
        let blank = usize::try_from(target.saturating_sub(from)).unwrap_or(0);
        self.file.write_all_at(&vec![0; blank], from)?;
        self.allocated = target;
        Ok(())
    }
}

struct Recovered {
    open: Option<OpenSegment>,
    group: Group,
    known: Known,
    asked_at: u64,
}

/// Brings the view to the end of the log, whoever wrote it, and makes sure that all of it is durable.
fn recover(
    store: &Store,
    view: &mut View,
    published: &dyn DiskFile,
    rest: &Rest,
) -> Result<Recovered, LogError> {
    let durable = Published::read(published);
    let is_new = view.end.place.is_none();
    let memory = match is_new.then(|| index::load(&store.layout)).flatten() {
        Some(remembered) => Memory::FootersAnd(Box::new(remembered)),
        None => Memory::Footers,
    };
    let loaded = view.advance_by(&store.layout, Bound::Everything(durable), memory, &mut |_| ())?;
    let known = match loaded {
        Some(checkpoint) => Known::Whole(checkpoint),
        None if is_new => Known::Nothing,
        None => Known::Unread,
    };
    if let Some(damage) = view.damages.first() {
        return Err(damage.error());
    }
    if view.end.place.is_none() {
        store.layout.sync_names().map_err(|error| opening_failed(store, error))?;
    }
    // A compressed segment is complete, even if the one behind it was lost.
    let last = view.last_segment().filter(|span| span.segment.is_plain());
    let open = last.as_ref().map(|span| adopt(store, span, durable)).transpose()?;
    let group = Group { number: view.end.group + 1, start: open.as_ref().map_or(0, |open| open.offset) };
    publish(store, &view.end, published).map_err(|error| opening_failed(store, error))?;
    // Bytes of a dead writer's unfinished group stay as they are: what follows goes to a new segment.
    let is_clean = |span: &Span| is_blank(&span.segment, span.end, span.segment.file_bytes());
    let open = open.filter(|_| last.as_ref().is_some_and(is_clean));
    let indexed = loaded.map(|checkpoint| checkpoint.counts.log_bytes + view.log_bytes_before_last_segment());
    let asked_at = indexed.unwrap_or(rest.asked_at);
    Ok(Recovered { open, group, known, asked_at })
}

fn publish(store: &Store, end: &End, published: &dyn DiskFile) -> std::io::Result<()> {
    let Some(place) = end.place else { return Ok(()) };
    let record = Published { end: place, next: end.next, group: end.group, boot: store.boot };
    record.write(published)
}

fn opening_failed(store: &Store, error: std::io::Error) -> LogError {
    LogError::io(format!("opening {} to write", store.layout.root().display()), error)
}

/// Goes on in the segment that a writer before this one left, and makes durable what of it may not be.
///
/// Whole frames behind the published end are kept: they are valid commits whose writer died before it could
/// answer. They are written once more over themselves before the sync, since after a sync that failed in the dead
/// writer the system may hold them for clean without having them on the disk.
fn adopt(store: &Store, span: &Span, durable: Option<Published>) -> Result<OpenSegment, LogError> {
    let segment = &span.segment;
    let failed = |error| LogError::io(format!("taking over {}", segment.path.display()), error);
    let file = store.layout.disk.open(&segment.path, Open::Write).map_err(failed)?;
    let place = Place { segment: segment.number, offset: span.end };
    let from = durable.filter(|durable| durable.end.segment == segment.number).map_or(0, |d| d.end.offset);
    if durable.is_none_or(|durable| durable.end != place) {
        rewrite(&*file, from, span.end).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        store.layout.disk.sync_folder(&store.layout.segments()).map_err(failed)?;
    }
    let allocated = segment.file_bytes().max(span.end);
    Ok(OpenSegment { number: segment.number, file, offset: span.end, allocated })
}

fn rewrite(file: &dyn DiskFile, from: u64, end: u64) -> std::io::Result<()> {
    let mut at = from;
    let mut bytes = vec![0; usize::try_from(PREALLOCATE_BYTES).unwrap_or(0)];
    while at < end {
        let count = usize::try_from(end - at).unwrap_or(usize::MAX).min(bytes.len());
        let part = bytes.get_mut(..count).unwrap_or_default();
        file.read_exact_at(part, at)?;
        file.write_all_at(part, at)?;
        at += count as u64;
    }
    Ok(())
}

/// Makes the next segment, durably, with nothing in it yet.
fn begin_segment(store: &Store) -> Result<OpenSegment, LogError> {
    let newest = store.layout.segment_numbers()?.last().copied();
    let number = newest.map_or(SegmentNumber::FIRST, SegmentNumber::next);
    let path = store.layout.segment(number);
    let end = store.known().end;
    let header = SegmentHeader {
        number,
        previous: end.place,
        first: end.next,
        group: end.group,
        running: end.running,
        storage: Storage::Plain,
    };
    let failed = |error| LogError::io(format!("creating {}", path.display()), error);
    let file = store.layout.disk.open(&path, Open::New).map_err(failed)?;
    let begun = file
        .write_all_at(&header.to_bytes(), 0)
        .and_then(|()| file.sync_all())
        .and_then(|()| store.layout.disk.sync_folder(&store.layout.segments()));
    if let Err(error) = begun {
        // Nobody has read it and nothing is in it. Left behind, it would do no harm either.
        drop(store.layout.disk.remove(&path));
        return Err(failed(error));
    }
    let segment = Arc::new(Segment::open(&store.layout, number)?);
    store.change(|view| view.begin(Span { segment, end: SEGMENT_HEADER_BYTES }));
    Ok(OpenSegment { number, file, offset: SEGMENT_HEADER_BYTES, allocated: SEGMENT_HEADER_BYTES })
}

fn broken(doing: &str, error: impl std::fmt::Display) -> Failure {
    Failure::Broken(format!("{doing}: {error}"))
}
