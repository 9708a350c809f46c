//! Durable commits: alone, in batches, and many at a time.

use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::Bench;
use super::contest::{Comparison, Contender, Row, Unit, compete, start, timed};
use super::engines::{Engine, Fjall, Redb, Sled};
use super::ours;
use super::plain::PlainFile;
use super::sqlite::{Client, Database, GroupCommitter};
use super::workload::{Batch, Growing, Session};

const SEGUE: &str = "segue";
const PLAIN: &str = "plain append + fdatasync";
const SQLITE: &str = "sqlite, WAL, FULL";
const SQLITE_NORMAL: &str = "sqlite, WAL, NORMAL (loses commits in a power cut)";
const REDB: &str = "redb";
const FJALL: &str = "fjall";
const SLED: &str = "sled (its flush survives no power cut)";
const SQLITE_GROUP: &str = "sqlite behind a group committer";

/// One event a commit, one thread.
pub(super) fn single(bench: &Bench) -> anyhow::Result<Row> {
    alone(
        bench,
        &Alone { name: "commit-1", commits: bench.sizes.commits, events: 1, plain: 0.8, sqlite: Some(1.0) },
    )
}

/// Many events a commit, one thread.
pub(super) fn batches(bench: &Bench) -> anyhow::Result<Row> {
    alone(
        bench,
        &Alone { name: "commit-64", commits: bench.sizes.batches, events: 64, plain: 0.7, sqlite: None },
    )
}

/// Few committers at a time.
pub(super) fn eight(bench: &Bench) -> anyhow::Result<Row> {
    together(bench, &Together { name: "committers-8", threads: 8, target: None })
}

/// Many committers at a time.
pub(super) fn sixty_four(bench: &Bench) -> anyhow::Result<Row> {
    together(bench, &Together { name: "committers-64", threads: 64, target: Some(2.0) })
}

/// A row of one committer.
struct Alone {
    name: &'static str,
    commits: u64,
    events: u64,
    plain: f64,
    sqlite: Option<f64>,
}

fn alone(bench: &Bench, row: &Alone) -> anyhow::Result<Row> {
    let folder = bench.folder.path().join(row.name);
    std::fs::create_dir(&folder)?;
    let contenders = vec![
        segue(row, &folder)?,
        plain(row, &folder)?,
        sqlite(row, SQLITE, Database::open(&folder.join("sqlite"))?),
        sqlite(row, SQLITE_NORMAL, Database::open(&folder.join("sqlite-normal"))?.losing_the_newest()?),
        engine(row, REDB, Redb::create(&folder.join("redb"))?),
        engine(row, FJALL, Fjall::create(&folder.join("fjall"))?),
        engine(row, SLED, Sled::create(&folder.join("sled"))?),
    ];
    let series = compete(bench.rounds, contenders)?;
    std::fs::remove_dir_all(&folder)?;
    let about = match row.events {
        1 => "a durable commit of one event of 1.4 KB, one thread".to_owned(),
        events => format!("a durable commit of {events} events of 1.4 KB, one thread"),
    };
    let unit = Unit::events_a_second(row.commits * row.events);
    let others = [SQLITE_NORMAL, REDB, FJALL, SLED].map(|peer| Comparison::speed(SEGUE, peer, None));
    let comparisons =
        [Comparison::speed(SEGUE, PLAIN, Some(row.plain)), Comparison::speed(SEGUE, SQLITE, row.sqlite)];
    let comparisons = comparisons.into_iter().chain(others).collect();
    Ok(Row { name: row.name, about, unit, series, comparisons, limits: Vec::new() })
}

fn segue(row: &Alone, folder: &Path) -> anyhow::Result<Contender<'static>> {
    let log = ours::open(&folder.join("segue"))?;
    let (mut session, commits, events) = (Growing::new(Session(1)), row.commits, row.events);
    Ok(Contender::new(SEGUE, move || {
        let commits: Vec<_> = session.batches(commits, events)?.into_iter().map(|b| b.commit).collect();
        Ok(timed(|| ours::commit_all(&log, commits))?.0)
    }))
}

fn plain(row: &Alone, folder: &Path) -> anyhow::Result<Contender<'static>> {
    let mut file = PlainFile::create(&folder.join("plain"))?;
    let (mut session, commits, events) = (Growing::new(Session(1)), row.commits, row.events);
    Ok(Contender::new(PLAIN, move || {
        let frames: Vec<_> = session.batches(commits, events)?.iter().map(Batch::frame).collect();
        Ok(timed(|| frames.iter().try_for_each(|frame| file.append(frame)))?.0)
    }))
}

