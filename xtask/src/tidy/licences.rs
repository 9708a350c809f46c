//! Licences and bans over everything that is built, as `deny.toml` has them for those who have cargo-deny.

use std::path::Path;

use cargo_metadata::MetadataCommand;

use super::Finding;

/// Licences that can be built into a program under MIT or Apache-2.0.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that must not come in, and why.
const BANNED: &[(&str, &str)] = &[
    ("openssl-sys", "the record needs no network"),
    ("atomic-polyfill", "unmaintained; postcard without its default features does without"),
    ("lazy_static", "std has LazyLock"),
];

/// Crates that are known to be unmaintained, until a date, and why they stay.
const EXCEPTED: &[(&str, &str, &str)] = &[
    ("fxhash", "2027-06-30", "sled 0.34.7 needs it; sled holds only what can be rebuilt"),
    ("instant", "2027-06-30", "sled 0.34.7 needs it; sled holds only what can be rebuilt"),
];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).exec()?;
    let deny = std::fs::read_to_string(root.join("deny.toml"))?;
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        match &package.license {
            Some(licence) if is_allowed(licence) => {}
            Some(licence) => findings.push(format!("{name}: licence {licence} is not allowed")),
            None => findings.push(format!("{name}: no licence")),
        }
        let ban = BANNED.iter().find(|(banned, _)| *banned == name);
        findings.extend(ban.map(|(banned, why)| format!("{banned} is banned: {why}")));
    }
    let excepted = EXCEPTED.iter().filter(|(name, until, _)| !deny.contains(name) || !deny.contains(until));
    findings.extend(excepted.map(|(name, ..)| format!("deny.toml lacks the dated exception for {name}")));
    let banned = BANNED.iter().filter(|(name, _)| !deny.contains(name));
    findings.extend(banned.map(|(name, _)| format!("deny.toml lacks the ban of {name}")));
    Ok(findings)
}

/// Whether a licence expression leaves a choice that is allowed: one side of each `OR`, every side of each `AND`.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let plain = expression.replace(['(', ')'], " ");
    let is_one = |licence: &str| ALLOWED.contains(&licence.trim());
    // Brackets only ever stand around one side of an AND in what is built today; a stranger form is not allowed.
    if expression.contains('(') {
        return plain.split(" AND ").all(|side| side.split(" OR ").any(is_one));
    }
    plain.split(" OR ").any(|side| side.split(" AND ").all(is_one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_needs_one_choice_that_is_allowed() {
        for fine in ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert!(is_allowed(fine), "{fine}");
        }
        for not in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND GPL-3.0", ""] {
            assert!(!is_allowed(not), "{not}");
        }
    }
}
