//! The pi coding agent, session versions 1 to 3, and transcripts that its descendants have rewritten.
//!
//! Entries are read in the order of the file. What was evicted or moved elsewhere is read as it stands.

use segue_event::{
    Author, Block, CallRef, Message, ModelName, ModelOverride, Provenance, ResultStatus, Role, Timestamp,
    TitleSource, ToolResult, Usage,
};
use serde_json::value::RawValue;

use crate::claude::time;
use crate::content::cut_id;
use crate::json::Object;
use crate::output::Output;

/// Makes the events of one entry. An entry that no model sees makes none.
pub(crate) fn read_record(output: &mut Output<'_>, entry: &Object<'_>) {
    output.at(entry.text("timestamp").and_then(|text| time(&text)).or_else(|| message_time(entry)));
    match entry.text("type").as_deref() {
        Some("message") => message(output, entry),
        Some("custom_message") => told(output, entry, entry.get("content")),
        Some("compaction" | "branch_summary") => told(output, entry, entry.get("summary")),
        Some("model_change") => model_change(output, entry),
        Some("session_info") => output.title(TitleSource::User, entry.text("name").unwrap_or_default()),
        _ => {}
    }
}

/// Whether this is a session's header. Others write headers that look the same, with a version 0 and other lines to follow.
pub(crate) fn is_header(record: &Object<'_>) -> bool {
    record.text("type").is_some_and(|kind| kind == "session")
        && record.text("id").is_some()
        && record.text("timestamp").is_some()
        && record.get("version").is_none_or(|_| record.number("version").is_some_and(|version| version >= 1))
}

const ENTRIES: [&str; 13] = [
    "message",
    "thinking_level_change",
    "model_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "usage",
    "context_edit",
    "mode_change",
    "session_init",
];

/// Whether this is an entry as they stand on lines of their own.
pub(crate) fn is_entry(record: &Object<'_>) -> bool {
    let known = record.text("type").is_some_and(|kind| ENTRIES.contains(&kind.as_str()));
    let holds_message = record.text("type").is_none_or(|kind| kind != "message")
        || record.object("message").is_some_and(|message| message.text("role").is_some());
    known && holds_message && record.text("timestamp").is_some()
}

/// The model that an entry or a header names.
pub(crate) fn model_of(entry: &Object<'_>) -> Option<ModelName> {
    let [provider, model] = ["provider", "modelId"].map(|key| entry.text(key));
    let name = match (provider, model, entry.text("model")) {
        (provider, Some(model), _) => ModelName { provider: provider.unwrap_or_default(), model },
        // A descendant writes both in one.
        (_, None, Some(both)) => match both.split_once('/') {
            Some((provider, model)) => ModelName { provider: provider.to_owned(), model: model.to_owned() },
            None => ModelName { provider: String::new(), model: both },
        },
        _ => return None,
    };
    Some(ModelName { provider: cut_id(name.provider), model: cut_id(name.model) })
}

fn message(output: &mut Output<'_>, entry: &Object<'_>) {
    let Some(message) = entry.object("message") else { return };
    match message.text("role").as_deref() {
        Some("user") => said(output, entry, &message),
        Some("system") => instructions(output, entry, &message),
        Some("custom" | "hookMessage") => told(output, entry, message.get("content")),
        Some("branchSummary" | "compactionSummary") => told(output, entry, message.get("summary")),
        Some("assistant") => assistant(output, entry, &message),
        Some("toolResult") => tool_result(output, entry, &message),
        Some("bashExecution") => command(output, entry, &message),
        _ => {}
    }
}

fn said(output: &mut Output<'_>, entry: &Object<'_>, message: &Object<'_>) {
    let blocks = blocks(output, message.get("content"));
    let provenance = Some(origin(output, entry));
    output.message(Message { blocks, provenance, ..Message::text(Role::User, Author::User, "") });
}

/// Newer versions leave the content empty and name the sections that were put in or, with null, taken out.
fn instructions(output: &mut Output<'_>, entry: &Object<'_>, message: &Object<'_>) {
    let mut content = output.content();
    if let Some(text) = message.get("content").filter(|text| text.get() != "\"\"") {
        content.add_value(text);
    }
    if let Some(sections) = message.object("sections") {
        sections.texts().for_each(|section| content.add_text(section));
    }
    let blocks = content.finish();
    let provenance = Some(origin(output, entry));
    output.message(Message { blocks, provenance, ..Message::text(Role::System, Author::System, "") });
}

