//! Everything that must hold before a change lands.

use std::process::Command;

use anyhow::{Context as _, bail};

use crate::root;

/// A command and what it is for.
struct Step {
    name: &'static str,
    program: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const STEPS: &[Step] = &[
    step("formatting", &["cargo", "fmt", "--all", "--check"]),
    step("lints", &["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
    step(
        "lints of bench",
        &[
            "cargo",
            "clippy",
            "--package",
            "xtask",
            "--features",
            "peers",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    ),
    step("tests", &["cargo", "test", "--workspace", "--locked", "--no-fail-fast"]),
    step(
        "lints of the example on rig",
        &[
            "cargo",
            "clippy",
            "--package",
            "segue-example-rig",
            "--features",
            "rig",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    ),
    step(
        "the example on rig",
        &["cargo", "test", "--package", "segue-example-rig", "--features", "rig", "--locked"],
    ),
    Step {
        name: "documentation",
        program: &["cargo", "doc", "--workspace", "--no-deps", "--locked", "--document-private-items"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    step("tidy", &["cargo", "xtask", "tidy"]),
    step("replay", &["cargo", "xtask", "replay"]),
];

const fn step(name: &'static str, program: &'static [&'static str]) -> Step {
    Step { name, program, environment: &[] }
}

pub(crate) fn run() -> anyhow::Result<()> {
    for step in STEPS {
        println!("\n== {}: {}", step.name, step.program.join(" "));
        let (program, arguments) = step.program.split_first().context("an empty step")?;
        let status = Command::new(program)
            .args(arguments)
            .envs(step.environment.iter().copied())
            // Snapshots are compared, never written.
            .env("INSTA_UPDATE", "no")
            .current_dir(root())
            .status()
            .with_context(|| format!("cannot run {program}"))?;
        if !status.success() {
            bail!("{} failed: {}", step.name, step.program.join(" "));
        }
    }
    println!("\nall of it passed: {}", STEPS.iter().map(|step| step.name).collect::<Vec<_>>().join(", "));
    Ok(())
}
