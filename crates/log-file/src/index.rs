//! The writer's working index: what can be rebuilt from the segments, kept in sled so that it need not be.
//!
//! It holds what a footer would hold of the segment that is written to; the sealed ones have their footers. It is
//! written by a thread of its own, off the path of commits, each time a few megabytes of log have come, and it is
//! never synced. With a new segment it is begun anew. It is read once, when a writer begins without having read the
//! segments before.
//!
//! # Why it can be trusted although sled cannot
//! The checkpoint holds a digest over all entries and over which file they are of, and the id of the last event it
//! covers. If one entry is missing, stale or garbled, or the index is that of another log, be it only a copy that went
//! on elsewhere, the digest differs; if the log lost what the index has seen, the event is not there. In either case, as when sled answers with an error or panics, the segment is read instead and
//! the index is made anew.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::background::Background;
use crate::disk::{Disk as _, Open, RealDisk};
use crate::index_entry::{Checkpoint, Entries, changes_since, entry_digest, head_in, session_key};
use crate::layout::Layout;
use crate::limits::{INDEX_BATCH_ENTRIES, INDEX_CACHE_BYTES, INDEX_OPEN_RETRY, INDEX_OPEN_TRIES};
use crate::place::SegmentNumber;
use crate::segment::Segment;
use crate::store::Store;
use crate::view::View;

const CHECKPOINT: &[u8] = b"k1";

/// What the index says, read whole. Whether it fits the log is not known yet.
#[derive(Debug)]
pub(crate) struct Remembered {
    pub(crate) checkpoint: Checkpoint,
    /// What the segment adds up to there.
    pub(crate) part: View,
}

/// Reads the index, if there is a sound one.
pub(crate) fn load(layout: &Layout) -> Option<Remembered> {
    if !is_ours(layout) {
        return None;
    }
    guarded(|| read(layout))?
}

fn read(layout: &Layout) -> Option<Remembered> {
    let db = open(layout)?;
    let checkpoint = Checkpoint::from_bytes(&db.get(CHECKPOINT).ok()??)?;
    let mut entries = Entries::default();
    let mut digest = digest_of_nothing(layout, checkpoint.place.segment)?;
    for entry in db.iter() {
        let (key, value) = entry.ok()?;
        if key.as_ref() != CHECKPOINT {
            digest = digest.wrapping_add(entry_digest(&key, &value));
            entries.add(&key, &value)?;
        }
    }
    (digest == checkpoint.digest).then(|| Remembered { checkpoint, part: entries.finish(&checkpoint) })
}

/// The digest of an index of a segment's file in which there is nothing yet.
fn digest_of_nothing(layout: &Layout, segment: SegmentNumber) -> Option<u64> {
    let file = layout.disk.open(&layout.segment(segment), Open::Read).ok()?;
    Some(entry_digest(b"file", &file.identity().ok()?.to_le_bytes()))
}

/// Runs what may panic over a damaged index; none if it did.
fn guarded<T>(action: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(action)).ok()
}

/// Whether the folder was made by us; what is anything else is neither used nor removed.
fn is_ours(layout: &Layout) -> bool {
    layout.index_marker().is_file()
}

/// Makes the folder and marks it, unless something else stands there.
fn make_ours(layout: &Layout) -> Option<()> {
    if is_ours(layout) {
        return Some(());
    }
    let path = layout.index();
    RealDisk.make_folder(&path).ok()?;
    std::fs::read_dir(&path).ok()?.next().is_none().then_some(())?;
    std::fs::write(layout.index_marker(), "An index that can be rebuilt: this folder may be removed.\n").ok()
}

fn open(layout: &Layout) -> Option<sled::Db> {
    make_ours(layout)?;
    let config =
        sled::Config::new().path(layout.index()).cache_capacity(INDEX_CACHE_BYTES).flush_every_ms(None);
    // For a moment after a database was closed, threads of the engine still hold its lock.
    (0..INDEX_OPEN_TRIES).find_map(|attempt| {
        if attempt > 0 {
            std::thread::sleep(INDEX_OPEN_RETRY);
        }
        config.open().ok()
    })
}

fn remove(layout: &Layout) {
    if is_ours(layout) {
        // If it cannot be removed, there will be no index.
        drop(std::fs::remove_dir_all(layout.index()));
    }
}

/// What is known of the index when a turn begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    /// It is made anew.
    Nothing,
    /// It was read whole, and reaches up to here.
    Whole(Checkpoint),
    /// Another process may have gone on with it: it is gone on with from where it says, if that fits the log.
    Unread,
}