/// What the program tells the model in the user's place.
fn told(output: &mut Output<'_>, entry: &Object<'_>, content: Option<&RawValue>) {
    let blocks = blocks(output, content);
    if blocks.is_empty() {
        return;
    }
    let provenance = Some(origin(output, entry));
    output.message(Message { blocks, provenance, ..Message::text(Role::User, Author::System, "") });
}

fn assistant(output: &mut Output<'_>, entry: &Object<'_>, message: &Object<'_>) {
    let provenance = origin(output, entry);
    let model = message.text("model").map(|model| ModelName {
        provider: cut_id(message.text("provider").unwrap_or_default()),
        model: cut_id(model),
    });
    let blocks = blocks(output, message.get("content"));
    let usage = message.object("usage").map(|usage| read_usage(&usage));
    let answer = Message::text(Role::Assistant, Author::Agent, "");
    output.message(Message { blocks, usage, model, provenance: Some(provenance.clone()), ..answer });
    if let Some(message) = message.text("errorMessage").filter(|text| !text.is_empty()) {
        output.error(message, provenance);
    }
}

fn tool_result(output: &mut Output<'_>, entry: &Object<'_>, message: &Object<'_>) {
    let status = if message.is_true("isError") { ResultStatus::Error } else { ResultStatus::Ok };
    let result = ToolResult {
        call: CallRef { site: None, provider_id: message.text("toolCallId").unwrap_or_default() },
        tool: cut_id(message.text("toolName").unwrap_or_default()),
        status,
        blocks: blocks(output, message.get("content")),
        touched: Vec::new(),
        continuation: None,
        provenance: Some(origin(output, entry)),
    };
    output.result(result);
}

/// A command that the person ran, with what it printed.
fn command(output: &mut Output<'_>, entry: &Object<'_>, message: &Object<'_>) {
    let [command, printed] = ["command", "output"].map(|key| message.text(key).unwrap_or_default());
    let ended = match message.number("exitCode") {
        _ if message.is_true("cancelled") => "\n(cancelled)".to_owned(),
        Some(0) | None => String::new(),
        Some(code) => format!("\n(exit code {code})"),
    };
    let mut content = output.content();
    content.add_text(format!("$ {command}\n{printed}{ended}"));
    let blocks = content.finish();
    let provenance = Some(origin(output, entry));
    output.message(Message { blocks, provenance, ..Message::text(Role::User, Author::User, "") });
}

fn model_change(output: &mut Output<'_>, entry: &Object<'_>) {
    if let Some(name) = model_of(entry) {
        output.push(segue_event::Event::ModelChosen(ModelOverride { name, settings: String::new() }));
    }
}

fn blocks(output: &mut Output<'_>, content: Option<&RawValue>) -> Vec<Block> {
    let mut blocks = output.content();
    if let Some(content) = content {
        blocks.add_value(content);
    }
    blocks.finish()
}

fn origin(output: &Output<'_>, entry: &Object<'_>) -> Provenance {
    output.provenance(entry.text("id"), entry.text("parentId"))
}

fn message_time(entry: &Object<'_>) -> Option<Timestamp> {
    let millis = entry.object("message")?.number("timestamp")?;
    i64::try_from(millis).ok()?.checked_mul(1_000).map(Timestamp::utc_micros)
}

fn read_usage(usage: &Object<'_>) -> Usage {
    Usage {
        input: usage.number("input"),
        output: usage.number("output"),
        cache_read: usage.number("cacheRead"),
        cache_write: usage.number("cacheWrite"),
    }
}

#[cfg(test)]
mod tests {
    use segue_event::{Event, SourceKind};

    use super::*;
    use crate::line::tests::events_of;

    fn entry(message: &str) -> String {
        format!(
            "{{\"type\":\"message\",\"id\":\"e\",\"parentId\":\"p\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{message}}}"
        )
    }

    fn events(lines: &[&str]) -> Vec<Event> {
        let mut events = events_of(SourceKind::Pi, lines);
        events.retain(|event| !matches!(event, Event::SessionTitled(_)));
        events
    }

