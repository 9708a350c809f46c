//! An index in any state a folder can be in: the log opens, and answers the same.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use segue_log::{ClaimKey, EventLog as _};
use segue_log_file::{FileLog, Options};

use crate::sample::{answers, claiming, continuing, copy_folder, say, session, verify};

fn eager() -> Options {
    Options { segment_bytes: 16 * 1024, index_every: 1024, ..Options::default() }
}

/// A store with an index, in a folder of its own, and what a log says of it that has none.
struct Indexed {
    folder: tempfile::TempDir,
    store: PathBuf,
    /// A copy, to make the store what it was: its index is only good for its own files.
    original: PathBuf,
    expected: String,
}

impl Indexed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (store, original) = (folder.path().join("store"), folder.path().join("original"));
        let log = FileLog::open(&store, eager()).unwrap();
        fill(&log, 200);
        (0..5).for_each(|number| drop(log.commit(claiming(0, &number.to_string())).unwrap()));
        log.commit(continuing(8, 3)).unwrap();
        (0..5).for_each(|_| drop(log.commit(say(8, &"x".repeat(300))).unwrap()));
        drop(log);
        assert!(store.join("index/SEGUE-INDEX").is_file(), "there is an index");
        copy_folder(&store, &original);
        let mut indexed = Self { folder, store, original, expected: String::new() };
        indexed.expected = indexed.answers_after(|index| fs::remove_dir_all(index).unwrap());
        indexed
    }

    /// What a log answers whose first deed is a commit, so that it starts from the index.
    fn answers_after(&self, spoil: impl FnOnce(&Path)) -> String {
        self.restore();
        let path = &self.store;
        spoil(&path.join("index"));
        let log = FileLog::open(path, eager()).unwrap();
        log.commit(say(2, "one more").claim(ClaimKey::new("6").unwrap())).unwrap();
        let found = answers(&log);
        assert_eq!(log.predecessor(session(8)).unwrap(), Some(session(3)), "the edge of a successor");
        assert_eq!(log.predecessor(session(3)).unwrap(), None, "a session that began by itself");
        assert_eq!(found, answers(&FileLog::open_reader(path).unwrap()), "with and without an index");
        found
    }

    /// Makes the store what it was: the segments that are there are written over and stay the same files.
    fn restore(&self) {
        drop(fs::remove_file(self.store.join("index")));
        drop(fs::remove_dir_all(self.store.join("index")));
        let is_new = |file: &PathBuf| !self.original.join(file.strip_prefix(&self.store).unwrap()).exists();
        files(&self.store).iter().filter(|file| is_new(file)).for_each(|file| fs::remove_file(file).unwrap());
        copy_folder(&self.original, &self.store);
    }

    fn check(&self, what: &str, spoil: impl FnOnce(&Path)) {
        let found = self.answers_after(spoil);
        assert!(found == self.expected, "{what}: {found}\n\n{}", self.expected);
    }
}

