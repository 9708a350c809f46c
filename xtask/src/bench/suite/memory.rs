//! How much memory it takes to do things with a large store: what is resident besides maps, at its peak.
//!
//! Each case is done by a process of its own, which looks at itself from a thread while it works.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use segue::event::{Author, Event, Message, Position, Role, Timestamp};
use segue::log::{Commit, Depth, EventLog, EventLogExt as _, Expected, NewEvent};
use segue::log_file::limits::{SEGMENT_BYTES_MAX, SEGMENT_BYTES_USUAL};
use segue::log_file::{FileLog, Options};

use super::contest::{Limit, Row, Series, Unit};
use super::ours;
use super::workload::{Growing, Random, Session, Sizes, TEXT_BYTES, seq};
use super::{Bench, opening};

/// What a case may take, in MB.
const AT_MOST: f64 = 64.0;

/// The store's sessions, each commit of which has one event: of all stores of a size, that which takes most to know.
const SESSION_EVENTS: u64 = 960;
/// Sessions that are written to at the same time.
const OPEN_SESSIONS: u32 = 4;

/// How often a process looks at itself.
const LOOK_EVERY: Duration = Duration::from_millis(1);

type Work = fn(&Case<'_>) -> anyhow::Result<()>;

/// What a case is done with.
struct Case<'a> {
    store: &'a Path,
    sizes: &'a Sizes,
    peak: AtomicU64,
}

impl Case<'_> {
    /// Looks how much memory is taken now.
    fn look(&self) -> anyhow::Result<()> {
        self.peak.fetch_max(resident()?, Ordering::Relaxed);
        Ok(())
    }
}

/// In the order in which they are done, all on one store.
const CASES: &[(&str, Work)] = &[
    ("write it", write),
    ("open to read", open_to_read),
    ("open to write, with an index", open_to_write),
    ("open to write, without an index", open_without_index),
    ("read all", read_all),
    ("verify", verify),
    ("compress it", settle),
    ("open to read, compressed", open_to_read),
    ("open to write without an index, compressed", open_without_index),
    ("read all, compressed", read_all),
    ("verify, compressed", verify),
    ("follow from the beginning, compressed", follow),
];

/// On a store of their own: one segment becomes full, gets its footer and its filter, and is compressed.
const SEALING: &[(&str, Work)] = &[
    ("seal and compress a segment of 64 MiB", |case| seal(case, SEGMENT_BYTES_USUAL)),
    ("seal and compress a segment of 256 MiB", |case| seal(case, SEGMENT_BYTES_MAX)),
];

/// The one row: every case is a contender, and has the same limit.
pub(super) fn memory(bench: &Bench) -> anyhow::Result<Row> {
    let store = bench.folder.path().join("memory");
    let mut series = Vec::new();
    // The largest segment takes its time; the usual one is what nearly everybody has.
    let sealing = if bench.sizes.is_gigabyte() { SEALING } else { SEALING.get(..1).unwrap_or_default() };
    for (name, _) in CASES.iter().chain(sealing) {
        let peak = peak_of_process(name, &store, bench).with_context(|| format!("case {name}"))?;
        series.push(Series { name, measured: vec![peak] });
    }
    std::fs::remove_dir_all(&store)?;
    let megabytes = bench.sizes.memory_bytes / 1_000_000;
    Ok(Row {
        name: "memory",
        about: format!(
            "resident besides maps, at its peak, with a store of {megabytes} MB of commits of one event"
        ),
        unit: Unit::Megabytes,
        limits: series.iter().map(|series| Limit { ours: series.name, at_most: AT_MOST }).collect(),
        series,
        comparisons: Vec::new(),
    })
}

fn peak_of_process(case: &str, store: &Path, bench: &Bench) -> anyhow::Result<f64> {
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["bench", "--memory-case", case, "--store"]).arg(store);
    if bench.sizes.is_quick() {
        child.arg("--quick");
    }
    let output = child.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// Does a case, as a process of its own, and prints its peak in bytes.
pub(super) fn run_case(name: &str, store: &Path, sizes: &Sizes) -> anyhow::Result<()> {
    let Some((_, work)) = CASES.iter().chain(SEALING).find(|(case, _)| *case == name) else {
        bail!("no such case")
    };
    let (case, done) = (Case { store, sizes, peak: AtomicU64::new(0) }, AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) && case.look().is_ok() {
                thread::sleep(LOOK_EVERY);
            }
        });
        let worked = work(&case);
        done.store(true, Ordering::Relaxed);
        worked
    })?;
    println!("{}", case.peak.into_inner());
    Ok(())
}

