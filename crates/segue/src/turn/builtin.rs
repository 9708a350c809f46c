//! The built-in tools.

use segue_event::{
    CallRef, CallSite, Event, Plan, ResultReturned, Seq, SeqRange, SessionDescribed, SessionId,
    SessionTitled, Title, TitleSource, ToolCall, ToolResult, Touched,
};
use segue_frame::{Entry, Tag};
use segue_prompt::tools::{self, BadArguments, ReadRequest};
use segue_thread::{Limit, Page};

use super::{Phase, Tasks, ToolOutput, Turn, obligations, result_of};
use crate::limits::READ_BYTES_MAX;
use crate::successors::successors;
use crate::{Asker, Error, ErrorKind, Scope, Task, ToolCaller};

/// What a built-in tool did.
pub(super) struct Done {
    /// What is recorded beside the result.
    pub(super) events: Vec<Event>,
    pub(super) output: ToolOutput,
    pub(super) touched: Vec<Touched>,
}

impl Done {
    fn text(events: Vec<Event>, text: impl Into<String>) -> Self {
        Self { events, output: ToolOutput::text(text), touched: Vec::new() }
    }

    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self { events: Vec::new(), output: ToolOutput::failed(text), touched: Vec::new() }
    }
}

impl From<BadArguments> for Done {
    fn from(bad: BadArguments) -> Self {
        Self::failed(bad.to_string())
    }
}

