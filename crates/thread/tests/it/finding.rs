//! What recall finds, however it is written, and what that may cost.

use segue_event::{Author, Block, Message, Role, Timestamp, ToolCall};
use segue_log::{Case, Commit, EventLog, Expected, MemoryLog, NewEvent};
use segue_thread::{
    Answer, Chain, MATCH_SHOWN_BYTES_MAX, MATCHES_COUNTED_MAX, Query, RecallLimits, Style, recall,
    render_answer,
};

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

#[test]
fn an_expression_that_looks_far_for_each_match_is_counted_only_so_far() {
    // For each letter it looks through all that is left: with each match counted, that takes hours.
    let log = log(&[&"A".repeat(1_000_000), &"A b ".repeat(30)]);
    let answer = search(&log, Style::Regex, "A+=|A");
    let matches: Vec<u64> = answer.hits.iter().map(|hit| hit.matches).collect();
    assert_eq!(matches, [30, MATCHES_COUNTED_MAX]);
    let rendered = render_answer(&Query::new(Style::Regex, "A+=|A", Case::Sensitive).unwrap(), &answer);
    assert!(rendered.contains(", 30 matches)") && rendered.contains(", 100 matches or more)"));
    let call = called(&format!("[{}]", r#""\n","#.repeat(1_000)));
    let in_strings = search(&call, Style::Literal, "\n");
    assert_eq!(in_strings.hits.first().map(|hit| hit.matches), Some(MATCHES_COUNTED_MAX));
}

#[test]
fn an_answer_keeps_its_size_whatever_is_matched() {
    let blank = "\n".repeat(400);
    let lines = format!("{blank}x{blank}");
    let many = vec![lines.as_str(); 300];
    let long = format!("x{}", "é".repeat(100_000));
    for (texts, style, needle) in
        [(many.as_slice(), Style::Literal, "x"), (&[long.as_str(); 20], Style::Regex, "(?s)x.*")]
    {
        let answer = search(&log(texts), style, needle);
        let rendered = render_answer(&Query::new(style, needle, Case::Sensitive).unwrap(), &answer);
        assert!(answer.hits.len() > 3 && rendered.len() <= 34_000, "{} of {needle}", rendered.len());
        assert!(answer.hits.iter().all(|hit| hit.excerpt.len() <= MATCH_SHOWN_BYTES_MAX + 400));
    }
}
