//! What cannot be understood is refused by name.

use insta::assert_snapshot;
use segue_continuation::normalise;
use segue_event::SessionId;
use serde_json::{Value, json};

/// Changes one thing about a sound call and shows the answer.
fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut call = json!({
        "reason": "other", "title": "t", "description": "d",
        "handoff": {"purpose": "p", "currentRequest": "r"},
    });
    change(&mut call);
    let refusal = normalise(&call.to_string(), SessionId::from_bytes([9; 16])).unwrap_err();
    format!("{}: {refusal}", refusal.code())
}

fn source(source: &Value) -> String {
    refusal(|call| call["sources"] = json!([source]))
}

#[test]
fn each_is_named() {
    let answers = [
        refusal(|call| *call = json!([1])),
        refusal(|call| call["reason"] = json!("boredom")),
        refusal(|call| call["reason"] = Value::Null),
        refusal(|call| call["title"] = json!("  ")),
        refusal(|call| call["title"] = json!("é".repeat(129))),
        refusal(|call| call["description"] = json!("x".repeat(1_025))),
        refusal(|call| call["handoff"] = Value::Null),
        refusal(|call| call["handoff"] = json!("just text")),
        refusal(|call| call["handoff"]["purpose"] = json!({})),
        refusal(|call| call["handoff"]["decisions"] = json!([["nested"]])),
        refusal(|call| call["handoff"]["cautions"] = json!({"a": 1})),
        refusal(|call| call["transfer"] = json!({"plan": "burn"})),
        refusal(|call| call["sources"] = json!(vec![1; 65])),
        source(&json!(5)),
        source(&json!({"relevance": "r"})),
        source(&json!({"type": "book", "relevance": "r"})),
        source(&json!({"type": "resource", "url": "file:///etc/passwd", "relevance": "r"})),
        source(&json!({"type": "memory", "path": "~/memory/../secret", "relevance": "r"})),
        source(&json!({"type": "memory", "path": "/etc/passwd", "relevance": "r"})),
        source(&json!({"type": "session_events", "fromSeq": 4, "toSeq": 3, "relevance": "r"})),
        source(&json!({"type": "session_events", "fromSeq": 0, "toSeq": 3, "relevance": "r"})),
        source(&json!({"type": "session_event", "seq": "many", "relevance": "r"})),
        source(&json!({"type": "session_event", "seq": 1})),
        source(&json!({"type": "session_event", "seq": 1, "sessionId": "x", "relevance": "r"})),
    ];
    assert_snapshot!(answers.join("\n"));
}
