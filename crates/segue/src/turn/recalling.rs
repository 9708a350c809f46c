//! The built-in tools that read the record back verbatim.

use segue_event::{Seq, SeqRange, SessionId, Timestamp, Touched};
use segue_frame::Tag;
use segue_prompt::recall_tools::{GetRequest, RecallRequest, read_get, read_recall};
use segue_thread::{
    Answer, Budget, Case, Cursor, FETCH_BYTES, Fetched, Only, Order, Query, RecallLimits, Style, Tail,
    TextKind, TextPlace, WINDOW_ENTRIES_MAX, Window, render_answer, render_fetched,
};

use super::builtin::Done;
use super::{ToolOutput, Turn};
use crate::limits::{RECALL_MILLIS, TOUCHED_MAX};
use crate::{Error, ErrorKind, Reader, Scope, Where};

/// What keeps a call from being answered, in words for the model; or an error of ours.
enum Stop {
    Told(String),
    Failed(Error),
}

impl From<Error> for Stop {
    /// What the model can mend is told to it.
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::SessionNotFound => Self::Told("there is no such thread".to_owned()),
            ErrorKind::Thread(_) => Self::Told(error.to_string()),
            _ => Self::Failed(error),
        }
    }
}

impl From<segue_thread::ThreadError> for Stop {
    fn from(error: segue_thread::ThreadError) -> Self {
        Error::from(error).into()
    }
}

impl Turn<'_> {
    pub(super) fn recall(&self, arguments: &str) -> Result<Done, Error> {
        match read_recall(arguments) {
            Ok(request) => answered(self.recalled(&request)),
            Err(bad) => Ok(bad.into()),
        }
    }

    pub(super) fn recall_get(&self, arguments: &str) -> Result<Done, Error> {
        match read_get(arguments) {
            Ok(request) => answered(self.got(&request)),
            Err(bad) => Ok(bad.into()),
        }
    }

    fn own_reader(&self) -> Reader {
        self.workspace.reader(Scope::Agent(self.known.state.agent.clone()))
    }

    fn recalled(&self, request: &RecallRequest) -> Result<Done, Stop> {
        let reader = self.own_reader();
        if let Some(count) = request.tail {
            return self.tail(&reader, count);
        }
        let query = query_of(request)?;
        let cursor: Option<Cursor> = request.cursor.as_deref().map(str::parse).transpose()?;
        let within = match (&request.thread, request.tasks) {
            (Some(thread), false) => Where::Thread(self.thread(thread)?),
            (Some(thread), true) => Where::WithTasks(self.thread(thread)?),
            (None, false) => Where::Chain(self.session),
            (None, true) => Where::WithTasks(self.session),
        };
        let host = &self.workspace.host;
        let begun = host.steady_millis();
        let stop = || host.steady_millis().saturating_sub(begun) > RECALL_MILLIS;
        let budget = Budget { limits: RecallLimits::default(), stop: &stop };
        let answer = reader.recall(within, &query, &budget, cursor)?;
        Ok(done(render_answer(&query, &answer), touched_by(&answer)))
    }

    fn tail(&self, reader: &Reader, count: usize) -> Result<Done, Stop> {
        let tail = reader.before_boundary(self.session, count, FETCH_BYTES)?;
        let Some(Tail { thread, entries, left_out }) = tail else {
            return Err(Stop::Told(
                "this session continues no other, and nothing of it was compacted".to_owned(),
            ));
        };
        let mut lines = left_out.map_or_else(String::new, |seq| {
            format!("(what was said back from [{seq}] is too long for this answer: get it by its number)\n")
        });
        entries.iter().for_each(|entry| entry.write(&mut lines));
        let ends = entries.first().zip(entries.last());
        let range = ends.and_then(|(first, last)| SeqRange::new(first.seq, last.seq));
        let touched = range.map(|range| Touched { thread, range });
        let text = Tag::Excerpt.frame(&[("thread", &thread.to_string())], &lines);
        Ok(done(text, touched.into_iter().collect()))
    }

    fn got(&self, request: &GetRequest) -> Result<Done, Stop> {
        let reader = self.own_reader();
        let (thread, seq) = self.entry_of(&reader, request)?;
        let window = Window { thread, seq, before: request.before, after: request.after };
        if request.before.max(request.after) > WINDOW_ENTRIES_MAX {
            return Err(Stop::Told(format!("at most {WINDOW_ENTRIES_MAX} entries are given on either side")));
        }
        let from: Option<TextPlace> = request.cursor.as_deref().map(str::parse).transpose()?;
        let fetched = reader.fetch(window, from, FETCH_BYTES)?;
        let touched = touched_range(&fetched).map(|range| Touched { thread, range });
        Ok(done(render_fetched(thread, &fetched), touched.into_iter().collect()))
    }

    fn entry_of(&self, reader: &Reader, request: &GetRequest) -> Result<(SessionId, Seq), Stop> {
        if let (Some(file), Some(entry)) = (&request.file, &request.entry_id) {
            let found = reader.find_imported(file, entry)?;
            return found.ok_or_else(|| Stop::Told(format!("no session of {file} has an entry {entry}")));
        }
        let thread = request.thread.as_deref().map_or(Ok(self.session), |thread| self.thread(thread))?;
        let seq = request.seq.and_then(Seq::new);
        seq.map(|seq| (thread, seq)).ok_or_else(|| Stop::Told("`seq` is 0; events count from 1".to_owned()))
    }

    fn thread(&self, name: &str) -> Result<SessionId, Stop> {
        let name = name.trim();
        match name.strip_prefix("thread:").unwrap_or(name) {
            "" => Ok(self.session),
            id => id.parse().map_err(|_| Stop::Told(format!("`{id}` is no thread: give thread:<id>"))),
        }
    }
}

