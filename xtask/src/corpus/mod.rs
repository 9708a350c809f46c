//! Every transcript below a folder: imported, imported again, continued, recalled.

mod chain;
mod needles;
mod scan;
mod source;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use segue::event::{AgentId, SessionId};
use segue::log::{Depth, EventLog};
use segue::log_file::{FileLog, Options};
use segue::{Host as _, SystemHost, Workspace};
use segue_import::{ImportOptions, ImportReport, Imported, import_tree};

/// Which transcripts, and how many of their texts are looked for.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of transcripts.
    folder: PathBuf,
    /// How many random substrings are recalled for each session.
    #[arg(long, default_value_t = 60)]
    recalls: usize,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(arguments.folder.is_dir(), "{} is no folder", arguments.folder.display());
    let counted = check(&arguments.folder, arguments.recalls)?;
    println!(
        "corpus: {} files in {} sessions, {} lines, {} continuations, {} recalls, {} needles; {} % of the room; peak memory {}",
        counted.files,
        counted.sessions,
        counted.lines,
        counted.continuations,
        counted.recalls,
        counted.needles,
        counted.percent,
        peak_memory()
    );
    Ok(())
}

/// What was checked.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) files: usize,
    sessions: usize,
    lines: u64,
    continuations: usize,
    recalls: usize,
    /// Strings that were recalled from the end of a chain of continuations and fresh switches.
    needles: usize,
    /// How much room the store takes, of that of its sources.
    percent: u64,
}

/// A store may take this much of the room of its sources, originals and index included, once it is large enough for
/// compression to matter.
const PERCENT_MAX: u64 = 45;
const LARGE_BYTES: u64 = 1024 * 1024;

fn room_taken(log: &dyn EventLog, files: &[(PathBuf, ImportReport)]) -> anyhow::Result<u64> {
    let mut sources: BTreeMap<SessionId, u64> = BTreeMap::new();
    for (_, report) in files {
        // Copies of one source that grew are kept once, so only the longest counts.
        let longest = sources.entry(report.session).or_default();
        *longest = report.bytes.max(*longest);
    }
    let bytes: u64 = sources.values().sum();
    let size = log.size()?;
    let taken = size.stored_bytes + size.blob_bytes + size.index_bytes;
    let percent = taken * 100 / bytes.max(1);
    ensure!(bytes < LARGE_BYTES || percent <= PERCENT_MAX, "the store takes {percent} % of its sources");
    Ok(percent)
}

/// Imports everything below a folder into a fresh store, and checks all that must hold of it.
pub(crate) fn check(folder: &Path, recalls: usize) -> anyhow::Result<Counted> {
    let temporary = tempfile::tempdir()?;
    let log: Arc<dyn EventLog> = Arc::new(FileLog::open(temporary.path().join("store"), Options::default())?);
    let workspace = Workspace::with_options(Arc::clone(&log), SystemHost, segue::Options::default());
    let files = import_all(&*log, folder)?;
    let again = import_all(&*log, folder).context("importing again")?;
    log.settle()?;
    let mut counted =
        Counted { files: files.len(), percent: room_taken(&*log, &files)?, ..Counted::default() };
    for (path, report) in &again {
        ensure!(report.events == 0, "{}: importing again added {} events", path.display(), report.events);
    }
    let mut sessions: BTreeMap<SessionId, &Path> = BTreeMap::new();
    for (path, report) in &files {
        counted.lines += source::check(&*log, path, report).with_context(|| path.display().to_string())?;
        sessions.insert(report.session, path);
    }
    for (session, path) in &sessions {
        let session = *session;
        let checked =
            chain::check(&workspace, session, recalls).with_context(|| path.display().to_string())?;
        counted.sessions += 1;
        counted.continuations += checked.continuations;
        counted.recalls += checked.recalls;
        println!("ok  {session} {}: {} recalls", path.display(), checked.recalls);
    }
    let sources: Vec<_> = sessions.keys().copied().collect();
    counted.needles =
        needles::check(&workspace, &sources).context("ten continuations and ten fresh switches")?;
    let report = workspace.verify(Depth::Full, &mut |_| ())?;
    ensure!(report.is_sound(), "the record is damaged: {:?}", report.problems);
    Ok(counted)
}

pub(crate) fn import_all(log: &dyn EventLog, folder: &Path) -> anyhow::Result<Vec<(PathBuf, ImportReport)>> {
    let options = ImportOptions { agent: AgentId::new("corpus")?, now: SystemHost.now(), kind: None };
    let mut reports = Vec::new();
    for entry in import_tree(log, folder, &options) {
        match entry.result.with_context(|| entry.path.display().to_string())? {
            Imported::Session(report) => reports.push((entry.path, report)),
            Imported::Skipped(why) => println!("--  {}: {why}", entry.path.display()),
        }
    }
    if reports.is_empty() {
        bail!("{} holds no transcript that can be imported", folder.display());
    }
    Ok(reports)
}

/// The most memory this process ever had, where the system tells.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole check on transcripts that nobody here wrote, where they are at hand.
    #[test]
    fn public_transcripts_come_through() {
        let folder = crate::root().join("../shared/corpus");
        if !folder.is_dir() {
            println!("skipped: there is no folder of public transcripts beside this checkout");
            return;
        }
        for program in ["claude-code", "pi"] {
            assert!(check(&folder.join(program), 12).unwrap().files > 0);
        }
    }

    /// The same on the transcript that the project wrote itself, so that the check always runs.
    #[test]
    fn our_own_transcript_comes_through() {
        let counted = check(&crate::root().join("crates/cli/demo"), 40).unwrap();
        assert_eq!((counted.files, counted.lines, counted.continuations), (1, 24, 3));
        assert!(counted.recalls >= 40);
    }
}
