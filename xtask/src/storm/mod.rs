//! A writer that is killed again and again, and a store that must lose nothing by it.

mod check;
mod label;
mod writer;

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use segue::log::Wait;

use crate::root;
use check::{Answer, Checker};
use label::Dice;

/// How often, and when.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often a writer is killed.
    #[arg(long, default_value_t = 50)]
    kills: u64,
    /// Draws the moments of the kills and what is written; what the machine does in between stays its own.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes into this store until it is killed: what this command starts.
    #[arg(long, hide = true, value_name = "STORE", requires = "round")]
    write: Option<PathBuf>,
    /// Which of the writers it is.
    #[arg(long, hide = true)]
    round: Option<u64>,
}

/// How long a writer may take to give one more answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many kills one store goes through; the next one is fresh, since each kill has all of it verified.
const KILLS_PER_STORE: u64 = 50;

/// SIGKILL.
const KILL_SIGNAL: i32 = 9;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let (Some(store), Some(round)) = (&arguments.write, arguments.round) {
        return writer::write_until_killed(store, round, arguments.seed);
    }
    let below = root().join("target");
    let folder = tempfile::Builder::new().prefix("storm-").tempdir_in(below)?;
    let program = std::env::current_exe()?;
    let start = |store: &Path, round: u64, seed: u64| {
        let mut command = Command::new(&program);
        command.args(["storm", "--seed", &seed.to_string(), "--round", &round.to_string(), "--write"]);
        command.arg(store);
        command
    };
    match storm(folder.path(), arguments, &start) {
        Ok(summary) => println!("{summary}"),
        Err(error) => {
            let kept = folder.keep();
            return Err(error.context(format!("the stores are kept in {}", kept.display())));
        }
    }
    Ok(())
}

/// Kills and checks, and says what was seen. `start` gives the command of a writer, by store, round and seed.
fn storm(
    folder: &Path,
    arguments: &Arguments,
    start: &dyn Fn(&Path, u64, u64) -> Command,
) -> anyhow::Result<String> {
    let mut dice = Dice::new(arguments.seed);
    let mut checker = Checker::default();
    let (mut acknowledged, mut unanswered, mut commits, mut events) = (0, 0, 0, 0);
    for round in 0..arguments.kills {
        let store = &folder.join(format!("store-{}", round / KILLS_PER_STORE));
        if round % KILLS_PER_STORE == 0 {
            let done = std::mem::take(&mut checker);
            (commits, events) = (commits + done.commits(), events + done.events());
        }
        let command = start(store, round, dice.below(u64::MAX));
        let moment = Moment::draw(&mut dice);
        let answers = write_and_kill(command, moment).with_context(|| format!("kill {round}, {moment:?}"))?;
        acknowledged += answers.iter().filter(|answer| answer.wait == Wait::Durable).count();
        unanswered += u64::from(answers.is_empty());
        checker.check(store, round, &answers).with_context(|| format!("kill {round}, {moment:?}"))?;
    }
    (commits, events) = (commits + checker.commits(), events + checker.events());
    Ok(format!(
        "storm: {} kills, {unanswered} of them before the first answer: {acknowledged} acknowledged commits and all \
         their events are there, {commits} commits and {events} events in all; gapless, whole, sound",
        arguments.kills,
    ))
}

/// When a writer is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after it was started: perhaps while it opens the store.
    After(Duration),
    /// So long after so many answers.
    AfterAnswers(usize, Duration),
}

impl Moment {
    fn draw(dice: &mut Dice) -> Self {
        if dice.below(4) == 0 {
            return Self::After(Duration::from_micros(dice.below(30_000)));
        }
        let answers = usize::try_from(1 + dice.below(300)).unwrap_or(1);
        Self::AfterAnswers(answers, Duration::from_micros(dice.below(5_000)))
    }
}

/// What a writer answered until it was killed.
fn write_and_kill(mut command: Command, moment: Moment) -> anyhow::Result<Vec<Answer>> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("starting a writer")?;
    let output = BufReader::new(child.stdout.take().context("a writer without output")?);
    let (tell, told) = mpsc::channel();
    // Ends with the writer's output, which all of it arrives: a pipe outlives who wrote to it.
    let listener = std::thread::spawn(move || {
        let answers = output.lines().map_while(Result::ok).filter_map(|line| line.parse::<Answer>().ok());
        answers.map(|answer| tell.send(answer)).all(|sent| sent.is_ok())
    });
    let mut answers = Vec::new();
    let waited = wait_for(moment, &told, &mut answers);
    let killed = kill(&mut child);
    waited?;
    killed?;
    answers.extend(told.iter());
    ensure!(listener.join().is_ok(), "listening failed");
    Ok(answers)
}

fn wait_for(moment: Moment, told: &mpsc::Receiver<Answer>, answers: &mut Vec<Answer>) -> anyhow::Result<()> {
    let pause = match moment {
        Moment::After(pause) => pause,
        Moment::AfterAnswers(count, pause) => {
            while answers.len() < count {
                answers.push(told.recv_timeout(PATIENCE).context("the writer answers no more")?);
            }
            pause
        }
    };
    std::thread::sleep(pause);
    Ok(())
}

/// Kills a writer, which must not have ended before by itself.
fn kill(child: &mut Child) -> anyhow::Result<()> {
    child.kill()?;
    let status = child.wait()?;
    ensure!(status.signal() == Some(KILL_SIGNAL), "the writer ended by itself: {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: &str = "SEGUE_TEST_STORM";

    /// The writer of the test below; without the variable a test that does nothing.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
    fn child() {
        let Ok(told) = std::env::var(WRITE) else { return };
        let mut words = told.splitn(3, ' ');
        let mut number = || words.next().unwrap().parse().unwrap();
        let (round, seed) = (number(), number());
        writer::write_until_killed(words.next().unwrap().as_ref(), round, seed).unwrap();
    }

    #[test]
    fn a_few_kills_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let start = |store: &Path, round: u64, seed: u64| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "storm::tests::child", "--nocapture", "--test-threads", "1"]);
            command.env(WRITE, format!("{round} {seed} {}", store.display())).stderr(Stdio::null());
            command
        };
        let arguments = Arguments { kills: 6, seed: 3, write: None, round: None };
        let summary = storm(folder.path(), &arguments, &start).unwrap();
        assert!(summary.starts_with("storm: 6 kills"), "{summary}");
    }
}