/// Keeps the index up to date; dropping it stops the update under way.
#[derive(Debug)]
pub(crate) struct Indexer {
    store: Arc<Store>,
    known: Known,
    thread: Option<Background>,
    /// The place that the newest update was asked for, in bytes of log since the beginning.
    asked_at: u64,
}

impl Indexer {
    /// Starts with what is known, and the place that the newest update was asked for.
    pub(crate) fn new(store: &Arc<Store>, known: Known, asked_at: u64) -> Self {
        Self { store: Arc::clone(store), known, thread: None, asked_at }
    }

    /// Orders an update if enough log has come since the last one.
    pub(crate) fn log_grew(&mut self, log_bytes: u64, every: u64) {
        if log_bytes.saturating_sub(self.asked_at) < every {
            return;
        }
        if self.thread.is_none() {
            self.thread = self.start();
        }
        if self.thread.as_ref().is_some_and(Background::order) {
            self.asked_at = log_bytes;
        }
    }

    pub(crate) fn asked_at(&self) -> u64 {
        self.asked_at
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.thread.as_ref().is_none_or(Background::is_quiet)
    }

    /// Waits for the update under way; without this it is stopped, and the index made anew some time.
    pub(crate) fn finish(self) {
        if let Some(thread) = self.thread {
            thread.finish();
        }
    }

    fn start(&self) -> Option<Background> {
        let store = Arc::clone(&self.store);
        let (mut known, mut db) = (self.known, None);
        Background::start("segue-log-index", move |stop| {
            let updated = guarded(|| update(&store, known, &mut db, stop)).flatten();
            if updated.is_none() {
                db = None;
                remove(&store.layout);
            }
            known = updated.map_or(Known::Nothing, Known::Whole);
        })
    }
}

fn update(store: &Store, known: Known, db: &mut Option<sled::Db>, stop: &AtomicBool) -> Option<Checkpoint> {
    let known = begin(store, known, db)?;
    let known = known.as_ref();
    let db = db.as_ref()?;
    let changes = changes_since(&store.known(), known)?;
    // Without a checkpoint the index counts for nothing, until the last entry is written.
    db.remove(CHECKPOINT).ok()?;
    let mut digest = match known {
        Some(checkpoint) => checkpoint.digest,
        None => digest_of_nothing(&store.layout, changes.checkpoint.place.segment)?,
    };
    for chunk in changes.entries.chunks(INDEX_BATCH_ENTRIES) {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        for (key, value) in chunk {
            let old = db.insert(key, value.as_slice()).ok()?;
            digest = digest.wrapping_sub(old.map_or(0, |old| entry_digest(key, &old)));
            digest = digest.wrapping_add(entry_digest(key, value));
        }
    }
    let checkpoint = Checkpoint { digest, ..changes.checkpoint };
    db.insert(CHECKPOINT, checkpoint.to_bytes().as_slice()).ok()?;
    Some(checkpoint)
}

/// Opens the index unless it is open, and tells what of it can be gone on with; else it is empty then.
fn begin(store: &Store, known: Known, db: &mut Option<sled::Db>) -> Option<Option<Checkpoint>> {
    let current = store.known().last_segment()?.segment;
    let known = match known {
        Known::Nothing => None,
        Known::Whole(checkpoint) => Some(checkpoint),
        Known::Unread => {
            if db.is_none() {
                *db = Some(open(&store.layout)?);
            }
            db.as_ref().and_then(|db| stored_checkpoint(db, &current))
        }
    };
    let known = known.filter(|checkpoint| checkpoint.place.segment == current.number);
    if known.is_none() {
        *db = None;
        remove(&store.layout);
    }
    if db.is_none() {
        *db = Some(open(&store.layout)?);
    }
    Some(known)
}

/// Where the index says that it reaches to, if the last event it knows is in the segment. Whether its entries add up
/// is seen when it is read the next time.
fn stored_checkpoint(db: &sled::Db, current: &Segment) -> Option<Checkpoint> {
    let checkpoint = Checkpoint::from_bytes(&db.get(CHECKPOINT).ok()??)?;
    let head = |session| head_in(&db.get(session_key(session)).ok()??);
    checkpoint.is_in(current, head).then_some(checkpoint)
}

#[cfg(test)]
mod tests {
    use segue_event::{Author, Message, Role, SessionId, Timestamp};
    use segue_log::{ClaimKey, Commit, EventLog, Expected, NewEvent};

