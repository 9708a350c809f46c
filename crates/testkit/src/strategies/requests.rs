//! Arguments of the verb, as models write them: in order, nested wrongly, or nonsense.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::hostile_text;

/// JSON text as a model may send it to `continue_session`: fields in their place or inside the handoff, in either
/// spelling, of the right type or another, or no JSON at all. Some are accepted and some are refused.
pub fn request() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => well_meant().prop_map(|value| value.to_string()),
        // A model that sends its object as a string.
        1 => well_meant().prop_map(|value| Value::String(value.to_string()).to_string()),
        2 => json_value().prop_map(|value| value.to_string()),
        1 => hostile_text(),
    ]
}

/// Any JSON value, a few levels deep.
pub fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        hostile_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let field = (key(), inner.clone());
        let object = vec(field, 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect()));
        prop_oneof![vec(inner, 0..4).prop_map(Value::Array), object]
    })
}

/// A request with most of what is due, in one place or the other.
fn well_meant() -> impl Strategy<Value = Value> {
    let reason = prop::sample::select(&["phase_change", "context_pressure", "other", "no_reason"][..]);
    let source = option::of((1_u64..9, any::<bool>()));
    let extra = option::of((key(), json_value()));
    (reason, filled(), filled(), vec(hostile_text(), 0..3), source, extra, any::<bool>()).prop_map(
        |(reason, title, purpose, facts, source, extra, nests)| {
            let mut handoff =
                fields(json!({"purpose": purpose, "currentRequest": title, "decisions": facts}));
            handoff.extend(extra);
            let mut top = fields(json!({"reason": reason}));
            let outer = if nests { &mut handoff } else { &mut top };
            outer.insert("title".to_owned(), title.into());
            outer.insert("description".to_owned(), "under way".into());
            outer.extend(source.map(|(seq, in_words)| ("sources".to_owned(), sources(seq, in_words))));
            top.insert("handoff".to_owned(), Value::Object(handoff));
            Value::Object(top)
        },
    )
}

fn sources(seq: u64, in_words: bool) -> Value {
    let seq = if in_words { Value::from(seq.to_string()) } else { Value::from(seq) };
    json!([{"type": "session_event", "seq": seq, "relevance": "what was asked"}])
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Text that is hostile, but there.
fn filled() -> impl Strategy<Value = String> {
    hostile_text().prop_map(|text| format!("x{}", text.chars().take(40).collect::<String>()))
}

fn key() -> impl Strategy<Value = String> {
    let known = ["handoff", "title", "sources", "currentRequest", "current_request", "transfer", "plan"];
    prop_oneof![prop::sample::select(known.to_vec()).prop_map(str::to_owned), hostile_text()]
}
