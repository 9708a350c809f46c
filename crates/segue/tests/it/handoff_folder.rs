//! HANDOFF.md and memory.jsonc: written whole, by one at a time, and others' text left as it is.

use std::fs;
use std::path::Path;
use std::thread;

use segue::event::{Author, CompactionReason, Message, Role, SessionId};
use segue::prompt::handoff_note::{HandoffSettings, Retry};
use segue::{Compaction, ErrorKind, HandoffFolder, Note, Workspace};

use crate::desk::{session, workspace};

fn keep(handoff_keep: usize) -> HandoffSettings {
    HandoffSettings { handoff_keep, ..HandoffSettings::default() }
}

fn compaction(key: &str) -> Compaction {
    Compaction { key: key.to_owned(), reason: CompactionReason::Manual, retry: Retry::WillNot }
}

fn note(workspace: &Workspace, session: SessionId, text: &str) -> Note {
    workspace.append(session, [Message::text(Role::Assistant, Author::Agent, text)]).unwrap();
    workspace.take_note(session, &compaction(text)).unwrap().unwrap()
}

fn handoff(folder: &Path) -> String {
    fs::read_to_string(folder.join("HANDOFF.md")).unwrap()
}

#[test]
fn the_last_notes_stand_in_the_file_in_order() {
    let (workspace, root) = (workspace(), tempfile::tempdir().unwrap());
    let place = root.path().join("agent");
    let folder = HandoffFolder::at(&place);
    let (first, other) = (session(&workspace, "coder"), session(&workspace, "coder"));
    for (session, text) in [(first, "one"), (other, "two"), (first, "three"), (other, "four")] {
        let note = note(&workspace, session, text);
        folder.write(&note, &keep(3)).unwrap();
        folder.write(&note, &keep(3)).unwrap();
    }
    insta::assert_snapshot!(handoff(&place), @r"
    ## 2026-01-01T00:00:05+00:00 (manual)

    - two

    ## 2026-01-01T00:00:07+00:00 (manual)

    - one
    - three

    ## 2026-01-01T00:00:09+00:00 (manual)

    - two
    - four
    ");
    assert_eq!(folder.read().unwrap().entries().count(), 3);
    let left: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the file and its lock: {left:?}");
}

#[test]
fn with_zero_nothing_is_written() {
    let (workspace, root) = (workspace(), tempfile::tempdir().unwrap());
    let place = root.path().join("agent");
    let note = note(&workspace, session(&workspace, "coder"), "one");
    HandoffFolder::at(&place).write(&note, &keep(0)).unwrap();
    assert!(!place.exists());
}

#[test]
fn a_summary_takes_the_place_of_its_note() {
    let (workspace, root) = (workspace(), tempfile::tempdir().unwrap());
    let folder = HandoffFolder::at(root.path());
    let first = session(&workspace, "coder");
    for text in ["one", "two"] {
        folder.write(&note(&workspace, first, text), &keep(3)).unwrap();
    }
    let made = workspace.consolidate_note(first, &compaction("two"), "## Goal\na parser").unwrap();
    for _ in 0..2 {
        folder.write_consolidated(&made, &keep(3)).unwrap();
    }
    insta::assert_snapshot!(handoff(root.path()), @r"
    ## 2026-01-01T00:00:02+00:00 (manual)

    - one

    ## 2026-01-01T00:00:05+00:00 (manual)

    > ## Goal
    > a parser
    ");
}

#[test]
fn many_at_once_lose_no_entry() {
    let (workspace, root) = (workspace(), tempfile::tempdir().unwrap());
    let folder = HandoffFolder::at(root.path());
    let write = |number: u32| {
        let note = note(&workspace, session(&workspace, "coder"), &format!("note {number}"));
        folder.write(&note, &keep(100)).unwrap();
        // Whoever reads meanwhile sees a whole file.
        assert!(handoff(root.path()).ends_with('\n'));
    };
    thread::scope(|scope| {
        for number in 0..24 {
            scope.spawn(move || write(number));
        }
    });
    assert_eq!(folder.read().unwrap().entries().count(), 24);
}

#[cfg(unix)]
#[test]
fn folders_that_link_to_the_same_file_lose_no_entry() {
    let (workspace, root) = (workspace(), tempfile::tempdir().unwrap());
    let shared = root.path().join("shared.md");
    fs::write(&shared, "").unwrap();
    let folders = ["one", "two"].map(|name| {
        let place = root.path().join(name);
        fs::create_dir(&place).unwrap();
        std::os::unix::fs::symlink(&shared, place.join("HANDOFF.md")).unwrap();
        HandoffFolder::at(place)
    });
    let write = |number: u32, folder: &HandoffFolder| {
        let note = note(&workspace, session(&workspace, "coder"), &format!("note {number}"));
        folder.write(&note, &keep(100)).unwrap();
        assert!(folder.read().unwrap().entries().count() > 0);
    };
    thread::scope(|scope| {
        for (number, folder) in (0..48).zip(folders.iter().cycle()) {
            scope.spawn(move || write(number, folder));
        }
    });
    assert_eq!(folders.first().unwrap().read().unwrap().entries().count(), 48);
}

#[test]
fn what_others_wrote_stays_and_what_is_no_text_is_not_touched() {
    let (workspace, root) = (workspace(), tempfile::tempdir().unwrap());
    let (folder, file) = (HandoffFolder::at(root.path()), root.path().join("HANDOFF.md"));
    let note = note(&workspace, session(&workspace, "coder"), "one");
    let others =
        "Read me.\n\n## My notes\n- *kept*\n\n## 2025-01-01T00:00:00+02:00 (threshold)\n\n* by another\n";
    fs::write(&file, others).unwrap();
    folder.write(&note, &keep(2)).unwrap();
    assert!(handoff(root.path()).starts_with(others));
    fs::write(&file, b"\xff\xfe").unwrap();
    assert_eq!(folder.write(&note, &keep(2)).unwrap_err().kind(), ErrorKind::HandoffFile);
    assert_eq!(fs::read(&file).unwrap(), b"\xff\xfe");
}

#[cfg(unix)]
#[test]
fn the_file_is_its_owners_alone_and_a_link_stays_one() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (workspace, root) = (workspace(), tempfile::tempdir().unwrap());
    let (place, elsewhere) = (root.path().join("agent"), root.path().join("elsewhere.md"));
    fs::create_dir(&place).unwrap();
    fs::write(&elsewhere, "").unwrap();
    symlink(&elsewhere, place.join("HANDOFF.md")).unwrap();
    // A writer that was killed left this, open to all.
    fs::write(root.path().join("elsewhere.md.tmp"), "half").unwrap();
    let note = note(&workspace, session(&workspace, "coder"), "one");
    HandoffFolder::at(&place).write(&note, &keep(2)).unwrap();
    assert!(place.join("HANDOFF.md").is_symlink());
    assert!(fs::read_to_string(&elsewhere).unwrap().ends_with("- one\n"));
    assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn settings_are_the_defaults_until_somebody_sets_them_and_a_broken_file_is_told() {
    let root = tempfile::tempdir().unwrap();
    let folder = HandoffFolder::at(root.path());
    assert_eq!(folder.settings().unwrap(), (HandoffSettings::default(), Vec::new()));
    fs::write(root.path().join("memory.jsonc"), "{\n  // mine\n  \"handoff_keep\": 7,\n}").unwrap();
    assert_eq!(folder.settings().unwrap(), (keep(7), Vec::new()));
    fs::write(root.path().join("memory.jsonc"), "{\n  \"handoff_keep\": 7,\n  }}").unwrap();
    let (settings, problems) = folder.settings().unwrap();
    assert_eq!((settings, problems.len()), (HandoffSettings::default(), 1));
    assert_eq!((problems[0].line(), problems[0].column()), (3, 4));
}
