//! Reading sessions of a large store, whole or in part.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use segue::event::SeqRange;
use segue::log_file::FileLog;

use super::Bench;
use super::contest::{Comparison, Contender, Row, Unit, compete, timed};
use super::library::Library;
use super::sqlite::Database;
use super::workload::{Random, Session, seq};
use super::{ours, plain};

const READER: &str = "segue, opened for reading";
const WRITER: &str = "segue, in the process that writes";
const COMPACT: &str = "segue, opened for reading, compressed";
const CAT: &str = "cat of the same bytes";
const SQLITE: &str = "sqlite, as it comes";
const MAPPED: &str = "sqlite, mapped";

const RANGE_EVENTS: u64 = 100;

/// All of one long session.
pub(super) fn session(bench: &Bench, library: &Library) -> anyhow::Result<Row> {
    let log = FileLog::open_reader(&library.segue)?;
    let compact = FileLog::open_reader(&library.compact)?;
    let database = Database::open(&library.sqlite)?;
    let mapped = Database::open(&library.sqlite)?.mapped()?;
    let contenders = vec![
        whole(READER, library, |buffer| ours::read(&log, library.long.id(), SeqRange::ALL, buffer)),
        whole(COMPACT, library, |buffer| ours::read(&compact, library.long.id(), SeqRange::ALL, buffer)),
        whole(CAT, library, |buffer| plain::cat(&library.cat, buffer)),
        whole(SQLITE, library, |buffer| database.read(library.long, 1..=u64::from(u32::MAX), buffer)),
        whole(MAPPED, library, |buffer| mapped.read(library.long, 1..=u64::from(u32::MAX), buffer)),
    ];
    Ok(Row {
        name: "read-session",
        about: format!(
            "one session of {} MB in a store of {}, warm",
            library.long_bytes / 1_000_000,
            size(bench)
        ),
        unit: Unit::megabytes_a_second(library.long_bytes),
        series: compete(bench.rounds, contenders)?,
        comparisons: vec![
            Comparison::speed(READER, CAT, Some(0.5)),
            Comparison::speed(COMPACT, CAT, None),
            Comparison::speed(READER, SQLITE, None),
            Comparison::speed(READER, MAPPED, None),
        ],
        limits: Vec::new(),
    })
}

fn whole<'a>(
    name: &'static str,
    library: &'a Library,
    read: impl Fn(&mut Vec<u8>) -> anyhow::Result<u64> + 'a,
) -> Contender<'a> {
    let mut buffer = Vec::new();
    Contender::new(name, move || {
        let (time, bytes) = timed(|| read(&mut buffer))?;
        ensure!(bytes == library.long_bytes, "{name} read {bytes} of {} bytes", library.long_bytes);
        Ok(time)
    })
}

/// Parts of sessions, at random.
pub(super) fn range(bench: &Bench, library: &Library) -> anyhow::Result<Row> {
    let reader = FileLog::open_reader(&library.segue)?;
    let compact = FileLog::open_reader(&library.compact)?;
    let writer = super::opening::ready_to_write(library)?;
    let database = Database::open(&library.sqlite)?;
    let mapped = Database::open(&library.sqlite)?.mapped()?;
    let contenders = vec![
        parts(READER, bench, library, |part, buffer| {
            ours::read(&reader, part.session.id(), part.range()?, buffer)
        }),
        parts(WRITER, bench, library, |part, buffer| {
            ours::read(&writer, part.session.id(), part.range()?, buffer)
        }),
        parts(COMPACT, bench, library, |part, buffer| {
            ours::read(&compact, part.session.id(), part.range()?, buffer)
        }),
        parts(SQLITE, bench, library, |part, buffer| {
            database.read(part.session, part.first..=part.last(), buffer)
        }),
        parts(MAPPED, bench, library, |part, buffer| {
            mapped.read(part.session, part.first..=part.last(), buffer)
        }),
    ];
    Ok(Row {
        name: "read-range",
        about: format!("{RANGE_EVENTS} events of a random session in a store of {}, warm", size(bench)),
        unit: Unit::micros(bench.sizes.ranges),
        series: compete(bench.rounds, contenders)?,
        comparisons: vec![
            Comparison::speed(READER, SQLITE, Some(5.0)),
            Comparison::speed(READER, MAPPED, Some(5.0)),
            Comparison::speed(WRITER, SQLITE, Some(5.0)),
            Comparison::speed(WRITER, MAPPED, Some(5.0)),
            Comparison::speed(COMPACT, SQLITE, None),
        ],
        limits: Vec::new(),
    })
}

/// Some events of a session.
struct Part {
    session: Session,
    first: u64,
}

impl Part {
    fn last(&self) -> u64 {
        self.first + RANGE_EVENTS - 1
    }

    fn range(&self) -> anyhow::Result<SeqRange> {
        SeqRange::new(seq(self.first)?, seq(self.last())?).context("an empty range")
    }
}

fn parts<'a>(
    name: &'static str,
    bench: &'a Bench,
    library: &'a Library,
    read: impl Fn(&Part, &mut Vec<u8>) -> anyhow::Result<u64> + 'a,
) -> Contender<'a> {
    // Everybody is asked for the same ones.
    let random = Random::new(1);
    let mut buffer = Vec::new();
    Contender::new(name, move || {
        let parts = (0..bench.sizes.ranges).map(|_| part(library, &random));
        let parts = parts.collect::<anyhow::Result<Vec<_>>>()?;
        read_all(&parts, |part| read(part, &mut buffer))
    })
}

fn read_all(parts: &[Part], mut read: impl FnMut(&Part) -> anyhow::Result<u64>) -> anyhow::Result<Duration> {
    let all = || parts.iter().map(&mut read).sum::<anyhow::Result<u64>>();
    let (time, bytes) = timed(all)?;
    ensure!(bytes > RANGE_EVENTS * parts.len() as u64, "events are missing");
    Ok(time)
}

fn part(library: &Library, random: &Random) -> anyhow::Result<Part> {
    let which = random.below(library.others.len() as u64);
    let session = library.others.get(usize::try_from(which)?).context("there are no sessions")?;
    let first = 1 + random.below(Library::EVENTS_OF_OTHERS - RANGE_EVENTS);
    Ok(Part { session: *session, first })
}

fn size(bench: &Bench) -> String {
    format!("{} MB", bench.sizes.library_bytes / 1_000_000)
}
