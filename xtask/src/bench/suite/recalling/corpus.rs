//! What somebody may look for in transcripts of their own: a list of searches, of which the middle one and the slowest
//! count.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use segue::Where;
use segue::log::EventLog as _;
use segue::log_file::{FileLog, Options};
use segue::thread::{Case, Query, Style};

use super::super::Bench;
use super::super::contest::{Limit, Row, Series, Unit, median, timed};
use super::Wanted;
use super::filters;
use super::search::{Pages, Searched};
use crate::corpus::import_all;

pub(super) const NAMES: &[&str] = &["recall-corpus", "recall-corpus-process", "recall-corpus-filter"];

const MIDDLE: &str = "the search in the middle";
const SLOWEST: &str = "the slowest search";

/// What searches may take, in milliseconds.
const MIDDLE_AT_MOST: f64 = 10.0;
const SLOWEST_AT_MOST: f64 = 30.0;
/// The same for the command line, its start included.
const PROCESS_AT_MOST: f64 = 20.0;

/// How many of the slowest are named.
const NAMED: usize = 4;

/// Something to look for.
#[derive(Clone, Copy)]
struct Wish {
    style: Style,
    text: &'static str,
    case: Case,
}

const fn literal(text: &'static str) -> Wish {
    Wish { style: Style::Literal, text, case: Case::Sensitive }
}

const fn words(text: &'static str) -> Wish {
    Wish { style: Style::Words, text, case: Case::Sensitive }
}

const fn regex(text: &'static str) -> Wish {
    Wish { style: Style::Regex, text, case: Case::Sensitive }
}

const fn any_case(wish: Wish) -> Wish {
    Wish { case: Case::Insensitive, ..wish }
}

const WISHES: [Wish; 42] = [
    // What nobody said.
    literal("a hedgehog in the letterbox"),
    literal("quarterly_revenue_forecast"),
    literal("ERR_STAMP_MISSING_TWICE"),
    // What is rare.
    literal("Permission denied"),
    literal("panicked at"),
    literal("localhost:3000"),
    literal("rate limit"),
    literal("TypeError"),
    literal("useState"),
    literal("force-push"),
    literal("merge conflict"),
    // What stands everywhere.
    literal("error"),
    literal("the"),
    literal("function"),
    literal("import "),
    literal("return"),
    literal("Let me check"),
    // Paths and commands.
    literal("src/main.rs"),
    literal("package.json"),
    literal("node_modules/.bin"),
    literal("/usr/local/lib/python"),
    literal("git commit -m"),
    literal("npm run build"),
    literal("docker-compose.yml"),
    // As models think.
    literal("I should be careful"),
    literal("the user wants"),
    // Other scripts.
    literal("エラー"),
    literal("配置文件"),
    literal("größer"),
    literal("→"),
    // Short ones.
    literal("Zq"),
    literal("##"),
    // Words.
    words("test failed timeout"),
    words("database migration rollback"),
    words("fix bug"),
    // Expressions.
    regex(r"error\[E\d{4}\]"),
    regex(r"fn \w+_test\("),
    regex(r"(TODO|FIXME|HACK)\b.*remove"),
    regex(r"\b[0-9a-f]{40}\b"),
    regex(r"[A-Z]{3}[0-9]{7}[A-Z]"),
    // Upper or lower case.
    any_case(literal("SEGMENTATION FAULT")),
    any_case(regex(r"warning: unused \w+")),
];

/// The transcripts in a store.
struct Imported {
    store: PathBuf,
    about: String,
}

pub(super) fn rows(bench: &Bench, wanted: Wanted<'_>) -> anyhow::Result<Vec<Row>> {
    let Some(folder) = &bench.corpus else {
        println!("bench: {}: left out, for --corpus names no folder", NAMES.join(", "));
        return Ok(Vec::new());
    };
    println!("bench: importing what is below {}", folder.display());
    let imported = Imported::fill(&bench.folder.path().join("recall-corpus"), folder)?;
    let mut rows = Vec::new();
    for (name, measure) in NAMES.iter().zip([in_process, by_process, room]).filter(|(name, _)| wanted(name)) {
        println!("bench: {name}");
        rows.extend(measure(bench, &imported)?);
    }
    std::fs::remove_dir_all(&imported.store)?;
    Ok(rows)
}

