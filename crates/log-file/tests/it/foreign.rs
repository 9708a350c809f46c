//! A folder that is not a store comes to no harm.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use segue_log::{EventLog, LogErrorKind};
use segue_log_file::{FileLog, Options};

use crate::sample::{open, read_log, say};

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.path().display().to_string();
        if entry.file_type().unwrap().is_dir() {
            found.insert(name, Vec::new());
            found.extend(contents(&entry.path()));
        } else {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn a_folder_with_anything_else_in_it_is_refused_and_left_as_it_is() {
    for name in ["LOCK", "published", "notes.txt", "index/db", "log/app.log", "blobs/ab/picture", ".git/HEAD"]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        let before = contents(folder.path());
        for open in [FileLog::open, FileLog::create] {
            let error = open(folder.path().to_path_buf(), Options::default()).unwrap_err();
            assert_eq!(error.kind(), LogErrorKind::Occupied, "{name}: {error}");
            assert!(error.to_string().contains("choose a new or empty folder"), "{error}");
        }
        let error = FileLog::open_reader(folder.path()).unwrap_err();
        assert_eq!(error.kind(), LogErrorKind::NotFound, "{name}: {error}");
        assert_eq!(contents(folder.path()), before, "{name}");
    }
}

#[test]
fn a_folder_that_fills_up_after_it_was_opened_is_refused_by_the_first_commit() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    fs::write(folder.path().join("LOCK"), "mine").unwrap();
    assert_eq!(log.commit(say(0, "no")).unwrap_err().kind(), LogErrorKind::Occupied);
    assert_eq!(log.put_blob(b"no").unwrap_err().kind(), LogErrorKind::Occupied);
    assert_eq!(fs::read(folder.path().join("LOCK")).unwrap(), b"mine");
    assert_eq!(contents(folder.path()).len(), 1);
}

#[test]
fn a_creation_that_was_interrupted_is_finished() {
    for steps in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        (steps > 0).then(|| fs::create_dir(path.join("log")).unwrap());
        (steps > 1).then(|| fs::create_dir(path.join("blobs")).unwrap());
        (steps > 2).then(|| fs::write(path.join(".segue-new-17-0"), "0").unwrap());
        let log = open(path);
        log.commit(say(0, "first")).unwrap();
        assert_eq!(read_log(&*log).len(), 1, "after {steps} steps");
    }
}

#[test]
fn an_index_that_is_not_ours_is_neither_used_nor_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    open(&path).commit(say(0, "first")).unwrap();
    let index = path.join("index");
    fs::create_dir(&index).unwrap();
    fs::write(index.join("db"), "mine").unwrap();
    let options = Options { index_every: 1, ..Options::default() };
    let log = FileLog::open(&path, options).unwrap();
    (0..20).for_each(|_| drop(log.commit(say(0, "next")).unwrap()));
    drop(log);
    assert_eq!(contents(&index).len(), 1);
    assert_eq!(fs::read(index.join("db")).unwrap(), b"mine");
}