    fn only_message(line: &str) -> Message {
        match events(&[line]).as_slice() {
            [Event::Message(message)] => message.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn roles_tell_who_speaks() {
        let cases = [
            (r#"{"role":"user","content":"x"}"#, Role::User, Author::User),
            (r#"{"role":"system","content":"x"}"#, Role::System, Author::System),
            (r#"{"role":"system","content":"","sections":{"a":"x","b":null}}"#, Role::System, Author::System),
            (
                r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#,
                Role::Assistant,
                Author::Agent,
            ),
            (r#"{"role":"custom","content":"x"}"#, Role::User, Author::System),
            (r#"{"role":"hookMessage","content":[{"type":"text","text":"x"}]}"#, Role::User, Author::System),
            (r#"{"role":"compactionSummary","summary":"x"}"#, Role::User, Author::System),
            (r#"{"role":"branchSummary","summary":"x"}"#, Role::User, Author::System),
        ];
        for (message, role, author) in cases {
            let found = only_message(&entry(message));
            assert_eq!((found.role, found.author), (role, author), "{message}");
            assert_eq!(found.blocks, [Block::Text("x".to_owned())]);
            assert_eq!(found.provenance.unwrap().parent_id, "p");
        }
    }

    #[test]
    fn what_is_told_to_the_model_beside_messages_is_told() {
        for line in [
            r#"{"type":"compaction","summary":"x","firstKeptEntryIndex":3,"tokensBefore":9}"#,
            r#"{"type":"branch_summary","summary":"x","fromId":"e"}"#,
            r#"{"type":"custom_message","customType":"c","content":"x","display":false}"#,
        ] {
            let found = only_message(line);
            assert_eq!((found.role, found.author), (Role::User, Author::System), "{line}");
        }
    }

    #[test]
    fn a_failed_answer_is_a_message_and_an_error() {
        let failed = r#"{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"error","errorMessage":"overloaded","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4}}"#;
        let events = events(&[&entry(failed)]);
        let [Event::Message(message), Event::ErrorNoted(error)] = events.as_slice() else {
            panic!("{events:?}")
        };
        assert_eq!(error.message, "overloaded");
        assert_eq!(message.usage.unwrap().cache_write, Some(4));
        assert_eq!(message.model.clone().unwrap().provider, "p");
    }

    #[test]
    fn a_result_finds_its_call() {
        let call = entry(
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}]}"#,
        );
        let result = entry(
            r#"{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a"}],"isError":false}"#,
        );
        let events = events(&[&call, &result]);
        let Event::ToolResult(result) = &events[1] else { panic!("{events:?}") };
        assert_eq!(result.call.site.unwrap().message.get(), 2);
        assert_eq!((result.tool.as_str(), result.status), ("bash", ResultStatus::Ok));
    }

    #[test]
    fn a_command_of_the_person_shows_what_it_printed() {
        let ran = r#"{"role":"bashExecution","command":"make","output":"boom","exitCode":2,"cancelled":false,"truncated":false}"#;
        assert_eq!(only_message(&entry(ran)).blocks, [Block::Text("$ make\nboom\n(exit code 2)".to_owned())]);
    }

    #[test]
    fn a_model_is_chosen_in_both_spellings() {
        let own = r#"{"type":"model_change","provider":"a","modelId":"b"}"#;
        let descendant = r#"{"type":"model_change","model":"a/b","role":"default"}"#;
        let chosen = events(&[own, descendant]);
        let name = ModelName { provider: "a".to_owned(), model: "b".to_owned() };
        let expected = Event::ModelChosen(ModelOverride { name, settings: String::new() });
        assert_eq!(chosen, [expected.clone(), expected]);
    }

    #[test]
    fn a_name_given_by_the_person_is_the_title() {
        let events = events_of(SourceKind::Pi, &[r#"{"type":"session_info","name":"Mine"}"#]);
        let Event::SessionTitled(titled) = &events[0] else { panic!("{events:?}") };
        assert_eq!((titled.title.text.as_str(), titled.title.source), ("Mine", TitleSource::User));
    }

    #[test]
    fn entries_that_no_model_sees_give_no_events() {
        for line in [
            r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
            r#"{"type":"custom","customType":"c","data":{}}"#,
            r#"{"type":"label","targetId":"e","label":"l"}"#,
            &entry(r#"{"role":"somethingNew","content":"x"}"#),
        ] {
            assert_eq!(events(&[line]), [], "{line}");
        }
    }
}
