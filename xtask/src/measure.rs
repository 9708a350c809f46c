//! The switch table: what it costs to go on in a fresh session, however long the one before has become.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use segue::event::{
    Author, Block, Event, Lane, Message, ModelName, Role, SeqRange, SessionId, TranscriptEvent, Usage,
};
use segue::log::{Direction, EventLog};
use segue::projection::Measured as MeasuredText;
use segue::{Freshened, Options, Setup, Step, SystemHost, Workspace};

use crate::reference;

/// How much is measured.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Also a session of 3.6 GB, which takes as much disk and some minutes.
    #[arg(long)]
    large: bool,
    /// Only the reference session of 3.6 MB: whether it works.
    #[arg(long, conflicts_with = "large")]
    quick: bool,
    /// How often each way is measured; the median counts.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

const SIZES: [u64; 4] = [3_600_000, 36_000_000, 360_000_000, 3_600_000_000];

/// A switch may take so long, and so many times as long as a durable append.
const MILLIS_MAX: f64 = 2.0;
const APPENDS_MAX: f64 = 12.0;
/// The longest session may cost so many times what the shortest does.
const FLAT: f64 = 1.3;
/// The pointer of the reference session may have so many bytes.
const POINTER_BYTES_MAX: usize = 1_100;
/// From a run, a session this long is switched only a few times: each run reads all of it first.
const LONG_BYTES: u64 = 100_000_000;
const LONG_ROUNDS: u32 = 3;

/// What was measured with one session.
struct Measured {
    bytes: u64,
    by_person: Duration,
    in_run: Duration,
    append: Duration,
    /// What a model counted on the way, by the record.
    model_tokens: u64,
    pointer: String,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let count = match (arguments.quick, arguments.large) {
        (true, _) => 1,
        (_, true) => 4,
        _ => 3,
    };
    let mut all = Vec::new();
    println!(
        "{:>12} {:>16} {:>16} {:>12} {:>14} {:>8} {:>8}",
        "session", "by a person", "in a run", "one append", "model tokens", "bytes", "tokens"
    );
    for bytes in SIZES.into_iter().take(count) {
        let folder = tempfile::tempdir()?;
        let measured = measure(folder.path(), bytes, arguments.rounds)?;
        println!("{}", row(&measured));
        all.push(measured);
    }
    verdicts(&all).into_iter().for_each(|verdict| println!("{verdict}"));
    Ok(())
}

fn row(measured: &Measured) -> String {
    let Measured { bytes, by_person, in_run, append, model_tokens, pointer } = measured;
    let tokens = MeasuredText { bytes: pointer.len() as u64 }.tokens_estimated();
    format!(
        "{:>9.1} MB {:>13.2} ms {:>13.2} ms {:>9.2} ms {model_tokens:>14} {:>8} {tokens:>8}",
        *bytes as f64 / 1e6,
        millis(*by_person),
        millis(*in_run),
        millis(*append),
        pointer.len()
    )
}

