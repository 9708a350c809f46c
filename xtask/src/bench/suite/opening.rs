//! Opening a large store: after a clean end, and after the worst one.

use std::fs;
use std::time::Duration;

use anyhow::ensure;
use segue::log::EventLog as _;
use segue::log_file::FileLog;

use super::Bench;
use super::contest::{Comparison, Contender, Limit, Row, Unit, compete, timed};
use super::library::Library;
use super::ours;
use super::sqlite::Database;
use super::workload::{Growing, Session};

const READER: &str = "segue, clean";
const WRITER: &str = "segue, clean, and a commit";
const KILLED: &str = "segue, killed, no index, and a commit";
const COUNT: &str = "sqlite, open and count";

const CLEAN_MILLIS: f64 = 20.0;
const KILLED_MILLIS: f64 = 300.0;

/// Until the end of the log and a page of sessions are known.
pub(super) fn reader(bench: &Bench, library: &Library) -> anyhow::Result<Row> {
    let opens = bench.sizes.opens;
    let contenders =
        vec![repeated(READER, opens, || read(library)), repeated(COUNT, opens, || count(library))];
    Ok(Row {
        name: "open-reader",
        about: format!("a store of {} MB, opened for reading", bench.sizes.library_bytes / 1_000_000),
        unit: Unit::millis(opens),
        series: compete(bench.rounds, contenders)?,
        comparisons: vec![Comparison::speed(READER, COUNT, None)],
        limits: vec![Limit { ours: READER, at_most: CLEAN_MILLIS }],
    })
}

/// Until the first commit is answered, which does not wait for the disk.
pub(super) fn writer(bench: &Bench, library: &Library) -> anyhow::Result<Row> {
    let opens = bench.sizes.opens;
    // Whoever wrote last left a whole index.
    drop(ready_to_write(library)?);
    let contenders = vec![
        repeated(WRITER, opens, || write(library)),
        repeated(KILLED, opens, || {
            fs::remove_dir_all(library.segue.join("index"))?;
            write(library)
        }),
        repeated(COUNT, opens, || count(library)),
    ];
    Ok(Row {
        name: "open-writer",
        about: format!("a store of {} MB, opened to write", bench.sizes.library_bytes / 1_000_000),
        unit: Unit::millis(opens),
        series: compete(bench.rounds, contenders)?,
        comparisons: vec![Comparison::speed(WRITER, COUNT, None), Comparison::speed(KILLED, COUNT, None)],
        limits: vec![
            Limit { ours: WRITER, at_most: CLEAN_MILLIS },
            Limit { ours: KILLED, at_most: KILLED_MILLIS },
        ],
    })
}

/// The log, with its lock taken.
pub(super) fn ready_to_write(library: &Library) -> anyhow::Result<FileLog> {
    let log = ours::open(&library.segue)?;
    commit(&log)?;
    Ok(log)
}

fn repeated<'a>(
    name: &'static str,
    times: u64,
    open: impl Fn() -> anyhow::Result<Duration> + 'a,
) -> Contender<'a> {
    Contender::new(name, move || (0..times).map(|_| open()).sum())
}

fn read(library: &Library) -> anyhow::Result<Duration> {
    let (time, (_log, end)) = timed(|| {
        let log = FileLog::open_reader(&library.segue)?;
        let end = log.end()?;
        Ok((log, end))
    })?;
    ensure!(end.is_some_and(|end| end.get() >= library.events), "the log ends at {end:?}");
    Ok(time)
}

/// Closing it, which brings the index up to date, is not part of it.
fn write(library: &Library) -> anyhow::Result<Duration> {
    Ok(timed(|| ready_to_write(library))?.0)
}

/// One event, which does not wait for the disk.
pub(super) fn commit(log: &FileLog) -> anyhow::Result<()> {
    let mut batch = Growing::new(Session(u32::MAX)).batch(1)?;
    for append in &mut batch.commit.appends {
        append.expected = segue::log::Expected::AtHead;
    }
    log.commit(batch.commit.without_waiting())?;
    Ok(())
}

fn count(library: &Library) -> anyhow::Result<Duration> {
    let (time, (_database, count)) = timed(|| {
        let database = Database::open(&library.sqlite)?;
        let count = database.count()?;
        Ok((database, count))
    })?;
    ensure!(count.cast_unsigned() == library.events, "the table has {count} rows");
    Ok(time)
}
