//! `segue recall`: text, exactly as it was said, and how far was looked.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use segue::event::{SessionId, Timestamp};
use segue::thread::{
    Answer as Found, Budget, Case, Coverage, Cursor, Hit, Only, Order, Query, RecallLimits, Style, TextKind,
    render_answer,
};
use segue::{Reader, Scope, Where};
use serde_json::{Value, json};

use crate::commands::show::to_json as entry_to_json;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::stopwatch::Stopwatch;
use crate::thread_argument::resolve;

/// What is looked for, and where.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The text, matched byte for byte unless another way is asked for.
    #[arg(required_unless_present = "tail")]
    query: Option<String>,
    /// Instead: the last entries before the session was continued from its predecessor, or its context was compacted.
    #[arg(long, value_name = "ENTRIES", conflicts_with = "query", requires = "thread")]
    tail: Option<usize>,
    /// Takes the query for a regular expression.
    #[arg(long, short = 'e', conflicts_with = "words")]
    regex: bool,
    /// Takes the query for words, all of which must be in a text, in any order.
    #[arg(long, short = 'w')]
    words: bool,
    /// Does not tell upper from lower case.
    #[arg(long, short = 'i')]
    ignore_case: bool,
    /// Only this session and those it continues; by default every session.
    #[arg(long, value_name = "THREAD")]
    thread: Option<String>,
    /// Only that session itself.
    #[arg(long, requires = "thread", conflicts_with = "tasks")]
    alone: bool,
    /// Also the sessions of tasks that were delegated from there.
    #[arg(long, requires = "thread")]
    tasks: bool,
    /// Only texts of this kind; can be given several times.
    #[arg(long = "kind", value_name = "KIND", value_parser = kinds())]
    kinds: Vec<TextKind>,
    /// Only calls of this tool and what they answered; can be given several times.
    #[arg(long = "tool", value_name = "TOOL")]
    tools: Vec<String>,
    /// Only what was said from this time on, such as 2026-01-31T09:30:00Z.
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    since: Option<Timestamp>,
    /// Only what was said up to this time.
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    until: Option<Timestamp>,
    /// The oldest findings first.
    #[arg(long)]
    oldest_first: bool,
    /// How many bytes the findings may have in one answer.
    #[arg(long, value_name = "BYTES", default_value_t = RecallLimits::default().answer_bytes)]
    max_bytes: usize,
    /// How many bytes of context are shown on either side.
    #[arg(long, value_name = "BYTES", default_value_t = RecallLimits::default().context_bytes)]
    context: usize,
    /// How many sessions of a chain are searched before the answer is given.
    #[arg(long, value_name = "SESSIONS")]
    depth: Option<usize>,
    /// Stops after so many milliseconds, with a cursor.
    #[arg(long, value_name = "MS")]
    max_ms: Option<u64>,
    /// Goes on where an earlier search stopped.
    #[arg(long)]
    cursor: Option<String>,
}

/// Reads a kind of text by its word.
fn kinds() -> impl TypedValueParser<Value = TextKind> {
    let words = PossibleValuesParser::new(TextKind::ALL.map(TextKind::as_str));
    words.try_map(|word| TextKind::from_word(&word).ok_or("there is no such kind"))
}

fn read_time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| format!("`{text}` is no time: write it as 2026-01-31T09:30:00Z"))
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let reader = place.read()?.reader(Scope::Workspace);
    if let (Some(count), Some(thread)) = (arguments.tail, &arguments.thread) {
        return last_entries(&reader, resolve(&reader, thread)?, count);
    }
    let cursor: Option<Cursor> = arguments.cursor.as_deref().map(str::parse).transpose()?;
    let query = arguments.query()?;
    let watch = Stopwatch::start();
    let stop = || arguments.max_ms.is_some_and(|max| watch.milliseconds() >= max);
    let limits = RecallLimits {
        answer_bytes: arguments.max_bytes,
        context_bytes: arguments.context,
        threads_a_leg: arguments.depth.unwrap_or(RecallLimits::default().threads_a_leg),
        ..RecallLimits::default()
    };
    let found = reader.recall(arguments.within(&reader)?, &query, &Budget { limits, stop: &stop }, cursor)?;
    let text = format!("{}{}\n", render_answer(&query, &found), looked_through(&found.coverage));
    let answer = Answer::new(text, &to_json(&query, &found));
    let answer = if found.coverage.damaged > 0 { answer.with_exit(Exit::Partial) } else { answer };
    Ok(answer.with_damage(reader.known_damage().as_ref()))
}

fn last_entries(reader: &Reader, session: SessionId, count: usize) -> Result<Answer, Failure> {
    let Some(tail) = reader.before_boundary(session, count, usize::MAX)? else {
        let text = "this session continues no other, and nothing of it was compacted\n";
        return Ok(Answer::new(text.to_owned(), &json!({"thread": null, "entries": []})));
    };
    let mut text = format!("thread:{}\n", tail.thread);
    tail.entries.iter().for_each(|entry| entry.write(&mut text));
    let entries: Vec<_> = tail.entries.iter().map(entry_to_json).collect();
    Ok(Answer::new(text, &json!({"thread": tail.thread.to_string(), "entries": entries})))
}

impl Arguments {
    fn query(&self) -> Result<Query, Failure> {
        let style = match (self.regex, self.words) {
            (true, _) => Style::Regex,
            (_, true) => Style::Words,
            _ => Style::Literal,
        };
        let case = if self.ignore_case { Case::Insensitive } else { Case::Sensitive };
        let only = Only {
            kinds: self.kinds.clone(),
            tools: self.tools.clone(),
            except_tools: Vec::new(),
            since: self.since,
            until: self.until,
        };
        let order = if self.oldest_first { Order::OldestFirst } else { Order::NewestFirst };
        Ok(Query::new(style, self.query.as_deref().unwrap_or_default(), case)?.only(only).in_order(order))
    }

    fn within(&self, reader: &Reader) -> Result<Where, Failure> {
        let Some(thread) = &self.thread else { return Ok(Where::Everywhere) };
        let session: SessionId = resolve(reader, thread)?;
        Ok(match (self.alone, self.tasks) {
            (true, _) => Where::Thread(session),
            (_, true) => Where::WithTasks(session),
            _ => Where::Chain(session),
        })
    }
}

fn looked_through(coverage: &Coverage) -> String {
    let Coverage { bytes_searched, bytes_ruled_out, .. } = coverage;
    format!("{bytes_searched} bytes looked through, {bytes_ruled_out} more ruled out by filters")
}

fn to_json(query: &Query, found: &Found) -> Value {
    let coverage = &found.coverage;
    json!({
        "query": query.text(),
        "hits": found.hits.iter().map(hit).collect::<Vec<_>>(),
        "coverage": {
            "threads_searched": coverage.threads_searched,
            "threads": coverage.threads,
            "bytes_searched": coverage.bytes_searched,
            "bytes_ruled_out": coverage.bytes_ruled_out,
            "damaged": coverage.damaged,
            "complete": coverage.complete,
            "up_to": coverage.up_to,
        },
        "cursor": found.cursor.map(|cursor| cursor.to_string()),
    })
}

fn hit(hit: &Hit) -> Value {
    let fate = hit.fate.iter().map(|fate| json!({"what": fate.what.as_str(), "seq": fate.seq}));
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
        "later": fate.collect::<Vec<_>>(),
    })
}
