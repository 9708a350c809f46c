//! Fixtures against their snapshots, on every kind of log.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use segue_testkit::{LogKind, NoImporter, Scenario, replay_on};

use crate::root;

/// What is replayed.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Names of fixtures; none: all of them.
    names: Vec<String>,
    /// Takes the snapshots anew instead of comparing.
    #[arg(long)]
    accept: bool,
}

/// insta reads here whether snapshots are compared or taken.
const UPDATE: &str = "INSTA_UPDATE";

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mode = if arguments.accept { "always" } else { "no" };
    if std::env::var(UPDATE).as_deref() != Ok(mode) {
        return run_with_mode(arguments, mode);
    }
    let folders = fixtures(&arguments.names)?;
    let failed: Vec<_> = folders.iter().filter(|folder| !replay_one(folder)).collect();
    println!("replay: {} passed, {} failed", folders.len() - failed.len(), failed.len());
    if failed.is_empty() {
        Ok(())
    } else {
        bail!("fixtures differ from their snapshots; --accept takes new ones")
    }
}

/// Starts this program again, since a process must not change its own environment.
fn run_with_mode(arguments: &Arguments, mode: &str) -> anyhow::Result<()> {
    let mut again = Command::new(std::env::current_exe()?);
    again.arg("replay").args(&arguments.names).env(UPDATE, mode).env("INSTA_OUTPUT", "diff");
    if arguments.accept {
        again.arg("--accept");
    }
    let status = again.status().context("cannot start again")?;
    if status.success() { Ok(()) } else { bail!("replay failed") }
}

fn replay_one(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let kinds = [LogKind::memory()];
    match catch_unwind(AssertUnwindSafe(|| replay_on(folder, &kinds, &NoImporter))) {
        Ok(Ok(replayed)) => {
            println!(
                "ok      {name}: {} steps, {} logs alike, {} snapshots",
                replayed.steps, replayed.logs, replayed.snapshots
            );
            true
        }
        Ok(Err(error)) => {
            println!("FAILED  {name}: {error}");
            false
        }
        // The snapshot library has printed the difference already.
        Err(_) => {
            println!("FAILED  {name}: differs from its snapshots");
            false
        }
    }
}

fn fixtures(names: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    let all = root().join("fixtures");
    if names.is_empty() {
        let mut folders: Vec<_> =
            all.read_dir()?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
        folders.retain(|folder| folder.join(Scenario::FILE).is_file());
        folders.sort();
        return Ok(folders);
    }
    names
        .iter()
        .map(|name| {
            let folder = all.join(name);
            if folder.join(Scenario::FILE).is_file() {
                Ok(folder)
            } else {
                bail!("there is no fixture {name}")
            }
        })
        .collect()
}
