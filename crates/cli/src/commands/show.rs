//! `segue show`: the lines of a session.

use segue::Scope;
use segue::event::{Seq, SeqRange};
use segue::frame::Entry;
use segue::thread::Limit;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::resolve;

/// Which lines are shown.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or `latest`.
    thread: String,
    /// The first event, by the number in brackets.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    from: u64,
    /// The last event.
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..))]
    to: u64,
    /// At most this many events.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let reader = place.read()?.reader(Scope::Workspace);
    let thread = resolve(&reader, &arguments.thread)?;
    let limit = usize::try_from(arguments.limit).ok().and_then(Limit::new).unwrap_or_default();
    let page = reader.read(thread, range(arguments)?, limit)?;
    let mut text: String = page.entries.iter().map(Entry::render).collect();
    if let Some(next) = page.next {
        text.push_str(&format!("more: --from {next}\n"));
    }
    let entries: Vec<_> = page.entries.iter().map(to_json).collect();
    let json = json!({"thread": thread.to_string(), "entries": entries, "next": page.next});
    Ok(Answer::new(text, &json).with_damage(reader.known_damage().as_ref()))
}

fn range(arguments: &Arguments) -> Result<SeqRange, Failure> {
    let ends = Seq::new(arguments.from).zip(Seq::new(arguments.to));
    ends.and_then(|(from, to)| SeqRange::new(from, to)).ok_or_else(|| {
        let message = format!("--from {} lies behind --to {}", arguments.from, arguments.to);
        Failure::new(Exit::Usage, "empty-range", message, "")
    })
}

/// An entry with its texts, exactly.
pub(crate) fn to_json(entry: &Entry) -> Value {
    let parts = entry.parts.iter();
    let parts: Vec<_> =
        parts.map(|part| json!({"part": part.index, "who": part.who.as_str(), "text": part.text})).collect();
    json!({"seq": entry.seq, "parts": parts})
}