impl Turn<'_> {
    /// Runs a call if the tool is built in; else it waits for the host, and for the end of the batch if it is the verb.
    pub(super) fn dispatch(&mut self, site: CallSite, call: ToolCall) -> Result<(), Error> {
        let run = self.known.run(self.run);
        let may_continue = obligations::may_continue(run);
        let is_typed = run.is_some_and(|run| run.result_schema.is_some());
        let done = match call.name.as_str() {
            "continue_session" if may_continue => {
                self.batch(|batch| batch.continues.push((site, call)));
                return Ok(());
            }
            "status" => self.status(&call),
            "plan" => self.plan(&call),
            "read" => self.read(&call)?,
            "recall" => self.recall(&call.arguments)?,
            "recall_get" => self.recall_get(&call.arguments)?,
            "return_result" if is_typed => self.return_result(&call),
            "delegate" if self.setup.tasks == Tasks::Offered => self.delegate_by(site, &call)?,
            name if self.setup.tools.iter().any(|tool| tool.name == name) => {
                self.batch(|batch| drop(batch.open.insert(site, call)));
                return Ok(());
            }
            _ => self.unknown(&call),
        };
        let Done { mut events, output: ToolOutput { status, blocks }, touched } = done;
        let result = ToolResult { status, blocks, touched, ..result_of(site, &call) };
        events.push(result.into());
        self.commit(|_| Ok(events.clone()))?;
        Ok(())
    }

    fn batch(&mut self, change: impl FnOnce(&mut super::CallBatch)) {
        if let Phase::Calling(batch) = &mut self.phase {
            change(batch);
        }
    }

    fn unknown(&self, call: &ToolCall) -> Done {
        let names: Vec<_> = self.tools().into_iter().map(|tool| tool.name).collect();
        Done::failed(format!("there is no tool `{}`; there are {}", call.name, names.join(", ")))
    }

    fn status(&self, call: &ToolCall) -> Done {
        let change = match tools::read_status(&call.arguments) {
            Ok(change) => change,
            Err(bad) => return bad.into(),
        };
        let mut events: Vec<Event> = Vec::new();
        let mut told = Vec::new();
        if let Some(text) = change.title {
            if self.known.state.title.source > TitleSource::Agent {
                told.push("the title was set by the user and stays");
            } else {
                events.push(SessionTitled { title: Title { text, source: TitleSource::Agent } }.into());
                told.push("titled");
            }
        }
        if let Some(description) = change.description {
            events.push(SessionDescribed { description }.into());
            told.push("described");
        }
        Done::text(events, told.join("; "))
    }

    fn plan(&self, call: &ToolCall) -> Done {
        match tools::read_plan(&call.arguments) {
            Ok(steps) => {
                let plan = Plan { owner: Some(self.run), steps };
                let text = if plan.is_settled() { "the plan is settled" } else { "the plan is set" };
                Done::text(vec![plan.into()], text)
            }
            Err(bad) => bad.into(),
        }
    }

    fn return_result(&self, call: &ToolCall) -> Done {
        match tools::read_result(&call.arguments) {
            Ok(value) => {
                if let Err(why) = self.fits_schema(&value) {
                    return Done::failed(format!("the result does not fit what is owed: {why}"));
                }
                let returned = ResultReturned { run: self.run, value };
                Done::text(vec![returned.into()], "returned; nothing is left to do but to say so")
            }
            Err(bad) => bad.into(),
        }
    }

    fn fits_schema(&self, value: &str) -> Result<(), String> {
        let schema = self.known.run(self.run).and_then(|run| run.result_schema.as_deref());
        match (&self.check, schema) {
            (Some(check), Some(schema)) => check(schema, value),
            _ => Ok(()),
        }
    }

    fn delegate_by(&mut self, site: CallSite, call: &ToolCall) -> Result<Done, Error> {
        let request = match tools::read_delegate(&call.arguments) {
            Ok(request) => request,
            Err(bad) => return Ok(bad.into()),
        };
        if matches!(&self.phase, Phase::Calling(batch) if !batch.continues.is_empty()) {
            return Ok(Done::failed(
                "an earlier call of this batch continues the session: the successor can give the task away",
            ));
        }
        let task = Task { text: request.task, title: request.title, result_schema: request.result_schema };
        let call = CallRef { site: Some(site), provider_id: call.provider_id.clone() };
        let batch = segue_continuation::Batch::First;
        let asker = Asker::Tool(ToolCaller { run: self.run, attempt: self.attempt, call, batch });
        let delegated = self.workspace.delegate(self.session, self.run, &asker, &task)?;
        self.known.catch_up(&*self.workspace.log)?;
        Ok(Done::text(Vec::new(), format!("given to thread:{}", delegated.session)))
    }

    fn read(&self, call: &ToolCall) -> Result<Done, Error> {
        let request = match tools::read_read(&call.arguments) {
            Ok(request) => request,
            Err(bad) => return Ok(bad.into()),
        };
        let place = match self.read_from(&request) {
            Ok(place) => place,
            Err(text) => return Ok(Done::failed(text)),
        };
        let reader = self.workspace.reader(Scope::Agent(self.known.state.agent.clone()));
        let page = match reader.read(place.thread, place.range, place.limit) {
            Ok(page) => page,
            Err(error) if error.kind() == ErrorKind::SessionNotFound => {
                return Ok(Done::failed(format!("there is no thread {}", place.thread)));
            }
            Err(error) => return Err(error),
        };
        let shown = show(&page, place.skip);
        let text = self.framed(&place, &shown)?;
        let touched = touched(&page, &shown).map(|range| Touched { thread: place.thread, range });
        Ok(Done {
            events: Vec::new(),
            output: ToolOutput::text(text),
            touched: touched.into_iter().collect(),
        })
    }

    fn framed(&self, place: &Place, shown: &Shown) -> Result<String, Error> {
        let thread = place.thread.to_string();
        let mut attributes = vec![("thread", thread)];
        let state = self.workspace.reader(Scope::Workspace).state(place.thread)?;
        if let Some(edge) = state.edge.filter(|edge| edge.manifest().is_some()) {
            attributes.push(("continuedFrom", edge.predecessor.to_string()));
        }
        let successors = successors(&*self.workspace.log, place.thread)?;
        let newest = successors.iter().rev().find(|(_, edge)| edge.manifest().is_some());
        attributes.extend(newest.map(|(to, _)| ("continuedTo", to.to_string())));
        attributes.extend(shown.next.map(|next| ("cursor", next.to_string())));
        let attributes: Vec<_> = attributes.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Ok(Tag::Excerpt.frame(&attributes, &shown.text))
    }

    /// Where to read, as far as the request can be understood.
    fn read_from(&self, request: &ReadRequest) -> Result<Place, String> {
        let name = request.thread.trim();
        let name = name.strip_prefix("thread:").unwrap_or(name);
        let thread = match name {
            "" => self.session,
            name => name.parse().map_err(|_| format!("`{name}` is no thread: give thread:<id>"))?,
        };
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let number = |name: &str, number: Option<u64>, default: Seq| match number {
            None => Ok(default),
            Some(number) => Seq::new(number).ok_or_else(|| format!("`{name}` is 0; events count from 1")),
        };
        let from = number("fromSeq", request.from_seq, Seq::FIRST)?;
        let to = number("toSeq", request.to_seq, SeqRange::ALL.to)?;
        let from = cursor.map_or(from, |cursor| cursor.seq);
        let range =
            SeqRange::new(from, to).ok_or_else(|| format!("`toSeq` {to} is before `fromSeq` {from}"))?;
        let limit = request.limit.unwrap_or(tools::READ_LIMIT);
        let limit = usize::try_from(limit).ok().and_then(Limit::new);
        let limit = limit.ok_or_else(|| format!("`limit` must be 1 to {}", tools::READ_LIMIT_MAX))?;
        Ok(Place { thread, range, limit, skip: cursor.map_or(0, |cursor| cursor.skip) })
    }
}

