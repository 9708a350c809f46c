//! `segue audit`: what became of the sources of a continuation.

use std::fmt::Write as _;

use segue::event::{SourceTarget, WhyOmitted};
use segue::projection::{AuditedSource, CitedBy, Fate};
use segue::{Audited, Scope};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{Answer, one_line};
use crate::place::Place;
use crate::thread_argument::resolve;

/// Which continuation.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session that it made: its id, the beginning of it, or `latest`.
    successor: String,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let reader = place.read()?.reader(Scope::Workspace);
    let successor = resolve(&reader, &arguments.successor)?;
    let audited = reader.audit(successor)?;
    let sources: Vec<_> = audited.audit.sources().iter().map(to_json).collect();
    let sessions: Vec<_> = audited.sessions.iter().map(ToString::to_string).collect();
    let json = json!({
        "continuation": audited.edge.continuation.to_string(),
        "predecessor": audited.edge.predecessor.to_string(),
        "successor": successor.to_string(),
        "sources": sources,
        "sessions": sessions,
    });
    Ok(Answer::new(show(&audited), &json).with_damage(reader.known_damage().as_ref()))
}

fn show(audited: &Audited) -> String {
    let sources = audited.audit.sources();
    let mut text = String::new();
    for (number, source) in (1..).zip(sources) {
        let AuditedSource { target, readings, .. } = source;
        let (target, cited_by, fate) =
            (show_target(target), show_cited_by(&source.cited_by), show_fate(source.fate));
        let _ = writeln!(text, "{number}. {target}: {cited_by}\n   {fate}; {}", times(*readings));
    }
    if sources.is_empty() {
        text.push_str("nothing was cited or recommended\n");
    }
    let _ = writeln!(text, "sessions in which readings are counted: {}", audited.sessions.len());
    text
}

fn show_target(target: &SourceTarget) -> String {
    match target {
        SourceTarget::Events { thread, range } => format!("thread:{thread} [{range}]"),
        SourceTarget::Resource { url, .. } => one_line(url),
        SourceTarget::Memory { path } => one_line(path),
    }
}

fn show_cited_by(cited_by: &CitedBy) -> String {
    match cited_by {
        CitedBy::Handoff { relevance } => one_line(relevance),
        CitedBy::Runtime(why) => format!("recommended, {}", why.as_str()),
    }
}

fn show_fate(fate: Fate) -> String {
    let (shown, why) = parts_of(fate);
    why.map_or_else(
        || shown.replace('_', " "),
        |why| format!("{}: {}", shown.replace('_', " "), why.as_str()),
    )
}

/// The word for a fate, and why not more was shown.
fn parts_of(fate: Fate) -> (&'static str, Option<WhyOmitted>) {
    match fate {
        Fate::Shown => ("shown", None),
        Fate::Cut => ("shown_cut", None),
        Fate::ShownInPart(why) => ("shown_in_part", Some(why)),
        Fate::LeftOut(why) => ("left_out", Some(why)),
    }
}

fn times(readings: u64) -> String {
    match readings {
        0 => "never read back".to_owned(),
        1 => "read back once".to_owned(),
        more => format!("read back {more} times"),
    }
}

fn to_json(source: &AuditedSource) -> Value {
    let (cited_by, why) = match &source.cited_by {
        CitedBy::Handoff { relevance } => ("handoff", json!(relevance)),
        CitedBy::Runtime(why) => ("runtime", json!(why)),
    };
    let (fate, why_not) = parts_of(source.fate);
    json!({
        "target": source.target,
        "cited_by": cited_by,
        "why": why,
        "fate": fate,
        "why_not": why_not,
        "readings": source.readings,
    })
}
