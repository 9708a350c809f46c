//! ripgrep, run as a process on the transcripts of the same sessions.
//!
//! It searches with one thread, as recall does, and counts the lines that match, so that neither what it prints nor
//! who reads that is measured. Its start is in its time; what that is shows a run on an empty file.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::super::contest::{Contender, timed};

pub(super) const RIPGREP: &str = "ripgrep";
pub(super) const NOTHING: &str = "ripgrep, on an empty file";

/// An installed ripgrep, and what it is given to search.
pub(super) struct Ripgrep {
    pub(super) version: String,
    sources: PathBuf,
    empty: PathBuf,
}

impl Ripgrep {
    /// Looks for it; without it there is no peer, and the answer says why.
    pub(super) fn find(sources: &Path, empty: &Path) -> anyhow::Result<Result<Self, String>> {
        let asked = match Command::new("rg").arg("--version").output() {
            Ok(asked) => asked,
            Err(error) => return Ok(Err(format!("no peer, for ripgrep (rg) cannot be run: {error}"))),
        };
        std::fs::write(empty, "")?;
        let said = String::from_utf8_lossy(&asked.stdout).into_owned();
        let version = said.lines().next().unwrap_or("ripgrep").to_owned();
        Ok(Ok(Self { version, sources: sources.to_owned(), empty: empty.to_owned() }))
    }

    /// It on all sources, and on an empty file; both must find something, or nothing, as is expected.
    pub(super) fn contenders<'a>(&'a self, arguments: &'a [&'a str], finds: bool) -> [Contender<'a>; 2] {
        let on_sources = move || {
            let (time, lines) = count(arguments, &self.sources)?;
            ensure!((lines > 0) == finds, "ripgrep found {lines} lines for {arguments:?}");
            Ok(time)
        };
        let on_nothing = move || Ok(count(arguments, &self.empty)?.0);
        [Contender::new(RIPGREP, on_sources), Contender::new(NOTHING, on_nothing)]
    }
}

/// How many lines match, and how long it took to tell.
fn count(arguments: &[&str], path: &Path) -> anyhow::Result<(Duration, u64)> {
    let mut command = Command::new("rg");
    // What a build leaves behind is usually ignored by git, and that would leave nothing to search.
    command.args(["-j1", "--no-config", "--no-ignore", "--no-filename", "-c"]).args(arguments).arg(path);
    command.stdin(Stdio::null());
    let (time, output) = timed(|| command.output().context("cannot run rg"))?;
    // It ends with 1 where it found nothing, and with 2 if something is wrong.
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "ripgrep failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let counts = String::from_utf8(output.stdout)?;
    let lines = counts.lines().map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok((time, lines))
}
