//! The agent's memory folder: what may be cited from it.

use std::collections::BTreeSet;
use std::path::Path;

use segue_event::{Source, SourceTarget};

/// Of the cited memory files, those that exist inside the root. Links that lead out of it do not count.
pub(crate) fn existing(root: Option<&Path>, sources: &[Source]) -> BTreeSet<String> {
    let Some(root) = root.and_then(|root| root.canonicalize().ok()) else { return BTreeSet::new() };
    let cited = sources.iter().filter_map(|source| match &source.target {
        SourceTarget::Memory { path } => Some(path),
        _ => None,
    });
    cited.filter(|path| is_inside(&root, path)).cloned().collect()
}

fn is_inside(root: &Path, cited: &str) -> bool {
    let Some(relative) = cited.strip_prefix("~/memory/") else { return false };
    let found = root.join(relative).canonicalize();
    found.is_ok_and(|found| found.starts_with(root) && found.is_file())
}
