//! The command line of Segue: argv in, text out.
//!
//! Data goes to stdout, talk to stderr. Every command answers as text for people, or with `--json` as one object that
//! has a `schema_version` and only ever gets more fields. Exit codes are those of [`Exit`].

mod bar;
mod commands;
mod exit;
mod failure;
mod output;
mod place;
mod stopwatch;
mod thread_argument;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::commands::Command;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, Format, visible};
use crate::place::Place;

/// The whole record of agent sessions, and conversations carried into fresh ones.
#[derive(Parser)]
#[command(name = "segue", version)]
struct Arguments {
    /// The store; by default $SEGUE_STORE, else the data folder of the user.
    #[arg(long, global = true, value_name = "FOLDER", env = "SEGUE_STORE")]
    store: Option<PathBuf>,
    /// Answers with one JSON object.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let format = if arguments.json { Format::Json } else { Format::Text };
    let result = Place::find(arguments.store).and_then(|place| arguments.command.run(&place));
    let exit = match result {
        Ok(answer) => print(format, &answer),
        Err(failure) => {
            if let Some(so_far) = failure.so_far() {
                // The failure's own exit code says more than that stdout could not be written.
                let _ = print(format, so_far);
            }
            tell(&failure.text(format));
            failure.exit
        }
    };
    ExitCode::from(exit.code())
}

/// Writes an answer to stdout. A reader that went away is no failure: it has seen what it wanted.
fn print(format: Format, answer: &Answer) -> Exit {
    answer.warnings.iter().for_each(|warning| tell(&format!("warning: {warning}\n")));
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(&answer.bytes(format)).and_then(|()| stdout.flush()) {
        Ok(()) => answer.exit,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => answer.exit,
        Err(_) => Exit::Unhealthy,
    }
}

fn tell(text: &str) {
    // Without stderr there is nobody to tell; the exit code still says it.
    let _ = std::io::stderr().lock().write_all(visible(text).as_bytes());
}

/// Help and version are answers; everything else is a wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if wants_json && !is_answer {
        let message = error.render().to_string();
        tell(&Failure::new(Exit::Usage, "usage", message.trim_end(), "see --help").text(Format::Json));
    } else {
        let _ = error.print();
    }
    ExitCode::from(if is_answer { Exit::Ok } else { Exit::Usage }.code())
}