fn sqlite(row: &Alone, name: &'static str, mut database: Database) -> Contender<'static> {
    let (mut session, commits, events) = (Growing::new(Session(1)), row.commits, row.events);
    Contender::new(name, move || {
        let batches = session.batches(commits, events)?;
        Ok(timed(|| batches.iter().try_for_each(|batch| database.commit([batch])))?.0)
    })
}

fn engine(row: &Alone, name: &'static str, mut engine: impl Engine + 'static) -> Contender<'static> {
    let (mut session, commits, events) = (Growing::new(Session(1)), row.commits, row.events);
    Contender::new(name, move || {
        let batches = session.batches(commits, events)?;
        Ok(timed(|| batches.iter().try_for_each(|batch| engine.commit(batch)))?.0)
    })
}

/// A row of several committers, each with a session of its own and one event a commit.
struct Together {
    name: &'static str,
    threads: u32,
    target: Option<f64>,
}

fn together(bench: &Bench, row: &Together) -> anyhow::Result<Row> {
    let folder = bench.folder.path().join(row.name);
    std::fs::create_dir(&folder)?;
    let each = bench.sizes.shared_commits / u64::from(row.threads);
    let contenders = vec![segue_group(row, each, &folder)?, sqlite_group(row, each, &folder)?];
    let series = compete(bench.rounds, contenders)?;
    std::fs::remove_dir_all(&folder)?;
    Ok(Row {
        name: row.name,
        about: format!("durable commits of one event of 1.4 KB, {} committers", row.threads),
        unit: Unit::events_a_second(each * u64::from(row.threads)),
        series,
        comparisons: vec![Comparison::speed(SEGUE, SQLITE_GROUP, row.target)],
        limits: Vec::new(),
    })
}

fn segue_group(row: &Together, each: u64, folder: &Path) -> anyhow::Result<Contender<'static>> {
    let log = ours::open(&folder.join("segue"))?;
    let mut sessions = sessions(row);
    Ok(Contender::new(SEGUE, move || {
        let work = work_of(&mut sessions, each, |batch| batch.commit)?;
        all_at_once(work, |commits| ours::commit_all(&log, commits))
    }))
}

fn sqlite_group(row: &Together, each: u64, folder: &Path) -> anyhow::Result<Contender<'static>> {
    let committer = GroupCommitter::start(Database::open(&folder.join("sqlite"))?);
    let mut sessions = sessions(row);
    Ok(Contender::new(SQLITE_GROUP, move || {
        let clients = sessions.iter().map(|_| committer.client()).collect::<anyhow::Result<Vec<_>>>()?;
        let work = clients.into_iter().zip(work_of(&mut sessions, each, Batch::into_rows)?).collect();
        all_at_once(work, |(client, batches): (Client, Vec<Batch>)| {
            batches.into_iter().try_for_each(|batch| client.commit(batch))
        })
    }))
}

fn sessions(row: &Together) -> Vec<Growing> {
    (1..=row.threads).map(|number| Growing::new(Session(number))).collect()
}

/// The next commits of every session, with nothing in them that their contender would only have to free.
fn work_of<T>(sessions: &mut [Growing], each: u64, form: fn(Batch) -> T) -> anyhow::Result<Vec<Vec<T>>> {
    let form_all = |batches: Vec<Batch>| batches.into_iter().map(form).collect();
    sessions.iter_mut().map(|session| session.batches(each, 1).map(form_all)).collect()
}

/// Gives every piece of work to a thread of its own, lets them go together, and waits for all.
fn all_at_once<T: Send>(
    work: Vec<T>,
    each: impl Fn(T) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<Duration> {
    let (gate, each) = (&Barrier::new(work.len()), &each);
    std::thread::scope(|scope| {
        let begin = |piece| scope.spawn(move || go(gate, || each(piece)));
        let threads: Vec<_> = work.into_iter().map(begin).collect();
        let joined =
            threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a committer panicked"))?);
        let spans = joined.collect::<anyhow::Result<Vec<_>>>()?;
        let first = spans.iter().map(|(begun, _)| *begun).min();
        let last = spans.iter().map(|(_, done)| *done).max();
        Ok(last.zip(first).map_or(Duration::ZERO, |(last, first)| last - first))
    })
}

/// Waits for the others, works, and tells when that began and ended.
fn go(gate: &Barrier, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<(Instant, Instant)> {
    gate.wait();
    let begun = start();
    work()?;
    Ok((begun, start()))
}
