//! What happens to committers when writing fails.

use std::fs::{File, OpenOptions};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use segue_event::{Author, Message, Role, Timestamp};
use segue_log::{Commit, Expected, LogErrorKind, NewEvent};

use super::*;
use crate::disk::{DiskFile, RealFile};
use crate::layout::Layout;
use crate::options::Options;

struct Fixture {
    folder: tempfile::TempDir,
    store: Arc<Store>,
    committers: Committers,
}

impl Fixture {
    /// A store with one commit of this process in it.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Self { store: store_in(&folder), folder, committers: Committers::default() };
        fixture.commit("hello").unwrap();
        fixture
    }

    fn commit(&self, text: &str) -> Answer {
        self.committers.commit(&self.store, prepared(text))
    }

    fn exchange_file(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        match &mut *self.committers.shared.writer.lock() {
            Writer::Open(tail) => tail.exchange_file(file),
            other => panic!("{other:?}"),
        }
    }

    /// How many events there are for this process, and for another.
    fn seen(&self) -> (u64, u64) {
        let next = |store: &Store| store.view().unwrap().end.next.get() - 1;
        (next(&self.store), next(&store_in(&self.folder)))
    }

    fn close_and_reopen(self) -> Self {
        self.committers.close(&self.store);
        Self { store: store_in(&self.folder), folder: self.folder, committers: Committers::default() }
    }
}

fn store_in(folder: &tempfile::TempDir) -> Arc<Store> {
    let options = Options { keep_lock: Duration::from_secs(600), ..Options::default() };
    Arc::new(Store::new(Layout::new(folder.path().join("store")), options))
}

fn prepared(text: &str) -> PreparedCommit {
    let message = NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, text));
    let session = SessionId::from_bytes([1; 16]);
    PreparedCommit::new(Commit::new().append(session, Expected::AtHead, vec![message])).unwrap()
}

#[test]
fn after_a_failed_write_nothing_is_acknowledged_until_the_log_is_opened_again() {
    let fixture = Fixture::new();
    let read_only = Arc::new(RealFile(File::open("/dev/null").unwrap()));
    let file = fixture.exchange_file(read_only);
    assert_eq!(fixture.commit("lost").unwrap_err().kind(), LogErrorKind::ReadOnly);
    assert_eq!(fixture.commit("lost too").unwrap_err().kind(), LogErrorKind::ReadOnly);
    assert_eq!(fixture.seen(), (1, 1), "what was acknowledged can be read");
    drop(file);
    let fixture = fixture.close_and_reopen();
    assert_eq!(fixture.commit("again").unwrap().first.get(), 2);
}

#[test]
fn what_could_not_be_synced_is_neither_published_nor_acknowledged() {
    let fixture = Fixture::new();
    // It takes every write, and cannot be synced.
    let file =
        fixture.exchange_file(Arc::new(RealFile(OpenOptions::new().write(true).open("/dev/null").unwrap())));
    for _ in 0..2 {
        assert_eq!(fixture.commit("lost").unwrap_err().kind(), LogErrorKind::ReadOnly);
        assert_eq!(fixture.seen(), (1, 1));
    }
    drop(file);
    let fixture = fixture.close_and_reopen();
    assert_eq!(fixture.commit("again").unwrap().first.get(), 2);
    assert_eq!(fixture.seen(), (2, 2));
}

#[test]
fn without_room_a_commit_is_refused_and_the_next_one_goes_on() {
    let fixture = Fixture::new();
    // It has no blocks that could be allocated.
    let file =
        fixture.exchange_file(Arc::new(RealFile(OpenOptions::new().write(true).open("/dev/null").unwrap())));
    let error = fixture.commit(&"x".repeat(3_000_000)).unwrap_err();
    assert_ne!(error.kind(), LogErrorKind::ReadOnly, "{error}");
    fixture.exchange_file(file);
    assert_eq!(fixture.commit("small").unwrap().first.get(), 2);
    assert_eq!(fixture.commit(&"x".repeat(3_000_000)).unwrap().first.get(), 3);
    assert_eq!(fixture.seen(), (3, 3));
}

#[test]
fn a_panic_in_a_group_leaves_nobody_waiting() {
    let fixture = Fixture::new();
    fixture.committers.shared.trap.store(true, Ordering::Relaxed);
    let (told, answers) = crossbeam_channel::unbounded();
    thread::scope(|scope| {
        let held = fixture.committers.shared.writer.lock();
        for number in 0..8 {
            let (fixture, told) = (&fixture, told.clone());
            scope.spawn(move || {
                let committed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    fixture.commit(&number.to_string()).map(drop)
                }));
                told.send(committed).unwrap();
            });
        }
        // One leads, and the others have come by now or will come when it is over.
        thread::sleep(Duration::from_millis(100));
        drop(held);
    });
    drop(told);
    let answers: Vec<_> = answers.iter().collect();
    assert_eq!(answers.len(), 8);
    assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 1, "one committer panicked itself");
    let kinds = answers.into_iter().flatten().map(|answer| answer.unwrap_err().kind());
    assert!(kinds.into_iter().all(|kind| kind == LogErrorKind::ReadOnly));
    fixture.committers.shared.trap.store(false, Ordering::Relaxed);
    assert_eq!(fixture.commit("no").unwrap_err().kind(), LogErrorKind::ReadOnly, "the writer stays poisoned");
    assert_eq!(fixture.seen(), (1, 1));
    let fixture = fixture.close_and_reopen();
    assert_eq!(fixture.commit("again").unwrap().first.get(), 2);
}
