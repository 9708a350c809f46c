//! What a continuation costs, and how much of that is due to the length of the predecessor.

use std::cell::Cell;
use std::time::Duration;

use anyhow::bail;
use segue::event::{AgentId, Event, SessionId};
use segue::log::{Commit, Expected, NewEvent};
use segue::{Asker, Host as _, NewSession, Outcome, SystemHost, Workspace};

use super::Bench;
use super::contest::{Comparison, Contender, Row, Unit, compete, timed};
use super::ours;
use super::workload::{Session, message};

const SHORT: &str = "short predecessor";
const LONG: &str = "long predecessor";
const APPEND: &str = "one durable append";

/// A long predecessor may cost this much of a short one.
const FLAT: f64 = 1.3;

/// Events of one commit while predecessors are written.
const COMMIT_EVENTS: u64 = 64;
/// What an event of the usual length adds to a log, in bytes.
const EVENT_BYTES: u64 = 1_400;

const HANDOFF: &str = r#"{"reason": "phase_change", "title": "Parser", "description": "The parser reads tables",
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
fn predecessor(workspace: &Workspace, bytes: u64) -> anyhow::Result<SessionId> {
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

/// To a session of its own, so that the predecessors stay as long as they are.
fn append_often(workspace: &Workspace, times: u64) -> anyhow::Result<Duration> {
    let session = Session(2);
    let commits: Vec<_> = (0..times)
        .map(|number| Commit::new().append(session.id(), Expected::AtHead, vec![new(number)]))
        .collect();
    Ok(timed(|| ours::commit_all(&**workspace.log(), commits))?.0)
}
