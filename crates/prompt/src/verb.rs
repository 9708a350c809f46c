//! The verb `continue_session`: its schema, and what a model is told about it.

use segue_continuation::caps::{
    DESCRIPTION_BYTES_MAX, RELEVANCE_BYTES_MAX, SOURCES_MAX, TITLE_BYTES_MAX, URL_BYTES_MAX,
};
use segue_event::Reason;
use serde_json::{Value, json};

use crate::ToolContract;

/// The part of the system prompt that says what a continuation is.
pub const SYSTEM_PART: &str = "\
# Continuing in a fresh session

This conversation is recorded whole: nothing is ever summarised away or deleted. When a piece of work is done and \
another begins, when the talk has strayed, or when the context fills up, carry the conversation into a fresh session \
with `continue_session`. The successor starts from your handoff, the message that is to be answered word for word, and \
exact excerpts; everything else can be read back from there with `read` and `recall`.

Continue when the next work needs little of what is in this context, or when <context_usage> says so. Do not continue \
for a plain follow-up question, while side effects are unresolved, or while delegated tasks are running. The call ends \
your turn: the successor answers the person, so do not answer first.

What is not in the context is not gone: before you say that something was never said, look with `recall`.
";

/// The contract of `continue_session`.
pub fn continue_session() -> ToolContract {
    ToolContract::new("continue_session", DESCRIPTION, &parameters())
}

const DESCRIPTION: &str = "\
Carry this conversation into a fresh session. The call ends your turn; the successor answers the newest message of the \
user, which is copied word for word, so do not repeat it.

The successor receives your handoff in full, the ranges you cite exactly as far as they fit, the latest exchanges, and \
links to all the rest. Write the handoff for a colleague who has read nothing: what the work is for, what is asked for \
right now, what is established (with names, paths and numbers), what was decided and why, what is open, what comes \
next, and what to beware of. Cite lines by the numbers in [brackets] instead of copying them. `title` and \
`description` name the successor and say how it stands; they are yours to set, and a title set by the user stays.";

fn parameters() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let limited = |about: &str, max: usize| json!({"type": "string", "minLength": 1, "maxLength": max, "description": about});
    let list = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    json!({
        "type": "object",
        "required": ["reason", "title", "description", "handoff"],
        "properties": {
            "reason": {"type": "string", "enum": Reason::ALL.map(Reason::as_str), "description": "why now"},
            "title": limited("what the successor is about as a whole", TITLE_BYTES_MAX),
            "description": limited("how things stand, in a sentence", DESCRIPTION_BYTES_MAX),
            "handoff": {
                "type": "object",
                "required": ["purpose", "currentRequest"],
                "properties": {
                    "purpose": text("what the work is for"),
                    "currentRequest": text("what the user asks for right now"),
                    "establishedFacts": list("what is known to be so"),
                    "decisions": list("what was decided, and why"),
                    "openQuestions": list("what is not known yet"),
                    "nextActions": list("what to do next"),
                    "cautions": list("what to beware of: failed attempts, limits, what the user refused"),
                },
                "additionalProperties": true,
            },
            "sources": {"type": "array", "maxItems": SOURCES_MAX, "items": source()},
            "transfer": {
                "type": "object",
                "properties": {"plan": {
                    "type": "string",
                    "enum": ["carry", "close", "omit"],
                    "description": "what becomes of the plan; by default it is carried while steps are open",
                }},
            },
        },
    })
}

fn source() -> Value {
    let seq = json!({"type": "integer", "minimum": 1});
    json!({
        "type": "object",
        "required": ["type", "relevance"],
        "properties": {
            "type": {"type": "string", "enum": ["session_events", "session_event", "memory", "resource"]},
            "sessionId": {"type": "string", "description": "of session_events and session_event; this session by default"},
            "fromSeq": seq,
            "toSeq": seq,
            "seq": seq,
            "path": {"type": "string", "description": "of memory: below ~/memory/"},
            "url": {"type": "string", "maxLength": URL_BYTES_MAX, "description": "of resource: hm, ipfs, http or https"},
            "version": {"type": "string"},
            "blockId": {"type": "string"},
            "relevance": {"type": "string", "minLength": 1, "maxLength": RELEVANCE_BYTES_MAX},
        },
    })
}

#[cfg(test)]
mod tests {
    use segue_continuation::normalise;
    use segue_event::SessionId;

    use super::*;

    #[test]
    fn the_schema_names_what_the_verb_understands() {
        let schema: Value = serde_json::from_str(&continue_session().parameters).unwrap();
        let mut call = json!({});
        for name in schema["required"].as_array().unwrap() {
            call[name.as_str().unwrap()] = json!("phase_change");
        }
        let handoff = schema["properties"]["handoff"]["properties"].as_object().unwrap();
        call["handoff"] = handoff.keys().map(|key| (key.clone(), json!("text"))).collect();
        call["sources"] =
            json!([{"type": "session_events", "fromSeq": 1, "toSeq": 2, "relevance": "all of it"}]);
        call["transfer"] = json!({"plan": "close"});
        let request = normalise(&call.to_string(), SessionId::from_bytes([1; 16])).unwrap();
        assert!(request.handoff.extra.is_empty(), "the schema names a field that the verb does not know");
    }
}
