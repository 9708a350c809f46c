//! From the JSON that a model wrote to a [`Request`].
//!
//! Never refuse what can be understood. Models nest top-level fields inside `handoff` on a large share of calls;
//! each one that the top level lacks is lifted out, and where both have it the nested one is kept in `extra`.
//! Keys in snake case, JSON inside strings, numbers as strings and single items for lists are all understood.

use std::collections::BTreeMap;

use segue_event::{Handoff, PlanTransfer, Reason, Seq, SeqRange, SessionId, Source, SourceTarget};
use serde_json::Value;

use crate::caps::{
    DESCRIPTION_BYTES_MAX, PATH_BYTES_MAX, RELEVANCE_BYTES_MAX, REQUEST_BYTES_MAX, SOURCES_MAX,
    TITLE_BYTES_MAX, URL_BYTES_MAX,
};
use crate::lenient::{Fields, any_texts, join, text, wrong_shape};
use crate::{Refusal, Request};

/// Reads the arguments of `continue_session`. `current` is the session that sources mean when they name none.
///
/// # Errors
/// A [`Refusal`] that names the first field that cannot be understood.
///
/// ```
/// # use segue_continuation::normalise;
/// # use segue_event::SessionId;
/// let request = normalise(
///     r#"{"handoff": {"title": "Parser", "description": "done", "reason": "phase_change",
///         "purpose": "a parser", "current_request": "test it", "decisions": "no regex"}}"#,
///     SessionId::from_bytes([1; 16]),
/// )?;
/// assert_eq!((request.title.as_str(), request.handoff.decisions.len()), ("Parser", 1));
/// # Ok::<(), segue_continuation::Refusal>(())
/// ```
pub fn normalise(arguments: &str, current: SessionId) -> Result<Request, Refusal> {
    if arguments.len() > REQUEST_BYTES_MAX {
        return Err(Refusal::RequestTooLarge { bytes: arguments.len(), max: REQUEST_BYTES_MAX });
    }
    let value: Value = serde_json::from_str(arguments)
        .map_err(|error| Refusal::NotAnObject { found: format!("no JSON ({error})") })?;
    let mut top = Fields::of("", value).map_err(|refusal| {
        if let Refusal::WrongShape { found, .. } = refusal { Refusal::NotAnObject { found } } else { refusal }
    })?;
    let (handoff, mut spare) = hoist(&mut top)?;
    let reason = reason(&mut top)?;
    let title = required(&mut top, "", "title", "name the successor")?;
    at_most("title", &title, TITLE_BYTES_MAX)?;
    let description = required(&mut top, "", "description", "say in a sentence how things stand")?;
    at_most("description", &description, DESCRIPTION_BYTES_MAX)?;
    let (sources, unknown) = sources(top.take_list("sources"), current)?;
    spare.extend(unknown);
    let plan = plan_transfer(&mut top, &mut spare)?;
    let handoff = read_handoff(handoff, spare, top)?;
    Ok(Request { reason, title, description, handoff, sources, plan })
}

const TOP_LEVEL: [&str; 5] = ["reason", "title", "description", "sources", "transfer"];

/// Takes the handoff out of the top level, and lifts out of it what belongs beside it. What was there twice comes back
/// as second value.
fn hoist(top: &mut Fields) -> Result<(Fields, Vec<Spare>), Refusal> {
    let Some(handoff) = top.take("handoff") else {
        return Err(missing("handoff", "write it for a colleague who has read nothing"));
    };
    let mut handoff = Fields::of("handoff", handoff)?;
    let mut spare = Vec::new();
    for name in TOP_LEVEL {
        if let Some(nested) = handoff.take(name)
            && let Some(nested) = top.offer(name, nested)
        {
            spare.push((name.to_owned(), nested));
        }
    }
    Ok((handoff, spare))
}

fn reason(top: &mut Fields) -> Result<Reason, Refusal> {
    let word = required(top, "", "reason", "say why")?;
    Reason::from_word(&word.to_lowercase().replace([' ', '-'], "_")).ok_or(Refusal::UnknownReason { word })
}

