//! The views of a run that its snapshots hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use segue::event::{Event, Position, RawEvent, SeqRange, SessionId};
use segue::log::{EventLog, LogError};
use segue::prompt::PromptMessage;
use segue::thread::Limit;
use segue::{Error, Scope};
use serde_json::Value;

use crate::Run;

/// A named view of a run, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// Its name, and its snapshot's.
    pub name: &'static str,
    /// What people read.
    pub text: String,
}

impl Run {
    /// Every view of the run, as it is now.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn views(&self) -> Result<Vec<View>, Error> {
        views(self)
    }
}

fn views(run: &Run) -> Result<Vec<View>, Error> {
    let all = vec![
        View { name: "answers", text: run.answers.join("\n") },
        View { name: "log", text: log(run)? },
        View { name: "edges", text: edges(run)? },
        View { name: "projection", text: projections(run)? },
        View { name: "thread", text: threads(run)? },
        View { name: "prompts", text: prompts(run)? },
    ];
    // Fixtures without turns have no prompts to show.
    Ok(all.into_iter().filter(|view| view.name != "prompts" || !run.prompts.is_empty()).collect())
}

/// Each prompt: what is new in it since the one before of the same session, and whether the record gives it again.
fn prompts(run: &Run) -> Result<String, Error> {
    let mut text = String::new();
    let mut shown: BTreeMap<&str, &[Arc<PromptMessage>]> = BTreeMap::new();
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, prompt) in &run.prompts {
        let number = told.entry(name).and_modify(|number| *number += 1).or_insert(0);
        let session = run.sessions.get(name).copied().unwrap_or(SessionId::from_bytes([0; 16]));
        let receipts = run.workspace.receipts(session)?;
        let Some(receipt) = receipts.get(*number) else { continue };
        let rebuilt = run.workspace.rebuild_prompt(session, receipt.seq)?;
        let (seq, hash, verdict) = (receipt.seq, receipt.event.prompt, rebuilt.verdict);
        text.push_str(&format!("{name} [{seq}] {hash}, rebuilt: {verdict:?}\n"));
        let names: Vec<_> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
        text.push_str(&format!("{} system parts; tools: {}\n", prompt.system.len(), names.join(" ")));
        let before = shown.insert(name, &prompt.transcript).unwrap_or_default();
        let known = prompt.transcript.iter().zip(before).take_while(|(now, then)| now == then).count();
        for message in prompt.transcript.iter().skip(known) {
            text.push_str(&String::from_utf8_lossy(&message.to_bytes()));
            text.push('\n');
        }
        text.push_str(&prompt.blocks.concat());
        text.push('\n');
    }
    Ok(text)
}

fn log(run: &Run) -> Result<String, LogError> {
    let mut text = String::new();
    for (name, session) in &run.sessions {
        text.push_str(&format!("{name} = {session}\n"));
    }
    for raw in run.workspace.log().read_log(Position::FIRST)? {
        text.push_str(&show_event(&raw?)?);
    }
    Ok(text)
}

fn show_event(raw: &RawEvent) -> Result<String, LogError> {
    let recorded = raw.decode().map_err(LogError::codec)?;
    let body = match &recorded.event {
        Event::SessionStarted(started) => {
            let mut started = started.clone();
            // The manifest has a view of its own.
            started.edge = None;
            to_json(&started)
        }
        Event::SessionTitled(body) => to_json(body),
        Event::SessionDescribed(body) => to_json(body),
        Event::ModelChosen(body) => to_json(body),
        Event::WentBack(body) => to_json(body),
        Event::Message(body) => to_json(body),
        Event::ToolResult(body) => to_json(body),
        Event::ErrorNoted(body) => to_json(body),
        Event::Unreadable(body) => to_json(body),
        Event::Lost(body) => to_json(body),
        Event::PlanSet(body) => to_json(body),
        Event::RunQueued(body) => to_json(body),
        Event::RunStarted(body) => to_json(body),
        Event::RunEnded(body) => to_json(body),
        Event::RunWaiting(body) => to_json(body),
        Event::ChildDelegated(body) => to_json(body),
        Event::ResultReturned(body) => to_json(body),
        Event::ObligationsAsked(body) => to_json(body),
        Event::MessageQueued(body) => to_json(body),
        Event::QueuedMessageTaken(body) => to_json(body),
        Event::LeaseTaken(body) => to_json(body),
        Event::FreshArmed(body) => to_json(body),
        Event::FreshSettled(body) => to_json(body),
        Event::ContextCompacted(body) => to_json(body),
        Event::Receipt(body) => to_json(body),
        Event::ImportedLine(line) => Value::String(String::from_utf8_lossy(&line.bytes).into_owned()),
        Event::ImportProgress(body) => to_json(body),
        Event::NoteTaken(body) => to_json(body),
        Event::NoteGiven(body) => to_json(body),
        Event::NudgeSent(body) => to_json(body),
        Event::Opaque(_) => Value::Null,
    };
    let header = raw.header;
    Ok(format!(
        "{} {} [{}] {} {}\n  {}\n  {}\n",
        raw.position,
        header.session,
        header.seq,
        header.time,
        header.kind,
        header.hash,
        without_nulls(body)
    ))
}

fn to_json(body: &impl serde::Serialize) -> Value {
    serde_json::to_value(body).unwrap_or(Value::Null)
}

/// Leaves out what is not there, so that people see what is.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().map(|(key, value)| (key, without_nulls(value)));
            Value::Object(kept.filter(|(_, value)| !is_nothing(value)).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn edges(run: &Run) -> Result<String, Error> {
    let reader = run.workspace.reader(Scope::Workspace);
    let lineage = reader.lineage()?;
    let mut text = String::new();
    for overview in reader.sessions(None, usize::MAX)?.iter().rev() {
        if let Some(edge) = lineage.edge_into(overview.session) {
            let json = without_nulls(to_json(edge));
            let json = serde_json::to_string_pretty(&json).unwrap_or_default();
            text.push_str(&format!("{} -> {}\n{json}\n", edge.predecessor, overview.session));
        }
    }
    Ok(text)
}

fn projections(run: &Run) -> Result<String, Error> {
    let mut text = String::new();
    for (name, session) in &run.sessions {
        let edge = run.workspace.reader(Scope::Workspace).state(*session)?.edge;
        if edge.is_some_and(|edge| edge.manifest().is_some()) {
            let recompiled = run.workspace.recompile(*session)?;
            text.push_str(&format!(
                "{name}, compiled again: {:?}\n{}\n",
                recompiled.verdict, recompiled.stored
            ));
        }
    }
    Ok(text)
}

fn threads(run: &Run) -> Result<String, Error> {
    let mut text = String::new();
    for (name, session) in &run.sessions {
        let reader = run.workspace.reader(Scope::Workspace);
        let page = reader.read(*session, SeqRange::ALL, Limit::default())?;
        let lines: String = page.entries.iter().map(segue::frame::Entry::render).collect();
        text.push_str(&format!("{name}\n{lines}\n"));
    }
    Ok(text)
}

/// Every event's place and id, line by line: two logs with the same lines hold the same record, to the byte.
///
/// An event's id covers its header and its body, but not its position.
pub(crate) fn fingerprint(log: &dyn EventLog) -> Result<String, LogError> {
    let line =
        |raw: Result<RawEvent, LogError>| raw.map(|raw| format!("{} {}\n", raw.position, raw.header.hash));
    log.read_log(Position::FIRST)?.map(line).collect()
}
