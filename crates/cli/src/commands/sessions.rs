//! `segue sessions`: what is there, newest first.

use segue::continuation::SessionState;
use segue::event::{EdgeKind, Position, SessionId};
use segue::{Overview, Scope};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Answer, one_line};
use crate::place::Place;

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
    let answer = Answer::new(text, &json!({"sessions": sessions, "next": next}));
    Ok(answer.with_damage(reader.known_damage().as_ref()))
}

fn line(overview: &Overview) -> String {
    let Overview { session, head, state, .. } = overview;
    let Some(state) = state else {
        let why = match *session {
            SessionId::LOST_AND_FOUND => "lost and found: marks of lost events whose session is not known",
            _ => "damaged: its beginning cannot be read",
        };
        return format!("{session}  {:>6} events  ({why})\n", head.seq);
    };
    let origin = match (&state.edge, &state.import) {
        (Some(edge), _) => format!("  {} {}{}", how(edge.kind()), edge.predecessor, left(state)),
        (None, Some(import)) => format!("  imported from {}", import.kind.as_str()),
        (None, None) => String::new(),
    };
    let title = one_line(if state.title.text.is_empty() { "(untitled)" } else { &state.title.text });
    let day: String = state.started_at.to_string().chars().take(10).collect();
    format!("{session}  {day}  {:>6} events  {title}{origin}\n", head.seq)
}

fn how(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Continue => "continues",
        EdgeKind::Fresh => "goes on afresh from",
        EdgeKind::Delegate => "works for",
        EdgeKind::Fork => "forks",
    }
}

fn left(state: &SessionState) -> &'static str {
    if state.went_back.is_some() { ", and was left for it again" } else { "" }
}

fn to_json(overview: &Overview) -> serde_json::Value {
    let state = overview.state.as_ref();
    json!({
        "id": overview.session.to_string(),
        "damaged": state.is_none(),
        "title": state.map(|state| &state.title.text),
        "title_source": state.map(|state| state.title.source),
        "description": state.map(|state| &state.description),
        "agent": state.map(|state| state.agent.as_str()),
        "working_directory": state.map(|state| &state.working_directory),
        "started_at": state.map(|state| state.started_at.to_string()),
        "events": overview.head.seq,
        "head": overview.head.hash.to_string(),
        "first_position": overview.first,
        "continued_from": state.and_then(|state| state.edge.as_ref()).map(|edge| edge.predecessor.to_string()),
        "kind": state.and_then(|state| state.edge.as_ref()).map(|edge| edge.kind()),
        "went_back": state.is_some_and(|state| state.went_back.is_some()),
        "import": state.and_then(|state| state.import.as_ref()),
    })
}