fn read_handoff(mut fields: Fields, spare: Vec<Spare>, top: Fields) -> Result<Handoff, Refusal> {
    let purpose = required(&mut fields, "handoff", "purpose", "say what the work is for")?;
    let current_request =
        required(&mut fields, "handoff", "currentRequest", "say what is asked for right now")?;
    let mut list = |name| fields.take_texts("handoff", name);
    let mut handoff = Handoff {
        purpose,
        current_request,
        established_facts: list("establishedFacts")?,
        decisions: list("decisions")?,
        open_questions: list("openQuestions")?,
        next_actions: list("nextActions")?,
        cautions: list("cautions")?,
        extra: BTreeMap::new(),
    };
    match fields.take("extra") {
        Some(Value::Object(extra)) => spare_into(&mut handoff.extra, extra),
        Some(other) => spare_into(&mut handoff.extra, [("extra".to_owned(), other)]),
        None => {}
    }
    spare_into(&mut handoff.extra, fields.rest());
    spare_into(&mut handoff.extra, spare);
    spare_into(&mut handoff.extra, top.rest());
    Ok(handoff)
}

/// Keeps whatever was not asked for, so that nothing an agent wrote is lost.
fn spare_into(extra: &mut BTreeMap<String, Vec<String>>, fields: impl IntoIterator<Item = Spare>) {
    for (key, value) in fields {
        let texts = any_texts(value);
        if !texts.is_empty() {
            extra.entry(key).or_default().extend(texts);
        }
    }
}

fn plan_transfer(top: &mut Fields, spare: &mut Vec<Spare>) -> Result<Option<PlanTransfer>, Refusal> {
    let Some(transfer) = top.take("transfer") else { return Ok(None) };
    // A bare word is as clear as {"plan": word}.
    let word = match &transfer {
        Value::String(word) if !word.trim_start().starts_with('{') => Some(word.trim().to_owned()),
        _ => {
            let mut fields = Fields::of("transfer", transfer)?;
            let word = fields.take_text("transfer", "plan")?;
            spare.extend(fields.rest().map(|(key, value)| (join("transfer", &key), value)));
            word
        }
    };
    let all = [PlanTransfer::Carry, PlanTransfer::Close, PlanTransfer::Omit];
    let Some(word) = word else { return Ok(None) };
    let found = all.into_iter().find(|transfer| transfer.as_str() == word.to_lowercase());
    found.map(Some).ok_or_else(|| wrong_shape("transfer.plan", &Value::String(word), "carry, close or omit"))
}

/// A field that nobody asked for, and what it holds.
type Spare = (String, Value);

/// The sources, and whatever else was written into them.
fn sources(values: Vec<Value>, current: SessionId) -> Result<(Vec<Source>, Vec<Spare>), Refusal> {
    if values.len() > SOURCES_MAX {
        return Err(Refusal::TooManySources { count: values.len(), max: SOURCES_MAX });
    }
    let mut spare = Vec::new();
    let read = |(index, value): (usize, Value)| {
        let path = format!("sources[{index}]");
        let (source, unknown) = source(&path, value, current)?;
        spare.extend(unknown.map(|(key, value)| (join(&path, &key), value)));
        Ok(source)
    };
    let sources = (0..).zip(values).map(read).collect::<Result<_, Refusal>>()?;
    Ok((sources, spare))
}

fn source(
    path: &str,
    value: Value,
    current: SessionId,
) -> Result<(Source, impl Iterator<Item = Spare> + use<>), Refusal> {
    let mut fields = Fields::of(path, value)?;
    let kind = match fields.take_text(path, "type")? {
        Some(kind) => Some(kind),
        None => fields.take_text(path, "kind")?,
    };
    let target = match kind.as_deref() {
        Some("resource") => resource(path, &mut fields)?,
        Some("memory") => memory(path, &mut fields)?,
        Some("session_events" | "sessionEvents") => events(path, &mut fields, current)?,
        Some("session_event" | "sessionEvent") => event(path, &mut fields, current)?,
        Some(other) => {
            let found = Value::String(other.to_owned());
            return Err(wrong_shape(&join(path, "type"), &found, SOURCE_TYPES));
        }
        None if fields.contains("url") => resource(path, &mut fields)?,
        None if fields.contains("path") => memory(path, &mut fields)?,
        None if fields.contains("fromSeq") => events(path, &mut fields, current)?,
        None if fields.contains("seq") => event(path, &mut fields, current)?,
        None => return Err(missing(&join(path, "type"), SOURCE_TYPES)),
    };
    let relevance = required(&mut fields, path, "relevance", "say why the source matters")?;
    at_most(&join(path, "relevance"), &relevance, RELEVANCE_BYTES_MAX)?;
    Ok((Source { target, relevance }, fields.rest()))
}

