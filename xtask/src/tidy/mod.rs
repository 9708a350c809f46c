//! What neither the compiler nor the linter checks.
//!
//! Each rule looks at the tree and answers with what it found. The rules run as tests too, so that `cargo test` alone
//! holds them.

mod docs;
mod layers;
mod licences;
mod sources;
mod top_level;

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::root;

/// Something that breaks a rule, in words, with its place.
type Finding = String;

/// A rule: looks at the tree and answers with what breaks it.
type Rule = fn(&Path) -> anyhow::Result<Vec<Finding>>;

const RULES: &[(&str, Rule)] = &[
    ("top level", top_level::check),
    ("layers", layers::check),
    ("licences and bans", licences::check),
    ("sources", sources::check),
    ("docs", docs::check),
];

pub(crate) fn run() -> anyhow::Result<()> {
    let mut count = 0;
    for (name, rule) in RULES {
        let findings = rule(&root())?;
        count += findings.len();
        println!("tidy: {name}: {} findings", findings.len());
        findings.iter().for_each(|finding| println!("  {finding}"));
    }
    if count == 0 { Ok(()) } else { bail!("the tree is not tidy: {count} findings") }
}

/// Every file below a folder whose name ends so, in order; build results are left out.
fn files(folder: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir()? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                open.push(path);
            } else if path.is_file() && name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A path as it is shown: relative to the top.
fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        for (name, rule) in RULES {
            assert_eq!(rule(&root()).unwrap(), Vec::<Finding>::new(), "{name}");
        }
    }
}
