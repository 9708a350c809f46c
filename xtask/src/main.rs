//! Checks of the workspace, run as `cargo xtask …`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command-line program")]

mod bench;
mod ci;
mod corpus;
mod measure;
mod reference;
mod replay;
mod store_fixture;
mod storm;
mod tidy;
mod windows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

/// Checks of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Command {
    /// Runs fixtures on every kind of log and compares them to their snapshots.
    Replay(replay::Arguments),
    /// Imports every transcript below a folder, and checks that nothing is lost.
    Corpus(corpus::Arguments),
    /// Checks what neither the compiler nor the linter does: layers, licences, docs, files.
    Tidy,
    /// Measures the embedded log and recall beside what people use instead, and prints where they stand.
    Bench(bench::Arguments),
    /// Kills a writer again and again, and checks that nothing it acknowledged is lost.
    Storm(storm::Arguments),
    /// Measures what it costs to go on in a fresh session, from 3.6 MB up, and prints a table.
    Measure(measure::Arguments),
    /// Writes the reference session, which is the same in every run, as long as one wants.
    FixtureSession(reference::Arguments),
    /// Writes the small store that is kept in fixtures/stores anew.
    StoreFixture,
    /// Writes the table of models' windows anew, from a public table.
    Windows(windows::Arguments),
    /// Formats, lints and tests everything, and prints what it ran.
    Ci,
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Corpus(arguments) => corpus::run(&arguments),
        Command::Tidy => tidy::run(),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Storm(arguments) => storm::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::FixtureSession(arguments) => reference::run(&arguments),
        Command::StoreFixture => store_fixture::run(),
        Command::Windows(arguments) => windows::run(&arguments),
        Command::Ci => ci::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The top of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
