//! What a continuation costs, and how much of that is due to the length of the predecessor.

use std::cell::Cell;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use segue::event::{AgentId, Event, Lane, ModelName, SessionId};
use segue::log::{Commit, Expected, NewEvent};
use segue::{Asker, Host as _, NewSession, Outcome, Said, Setup, Step, SystemHost, Workspace};

use super::Bench;
use super::contest::{Comparison, Contender, Limit, Row, Unit, compete, timed};
use super::ours;
use super::workload::{Session, message};

const SHORT: &str = "short predecessor";
const LONG: &str = "long predecessor";
const APPEND: &str = "one durable append";

/// A long predecessor may cost this much of a short one.
const FLAT: f64 = 1.3;

/// A switch may cost so many durable appends.
const APPENDS_MAX: f64 = 12.0;
/// A switch may take so long.
const SWITCH_MICROS_MAX: f64 = 2_000.0;

/// Events of one commit while predecessors are written.
const COMMIT_EVENTS: u64 = 64;
/// What an event of the usual length adds to a log, in bytes.
const EVENT_BYTES: u64 = 1_400;

pub(super) const HANDOFF: &str = r#"{"reason": "phase_change", "title": "Parser", "description": "The parser reads tables",
    "handoff": {"purpose": "A parser for the configuration", "currentRequest": "Go on with the tests",
        "decisions": ["Errors carry the line"], "openQuestions": ["Are comments kept?"]}}"#;