    use super::*;
    use crate::limits::SEGMENT_BYTES_USUAL;
    use crate::scan::{Bound, Memory};
    use crate::{FileLog, Options};

    /// A store with an index that was brought up to date many times.
    fn indexed(folder: &std::path::Path, segment_bytes: u64) -> Layout {
        let path = folder.join("store");
        let options = Options { segment_bytes, index_every: 512, ..Options::default() };
        let log = FileLog::open(&path, options).unwrap();
        for number in 0..120_u8 {
            let hello = NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, "hello"));
            let session = SessionId::from_bytes([number % 7; 16]);
            let commit = Commit::new().append(session, Expected::AtHead, vec![hello; usize::from(number)]);
            let commit = commit.claim(ClaimKey::new([number]).unwrap());
            drop(log.commit(commit));
        }
        drop(log);
        Layout::new(path)
    }

    /// A view that was brought up to date with the help of the index; none if that was of no help.
    fn loaded(layout: &Layout) -> Option<View> {
        let remembered = Memory::FootersAnd(Box::new(load(layout)?));
        let mut view = View::empty();
        view.advance_by(layout, Bound::Everything(None), remembered, &mut |_| ()).unwrap().map(|_| view)
    }

    #[test]
    fn what_the_index_remembers_is_what_the_segments_say() {
        for segment_bytes in [SEGMENT_BYTES_USUAL, 65_536] {
            let folder = tempfile::tempdir().unwrap();
            let layout = indexed(folder.path(), segment_bytes);
            let remembered = loaded(&layout).expect("the index is sound");
            let mut scanned = View::empty();
            scanned.advance_by(&layout, Bound::Everything(None), Memory::Nothing, &mut |_| ()).unwrap();
            assert_eq!(remembered.sessions, scanned.sessions);
            assert_eq!(remembered.by_first, scanned.by_first);
            assert_eq!(remembered.claims, scanned.claims);
            assert_eq!(remembered.places, scanned.places);
            assert_eq!(remembered.edges, scanned.edges);
            assert_eq!((remembered.end, remembered.counts), (scanned.end, scanned.counts));
            assert_eq!(remembered.counts_of_last_segment(), scanned.counts_of_last_segment());
            let ends =
                |view: &View| view.spans.iter().map(|(number, span)| (*number, span.end)).collect::<Vec<_>>();
            assert_eq!(ends(&remembered), ends(&scanned));
            assert_eq!((remembered.damages.len(), scanned.damages.len()), (0, 0));
        }
    }

    #[test]
    fn the_index_of_another_segment_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let layout = indexed(folder.path(), 65_536);
        assert!(loaded(&layout).is_some());
        let segments = layout.segment_numbers().unwrap();
        assert!(segments.len() > 2, "{segments:?}");
        let last = segments.last().unwrap();
        std::fs::remove_file(layout.segment(*last)).unwrap();
        assert!(loaded(&layout).is_none());
    }

    #[test]
    fn an_index_with_an_entry_missing_or_changed_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let layout = indexed(folder.path(), SEGMENT_BYTES_USUAL);
        let keys: Vec<_> = open(&layout).unwrap().iter().keys().step_by(7).map(Result::unwrap).collect();
        for key in keys {
            let db = open(&layout).unwrap();
            let value = db.remove(&key).unwrap().unwrap_or_else(|| panic!("{key:?} of {}", db.len()));
            drop(db);
            assert!(loaded(&layout).is_none(), "without {key:?}");
            let changed: Vec<u8> =
                value.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == 3)).collect();
            open(&layout).unwrap().insert(&key, changed).unwrap();
            assert!(loaded(&layout).is_none(), "with {key:?} changed");
            open(&layout).unwrap().insert(&key, value).unwrap();
        }
        assert!(loaded(&layout).is_some(), "as it was");
    }

    #[test]
    fn an_index_that_knows_more_than_the_log_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let layout = indexed(folder.path(), SEGMENT_BYTES_USUAL);
        let end = loaded(&layout).unwrap().end.place.unwrap();
        let segment = layout.segment(end.segment);
        let mut bytes = std::fs::read(&segment).unwrap();
        let last = usize::try_from(end.offset).unwrap() - 1;
        bytes[last] ^= 1;
        std::fs::write(&segment, bytes).unwrap();
        assert!(loaded(&layout).is_none());
    }
}
