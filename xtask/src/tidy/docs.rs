//! The documents tell the truth: links lead somewhere, dependencies have their line, commands exist.

use std::path::Path;

use clap::Parser as _;

use super::{Finding, files, shown};

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = dependencies(root)?;
    for file in files(root, ".md")? {
        let text = std::fs::read_to_string(&file)?;
        let name = shown(root, &file);
        let folder = file.parent().unwrap_or(root);
        let broken = links(&text).filter(|link| !folder.join(link).exists());
        findings.extend(broken.map(|link| format!("{name}: {link} leads nowhere")));
        let unknown = xtask_commands(&text).filter(|command| !is_known(command));
        findings.extend(unknown.map(|command| format!("{name}: `cargo xtask {command}` is no command")));
    }
    Ok(findings)
}

/// Every dependency of the workspace has its line in docs/dependencies.md, and no other has.
fn dependencies(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let document = std::fs::read_to_string(root.join("docs/dependencies.md"))?;
    let section = manifest.split("[workspace.dependencies]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let named = section.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.trim());
    let declared: Vec<_> = named.filter(|name| !name.starts_with("segue")).collect();
    let explained: Vec<_> =
        document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let missing = declared.iter().filter(|name| !explained.contains(name));
    let missing = missing.map(|name| format!("docs/dependencies.md says nothing of {name}"));
    let stale = explained.iter().filter(|name| !declared.contains(name));
    Ok(missing
        .chain(stale.map(|name| format!("docs/dependencies.md explains {name}, which is not used")))
        .collect())
}

/// The targets of relative links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let targets = targets.map(|target| target.split('#').next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

/// The arguments of every `cargo xtask …` in a console block.
fn xtask_commands(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("$ cargo xtask ")).map(str::trim)
}

fn is_known(command: &str) -> bool {
    let arguments = std::iter::once("xtask").chain(command.split_whitespace());
    crate::Command::try_parse_from(arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_commands_are_found() {
        let text =
            "[a](docs/a.md#x) [b](https://b) [c](#c)\n$ cargo xtask tidy\n    $ cargo xtask nonsense\n";
        assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md"]);
        let commands: Vec<_> = xtask_commands(text).collect();
        assert_eq!(commands, ["tidy", "nonsense"]);
        assert!(is_known("tidy") && !is_known("nonsense"));
    }
}