fn answered(result: Result<Done, Stop>) -> Result<Done, Error> {
    match result {
        Ok(done) => Ok(done),
        Err(Stop::Told(text)) => Ok(Done::failed(text)),
        Err(Stop::Failed(error)) => Err(error),
    }
}

fn done(text: String, touched: Vec<Touched>) -> Done {
    Done { events: Vec::new(), output: ToolOutput::text(text), touched }
}

/// The tools whose calls and answers are not searched unless they are asked for.
const OWN_TOOLS: [&str; 2] = ["recall", "recall_get"];

fn query_of(request: &RecallRequest) -> Result<Query, Stop> {
    let style = match (request.regex, request.words) {
        (true, _) => Style::Regex,
        (_, true) => Style::Words,
        _ => Style::Literal,
    };
    let case = if request.ignore_case { Case::Insensitive } else { Case::Sensitive };
    let kind = |word: &String| {
        TextKind::from_word(word).ok_or_else(|| {
            let all = TextKind::ALL.map(TextKind::as_str).join(", ");
            Stop::Told(format!("`{word}` is no kind of text; there are {all}"))
        })
    };
    let time = |text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => Timestamp::parse(text)
            .map(Some)
            .ok_or_else(|| Stop::Told(format!("`{text}` is no time: write it as 2026-01-31T09:30:00Z"))),
    };
    let order = match request.order.as_deref() {
        None | Some("newest") => Order::NewestFirst,
        Some("oldest") => Order::OldestFirst,
        Some(other) => return Err(Stop::Told(format!("`{other}` is no order; there are newest and oldest"))),
    };
    let only = Only {
        kinds: request.kinds.iter().map(kind).collect::<Result<_, _>>()?,
        // What was recalled before is only a copy, and every search would find itself.
        except_tools: if request.tools.is_empty() {
            OWN_TOOLS.map(str::to_owned).to_vec()
        } else {
            Vec::new()
        },
        tools: request.tools.clone(),
        since: time(&request.since)?,
        until: time(&request.until)?,
    };
    Ok(Query::new(style, &request.query, case)?.only(only).in_order(order))
}

/// The events that were found, each once, as many as are counted.
fn touched_by(answer: &Answer) -> Vec<Touched> {
    let mut touched: Vec<Touched> = Vec::new();
    for hit in &answer.hits {
        let here = Touched { thread: hit.thread, range: SeqRange::one(hit.seq) };
        if touched.len() < TOUCHED_MAX && !touched.contains(&here) {
            touched.push(here);
        }
    }
    touched
}

fn touched_range(fetched: &Fetched) -> Option<SeqRange> {
    SeqRange::new(fetched.pieces.first()?.place.seq, fetched.pieces.last()?.place.seq)
}
