//! What recall finds, however it is written, and what that may cost.

use segue_event::{Author, Block, Message, Role, Timestamp, ToolCall};
use segue_log::{Case, Commit, EventLog, Expected, MemoryLog, NewEvent};
use segue_thread::{Answer, Chain, Query, RecallLimits, Style, recall};

use crate::paging::{SESSION, log};

/// A log with one call of a tool.
fn called(arguments: &str) -> MemoryLog {
    let log = log(&["do it"]);
    let call =
        ToolCall { provider_id: String::new(), name: "shell".to_owned(), arguments: arguments.to_owned() };
    let message =
        Message { blocks: vec![Block::ToolCall(call)], ..Message::text(Role::Assistant, Author::Agent, "") };
    let event = vec![NewEvent::new(Timestamp::default(), message)];
    log.commit(Commit::new().append(SESSION, Expected::AtHead, event)).unwrap();
    log
}

fn search(log: &MemoryLog, style: Style, text: &str) -> Answer {
    let query = Query::new(style, text, Case::Sensitive).unwrap();
    recall(log, &Chain::of_sessions([SESSION]), &query, &RecallLimits::default().into(), None).unwrap()
}

#[test]
fn what_a_model_escapes_without_need_is_found() {
    let log = called(r#"{"command": "echo \'it works\' \& grep \d+"}"#);
    for needle in ["echo 'it works' & grep d+", "'it works'", r"\'it works\'"] {
        for style in [Style::Literal, Style::Words] {
            let answer = search(&log, style, needle);
            assert!(answer.hits.len() == 1 && answer.coverage.complete, "{style:?} {needle}");
        }
    }
    assert_eq!(search(&log, Style::Regex, "^echo 'it works' & grep").hits.len(), 1);
}