/// What to read.
struct Place {
    thread: SessionId,
    range: SeqRange,
    limit: Limit,
    /// How many bytes of the first entry's lines were given before.
    skip: usize,
}

/// Where an answer ended.
#[derive(Clone, Copy)]
struct Cursor {
    seq: Seq,
    skip: usize,
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, String> {
        let (seq, skip) = text.split_once('+').unwrap_or((text, "0"));
        let seq = seq.parse().ok().and_then(Seq::new);
        match (seq, skip.parse()) {
            (Some(seq), Ok(skip)) => Ok(Self { seq, skip }),
            _ => Err(format!("`{text}` is no cursor: give the one of the answer before")),
        }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.skip {
            0 => write!(f, "{}", self.seq),
            skip => write!(f, "{}+{skip}", self.seq),
        }
    }
}

/// The lines that one answer gives.
struct Shown {
    text: String,
    /// The last entry of which something is shown.
    last: Option<Seq>,
    next: Option<Cursor>,
}

/// Renders entries up to [`READ_BYTES_MAX`]; an entry that is longer by itself is given piece by piece.
fn show(page: &Page, skip: usize) -> Shown {
    let mut shown =
        Shown { text: String::new(), last: None, next: page.next.map(|seq| Cursor { seq, skip: 0 }) };
    let mut skip = skip;
    for entry in &page.entries {
        let lines = entry.render();
        let rest = rest_of(entry, &lines, skip);
        let room = READ_BYTES_MAX.saturating_sub(shown.text.len());
        if rest.len() <= room {
            shown.text.push_str(&rest);
            (shown.last, skip) = (Some(entry.seq), 0);
            continue;
        }
        if shown.text.is_empty() {
            let end = lines.floor_char_boundary(skip + room);
            shown.text = rest_of(entry, lines.get(..end).unwrap_or_default(), skip).into_owned();
            shown.last = Some(entry.seq);
            shown.next = Some(Cursor { seq: entry.seq, skip: end });
        } else {
            shown.next = Some(Cursor { seq: entry.seq, skip: 0 });
        }
        return shown;
    }
    shown
}

/// An entry's lines behind those bytes that were given before, set off so that no text passes for a line's beginning.
fn rest_of<'a>(entry: &Entry, lines: &'a str, skip: usize) -> std::borrow::Cow<'a, str> {
    if skip == 0 {
        return lines.into();
    }
    let rest = lines.get(lines.ceil_char_boundary(skip.min(lines.len()))..).unwrap_or_default();
    format!("(entry {} goes on)\n  {rest}", entry.seq).into()
}

fn touched(page: &Page, shown: &Shown) -> Option<SeqRange> {
    SeqRange::new(page.entries.first()?.seq, shown.last?)
}
