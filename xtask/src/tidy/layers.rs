//! Which crate may depend on which: arrows point down only.

use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use super::Finding;

/// Each crate with those of ours that it may depend on. A crate that is not listed may not be there.
const LAYERS: &[(&str, &[&str])] = &[
    ("segue-event", &[]),
    ("segue-frame", &["segue-event"]),
    ("segue-log", &["segue-event"]),
    ("segue-log-file", &["segue-event", "segue-log"]),
    ("segue-continuation", &["segue-event"]),
    ("segue-projection", &["segue-event", "segue-frame", "segue-continuation"]),
    ("segue-prompt", &["segue-event", "segue-frame", "segue-continuation"]),
    ("segue-thread", &["segue-event", "segue-frame", "segue-log", "segue-continuation"]),
    (
        "segue",
        &[
            "segue-event",
            "segue-frame",
            "segue-log",
            "segue-log-file",
            "segue-continuation",
            "segue-projection",
            "segue-prompt",
            "segue-thread",
        ],
    ),
    ("segue-example-rig", &["segue"]),
    ("segue-import", &["segue-event", "segue-log"]),
    ("segue-testkit", &["segue", "segue-log", "segue-log-file"]),
    ("segue-cli", &["segue", "segue-import"]),
    ("xtask", &["segue", "segue-import", "segue-log-file", "segue-testkit"]),
];

/// Dependencies that one crate alone may have: nothing else knows of them, but for `bench`, which measures peers.
const OWNED: &[(&str, &[&str])] = &[
    ("fjall", &["xtask"]),
    ("memmap2", &["segue-log-file"]),
    ("redb", &["xtask"]),
    ("rig-core", &["segue-example-rig"]),
    ("rusqlite", &["xtask"]),
    ("sled", &["segue-log-file", "xtask"]),
    ("tokio", &["segue-example-rig"]),
    ("zstd", &["segue-log-file"]),
];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    Ok(metadata.packages.iter().flat_map(check_package).collect())
}

fn check_package(package: &Package) -> Vec<Finding> {
    let name = package.name.as_str();
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
        return vec![format!("{name} has no place among the layers")];
    };
    let normal =
        package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
    normal.filter_map(|dependency| complaint(name, allowed, &dependency.name)).collect()
}

fn complaint(package: &str, allowed: &[&str], dependency: &str) -> Option<Finding> {
    let is_ours = LAYERS.iter().any(|(layer, _)| *layer == dependency);
    if is_ours && !allowed.contains(&dependency) {
        return Some(format!("{package} must not depend on {dependency}"));
    }
    let owners = OWNED.iter().find(|(owned, _)| *owned == dependency).map(|(_, owners)| *owners)?;
    let may_know = owners.contains(&package);
    (!may_know).then(|| format!("{package} must not know {dependency}; only {} may", owners.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_that_points_up_is_found() {
        assert_eq!(complaint("segue-event", &[], "serde"), None);
        assert_eq!(complaint("segue-frame", &["segue-event"], "segue-event"), None);
        assert!(complaint("segue-event", &[], "segue-frame").is_some());
        assert!(complaint("segue-cli", &["segue"], "sled").is_some());
        assert!(complaint("segue-cli", &["segue"], "segue-testkit").is_some());
    }

    /// A crate listed later never stands below one listed earlier.
    #[test]
    fn the_table_itself_points_down() {
        for (at, (name, allowed)) in LAYERS.iter().enumerate() {
            for lower in *allowed {
                let place = LAYERS.iter().position(|(layer, _)| layer == lower).unwrap();
                assert!(place < at, "{name} -> {lower}");
            }
        }
    }
}