impl Imported {
    fn fill(store: &Path, folder: &Path) -> anyhow::Result<Self> {
        let log = FileLog::open(store, Options::default())?;
        import_all(&log, folder)?;
        log.settle()?;
        let size = log.size()?;
        let about = format!("{} sessions, {} MB of log", size.sessions, size.written_bytes / 1_000_000);
        Ok(Self { store: store.to_owned(), about })
    }
}

fn in_process(bench: &Bench, imported: &Imported) -> anyhow::Result<Option<Row>> {
    let searched = Searched::open(&imported.store, Where::Everywhere)?;
    let search = |wish: &Wish| {
        let find = || searched.hits(&Query::new(wish.style, wish.text, wish.case)?, Pages::First);
        Ok(timed(find)?.0)
    };
    let searches = Searches::measure(bench.rounds, &search)?;
    Ok(Some(Row {
        name: "recall-corpus",
        about: searches.about(imported),
        unit: Unit::millis(1),
        series: searches.series(),
        comparisons: Vec::new(),
        limits: vec![
            Limit { ours: MIDDLE, at_most: MIDDLE_AT_MOST },
            Limit { ours: SLOWEST, at_most: SLOWEST_AT_MOST },
        ],
    }))
}

fn by_process(bench: &Bench, imported: &Imported) -> anyhow::Result<Option<Row>> {
    let program = std::env::current_exe()?.with_file_name(format!("segue{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        println!("bench: left out, for there is no {}; build segue-cli with --release", program.display());
        return Ok(None);
    }
    let searches = Searches::measure(bench.rounds, &|wish| run(&program, &imported.store, wish))?;
    Ok(Some(Row {
        name: "recall-corpus-process",
        about: format!("the same by the command line, its start included: {}", searches.about(imported)),
        unit: Unit::millis(1),
        series: searches.series(),
        comparisons: Vec::new(),
        limits: vec![Limit { ours: SLOWEST, at_most: PROCESS_AT_MOST }],
    }))
}

fn run(program: &Path, store: &Path, wish: &Wish) -> anyhow::Result<Duration> {
    let mut command = Command::new(program);
    command.arg("--store").arg(store).arg("recall").stdin(Stdio::null());
    match wish.style {
        Style::Literal => {}
        Style::Regex => drop(command.arg("--regex")),
        Style::Words => drop(command.arg("--words")),
    }
    if wish.case == Case::Insensitive {
        command.arg("--ignore-case");
    }
    command.arg("--").arg(wish.text);
    let (time, output) = timed(|| command.output().context("cannot run the command line"))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(time)
}

fn room(_: &Bench, imported: &Imported) -> anyhow::Result<Option<Row>> {
    let about = format!("the room that filters take, in {}", imported.about);
    filters::room_of(&imported.store, "recall-corpus-filter", about).map(Some)
}

/// Every search with its times, in seconds; the fastest first.
struct Searches(Vec<(Wish, Vec<f64>)>);

impl Searches {
    /// Looks for everything in turn: once to warm up, then in every round.
    fn measure(rounds: u32, search: &dyn Fn(&Wish) -> anyhow::Result<Duration>) -> anyhow::Result<Self> {
        let mut all: Vec<_> = WISHES.into_iter().map(|wish| (wish, Vec::new())).collect();
        for (wish, _) in &all {
            search(wish).with_context(|| wish.text)?;
        }
        for _ in 0..rounds {
            for (wish, times) in &mut all {
                times.push(search(wish)?.as_secs_f64());
            }
        }
        all.sort_by(|(_, one), (_, other)| median(one).total_cmp(&median(other)));
        Ok(Self(all))
    }

    fn series(&self) -> Vec<Series> {
        let middle = self.0.get(self.0.len() / 2).map(|(_, times)| (MIDDLE, times));
        let slowest = self.0.last().map(|(_, times)| (SLOWEST, times));
        let both = middle.into_iter().chain(slowest);
        both.map(|(name, times)| Series { name, measured: times.clone() }).collect()
    }

    fn about(&self, imported: &Imported) -> String {
        let named = self.0.iter().rev().take(NAMED).map(|(wish, times)| {
            format!("{:?} {:?} in {:.1} ms", wish.style, wish.text, median(times) * 1e3)
        });
        let named: Vec<_> = named.collect();
        format!("{} searches in {}; the slowest are {}", self.0.len(), imported.about, named.join(", "))
    }
}
