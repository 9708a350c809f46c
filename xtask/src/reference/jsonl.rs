//! Events as lines of a transcript of Claude Code.

use segue::event::{Block, Event, Message, ResultStatus, Role, ToolResult};
use serde_json::{Value, json};

/// The line of an event, with its line feed.
pub(crate) fn line(event: &Event, seed: u64, number: u64) -> String {
    let uuid = |number: u64| format!("{seed:08x}-0000-4000-8000-{number:012x}");
    let (kind, message) = match event {
        Event::Message(message) => said(message),
        Event::ToolResult(result) => ("user", json!({"role": "user", "content": [answered(result)]})),
        _ => ("system", Value::Null),
    };
    let line = json!({
        "parentUuid": if number > 2 { Value::from(uuid(number - 1)) } else { Value::Null },
        "isSidechain": false,
        "userType": "external",
        "cwd": "/home/dev/work/project",
        "sessionId": format!("{seed:08x}-1111-4111-8111-111111111111"),
        "version": "2.0.0",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": uuid(number),
        "timestamp": super::time(number).to_string(),
    });
    line.to_string() + "\n"
}

fn said(message: &Message) -> (&'static str, Value) {
    let content: Vec<Value> = message.blocks.iter().filter_map(block).collect();
    match message.role {
        Role::Assistant => {
            let usage = message.usage.unwrap_or_default();
            let usage = json!({
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cache_read_input_tokens": usage.cache_read,
                "cache_creation_input_tokens": usage.cache_write,
            });
            let model = message.model.as_ref().map(|model| &model.model);
            (
                "assistant",
                json!({"type": "message", "role": "assistant", "model": model, "content": content, "usage": usage}),
            )
        }
        Role::User | Role::System => ("user", json!({"role": "user", "content": content})),
    }
}

fn block(block: &Block) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Thinking(thinking) => {
            json!({"type": "thinking", "thinking": thinking.text, "signature": thinking.signature})
        }
        Block::ToolCall(call) => {
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            json!({"type": "tool_use", "id": call.provider_id, "name": call.name, "input": input})
        }
        Block::Image(_) | Block::File(_) => return None,
    })
}

fn answered(result: &ToolResult) -> Value {
    let texts = result.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    json!({
        "type": "tool_result",
        "tool_use_id": result.call.provider_id,
        "content": texts.collect::<Vec<_>>().join("\n"),
        "is_error": result.status == ResultStatus::Error,
    })
}
