//! The rows, one after the other, and what comes out of them.

mod committing;
mod compiling;
mod contest;
mod continuing;
mod engines;
mod library;
mod machine;
mod memory;
mod opening;
mod ours;
mod plain;
mod reading;
mod recalling;
mod report;
mod sqlite;
mod workload;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::Arguments;
use crate::root;
use contest::Row;
use library::Library;
use machine::Machine;
use report::Report;
use workload::Sizes;

/// What every row is given: a folder on a real disk, how much to do, and how often.
struct Bench {
    folder: tempfile::TempDir,
    sizes: Sizes,
    rounds: u32,
    /// A folder of transcripts that somebody gave.
    corpus: Option<PathBuf>,
}

type Measure = fn(&Bench) -> anyhow::Result<Row>;
type MeasureLibrary = fn(&Bench, &Library) -> anyhow::Result<Row>;

/// Rows that make their own stores.
const ROWS: &[(&str, Measure)] = &[
    ("commit-1", committing::single),
    ("commit-64", committing::batches),
    ("committers-8", committing::eight),
    ("committers-64", committing::sixty_four),
    ("continuation", continuing::continuation),
    ("switch", continuing::switch),
    ("fresh", continuing::fresh),
    ("compile", compiling::compiling),
    ("recommend", compiling::recommending),
    ("memory", memory::memory),
];

/// Rows on one large store, which is filled once.
const LIBRARY_ROWS: &[(&str, MeasureLibrary)] = &[
    ("read-session", reading::session),
    ("read-range", reading::range),
    ("open-reader", opening::reader),
    ("open-writer", opening::writer),
];

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let (Some(case), Some(store)) = (&arguments.memory_case, &arguments.store) {
        return memory::run_case(case, store, &Sizes::of(arguments));
    }
    let target = root().join("target");
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(&target)?;
    let sizes = Sizes::of(arguments);
    let bench = Bench { folder, sizes, rounds: arguments.rounds, corpus: arguments.corpus.clone() };
    let rows = bench.rows(&arguments.rows)?;
    if rows.is_empty() {
        bail!("no such row; there are {}", names().join(", "));
    }
    let machine = Machine::of(bench.folder.path());
    let report = Report { machine, sizes: bench.sizes, rounds: bench.rounds, rows };
    println!("\n{report}");
    write_json(&report, arguments.json.as_ref().unwrap_or(&target.join("bench.json")))
}

impl Bench {
    fn rows(&self, wanted: &[String]) -> anyhow::Result<Vec<Row>> {
        let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part));
        let mut rows = Vec::new();
        for (name, measure) in ROWS.iter().filter(|(name, _)| is_wanted(name)) {
            println!("bench: {name}");
            rows.push(measure(self).with_context(|| format!("row {name}"))?);
        }
        rows.extend(recalling::rows(self, &is_wanted)?);
        let of_library: Vec<_> = LIBRARY_ROWS.iter().filter(|(name, _)| is_wanted(name)).collect();
        if of_library.is_empty() {
            return Ok(rows);
        }
        println!("bench: filling stores of {} MB", self.sizes.library_bytes / 1_000_000);
        let library = Library::fill(&self.folder.path().join("library"), &self.sizes)?;
        for (name, measure) in of_library {
            println!("bench: {name}");
            rows.push(measure(self, &library).with_context(|| format!("row {name}"))?);
        }
        Ok(rows)
    }
}

fn names() -> Vec<&'static str> {
    let own = ROWS.iter().map(|(name, _)| *name);
    own.chain(recalling::names()).chain(LIBRARY_ROWS.iter().map(|(name, _)| *name)).collect()
}

fn write_json(report: &Report, file: &Path) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(&report.to_json())?;
    std::fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    println!("every round's figure is in {}", file.display());
    Ok(())
}
