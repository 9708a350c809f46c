//! `segue fork` and `segue back`: going on from an earlier point, and going back.

use segue::event::Seq;
use segue::{Host as _, Scope, SystemHost};
use serde_json::json;

use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::resolve;

/// Where to go on from.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or `latest`.
    thread: String,
    /// The last event that the fork holds.
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    at: u64,
    /// An id of this request, so that asking again does not make another fork.
    #[arg(long, value_name = "ID")]
    request: Option<String>,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let workspace = place.write()?;
    let thread = resolve(&workspace.reader(Scope::Workspace), &arguments.thread)?;
    let unique = || format!("{}-{:?}", SystemHost.now().micros, SystemHost.random());
    let request = arguments.request.clone().unwrap_or_else(unique);
    let fork = workspace.fork(thread, Seq::new(arguments.at).unwrap_or(Seq::FIRST), &request)?;
    let text = format!("forked {thread}\n     at [{}]\n     as {fork}\n", arguments.at);
    Ok(Answer::new(
        text,
        &json!({"thread": thread.to_string(), "at": arguments.at, "fork": fork.to_string()}),
    ))
}

/// What to leave.
#[derive(clap::Args)]
pub(crate) struct BackArguments {
    /// The session to go back from: its id, the beginning of it, or `latest`.
    thread: String,
    /// Why, in words.
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

pub(crate) fn back(place: &Place, arguments: &BackArguments) -> Result<Answer, Failure> {
    let workspace = place.write()?;
    let thread = resolve(&workspace.reader(Scope::Workspace), &arguments.thread)?;
    let predecessor = workspace.go_back(thread, &arguments.note)?;
    let text = format!("back from {thread}\n       to {predecessor}\nnothing was deleted\n");
    let json = json!({"thread": thread.to_string(), "predecessor": predecessor.to_string()});
    Ok(Answer::new(text, &json))
}
