//! Folders of sources.

use std::fs;
use std::os::unix::fs::symlink;

use segue_import::{ImportErrorKind, Imported, import_tree};

use crate::desk::{Desk, claude_lines, claude_said};

#[test]
fn every_file_has_its_say_in_the_order_of_the_paths() {
    let desk = Desk::new();
    let root = desk.folder.path().join("tree");
    fs::create_dir_all(root.join("b/subagents")).unwrap();
    fs::write(root.join("c.jsonl"), claude_lines().concat()).unwrap();
    fs::write(root.join("b/subagents/agent.jsonl"), claude_said("x", "task").replace("s-1", "s-2")).unwrap();
    fs::write(root.join("a.jsonl"), "not one\n").unwrap();
    fs::write(root.join("b/notes.md"), "text").unwrap();
    symlink(root.join("gone"), root.join("d.jsonl")).unwrap();
    symlink(&root, root.join("e.jsonl")).unwrap();
    symlink(root.join("b"), root.join("linked")).unwrap();
    let entries: Vec<_> = import_tree(&desk.log, &root, &desk.options)
        .map(|entry| {
            let path = entry.path.strip_prefix(&root).unwrap().display().to_string();
            let became = match entry.result {
                Ok(Imported::Session(report)) => format!("{} lines", report.lines),
                Ok(Imported::Skipped(reason)) => reason,
                Err(error) => format!("{:?}", error.kind()),
            };
            (path, became)
        })
        .collect();
    let expected = [
        ("a.jsonl", "its first lines are those of no transcript that can be imported"),
        ("b/notes.md", "its name does not end in .jsonl"),
        ("b/subagents/agent.jsonl", "1 lines"),
        ("c.jsonl", "4 lines"),
        ("d.jsonl", "NotFound"),
        ("e.jsonl", "it is a link to a folder, and such links are not followed"),
        ("linked", "it is a link to a folder, and such links are not followed"),
    ];
    assert_eq!(entries, expected.map(|(path, became)| (path.to_owned(), became.to_owned())));
}

#[test]
fn a_folder_that_is_not_there_is_one_failed_entry() {
    let desk = Desk::new();
    let missing = desk.folder.path().join("missing");
    let mut entries = import_tree(&desk.log, &missing, &desk.options);
    assert_eq!(entries.next().unwrap().result.unwrap_err().kind(), ImportErrorKind::NotFound);
    assert!(entries.next().is_none());
}

#[test]
fn a_link_to_a_folder_is_followed_where_it_is_named() {
    let desk = Desk::new();
    let root = desk.folder.path().join("tree");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a.jsonl"), claude_lines().concat()).unwrap();
    let link = desk.folder.path().join("link");
    symlink(&root, &link).unwrap();
    let entries: Vec<_> = import_tree(&desk.log, &link, &desk.options).collect();
    assert!(matches!(entries.as_slice(), [entry] if entry.result.as_ref().unwrap().report().is_some()));
}

#[test]
fn a_tree_may_be_one_file() {
    let desk = Desk::new();
    let file = desk.write("session.txt", claude_lines().concat().as_bytes());
    let entries: Vec<_> = import_tree(&desk.log, &file, &desk.options).collect();
    assert!(matches!(entries.as_slice(), [entry] if entry.result.as_ref().unwrap().report().is_some()));
}
