//! Every command that the documents show is run, in the order in which they show it.

use std::path::{Path, PathBuf};

use crate::desk::Desk;

/// A command in a document, and the lines that are shown as its output.
struct Shown {
    command: String,
    output: String,
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands in the console blocks of a document.
fn commands(document: &str) -> Vec<Shown> {
    let blocks = document.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut shown: Vec<Shown> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ "), shown.last_mut()) {
            (Some(command), _) => shown.push(Shown { command: command.to_owned(), output: String::new() }),
            (None, Some(last)) => last.output.push_str(&format!("{line}\n")),
            (None, None) => panic!("a block begins with output: {line}"),
        }
    }
    shown
}

fn run(document: &Path) -> usize {
    let desk = Desk::new();
    let shown = commands(&std::fs::read_to_string(document).unwrap());
    let mut count = 0;
    for Shown { command, output } in shown {
        // What belongs to the workspace is checked by `cargo xtask tidy`, and run by `cargo xtask ci`.
        if command.starts_with("cargo xtask ") || command.starts_with("cargo test") {
            continue;
        }
        // The tests of `segue` run every example and compare what it prints.
        if let Some(example) = command.strip_prefix("cargo run --package segue --example ") {
            assert!(top().join(format!("crates/segue/examples/{example}.rs")).exists(), "{command}");
            continue;
        }
        // Its own test, which `cargo xtask ci` runs with the feature, does what this command does.
        if command == "cargo run --package segue-example-rig --features rig" {
            continue;
        }
        // A file that is shown is a file that the reader is to write.
        if let Some(file) = command.strip_prefix("cat ") {
            desk.write(file, &output);
            continue;
        }
        assert!(command.starts_with("cargo run --release -- "), "{command} is not run by this test");
        let said = desk.shell(&command);
        assert_eq!(said.code, Some(0), "{command}\n{said}");
        count += 1;
    }
    count
}

#[test]
fn the_readme_keeps_its_word() {
    assert!(run(&top().join("README.md")) >= 9);
}

#[test]
fn so_do_the_other_documents() {
    for entry in top().join("docs").read_dir().unwrap() {
        run(&entry.unwrap().path());
    }
}