/// The memory of this process that no file is behind, in bytes.
fn resident() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no RssAnon")?;
    Ok(kibibytes.trim().parse::<u64>()? * 1024)
}

fn write(case: &Case<'_>) -> anyhow::Result<()> {
    let log = ours::open(case.store)?;
    let (mut bytes, mut begun) = (0, 0);
    while bytes < case.sizes.memory_bytes {
        let mut open: Vec<_> = (begun..begun + OPEN_SESSIONS).map(|n| Growing::new(Session(n))).collect();
        begun += OPEN_SESSIONS;
        for _ in 0..SESSION_EVENTS {
            for session in &mut open {
                let batch = session.batch(1)?;
                bytes += batch.bytes();
                log.commit(batch.commit.without_waiting())?;
            }
        }
    }
    case.look()
}

/// How often a log is settled until all of it is compressed, at most.
const SETTLED_AT_MOST: u32 = 20;

/// Commits of one event, with text in which any three letters may follow each other: no filter is larger.
fn seal(case: &Case<'_>, segment_bytes: u64) -> anyhow::Result<()> {
    let store = case.store.with_extension("sealed");
    let log = FileLog::open(&store, Options { segment_bytes, ..Options::default() })?;
    let (session, mut bytes, mut number) = (Session(0), 0, 1);
    while bytes < segment_bytes {
        let text = letters(&Random::new(number));
        bytes += text.len() as u64;
        let message = Message::text(Role::User, Author::User, text);
        let event = NewEvent::new(Timestamp::default(), Event::from(message));
        let expected = Expected::Seq(seq(number)?);
        log.commit(Commit::new().append(session.id(), expected, vec![event]).without_waiting())?;
        number += 1;
    }
    // The thread that keeps segments up may be at it; it is waited for only for a while at a time.
    let mut size = log.size()?;
    for _ in 0..SETTLED_AT_MOST {
        log.settle()?;
        size = log.size()?;
        if size.compressed_bytes * 2 > size.stored_bytes {
            break;
        }
    }
    ensure!(size.compressed_bytes * 2 > size.stored_bytes, "the segment was not compressed: {size:?}");
    drop(log);
    std::fs::remove_dir_all(&store)?;
    case.look()
}

/// As long as a text usually is, of letters that are drawn one by one.
fn letters(random: &Random) -> String {
    (0..TEXT_BYTES).map(|_| char::from(b' ' + u8::try_from(random.below(95)).unwrap_or(0))).collect()
}

fn open_to_read(case: &Case<'_>) -> anyhow::Result<()> {
    let log = FileLog::open_reader(case.store)?;
    ensure!(log.end()?.is_some(), "the log is empty");
    case.look()
}

fn open_to_write(case: &Case<'_>) -> anyhow::Result<()> {
    let log = ours::open(case.store)?;
    opening::commit(&log)?;
    case.look()
}

fn open_without_index(case: &Case<'_>) -> anyhow::Result<()> {
    std::fs::remove_dir_all(case.store.join("index"))?;
    open_to_write(case)
}

fn read_all(case: &Case<'_>) -> anyhow::Result<()> {
    let log = FileLog::open_reader(case.store)?;
    let events = log.read_log(Position::FIRST)?.try_fold(0, |count, raw| raw.map(|_| count + 1))?;
    ensure!(log.end()?.map(Position::get) == Some(events), "{events} events were read");
    case.look()
}

fn verify(case: &Case<'_>) -> anyhow::Result<()> {
    let log = FileLog::open_reader(case.store)?;
    let report = log.verify(Depth::Full, &mut |_| ())?;
    ensure!(report.is_sound(), "{report:?}");
    case.look()
}

fn settle(case: &Case<'_>) -> anyhow::Result<()> {
    let log = ours::open_compact(case.store)?;
    opening::commit(&log)?;
    log.settle()?;
    case.look()
}

/// Until the newest event has come.
fn follow(case: &Case<'_>) -> anyhow::Result<()> {
    let log: Arc<dyn EventLog> = Arc::new(FileLog::open_reader(case.store)?);
    let end = log.end()?;
    for event in log.follow::<Event>(Position::FIRST)? {
        if Some(event?.position) == end {
            return case.look();
        }
    }
    bail!("the stream ended")
}
