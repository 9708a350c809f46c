//! Followers of a log that another process writes to.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use segue_event::{Event, Position};
use segue_log::{Commit, EventLog, EventLogExt as _, Expected, Wait};
use segue_log_file::limits::POLL_INTERVAL;
use segue_log_file::{Disk, DiskFile, Entry, FileLog, Open, Options, RealDisk};

use crate::sample::{message, open, say, session};

const STORE: &str = "SEGUE_TEST_FOLLOWED";
const COMMITS: u64 = 400;

/// How many events a commit has.
fn events_of(commit: u64) -> u64 {
    1 + commit % 3
}

/// The child: commits and is done. Without the variable it does nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
fn child() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let log = FileLog::open(path, Options { segment_bytes: 16 * 1024, ..Options::default() }).unwrap();
    for number in 0..COMMITS {
        let events = vec![message(&format!("commit {number}.")); usize::try_from(events_of(number)).unwrap()];
        let commit =
            Commit::new().append(session(u8::try_from(number % 5).unwrap()), Expected::AtHead, events);
        let wait = if number % 4 == 1 { Wait::Ordered } else { Wait::Durable };
        log.commit(Commit { wait, ..commit }).unwrap();
        if number % 100 == 50 {
            log.settle().unwrap();
        }
    }
}

#[test]
fn a_follower_sees_each_commit_of_another_process_once_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    open(&path).commit(say(0, "before")).unwrap();
    let reader: Arc<dyn EventLog> = Arc::new(FileLog::open_reader(&path).unwrap());
    let mut stream = reader.follow::<Event>(Position::FIRST).unwrap();
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "following::child", "--test-threads", "1"])
        .env(STORE, &path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut next = || stream.wait(Duration::from_secs(60)).unwrap().expect("an event comes");
    assert_eq!(next().position, Position::FIRST);
    let mut position = Position::FIRST;
    for number in 0..COMMITS {
        for _ in 0..events_of(number) {
            let event = next();
            position = position.next();
            assert_eq!(event.position, position);
            assert!(format!("{:?}", event.event).contains(&format!("commit {number}.")), "{event:?}");
        }
    }
    assert!(writer.wait().unwrap().success());
    assert_eq!(stream.wait(Duration::ZERO).unwrap(), None, "and nothing comes twice");
}

/// The real disk, on which it is counted how often `published` is read.
#[derive(Clone, Debug, Default)]
struct CountingDisk(Arc<AtomicU64>);

#[derive(Debug)]
struct CountingFile {
    file: Arc<dyn DiskFile>,
    reads: Arc<AtomicU64>,
}

impl Disk for CountingDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let file = RealDisk.open(path, how)?;
        if !path.ends_with("published") {
            return Ok(file);
        }
        Ok(Arc::new(CountingFile { file, reads: Arc::clone(&self.0) }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        RealDisk.list(folder)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.make_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn boot(&self) -> Option<[u8; 16]> {
        RealDisk.boot()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }
}

impl DiskFile for CountingFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.file.read_exact_at(bytes, at)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }

    fn allocate(&self, from: u64, bytes: u64) -> io::Result<()> {
        self.file.allocate(from, bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn map(&self, capacity: usize) -> io::Result<Option<memmap2::MmapRaw>> {
        self.file.map(capacity)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }

    fn has_name(&self) -> io::Result<bool> {
        self.file.has_name()
    }

    fn identity(&self) -> io::Result<u64> {
        self.file.identity()
    }

    fn drop_cached(&self) {
        self.file.drop_cached();
    }
}

#[test]
fn an_idle_follower_looks_at_one_record_and_at_most_twenty_times_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("store");
    let writer = open(&path);
    writer.commit(say(0, "first")).unwrap();
    let disk = CountingDisk::default();
    let reader = FileLog::open_on(Arc::new(disk.clone()), &path, Options::default()).unwrap();
    let reader: Arc<dyn EventLog> = Arc::new(reader);
    let mut stream = reader.follow::<Event>(Position::FIRST).unwrap();
    assert!(stream.ready().unwrap().is_some());
    let reads = || disk.0.swap(0, Ordering::Relaxed);
    let _ = reads();
    for _ in 0..100 {
        assert_eq!(stream.ready().unwrap(), None);
    }
    assert_eq!(reads(), 100, "each look reads the record once");
    assert_eq!(reader.subscribe().pause(Duration::MAX), POLL_INTERVAL, "and then it waits so long");
    assert!(POLL_INTERVAL * 20 >= Duration::from_secs(1));
    writer.commit(say(0, "second")).unwrap();
    assert_eq!(stream.ready().unwrap().map(|event| event.position.get()), Some(2));
    assert!(reads() <= 2, "a look that finds something may be followed by another");
}