fn fill(log: &FileLog, commits: u32) {
    for number in 0..commits {
        let number = u8::try_from(number % 4).unwrap();
        log.commit(say(number, &"x".repeat(300))).unwrap();
    }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

/// The files of the index, by their names below it, and how long they are.
fn parts(store: &Path) -> Vec<(PathBuf, usize)> {
    let index = store.join("index");
    let part = |file: PathBuf| {
        let bytes = usize::try_from(fs::metadata(&file).unwrap().len()).unwrap();
        (file.strip_prefix(&index).unwrap().to_owned(), bytes)
    };
    files(&index).into_iter().map(part).collect()
}

fn change(file: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(file).unwrap();
    change(&mut bytes);
    fs::write(file, bytes).unwrap();
}

/// How many places of each file are tried.
const PLACES: usize = 24;

#[test]
fn the_index_may_be_lost_cut_off_or_garbled() {
    let indexed = Indexed::new();
    indexed.check("as it was", |_| {});
    indexed.check("a file in its place", |index| {
        fs::remove_dir_all(index).unwrap();
        fs::write(index, "no folder").unwrap();
    });
    indexed.check("all of it garbled here and there", |index| {
        let garble = |bytes: &mut Vec<u8>| bytes.iter_mut().step_by(97).for_each(|byte| *byte ^= 0x55);
        files(index).iter().for_each(|file| change(file, garble));
    });
    indexed.check("all of it zeros", |index| {
        files(index).iter().for_each(|file| change(file, |bytes| bytes.fill(0)));
    });
    for (name, _) in parts(&indexed.original) {
        indexed.check(&format!("without {}", name.display()), |index| {
            fs::remove_file(index.join(&name)).unwrap();
        });
        indexed.check(&format!("a folder in place of {}", name.display()), |index| {
            fs::remove_file(index.join(&name)).unwrap();
            fs::create_dir(index.join(&name)).unwrap();
        });
    }
}

#[test]
fn each_file_of_the_index_may_be_cut_to_any_length() {
    let indexed = Indexed::new();
    for (name, bytes) in parts(&indexed.original) {
        for length in (0..bytes).step_by(bytes.div_ceil(PLACES).max(1)).chain([bytes.saturating_sub(1)]) {
            indexed.check(&format!("{} cut to {length} of {bytes}", name.display()), |index| {
                change(&index.join(&name), |bytes| bytes.truncate(length));
            });
        }
    }
}

#[test]
fn any_byte_of_the_index_may_be_another() {
    let indexed = Indexed::new();
    for (name, bytes) in parts(&indexed.original) {
        for at in (0..bytes).step_by(bytes.div_ceil(PLACES).max(1)) {
            indexed.check(&format!("byte {at} of {bytes} in {}", name.display()), |index| {
                change(&index.join(&name), |bytes| bytes[at] ^= 0x11);
            });
        }
    }
}

#[test]
fn an_index_that_may_not_be_entered_is_done_without() {
    let indexed = Indexed::new();
    let spoilt = indexed.store.join("index");
    for mode in [0o000, 0o500] {
        // Whoever may do everything is not kept out, and then finds the index as it was.
        indexed.check(&format!("mode {mode:o}"), |index| {
            fs::set_permissions(index, fs::Permissions::from_mode(mode)).unwrap();
        });
        if let Ok(folder) = fs::metadata(&spoilt) {
            let mut permissions = folder.permissions();
            permissions.set_mode(0o700);
            fs::set_permissions(&spoilt, permissions).unwrap();
        }
    }
}

/// Removes the index and puts that of another store in its place.
fn exchange(index: &Path, other: &Path) {
    fs::remove_dir_all(index).unwrap();
    copy_folder(&other.join("index"), index);
}

#[test]
fn an_index_of_another_log_is_not_used() {
    let indexed = Indexed::new();
    let folder = indexed.folder.path();
    // Another store altogether, with the same sessions, one that is shorter and one that is longer.
    for commits in [40, 400] {
        let other = folder.join(format!("other-{commits}"));
        let log = FileLog::open(&other, eager()).unwrap();
        log.commit(claiming(1, "7")).unwrap();
        fill(&log, commits);
        drop(log);
        indexed.check(&format!("of a store of {commits}"), |index| exchange(index, &other));
    }
    // This store as it once went on: the index knows more than the log.
    indexed.restore();
    let log = FileLog::open(&indexed.store, eager()).unwrap();
    log.commit(claiming(1, "7")).unwrap();
    fill(&log, 8);
    drop(log);
    let longer = folder.join("longer");
    copy_folder(&indexed.store, &longer);
    indexed.check("newer than the log", |index| exchange(index, &longer));
    assert!(verify(&indexed.store).is_sound());
}

#[test]
fn an_index_of_the_same_log_as_it_went_on_elsewhere_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let log = FileLog::open(path("here"), eager()).unwrap();
    log.commit(say(0, "before")).unwrap();
    drop(log);
    copy_folder(&path("here"), &path("there"));
    // Both are as long, and end in the same event at the same place.
    for (name, text) in [("here", "one"), ("there", "two")] {
        let log = FileLog::open(path(name), eager()).unwrap();
        log.commit(say(1, text)).unwrap();
        log.commit(say(2, &"the same ".repeat(200))).unwrap();
    }
    let log = FileLog::open(path("here"), eager()).unwrap();
    let expected = log.head(session(1)).unwrap();
    drop(log);
    exchange(&path("here/index"), &path("there"));
    let log = FileLog::open(path("here"), eager()).unwrap();
    log.commit(say(3, "more")).unwrap();
    assert_eq!(log.head(session(1)).unwrap(), expected);
    drop(log);
    assert!(verify(&path("here")).is_sound());
}

#[test]
fn a_database_of_somebody_else_is_neither_used_nor_changed_unless_it_is_marked_as_ours() {
    let indexed = Indexed::new();
    let foreign = |index: &Path| {
        fs::remove_dir_all(index).unwrap();
        let db = sled::open(index).unwrap();
        db.insert("k", "not a checkpoint").unwrap();
        db.open_tree("theirs").unwrap().insert("key", "value").unwrap();
        drop(db);
    };
    indexed.check("foreign", foreign);
    let index = indexed.store.join("index");
    assert_eq!(sled::open(&index).unwrap().get("k").unwrap().unwrap(), "not a checkpoint");
    indexed.check("foreign, in our folder", |index| {
        foreign(index);
        fs::write(index.join("SEGUE-INDEX"), "ours").unwrap();
    });
}