const SOURCE_TYPES: &str = "resource, memory, session_events or session_event";

fn resource(path: &str, fields: &mut Fields) -> Result<SourceTarget, Refusal> {
    let url = required(fields, path, "url", "give the address")?;
    at_most(&join(path, "url"), &url, URL_BYTES_MAX)?;
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_lowercase());
    if !matches!(scheme.as_deref(), Some("hm" | "ipfs" | "http" | "https")) {
        let expected = "an address that begins with hm://, ipfs://, http:// or https://";
        return Err(wrong_shape(&join(path, "url"), &Value::String(url), expected));
    }
    let mut optional = |name| {
        let text = fields.take_text(path, name)?.unwrap_or_default();
        at_most(&join(path, name), &text, URL_BYTES_MAX).map(|()| text)
    };
    Ok(SourceTarget::Resource { url, version: optional("version")?, block_id: optional("blockId")? })
}

fn memory(path: &str, fields: &mut Fields) -> Result<SourceTarget, Refusal> {
    let file = required(fields, path, "path", "give the file below ~/memory/")?;
    at_most(&join(path, "path"), &file, PATH_BYTES_MAX)?;
    let inside = file.strip_prefix("~/memory/").filter(|inside| {
        !inside.is_empty()
            && inside.split('/').all(|name| !matches!(name, "" | "." | ".."))
            && !inside.contains('\0')
    });
    if inside.is_none() {
        return Err(wrong_shape(
            &join(path, "path"),
            &Value::String(file),
            "a path below ~/memory/ without . or ..",
        ));
    }
    Ok(SourceTarget::Memory { path: file })
}

fn events(path: &str, fields: &mut Fields, current: SessionId) -> Result<SourceTarget, Refusal> {
    let thread = thread(path, fields, current)?;
    let from = seq(path, fields, "fromSeq")?;
    let to = seq(path, fields, "toSeq")?;
    let range = SeqRange::new(from, to).ok_or_else(|| Refusal::WrongShape {
        field: path.to_owned(),
        found: format!("from {from} to {to}"),
        expected: "a range with fromSeq <= toSeq",
    })?;
    Ok(SourceTarget::Events { thread, range })
}

fn event(path: &str, fields: &mut Fields, current: SessionId) -> Result<SourceTarget, Refusal> {
    let thread = thread(path, fields, current)?;
    Ok(SourceTarget::Events { thread, range: SeqRange::one(seq(path, fields, "seq")?) })
}

fn thread(path: &str, fields: &mut Fields, current: SessionId) -> Result<SessionId, Refusal> {
    let Some(text) = fields.take_text(path, "sessionId")? else { return Ok(current) };
    let id = text.strip_prefix("thread:").unwrap_or(&text);
    id.parse()
        .map_err(|_| wrong_shape(&join(path, "sessionId"), &Value::String(text.clone()), "a session id"))
}

fn seq(path: &str, fields: &mut Fields, name: &str) -> Result<Seq, Refusal> {
    let number = fields.take_number(path, name)?.ok_or_else(|| {
        missing(&join(path, name), "give the number that stands before the line, as in [12]")
    })?;
    Seq::new(number).ok_or_else(|| Refusal::WrongShape {
        field: join(path, name),
        found: "0".to_owned(),
        expected: "a number from 1 on",
    })
}

fn required(fields: &mut Fields, path: &str, name: &str, hint: &'static str) -> Result<String, Refusal> {
    match fields.take(name) {
        None => Err(missing(&join(path, name), hint)),
        Some(value) => {
            let text = text(&join(path, name), &value)?;
            if text.is_empty() { Err(missing(&join(path, name), hint)) } else { Ok(text) }
        }
    }
}

fn missing(field: &str, hint: &'static str) -> Refusal {
    Refusal::Missing { field: field.to_owned(), hint }
}

fn at_most(field: &str, text: &str, max: usize) -> Result<(), Refusal> {
    if text.len() <= max {
        Ok(())
    } else {
        Err(Refusal::TooLong { field: field.to_owned(), bytes: text.len(), max })
    }
}
