//! The embedded log beside what people use instead, measured in turns in one run.
//!
//! All figures are meant as ratios of one run on one machine. The suite needs SQLite to compare with, which nothing
//! else here should have to compile: it is compiled with the feature `peers` only, and without that the program
//! starts itself again with it.

#[cfg(feature = "peers")]
mod suite;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};

/// What is measured, and where to.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often every contender of a row has its turn; the median counts.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only rows whose name contains this; may be given more than once.
    #[arg(long = "row", value_name = "NAME")]
    rows: Vec<String>,
    /// Small sizes: whether it works, not how fast it is.
    #[arg(long)]
    quick: bool,
    /// Reads in and opens a store of 1 GB instead of 100 MB.
    #[arg(long, conflicts_with = "quick")]
    gigabyte: bool,
    /// Also recalls things from the transcripts below a folder.
    #[arg(long, value_name = "FOLDER")]
    corpus: Option<PathBuf>,
    /// Where the figures go, all of them.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// For a process that measures its own memory: what it does.
    #[arg(long, hide = true, requires = "store")]
    memory_case: Option<String>,
    /// The store with which it does it.
    #[arg(long, hide = true)]
    store: Option<PathBuf>,
}

#[cfg(feature = "peers")]
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if cfg!(debug_assertions) { start_again() } else { suite::run(arguments) }
}

#[cfg(not(feature = "peers"))]
pub(crate) fn run(_: &Arguments) -> anyhow::Result<()> {
    start_again()
}

/// Starts this program again, optimised and with everything to compare with.
fn start_again() -> anyhow::Result<()> {
    let features = ["run", "--release", "--package", "xtask", "--features", "peers", "--"];
    println!("bench: starting again as cargo {} bench …", features.join(" "));
    let given = std::env::args_os().skip(1);
    let mut again = Command::new("cargo");
    // Cargo keeps the folder one stands in, so that a path in the arguments means the same.
    again.args(features).args(given);
    let status = again.status().context("cannot start cargo")?;
    if status.success() { Ok(()) } else { bail!("the benchmark failed") }
}
