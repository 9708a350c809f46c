//! A fixture run on logs of every kind, and compared to its snapshots.

use std::path::Path;
use std::sync::Arc;

use segue::log::{EventLog, MemoryLog};

use crate::runner::Importer;
use crate::show::fingerprint;
use crate::{RunError, Scenario, ScenarioError};

/// A kind of log that fixtures are run on.
pub struct LogKind {
    /// What it is called.
    pub name: &'static str,
    /// Makes a fresh one.
    pub fresh: Box<dyn Fn() -> Result<Arc<dyn EventLog>, String>>,
}

impl LogKind {
    /// The log in memory.
    pub fn memory() -> Self {
        Self { name: "memory", fresh: Box::new(|| Ok(Arc::new(MemoryLog::new()))) }
    }
}

/// What a replay did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// How many steps the scenario has.
    pub steps: usize,
    /// How many logs it was run on.
    pub logs: usize,
    /// How many snapshots it was compared to.
    pub snapshots: usize,
}

/// A replay that could not be done, or whose logs differ.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The scenario cannot be read.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A step failed.
    #[error("on the {log} log, {source}")]
    Run {
        /// The kind of log.
        log: &'static str,
        /// What failed.
        source: RunError,
    },
    /// A log could not be made or read.
    #[error("the {log} log: {problem}")]
    Log {
        /// The kind of log.
        log: &'static str,
        /// What failed.
        problem: String,
    },
    /// Two logs hold different records after the same steps.
    #[error("after the same steps the {one} log and the {other} log differ")]
    LogsDiffer {
        /// The first kind of log.
        one: &'static str,
        /// The other kind of log.
        other: &'static str,
    },
}

/// Replays a fixture folder on the log in memory and compares it to its snapshots. See [`replay_on`].
///
/// # Errors
/// As [`replay_on`].
pub fn replay(folder: &Path, importer: &dyn Importer) -> Result<Replayed, ReplayError> {
    replay_on(folder, &[LogKind::memory()], importer)
}

/// Replays a fixture folder on each kind of log. All must hold the same bytes afterwards, and the views must be as the
/// folder's snapshots say.
///
/// The snapshots are insta's: `INSTA_UPDATE=always` takes new ones, and a difference panics as in any test.
///
/// # Errors
/// If the scenario cannot be read or run, or two logs differ.
pub fn replay_on(folder: &Path, kinds: &[LogKind], importer: &dyn Importer) -> Result<Replayed, ReplayError> {
    let scenario = Scenario::load(folder)?;
    let mut first: Option<(&'static str, String)> = None;
    let mut snapshots = 0;
    for kind in kinds {
        let failed = |problem: String| ReplayError::Log { log: kind.name, problem };
        let log = (kind.fresh)().map_err(failed)?;
        let run = scenario
            .run(Arc::clone(&log), folder, importer)
            .map_err(|source| ReplayError::Run { log: kind.name, source })?;
        run.check_prompts().map_err(failed)?;
        let print = fingerprint(&*log).map_err(|error| failed(error.to_string()))?;
        match &first {
            Some((one, other)) if *other != print => {
                return Err(ReplayError::LogsDiffer { one, other: kind.name });
            }
            Some(_) => {}
            None => first = Some((kind.name, print)),
        }
        let views = run.views().map_err(|error| failed(error.to_string()))?;
        snapshots = views.len();
        views.iter().for_each(|view| compare(folder, view.name, &view.text));
    }
    Ok(Replayed { steps: scenario.steps.len(), logs: kinds.len(), snapshots })
}

fn compare(folder: &Path, name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    // A relative path would be taken from the folder of this source file.
    settings.set_snapshot_path(std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
