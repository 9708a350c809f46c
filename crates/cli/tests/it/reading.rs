//! Reading never writes: not a byte, not a time stamp.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::desk::Desk;

/// Every file below a folder, with its bytes and when it was written.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let written = path.metadata().unwrap().modified().unwrap();
                files.insert(path.clone(), (std::fs::read(&path).unwrap(), written));
            }
        }
    }
    files
}

#[test]
fn no_reading_command_writes() {
    let desk = Desk::with_sessions();
    desk.write(
        "handoff.json",
        r#"{"reason":"other","title":"t","description":"d","handoff":{"purpose":"p","currentRequest":"r"}}"#,
    );
    let continued = ["continue", "ff97", "--handoff", "handoff.json", "--request-id", "1"];
    assert_eq!(desk.run(&continued).code, Some(0));
    let before = files(desk.folder());
    for arguments in [
        &["sessions"][..],
        &["show", "latest"],
        &["get", "ff97", "11"],
        &["recall", "stamp"],
        &["recall", "nowhere"],
        &["lineage", "latest"],
        &["audit", "latest"],
        &["verify"],
        &["stats"],
        &["continue", "ff97", "--handoff", "handoff.json", "--dry-run"],
    ] {
        assert_eq!(desk.run(arguments).code, Some(0), "{arguments:?}");
    }
    assert!(files(desk.folder()) == before, "something was written");
}

#[test]
fn importing_leaves_its_sources_alone() {
    let desk = Desk::new();
    let before = files(&desk.folder().join(".claude"));
    assert_eq!(desk.run(&["import", ".claude"]).code, Some(0));
    assert!(files(&desk.folder().join(".claude")) == before);
}

#[cfg(unix)]
#[test]
fn a_store_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let desk = Desk::with_sessions();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&desk.store()), 0o700);
    for path in files(&desk.store()).into_keys() {
        // The index may hold its files as it likes: nobody else can enter the store's folder.
        let in_index = path.starts_with(desk.store().join("index"));
        assert!(in_index || mode(&path) == 0o600, "{}: {:o}", path.display(), mode(&path));
    }
}
