//! `segue recall`: text, exactly as it was said, and how far was looked.

use segue::Scope;
use segue::thread::{Answer as Found, Cursor, Hit, Query, RecallLimits, render_answer};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::resolve;

/// What is looked for, and where.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The text, matched byte for byte.
    query: String,
    /// Only this session and those it continues; by default every session.
    #[arg(long, value_name = "THREAD")]
    thread: Option<String>,
    /// Goes on where an earlier search stopped.
    #[arg(long)]
    cursor: Option<String>,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let reader = place.read()?.reader(Scope::Workspace);
    let cursor: Option<Cursor> = arguments.cursor.as_deref().map(str::parse).transpose()?;
    let limits = RecallLimits::default();
    let found = match &arguments.thread {
        Some(thread) => reader.recall(resolve(&reader, thread)?, &arguments.query, limits, cursor)?,
        None => reader.recall_everywhere(&arguments.query, limits, cursor)?,
    };
    let text = render_answer(&Query::literal(&arguments.query)?, &found);
    let answer = Answer::new(text, &to_json(&arguments.query, &found));
    let answer = if found.coverage.damaged > 0 { answer.with_exit(Exit::Partial) } else { answer };
    Ok(answer.with_damage(reader.known_damage().as_ref()))
}

fn to_json(query: &str, found: &Found) -> Value {
    let coverage = &found.coverage;
    json!({
        "query": query,
        "hits": found.hits.iter().map(hit).collect::<Vec<_>>(),
        "coverage": {
            "threads_searched": coverage.threads_searched,
            "threads": coverage.threads,
            "bytes_searched": coverage.bytes_searched,
            "damaged": coverage.damaged,
            "complete": coverage.complete,
            "up_to": coverage.up_to,
        },
        "cursor": found.cursor.map(|cursor| cursor.to_string()),
    })
}

fn hit(hit: &Hit) -> Value {
    json!({
        "thread": hit.thread.to_string(),
        "seq": hit.seq,
        "part": hit.part,
        "who": hit.who.as_str(),
        "time": hit.time.to_string(),
        "offset": hit.offset,
        "matches": hit.matches,
        "excerpt": hit.excerpt,
        "excerpt_offset": hit.excerpt_offset,
        "text_bytes": hit.text_bytes,
    })
}
