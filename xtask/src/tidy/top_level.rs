//! The top level holds what it should, and nothing else.

use std::path::Path;

use super::Finding;

const ENTRIES: &[&str] = &[
    ".cargo",
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "clippy.toml",
    "crates",
    "deny.toml",
    "docs",
    "fixtures",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "xtask",
];

/// What is there without being part of the tree.
const IGNORED: &[&str] = &[".git", "target"];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut found = Vec::new();
    for entry in root.read_dir()? {
        found.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(compare(&found))
}

fn compare(found: &[String]) -> Vec<Finding> {
    let known = |name: &&String| ENTRIES.contains(&name.as_str()) || IGNORED.contains(&name.as_str());
    let extra =
        found.iter().filter(|name| !known(name)).map(|name| format!("{name} does not belong at the top"));
    let missing = ENTRIES.iter().filter(|name| !found.iter().any(|found| found == *name));
    extra.chain(missing.map(|name| format!("{name} is missing"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_too_much_is_found() {
        let mut found: Vec<_> = ENTRIES.iter().map(|name| (*name).to_owned()).collect();
        assert!(compare(&found).is_empty());
        found.push("notes.txt".to_owned());
        found.retain(|name| name != "README.md");
        assert_eq!(compare(&found), ["notes.txt does not belong at the top", "README.md is missing"]);
    }
}
