//! Rules about source files.

use std::path::Path;

use anyhow::Context as _;

use super::{Finding, files, shown};

/// The longest source file, in lines.
const LINES_MAX: usize = 600;

/// Crates that are functions on values: what they must not name, beside what clippy.toml bans everywhere.
const PURE: &[&str] = &["event", "frame", "continuation", "projection", "prompt"];
const IMPURE_WORDS: &[&str] =
    &["std::fs", "std::env", "std::net", "std::process", "std::thread", "std::time::", "println"];

/// What reading must not do.
const WRITING_WORDS: &[&str] = &[".commit(", ".put_blob("];

/// Names that say nothing.
const VAGUE: &[&str] = &["utils", "util", "common", "helpers", "helper", "manager", "misc"];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for folder in ["crates", "xtask"] {
        for file in files(&root.join(folder), ".rs")? {
            let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let name = shown(root, &file);
            findings
                .extend(complaints(&name, &text).into_iter().map(|complaint| format!("{name}: {complaint}")));
        }
    }
    findings.extend(test_layout(root)?);
    Ok(findings)
}

fn complaints(name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !text.starts_with("//!") {
        found.push("does not begin with //!".to_owned());
    }
    let lines = text.lines().count();
    if lines > LINES_MAX {
        found.push(format!("{lines} lines, more than {LINES_MAX}"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        found.extend(line_complaint(line).map(|complaint| format!("{number}: {complaint}")));
    }
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if VAGUE.contains(&stem.as_str()) {
        found.push("has a name that says nothing".to_owned());
    }
    found.extend(purity(name, text));
    found
}

fn line_complaint(line: &str) -> Option<&'static str> {
    // Put together here, so that this file does not find itself.
    let ignored = concat!("#[", "ignore");
    if line.ends_with([' ', '\t']) {
        Some("white space at the end")
    } else if line.trim_start().starts_with(ignored) {
        Some("a test that does not run")
    } else {
        None
    }
}

/// Whether a file names what its crate must not know; its unit tests may.
fn purity(name: &str, text: &str) -> Vec<String> {
    let production = text.split("#[cfg(test)]").next().unwrap_or_default();
    let in_source = |crate_name: &str| name.starts_with(&format!("crates/{crate_name}/src/"));
    let mut words: Vec<&str> = Vec::new();
    if PURE.iter().any(|pure| in_source(pure)) {
        words.extend(IMPURE_WORDS);
    }
    if in_source("thread") {
        words.extend(WRITING_WORDS);
    }
    if name.starts_with("crates/") && !name.starts_with("crates/log-file/") {
        words.push("sled");
    }
    let named = words.into_iter().filter(|word| production.contains(word));
    named.map(|word| format!("names {word}")).collect()
}

/// Each crate has one integration binary, `tests/it/main.rs`, which names every file beside it.
fn test_layout(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for entry in root.join("crates").read_dir()? {
        let tests = entry?.path().join("tests");
        if !tests.is_dir() {
            continue;
        }
        let main = std::fs::read_to_string(tests.join("it/main.rs")).unwrap_or_default();
        for file in files(&tests, ".rs")? {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_beside = file.parent() == Some(&tests.join("it"));
            let is_named = stem == "main" || main.contains(&format!("mod {stem};"));
            if is_beside && !is_named {
                findings.push(format!("{} is not run: main.rs does not name it", shown(root, &file)));
            }
            if file.parent() == Some(&tests) {
                findings.push(format!("{} is a test binary of its own; use tests/it", shown(root, &file)));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_finds_its_case() {
        assert!(complaints("crates/event/src/a.rs", "//! A.\nfn f() {}\n").is_empty());
        let cases = [
            ("crates/event/src/a.rs", "fn f() {}\n".to_owned()),
            ("crates/event/src/a.rs", "//! A.\nuse std::fs;\n".to_owned()),
            ("crates/thread/src/a.rs", "//! A.\nfn f() { log.commit(x) }\n".to_owned()),
            ("crates/segue/src/a.rs", format!("//! A.\nuse {}::Db;\n", concat!("sl", "ed"))),
            ("crates/segue/src/utils.rs", "//! A.\n".to_owned()),
            ("crates/segue/src/a.rs", "//! A.\nfn f() {} \n".to_owned()),
            ("crates/segue/src/a.rs", format!("//! A.\n{}]\n", concat!("#[", "ignore"))),
            ("crates/segue/src/a.rs", format!("//! A.\n{}", "fn f() {}\n".repeat(LINES_MAX))),
        ];
        for (name, text) in cases {
            assert_eq!(complaints(name, &text).len(), 1, "{name}: {text:.60}");
        }
    }
}
