//! Whatever can be understood is understood: misplaced, misspelled and stringified keys give the same request.

use proptest::prelude::*;
use segue_continuation::normalise;
use segue_event::SessionId;
use serde_json::{Map, Value, json};

const HERE: SessionId = SessionId::from_bytes([9; 16]);

fn clean() -> Map<String, Value> {
    let call = json!({
        "reason": "phase_change",
        "title": "The parser",
        "description": "grammar done",
        "handoff": {
            "purpose": "a parser",
            "currentRequest": "write tests",
            "establishedFacts": ["it builds"],
            "openQuestions": ["speed?"],
            "nextActions": ["test"],
        },
        "sources": [
            {"type": "session_events", "fromSeq": 2, "toSeq": 5, "relevance": "the grammar"},
            {"type": "resource", "url": "https://example.org/spec", "blockId": "b", "relevance": "the spec"},
        ],
        "transfer": {"plan": "close"},
    });
    call.as_object().unwrap().clone()
}

fn snake(camel: &str) -> String {
    camel
        .chars()
        .flat_map(|c| if c.is_uppercase() { vec!['_', c.to_ascii_lowercase()] } else { vec![c] })
        .collect()
}

/// Spells keys in snake case, all the way down.
fn spell_snake(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (snake(&key), spell_snake(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(spell_snake).collect()),
        other => other,
    }
}

fn numbers_as_text(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, numbers_as_text(value))).collect()
        }
        Value::Array(items) => Value::Array(items.into_iter().map(numbers_as_text).collect()),
        other => other,
    }
}

proptest! {
    #[test]
    fn any_misplacement_gives_the_same_request(
        nested in prop::sample::subsequence(vec!["reason", "title", "description", "sources", "transfer"], 0..=5),
        stringified in prop::sample::subsequence(vec!["sources", "transfer", "handoff"], 0..=3),
        snake_case in any::<bool>(),
        text_numbers in any::<bool>(),
    ) {
        let mut call = clean();
        for name in nested {
            let value = call.remove(name).unwrap();
            call["handoff"][name] = value;
        }
        let mut call = Value::Object(call);
        if text_numbers {
            call = numbers_as_text(call);
        }
        if snake_case {
            call = spell_snake(call);
        }
        for name in stringified {
            if let Some(value) = call.get(name).cloned() {
                call[name] = Value::String(value.to_string());
            }
        }
        let expected = normalise(&Value::Object(clean()).to_string(), HERE).unwrap();
        prop_assert_eq!(normalise(&call.to_string(), HERE).unwrap(), expected);
    }

    #[test]
    fn no_text_at_all_panics(text in any::<String>()) {
        let _ = normalise(&text, HERE);
    }
}

#[test]
fn where_both_levels_have_a_field_the_top_wins_and_the_nested_one_is_kept() {
    let mut call = clean();
    call["handoff"]["title"] = json!("another");
    call["handoff"]["risks"] = json!(["heat", {"at": 3}]);
    call.insert("note".to_owned(), json!(7));
    let request = normalise(&Value::Object(call).to_string(), HERE).unwrap();
    assert_eq!(request.title, "The parser");
    let extra = &request.handoff.extra;
    assert_eq!(extra["title"], ["another"]);
    assert_eq!(extra["risks"], ["heat", r#"{"at":3}"#]);
    assert_eq!(extra["note"], ["7"]);
}

#[test]
fn lists_are_trimmed_and_a_single_item_is_a_list() {
    let mut call = clean();
    call["handoff"]["decisions"] = json!("  keep it small ");
    call["handoff"]["cautions"] = json!(["", "  ", " hot ", null]);
    call["handoff"]["nextActions"] = Value::Null;
    let handoff = normalise(&Value::Object(call).to_string(), HERE).unwrap().handoff;
    assert_eq!(handoff.decisions, ["keep it small"]);
    assert_eq!(handoff.cautions, ["hot"]);
    assert!(handoff.next_actions.is_empty());
}

#[test]
fn nothing_that_was_written_is_dropped() {
    let mut call = clean();
    call["handoff"]["extra"] = json!("kept as it is");
    call["handoff"]["current_request"] = json!("the other spelling");
    call["sources"][0]["colour"] = json!("blue");
    call["sources"][0]["kind"] = json!("a second kind");
    call["transfer"]["note"] = json!("later");
    let request = normalise(&Value::Object(call).to_string(), HERE).unwrap();
    assert_eq!(request.handoff.current_request, "write tests");
    let extra = &request.handoff.extra;
    assert_eq!(extra["extra"], ["kept as it is"]);
    assert_eq!(extra["current_request"], ["the other spelling"]);
    assert_eq!(extra["sources[0].colour"], ["blue"]);
    assert_eq!(extra["sources[0].kind"], ["a second kind"]);
    assert_eq!(extra["transfer.note"], ["later"]);
}

#[test]
fn an_empty_field_at_the_top_gives_way_to_a_nested_one() {
    let mut call = clean();
    for (name, empty) in [("title", json!(" ")), ("sources", json!([])), ("description", json!(null))] {
        let value = call.insert(name.to_owned(), empty).unwrap();
        call["handoff"][name] = value;
    }
    let request = normalise(&Value::Object(call).to_string(), HERE).unwrap();
    let expected = normalise(&Value::Object(clean()).to_string(), HERE).unwrap();
    assert_eq!(
        (request.title, request.sources, request.description),
        (expected.title, expected.sources, expected.description)
    );
}
