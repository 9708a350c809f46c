//! What the strategies draw survives whatever takes it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use segue::continuation::normalise;
use segue::event::{Block, Event, EventHash, Kind, Position, Recorded, Seq, SessionId, Timestamp, codec};
use segue::frame::{escape, unescape};
use segue::prompt::{Change, PromptEvent, TranscriptBuilder};
use segue_testkit::strategies;

/// So many values of a strategy, the same ones every time.
fn drawn<T>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

fn survives_the_codec(event: &Event) -> bool {
    let body = codec::encode(event).unwrap();
    codec::decode(event.kind(), event.version(), &body).unwrap() == *event
}

/// Makes the messages of a prompt from events, in whatever order they come.
fn to_prompt(events: &[Event]) -> usize {
    let mut builder = TranscriptBuilder::default();
    let seqs = std::iter::successors(Some(Seq::FIRST), |seq| Some(seq.next()));
    let recorded = seqs.zip(events).filter_map(|(seq, event)| {
        Some(Recorded {
            session: SessionId::from_bytes([1; 16]),
            seq,
            position: Position::FIRST,
            time: Timestamp::utc_micros(0),
            hash: EventHash::from_bytes([0; 32]),
            event: PromptEvent::try_from(event.clone()).ok()?,
        })
    });
    let taken = recorded.map(|recorded| match builder.take(&recorded) {
        Change::More(messages) => messages.len(),
        Change::Anew { .. } => 1,
    });
    let settled: usize = taken.sum();
    settled + builder.close().len()
}

fn says_something(event: &Event) -> bool {
    let Event::Message(message) = event else { return false };
    let is_something = |block: &Block| !matches!(block, Block::Text(text) if text.is_empty());
    let has_more = !message.context_lines.is_empty() || !message.attachments.is_empty();
    has_more || message.blocks.iter().any(is_something)
}

proptest! {
    #[test]
    fn events_survive_the_codec(event in strategies::event_of_any_kind()) {
        prop_assert!(survives_the_codec(&event));
    }

    #[test]
    fn transcripts_become_prompts(
        events in proptest::collection::vec(strategies::event_of_any_kind(), 0..30),
        plain in strategies::transcript(),
    ) {
        to_prompt(&events);
        let messages = plain.iter().filter(|event| says_something(event)).count();
        prop_assert!(to_prompt(&plain) >= messages, "no message is dropped that says something");
    }

    #[test]
    fn requests_are_understood_or_refused(request in strategies::request()) {
        let current = SessionId::from_bytes([1; 16]);
        if let Err(refusal) = normalise(&request, current) {
            prop_assert!(!refusal.to_string().is_empty());
        }
    }

    #[test]
    fn hostile_text_comes_back(text in strategies::long_text()) {
        let escaped = escape(&text);
        let back = unescape(&escaped);
        prop_assert_eq!(back.as_ref(), text.as_str());
    }

    #[test]
    fn json_is_json(value in strategies::json_value()) {
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&value.to_string()).unwrap(), value);
    }

    #[test]
    fn each_part_survives_inside_its_event(
        started in strategies::session_started(),
        message in strategies::message_with_attachments(),
        attachment in strategies::attachment(),
        run in strategies::run_event(),
        result in strategies::tool_result(),
        plan in strategies::plan(),
        title in strategies::title(),
    ) {
        let mut message = message;
        message.attachments.push(attachment);
        let titled = segue::event::SessionTitled { title };
        let events: [Event; 6] =
            [started.into(), message.into(), run, result.into(), plan.into(), titled.into()];
        for event in &events {
            prop_assert!(survives_the_codec(event), "{event:?}");
        }
    }
}

#[test]
fn no_kind_of_event_is_left_out() {
    let drawn: BTreeSet<_> = drawn(strategies::event_of_any_kind(), 3_000).iter().map(Event::kind).collect();
    let missing: Vec<_> = Kind::KNOWN.iter().filter(|(kind, ..)| !drawn.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn some_requests_are_accepted_and_some_are_refused() {
    let current = SessionId::from_bytes([1; 16]);
    let requests = drawn(strategies::request(), 300);
    let accepted = requests.iter().filter(|request| normalise(request, current).is_ok()).count();
    assert!((60..240).contains(&accepted), "{accepted} of 300");
}