/// What has to hold, and whether it does.
fn verdicts(all: &[Measured]) -> Vec<String> {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
    let mark = |reached: bool| if reached { "reached" } else { "MISSED" };
    let mut verdicts = Vec::new();
    for (name, time) in [("by a person", first.by_person), ("in a run", first.in_run)] {
        let (taken, appends) = (millis(time), time.as_secs_f64() / first.append.as_secs_f64());
        verdicts
            .push(format!("{name}: {taken:.2} ms, target ≤ {MILLIS_MAX} ms: {}", mark(taken <= MILLIS_MAX)));
        let reached = mark(appends <= APPENDS_MAX);
        verdicts.push(format!("{name}: {appends:.1} durable appends, target ≤ {APPENDS_MAX}: {reached}"));
    }
    let ratios = [
        ("by a person", last.by_person.as_secs_f64() / first.by_person.as_secs_f64()),
        ("in a run", last.in_run.as_secs_f64() / first.in_run.as_secs_f64()),
    ];
    for (name, ratio) in ratios.into_iter().filter(|_| all.len() > 1) {
        verdicts.push(format!(
            "{name}: the longest costs {ratio:.2} × the shortest, target ≤ {FLAT}: {}",
            mark(ratio <= FLAT)
        ));
    }
    let bytes = first.pointer.len();
    verdicts.push(format!(
        "pointer: {bytes} bytes, target ≤ {POINTER_BYTES_MAX}: {}",
        mark(bytes <= POINTER_BYTES_MAX)
    ));
    verdicts
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn measure(folder: &Path, bytes: u64, rounds: u32) -> anyhow::Result<Measured> {
    let workspace = Workspace::open(&folder.join("store"), SystemHost, Options::default())?;
    let session = reference::fill(&workspace, 0, bytes)?;
    let runs = if bytes > LONG_BYTES { rounds.min(LONG_ROUNDS) } else { rounds };
    let mut by_person = Vec::new();
    let (mut model_tokens, mut pointer) = (0, String::new());
    for round in 0..rounds {
        let (time, successor) = by_a_person(&workspace, session, round)?;
        by_person.push(time);
        model_tokens += tokens_counted(&**workspace.log(), successor)?;
        pointer = first_text(&**workspace.log(), successor)?;
    }
    let in_run =
        (0..runs).map(|round| in_a_run(&workspace, session, round)).collect::<anyhow::Result<Vec<_>>>()?;
    let append =
        (0..rounds * 4).map(|_| append_once(&workspace, session)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Measured {
        bytes,
        by_person: median(by_person),
        in_run: median(in_run),
        append: median(append),
        model_tokens,
        pointer,
    })
}

/// On a fork of its own each time, so that the session stays as long as it is.
fn forked(workspace: &Workspace, session: SessionId, name: &str) -> anyhow::Result<SessionId> {
    let head = workspace.log().head(session)?.context("the session is gone")?;
    let fork = workspace.fork(session, head.seq, name)?;
    workspace.send(
        fork,
        &Message::text(Role::User, Author::User, "Go on with the parser."),
        Lane::Interactive,
    )?;
    Ok(fork)
}

fn setup() -> Setup {
    let model = ModelName { provider: "example".to_owned(), model: "reference-1".to_owned() };
    Setup { host: "measure".to_owned(), model: Some(model), ..Setup::default() }
}

/// A person asks; the time until the fresh session's first prompt.
fn by_a_person(
    workspace: &Workspace,
    session: SessionId,
    round: u32,
) -> anyhow::Result<(Duration, SessionId)> {
    let fork = forked(workspace, session, &format!("person {round}"))?;
    let begun = now();
    let Freshened::Switched(continued) = workspace.fresh(fork, "measure")? else { bail!("not switched") };
    first_prompt(workspace, continued.successor)?;
    Ok((begun.elapsed(), continued.successor))
}

/// The provider refuses a prompt as too long; the time until the fresh session's first prompt.
fn in_a_run(workspace: &Workspace, session: SessionId, round: u32) -> anyhow::Result<Duration> {
    let fork = forked(workspace, session, &format!("run {round}"))?;
    let mut turn = workspace.turn(fork, &setup())?.context("no run is queued")?;
    turn.prompt()?;
    let begun = now();
    let Step::Continued(continued) = turn.overflowed()? else { bail!("not switched") };
    first_prompt(workspace, continued.successor)?;
    Ok(begun.elapsed())
}

fn first_prompt(workspace: &Workspace, successor: SessionId) -> anyhow::Result<()> {
    let mut turn = workspace.turn(successor, &setup())?.context("no run is queued")?;
    turn.prompt()?;
    Ok(())
}

fn append_once(workspace: &Workspace, session: SessionId) -> anyhow::Result<Duration> {
    let message = Message::text(Role::User, Author::User, "one durable append");
    let begun = now();
    workspace.append(session, [Event::from(message)])?;
    Ok(begun.elapsed())
}

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
fn now() -> Instant {
    Instant::now()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The tokens that models counted in a session.
fn tokens_counted(log: &dyn EventLog, session: SessionId) -> anyhow::Result<u64> {
    let mut tokens = 0;
    for raw in log.read(session, SeqRange::ALL, Direction::Forward)? {
        if let Event::Message(Message { usage: Some(usage), .. }) = raw?.decode()?.event {
            let Usage { input, output, cache_read, cache_write } = usage;
            tokens += [input, output, cache_read, cache_write].into_iter().flatten().sum::<u64>();
        }
    }
    Ok(tokens)
}

/// What a successor begins with.
fn first_text(log: &dyn EventLog, session: SessionId) -> anyhow::Result<String> {
    for raw in log.read(session, SeqRange::ALL, Direction::Forward)? {
        let recorded = raw?.decode_as::<TranscriptEvent>()?;
        if let Some(TranscriptEvent::Message(message)) = recorded.map(|recorded| recorded.event)
            && let Some(Block::Text(text)) = message.blocks.first()
        {
            return Ok(text.clone());
        }
    }
    bail!("the successor begins with nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_model_is_asked_on_the_way_and_the_pointer_is_short() {
        let folder = tempfile::tempdir().unwrap();
        let measured = measure(folder.path(), 600_000, 2).unwrap();
        assert_eq!(measured.model_tokens, 0);
        assert!((200..=POINTER_BYTES_MAX).contains(&measured.pointer.len()), "{}", measured.pointer);
        assert_eq!(verdicts(&[measured]).len(), 5);
    }
}