/// Continuing sessions of two lengths, and an append to set beside it.
pub(super) fn continuation(bench: &Bench) -> anyhow::Result<Row> {
    let folder = bench.folder.path().join("continuation");
    let workspace = Workspace::open(&folder, SystemHost, segue::Options::default())?;
    let [short, long] = bench.sizes.predecessors;
    let (times, requests) = (bench.sizes.continuations, Cell::new(0));
    let (first, second) = (predecessor(&workspace, short)?, predecessor(&workspace, long)?);
    let contenders = vec![
        Contender::new(SHORT, || continue_often(&workspace, first, times, &requests)),
        Contender::new(LONG, || continue_often(&workspace, second, times, &requests)),
        Contender::new(APPEND, || append_often(&workspace, times)),
    ];
    let series = compete(bench.rounds, contenders)?;
    drop(workspace);
    std::fs::remove_dir_all(&folder)?;
    Ok(Row {
        name: "continuation",
        about: format!("continuing sessions of {:.1} and {:.1} MB", megabytes(short), megabytes(long)),
        unit: Unit::micros(times),
        series,
        comparisons: vec![
            Comparison::cost(LONG, SHORT, Some(FLAT)),
            Comparison::cost(SHORT, APPEND, None),
            Comparison::cost(LONG, APPEND, None),
        ],
        limits: Vec::new(),
    })
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// A session of so many bytes, the last word of which has a person.
pub(super) fn predecessor(workspace: &Workspace, bytes: u64) -> anyhow::Result<SessionId> {
    let session = workspace.start_session(NewSession::of(AgentId::new("coder")?))?;
    let mut number = 0;
    for _ in 0..bytes / EVENT_BYTES / COMMIT_EVENTS {
        let numbers = number + 1..=number + COMMIT_EVENTS;
        number += COMMIT_EVENTS;
        let events = numbers.map(new).collect();
        workspace.log().commit(Commit::new().append(session, Expected::AtHead, events).without_waiting())?;
    }
    workspace.append(session, [message(Session(1), number + 1)])?;
    Ok(session)
}

fn new(number: u64) -> NewEvent {
    NewEvent::new(SystemHost.now(), Event::from(message(Session(1), number)))
}

fn continue_often(
    workspace: &Workspace,
    session: SessionId,
    times: u64,
    requests: &Cell<u64>,
) -> anyhow::Result<Duration> {
    let all = || {
        (0..times).try_for_each(|_| {
            requests.set(requests.get() + 1);
            let asker = Asker::Person { request: requests.get().to_string() };
            match workspace.continue_session(session, &asker, HANDOFF)? {
                Outcome::Continued(continued) if !continued.replayed => Ok(()),
                other => bail!("not continued: {other:?}"),
            }
        })
    };
    Ok(timed(all)?.0)
}

/// The whole way: the model's call in, the successor's first prompt out, all of it durable.
pub(super) fn switch(bench: &Bench) -> anyhow::Result<Row> {
    let folder = bench.folder.path().join("switch");
    let workspace = Workspace::open(&folder, SystemHost, segue::Options::default())?;
    let [short, long] = bench.sizes.predecessors;
    let (times, rounds) = (bench.sizes.switches, Cell::new(0));
    let (first, second) = (predecessor(&workspace, short)?, predecessor(&workspace, long)?);
    let contenders = vec![
        Contender::new(SHORT, || switch_often(&workspace, first, times, &rounds)),
        Contender::new(LONG, || switch_often(&workspace, second, times, &rounds)),
        Contender::new(APPEND, || append_often(&workspace, times)),
    ];
    let series = compete(bench.rounds, contenders)?;
    drop(workspace);
    std::fs::remove_dir_all(&folder)?;
    Ok(Row {
        name: "switch",
        about: format!(
            "from the call of the verb to the successor's first prompt, for {:.1} and {:.1} MB",
            megabytes(short),
            megabytes(long)
        ),
        unit: Unit::micros(times),
        series,
        comparisons: vec![
            Comparison::cost(LONG, SHORT, Some(FLAT)),
            Comparison::cost(SHORT, APPEND, Some(APPENDS_MAX)),
            Comparison::cost(LONG, APPEND, Some(APPENDS_MAX)),
        ],
        limits: vec![
            Limit { ours: SHORT, at_most: SWITCH_MICROS_MAX },
            Limit { ours: LONG, at_most: SWITCH_MICROS_MAX },
        ],
    })
}

/// On a fork of its own for every round, for agents make only so many successors of one session.
fn switch_often(
    workspace: &Workspace,
    predecessor: SessionId,
    times: u64,
    rounds: &Cell<u64>,
) -> anyhow::Result<Duration> {
    rounds.set(rounds.get() + 1);
    let head = workspace.log().head(predecessor)?.context("the predecessor is gone")?;
    let session = workspace.fork(predecessor, head.seq, &rounds.get().to_string())?;
    let setup = Setup { host: "bench".to_owned(), ..Setup::default() };
    (0..times).map(|_| switch_once(workspace, session, &setup)).sum()
}

fn switch_once(workspace: &Workspace, session: SessionId, setup: &Setup) -> anyhow::Result<Duration> {
    workspace.send(session, &message(Session(1), 1), Lane::Interactive)?;
    let mut turn = workspace.turn(session, setup)?.context("no run is queued")?;
    turn.prompt()?;
    let said = Said::default().call("c", "continue_session", HANDOFF);
    let (time, prompt) = timed(|| match turn.record(said)? {
        Step::Continued(continued) => {
            let mut next = workspace.turn(continued.successor, setup)?.context("no run is queued")?;
            Ok(next.prompt()?)
        }
        other => bail!("not continued: {other:?}"),
    })?;
    ensure!(prompt.transcript.len() == 2, "the successor begins with its projection and the message");
    Ok(time)
}

/// A full context: the provider's refusal in, the successor's first prompt out, all of it durable.
pub(super) fn fresh(bench: &Bench) -> anyhow::Result<Row> {
    let folder = bench.folder.path().join("fresh");
    let workspace = Workspace::open(&folder, SystemHost, segue::Options::default())?;
    let [short, long] = bench.sizes.predecessors;
    let times = bench.sizes.switches;
    let (first, second) = (predecessor(&workspace, short)?, predecessor(&workspace, long)?);
    let often = |session| (0..times).map(|_| fresh_once(&workspace, session)).sum();
    let contenders = vec![
        Contender::new(SHORT, || often(first)),
        Contender::new(LONG, || often(second)),
        Contender::new(APPEND, || append_often(&workspace, times)),
    ];
    let series = compete(bench.rounds, contenders)?;
    drop(workspace);
    std::fs::remove_dir_all(&folder)?;
    Ok(Row {
        name: "fresh",
        about: format!(
            "from a full context to the first prompt of a fresh session, for {:.1} and {:.1} MB",
            megabytes(short),
            megabytes(long)
        ),
        unit: Unit::micros(times),
        series,
        comparisons: vec![
            Comparison::cost(LONG, SHORT, Some(FLAT)),
            Comparison::cost(SHORT, APPEND, None),
            Comparison::cost(LONG, APPEND, None),
        ],
        limits: Vec::new(),
    })
}

fn fresh_once(workspace: &Workspace, session: SessionId) -> anyhow::Result<Duration> {
    let name = ModelName { provider: "bench".to_owned(), model: "bench-1".to_owned() };
    let setup = Setup { host: "bench".to_owned(), model: Some(name), ..Setup::default() };
    workspace.send(session, &message(Session(1), 1), Lane::Interactive)?;
    let mut turn = workspace.turn(session, &setup)?.context("no run is queued")?;
    turn.prompt()?;
    let (time, prompt) = timed(|| match turn.overflowed()? {
        Step::Continued(continued) => {
            let mut next = workspace.turn(continued.successor, &setup)?.context("no run is queued")?;
            Ok(next.prompt()?)
        }
        other => bail!("no fresh session: {other:?}"),
    })?;
    ensure!(prompt.transcript.len() == 1, "the successor begins with its pointer alone");
    Ok(time)
}

/// To a session of its own, so that the predecessors stay as long as they are.
fn append_often(workspace: &Workspace, times: u64) -> anyhow::Result<Duration> {
    let session = Session(2);
    let commits: Vec<_> = (0..times)
        .map(|number| Commit::new().append(session.id(), Expected::AtHead, vec![new(number)]))
        .collect();
    Ok(timed(|| ours::commit_all(&**workspace.log(), commits))?.0)
}
