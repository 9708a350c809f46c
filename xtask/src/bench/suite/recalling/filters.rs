//! What filters take: room beside the texts that they are made of, and time when a segment is sealed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use segue::event::{Position, TranscriptEvent};
use segue::log::EventLog as _;
use segue::log_file::{Compression, FileLog, Options};

use super::super::contest::{Comparison, Contender, Row, Series, Unit, compete, timed};
use super::super::{Bench, opening};
use super::Wanted;
use super::sources::{self, Bond, Seal};

pub(super) const NAMES: &[&str] = &["recall-filter", "recall-sealing"];

const FILTERS: &str = "filters";
const TEXTS: &str = "texts";
const SEGMENTS: &str = "segments, filters included";

/// The filters may take this much of the room of the texts.
const ROOM_TARGET: f64 = 0.15;

const FOOTED: &str = "footer and filter";
const COMPRESSED: &str = "footer, filter, and compressing";

/// As transcripts that fill one segment not quite, in bytes.
const SEGMENT_FULL: u64 = 60_000_000;

pub(super) fn rows(bench: &Bench, wanted: Wanted<'_>) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, measure) in NAMES.iter().zip([room, sealing]).filter(|(name, _)| wanted(name)) {
        println!("bench: {name}");
        let folder = bench.folder.path().join(name);
        rows.push(measure(bench, &folder)?);
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(rows)
}

fn room(bench: &Bench, store: &Path) -> anyhow::Result<Row> {
    let bytes = bench.sizes.chain_bytes;
    sources::fill(store, Options::default(), bytes, Bond::None, Seal::Everything)?;
    let about = format!("the room that filters take, with {} MB of reference sessions", bytes / 1_000_000);
    room_of(store, "recall-filter", about)
}

/// What the filters of a store take, and what the texts have.
pub(super) fn room_of(store: &Path, name: &'static str, about: String) -> anyhow::Result<Row> {
    let size = |name, bytes: u64| Series { name, measured: vec![bytes as f64] };
    let (mut filters, mut segments) = (0, 0);
    for path in segments_of(store)? {
        let file = std::fs::read(&path)?;
        segments += file.len() as u64;
        filters += filter_bytes(&file).unwrap_or(0);
    }
    ensure!(filters > 0, "the store has no filter");
    Ok(Row {
        name,
        about,
        unit: Unit::Megabytes,
        series: vec![size(FILTERS, filters), size(TEXTS, text_bytes(store)?), size(SEGMENTS, segments)],
        comparisons: vec![
            Comparison::cost(FILTERS, TEXTS, Some(ROOM_TARGET)),
            Comparison::cost(FILTERS, SEGMENTS, None),
        ],
        limits: Vec::new(),
    })
}

fn segments_of(store: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(store.join("log"))?.collect::<Result<Vec<_>, _>>()?;
    Ok(entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_file()).collect())
}

/// How many bytes the filter in a segment's file has, by its header; none if there is no filter.
fn filter_bytes(file: &[u8]) -> Option<u64> {
    const MAGIC: &[u8] = b"SegueFlt";
    const HEADER: u64 = 32;
    const CHUNK: u64 = 64 * 1024;
    let at = file.windows(MAGIC.len()).rposition(|window| window == MAGIC)?;
    let field = |index: usize| {
        let from = at + MAGIC.len() + index * 4;
        Some(u32::from_le_bytes(*file.get(from..)?.first_chunk()?))
    };
    let (row_bits, blocks) = (field(0)?, u64::from(field(1)?));
    let (rows, row_bytes) = (1_u64.checked_shl(row_bits)? + 1, blocks.div_ceil(8));
    let checksums = rows.div_ceil((CHUNK / row_bytes).max(1)) * 4;
    Some(HEADER + checksums + rows * row_bytes)
}

fn text_bytes(store: &Path) -> anyhow::Result<u64> {
    let log = FileLog::open_reader(store)?;
    let mut bytes = 0;
    for raw in log.read_log(Position::FIRST)? {
        if let Some(recorded) = raw?.decode_as::<TranscriptEvent>()? {
            bytes += recorded.event.texts().iter().map(|text| text.text.len() as u64).sum::<u64>();
        }
    }
    Ok(bytes)
}

/// Sealing one segment of about the usual size, of which nothing is ready.
fn sealing(bench: &Bench, folder: &Path) -> anyhow::Result<Row> {
    let transcripts = bench.sizes.chain_bytes.min(SEGMENT_FULL);
    let (store, copy) = (folder.join("store"), folder.join("copy"));
    let plain = Options { compression: Compression::Never, ..Options::default() };
    std::fs::create_dir(folder)?;
    sources::fill(&store, plain, transcripts, Bond::None, Seal::Full)?;
    let written = FileLog::open_reader(&store)?.size()?.written_bytes;
    let contenders = vec![
        Contender::new(FOOTED, || seal_copy(&store, &copy, plain)),
        Contender::new(COMPRESSED, || seal_copy(&store, &copy, Options::default())),
    ];
    Ok(Row {
        name: "recall-sealing",
        about: format!("sealing a segment of {} MB, until all of it is durable", written / 1_000_000),
        unit: Unit::millis_a_megabyte(written),
        series: compete(bench.rounds, contenders)?,
        comparisons: vec![Comparison::cost(FOOTED, COMPRESSED, None)],
        limits: Vec::new(),
    })
}

/// Seals a copy of a store whose segment is open.
fn seal_copy(store: &Path, copy: &Path, options: Options) -> anyhow::Result<Duration> {
    copy_folder(store, copy)?;
    let log = FileLog::open(copy, options)?;
    // What the writer reads before its first commit is not what is measured.
    opening::commit(&log)?;
    let (time, ()) = timed(|| Ok(log.settle()?))?;
    drop(log);
    let sealed = segments_of(copy)?.into_iter().min().context("no segment")?;
    ensure!(filter_bytes(&std::fs::read(sealed)?).is_some(), "there is no filter");
    std::fs::remove_dir_all(copy)?;
    Ok(time)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let copied = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copied)?;
        } else {
            std::fs::copy(entry.path(), &copied)?;
        }
    }
    Ok(())
}
