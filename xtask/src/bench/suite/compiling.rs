//! What a projection costs: compiling it, and finding what is worth citing.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use segue::continuation::Budget;
use segue::event::{
    ContinuationId, EventHash, Handoff, PlanTransfer, Position, Reason, Recommended, Recorded, SeqRange,
    SessionId, Source, SourceTarget, Timestamp, TranscriptEvent, WhyRecommended,
};
use segue::frame::Entry;
use segue::projection::{
    Cited, CitedRange, CutEntry, Input, Origin, Recent, RecommendedRange, admit, compile,
};
use segue::{Scope, SystemHost, Workspace};

use super::Bench;
use super::contest::{Comparison, Contender, Limit, Row, Unit, compete, timed};
use super::continuing::predecessor;
use super::workload::{Session, message, seq};

const COMPILE: &str = "compile";
const FIRST: &str = "first time";
const KEPT_UP: &str = "kept up";

/// A projection of 40 KiB may take so long to compile, in microseconds.
const COMPILE_AT_MOST: f64 = 300.0;

/// Compilations that are timed together.
const COMPILATIONS: u64 = 100;

/// The predecessor's entries before the message that is to be answered; more than any recipe takes.
const ENTRIES: u64 = 100;

/// Compiling for the reason that shows most, with as much cited, recommended and recent as fits.
pub(super) fn compiling(bench: &Bench) -> anyhow::Result<Row> {
    let input = input()?;
    let filled = compile(&input).0.text.len();
    let budget = Budget::DEFAULT.bytes();
    ensure!(filled * 10 >= budget * 8, "only {filled} of {budget} bytes are filled");
    let compile_often = || {
        let all = || {
            (0..COMPILATIONS).for_each(|_| drop(std::hint::black_box(compile(std::hint::black_box(&input)))));
            Ok(())
        };
        Ok(timed(all)?.0)
    };
    Ok(Row {
        name: "compile",
        about: format!("compiling a projection of {filled} bytes, with a budget of {budget}"),
        unit: Unit::micros(COMPILATIONS),
        series: compete(bench.rounds, vec![Contender::new(COMPILE, compile_often)])?,
        comparisons: Vec::new(),
        limits: vec![Limit { ours: COMPILE, at_most: COMPILE_AT_MOST }],
    })
}

/// What is worth citing of a long session: asked for the first time, and by who has kept it up.
pub(super) fn recommending(bench: &Bench) -> anyhow::Result<Row> {
    let folder = bench.folder.path().join("recommending");
    let workspace = Workspace::open(&folder, SystemHost, segue::Options::default())?;
    let [_, long] = bench.sizes.predecessors;
    let session = predecessor(&workspace, long)?;
    let anew = || Workspace::with_options(Arc::clone(workspace.log()), SystemHost, segue::Options::default());
    let contenders = vec![
        Contender::new(FIRST, || recommend(&anew(), session)),
        Contender::new(KEPT_UP, || recommend(&workspace, session)),
    ];
    let series = compete(bench.rounds, contenders)?;
    drop(workspace);
    std::fs::remove_dir_all(&folder)?;
    Ok(Row {
        name: "recommend",
        about: format!("what is worth citing of a session of {:.1} MB", long as f64 / 1e6),
        unit: Unit::micros(1),
        series,
        comparisons: vec![Comparison::cost(FIRST, KEPT_UP, None)],
        limits: Vec::new(),
    })
}

fn recommend(workspace: &Workspace, session: SessionId) -> anyhow::Result<Duration> {
    let reader = workspace.reader(Scope::Workspace);
    Ok(timed(|| Ok(reader.recommend(session)?))?.0)
}

fn input() -> anyhow::Result<Input> {
    let thread = Session(1).id();
    let initiating = seq(ENTRIES + 1)?;
    let cited = [(2, 6), (11, 14), (21, 24)];
    let cited = cited.into_iter().map(|(from, to)| range(from, to)).collect::<anyhow::Result<Vec<_>>>()?;
    let cite = |range: &SeqRange| Source {
        target: SourceTarget::Events { thread, range: *range },
        relevance: "what was found out there".to_owned(),
    };
    let handoff = Handoff {
        purpose: "A parser for the configuration, with errors that name the line".to_owned(),
        current_request: "Go on with the tests".to_owned(),
        decisions: vec!["Errors carry the line and the column".to_owned(); 10],
        ..Handoff::default()
    };
    let admitted = admit(Budget::DEFAULT, handoff, cited.iter().map(cite).collect());
    let read = |(source, range): (u32, &SeqRange)| {
        Ok(CitedRange { source, thread, range: *range, cited: Cited::Entries(entries(*range)?) })
    };
    let recent = entries(range(2, ENTRIES)?)?;
    Ok(Input {
        origin: Origin {
            continuation: ContinuationId::from_bytes([1; 16]),
            reason: Reason::ContextPressure,
            first: thread,
            predecessor: thread,
            predecessor_title: "The parser".to_owned(),
            initiating,
        },
        admitted: admitted.ok().context("the handoff is too large")?,
        cited: (0..).zip(&cited).map(read).collect::<anyhow::Result<_>>()?,
        recommended: (31..43).map(recommended).collect::<anyhow::Result<_>>()?,
        recent: Recent {
            entries: recent.into_iter().rev().map(CutEntry::of).collect(),
            projection: None,
            stand_ins: Vec::new(),
        },
        head: initiating,
        earlier: None,
        plan: PlanTransfer::Omit,
        compiled_at: Position::new(ENTRIES + 1),
    })
}

fn recommended(number: u64) -> anyhow::Result<RecommendedRange> {
    let range = range(number, number)?;
    let recommended = Recommended { thread: Session(1).id(), range, why: WhyRecommended::Error };
    Ok(RecommendedRange { recommended, cited: Cited::Entries(entries(range)?) })
}

fn range(from: u64, to: u64) -> anyhow::Result<SeqRange> {
    SeqRange::new(seq(from)?, seq(to)?).context("an empty range")
}

/// Messages of the usual length, as they are read from a log.
fn entries(range: SeqRange) -> anyhow::Result<Vec<Entry>> {
    let read = |number| {
        Ok(Entry::of(&Recorded {
            session: Session(1).id(),
            seq: seq(number)?,
            position: Position::FIRST,
            time: Timestamp::default(),
            hash: EventHash::from_bytes([0; 32]),
            event: TranscriptEvent::Message(message(Session(1), number)),
        }))
    };
    (range.from.get()..=range.to.get()).map(read).collect()
}
