//! Fixtures against their snapshots, on every kind of log.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use segue::event::{AgentId, SessionId, Timestamp};
use segue::log::{EventLog, MemoryLog};
use segue::log_file::{FileLog, Options};
use segue::prompt::PartName;
use segue_import::{ImportOptions, Imported, import_path};
use segue_testkit::{Importer, LogKind, Replayed, Run, Scenario, replay_on};

use crate::root;

/// What is replayed.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Names of fixtures; none: all of them.
    names: Vec<String>,
    /// Takes the snapshots anew instead of comparing.
    #[arg(long)]
    accept: bool,
    /// Prints a view of the named fixtures instead of comparing: answers, log, edges, projection, thread or prompts.
    #[arg(long, value_name = "VIEW", requires = "names")]
    show: Option<String>,
    /// Runs only so many steps before showing.
    #[arg(long, value_name = "STEPS")]
    until: Option<usize>,
    /// Tells where two prompts of a fixture begin to differ, by their numbers from 1.
    #[arg(long, value_names = ["PROMPT", "PROMPT"], num_args = 2, requires = "names")]
    diff: Option<Vec<usize>>,
}

/// insta reads here whether snapshots are compared or taken.
const UPDATE: &str = "INSTA_UPDATE";

#[expect(clippy::disallowed_methods, reason = "a program reads its environment")]
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(view) = &arguments.show {
        return show(arguments, view);
    }
    if let Some([one, other]) = arguments.diff.as_deref() {
        return diff(arguments, *one, *other);
    }
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

/// Runs the named fixtures' steps on the log in memory, as far as they are wanted.
fn runs(arguments: &Arguments) -> anyhow::Result<Vec<(PathBuf, Run)>> {
    let run = |folder: PathBuf| {
        let mut scenario = Scenario::load(&folder)?;
        scenario.steps.truncate(arguments.until.unwrap_or(usize::MAX));
        let run = scenario.run(Arc::new(MemoryLog::new()), &folder, &Transcripts)?;
        Ok((folder, run))
    };
    fixtures(&arguments.names)?.into_iter().map(run).collect()
}

fn diff(arguments: &Arguments, one: usize, other: usize) -> anyhow::Result<()> {
    for (folder, run) in runs(arguments)? {
        let prompts: Vec<_> = run.prompts().collect();
        let prompt = |number: usize| {
            let found = number.checked_sub(1).and_then(|index| prompts.get(index));
            found.with_context(|| format!("{} gives out {} prompts", folder.display(), prompts.len()))
        };
        let ((session, left), (other_session, right)) = (prompt(one)?, prompt(other)?);
        match left.first_difference(right) {
            None => println!("prompts {one} and {other} are the same"),
            Some(difference) => {
                let name =
                    |part: Option<PartName>| part.map_or("its end".to_owned(), |part| part.to_string());
                let (left, right) = (name(difference.left), name(difference.right));
                println!("prompt {one} ({session}): {left}, prompt {other} ({other_session}): {right}");
                println!("they differ from byte {} of these on", difference.byte);
            }
        }
    }
    Ok(())
}

/// Prints a view as it is after some steps.
fn show(arguments: &Arguments, view: &str) -> anyhow::Result<()> {
    for (folder, run) in runs(arguments)? {
        let views = run.views()?;
        let Some(shown) = views.iter().find(|there| there.name == view) else {
            let names: Vec<_> = views.iter().map(|view| view.name).collect();
            bail!("there is no view {view} of {}; there are {}", folder.display(), names.join(", "));
        };
        println!("{}", shown.text);
    }
    Ok(())
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
    let replayed = || -> anyhow::Result<Replayed> {
        let temporary = tempfile::tempdir()?;
        let kinds = [LogKind::memory(), file_log(temporary.path().join("store"))];
        Ok(replay_on(folder, &kinds, &Transcripts)?)
    };
    match catch_unwind(AssertUnwindSafe(replayed)) {
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

/// The embedded log, in a folder that is not there yet.
fn file_log(store: PathBuf) -> LogKind {
    let fresh = move || {
        let log = FileLog::open(&store, Options::default()).map_err(|error| error.to_string())?;
        Ok(Arc::new(log) as Arc<dyn EventLog>)
    };
    LogKind { name: "file", fresh: Box::new(fresh) }
}

/// Imports what the import crate understands.
struct Transcripts;

impl Importer for Transcripts {
    fn import(&self, log: &dyn EventLog, file: &Path) -> Result<SessionId, String> {
        let agent = AgentId::new("coder").map_err(|error| error.to_string())?;
        let options = ImportOptions { agent, now: Timestamp::utc_micros(1_767_225_600_000_000), kind: None };
        match import_path(log, file, &options).map_err(|error| error.to_string())? {
            Imported::Session(report) => Ok(report.session),
            Imported::Skipped(why) => Err(why),
        }
    }
}

/// The folders of fixtures, relative to the top: what a fixture records names no folder of this machine.
fn fixtures(names: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    std::env::set_current_dir(root())?;
    let all = Path::new("fixtures");
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
