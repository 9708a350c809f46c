//! `segue get`: one event in full, exactly.

use segue::Scope;
use segue::event::Seq;
use serde_json::json;

use crate::commands::show::to_json;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::resolve;

/// Which event.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or `latest`.
    thread: String,
    /// The event's number, as in brackets.
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    seq: u64,
    /// Writes one text of the event to the byte, without a label: the first is 0.
    #[arg(long)]
    part: Option<u32>,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let reader = place.read()?.reader(Scope::Workspace);
    let thread = resolve(&reader, &arguments.thread)?;
    let entry = reader.entry(thread, Seq::new(arguments.seq).unwrap_or(Seq::FIRST))?;
    let json = json!({"thread": thread.to_string(), "entry": to_json(&entry)});
    let Some(wanted) = arguments.part else { return Ok(Answer::new(entry.render(), &json)) };
    let part = entry.parts.iter().find(|part| part.index == wanted).ok_or_else(|| {
        let there: Vec<_> = entry.parts.iter().map(|part| part.index.to_string()).collect();
        let message = format!("event {} has no text {wanted}; it has {}", entry.seq, there.join(", "));
        Failure::new(Exit::NotFound, "part-not-found", message, "")
    })?;
    Ok(Answer::exact(part.text.clone().into_bytes(), &json))
}
