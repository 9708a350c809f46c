//! `segue sessions`: what is there, newest first.

use segue::event::Position;
use segue::{Overview, Scope};
use serde_json::json;

use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::show_title;

/// Which sessions are listed.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// At most this many.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    limit: u64,
    /// Goes on where an earlier list ended.
    #[arg(long, value_name = "POSITION", value_parser = clap::value_parser!(u64).range(1..))]
    before: Option<u64>,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let reader = place.read()?.reader(Scope::Workspace);
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let overviews = reader.sessions(arguments.before.and_then(Position::new), limit)?;
    // A full page may have another behind it.
    let next = overviews.last().filter(|_| overviews.len() == limit).map(|overview| overview.first);
    let mut text: String = overviews.iter().map(line).collect();
    if overviews.is_empty() {
        text.push_str("no sessions\n");
    }
    if let Some(next) = next {
        text.push_str(&format!("more: --before {next}\n"));
    }
    let sessions: Vec<_> = overviews.iter().map(to_json).collect();
    Ok(Answer::new(text, &json!({"sessions": sessions, "next": next})))
}

fn line(overview: &Overview) -> String {
    let state = &overview.state;
    let origin = match (&state.edge, &state.import) {
        (Some(edge), _) => format!("  continues {}", edge.predecessor),
        (None, Some(import)) => format!("  imported from {}", import.kind.as_str()),
        (None, None) => String::new(),
    };
    format!("{}  {:>6} events  {}{origin}\n", state.session, overview.head.seq, show_title(overview))
}

fn to_json(overview: &Overview) -> serde_json::Value {
    let state = &overview.state;
    json!({
        "id": state.session.to_string(),
        "title": state.title.text,
        "title_source": state.title.source,
        "description": state.description,
        "agent": state.agent.as_str(),
        "working_directory": state.working_directory,
        "events": overview.head.seq,
        "head": overview.head.hash.to_string(),
        "first_position": overview.first,
        "continued_from": state.edge.as_ref().map(|edge| edge.predecessor.to_string()),
        "import": state.import,
    })
}
