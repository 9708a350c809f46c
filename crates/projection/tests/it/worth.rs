//! What is worth citing: bounded for any transcript, and the same from the same events.

use proptest::prelude::*;
use segue_event::{
    Author, Block, CallRef, CallSite, ErrorNoted, Event, EventHash, Fold as _, Message, Position, Recorded,
    ResultStatus, Role, Seq, SeqRange, SessionId, Timestamp, ToolCall, ToolResult, Touched, TranscriptEvent,
    WhyRecommended,
};
use segue_projection::{READINGS_MAX, RECOMMENDED_EACH_MAX, REMEMBERED_MAX, Worth};
use segue_testkit::strategies;

use crate::transcripts::{PREDECESSOR, seq};

const OTHER: SessionId = SessionId::from_bytes([9; 16]);
const LEFT_OUT: SeqRange = SeqRange::up_to(Seq::FIRST);

fn fold(events: &[Event], from: u64) -> Worth {
    let mut worth = Worth::new(PREDECESSOR, [(OTHER, LEFT_OUT)]);
    for (number, event) in (1..).zip(events).filter(|(number, _)| *number >= from) {
        let Ok(event) = TranscriptEvent::try_from(event.clone()) else { continue };
        worth.apply(&Recorded {
            session: PREDECESSOR,
            seq: seq(number),
            position: Position::FIRST,
            time: Timestamp::default(),
            hash: EventHash::from_bytes([0; 32]),
            event,
        });
    }
    worth
}

fn user(text: &str) -> Event {
    Message::text(Role::User, Author::User, text).into()
}

fn agent(text: &str) -> Event {
    Message::text(Role::Assistant, Author::Agent, text).into()
}

fn edit(path: &str) -> Event {
    let mut message = Message::text(Role::Assistant, Author::Agent, "");
    let arguments = format!("{{\"file_path\": {path:?}, \"content\": \"x\"}}");
    let call = ToolCall { provider_id: "c".to_owned(), name: "Write".to_owned(), arguments };
    message.blocks = vec![Block::ToolCall(call)];
    message.into()
}

fn result(status: ResultStatus, text: &str, message: Option<u64>) -> ToolResult {
    let site = message.map(|message| CallSite { message: seq(message), block: 0 });
    ToolResult {
        call: CallRef { site, provider_id: "c".to_owned() },
        tool: "bash".to_owned(),
        status,
        blocks: vec![Block::Text(text.to_owned())],
        touched: Vec::new(),
        continuation: None,
        provenance: None,
    }
}

fn failed(text: &str) -> Event {
    result(ResultStatus::Error, text, None).into()
}

pub(crate) fn read(thread: SessionId, from: u64, to: u64) -> Event {
    let mut result = result(ResultStatus::Ok, "lines", None);
    result.touched = vec![Touched { thread, range: SeqRange::new(seq(from), seq(to)).unwrap() }];
    result.into()
}

/// Each recommended range with its reason.
fn recommended(events: &[Event]) -> Vec<(String, WhyRecommended)> {
    let worth = fold(events, 1).recommend(Seq::FIRST);
    worth.iter().map(|recommended| (recommended.range.to_string(), recommended.why)).collect()
}

#[test]
fn each_reason_is_found_and_nothing_else() {
    use WhyRecommended::{Correction, Decision, Denial, EditedFile, Error, RecalledOften};
    let events = [
        user("Write a parser."),
        agent("I look at the file."),
        user("No, not with regexes."),
        agent("Then we'll use a table."),
        edit("a.rs"),
        result(ResultStatus::Ok, "written", Some(5)).into(),
        failed("error[E0308]: mismatched types"),
        failed("The user doesn't want to proceed with this tool use."),
        ErrorNoted { message: "overloaded".to_owned(), provenance: None }.into(),
        read(OTHER, 7, 9),
        read(OTHER, 7, 9),
        result(ResultStatus::Ok, "permission denied, says a log file", None).into(),
    ];
    let expected = [
        ("7-9", RecalledOften),
        ("3", Correction),
        ("8", Denial),
        ("9", Error),
        ("4", Decision),
        ("5", EditedFile),
        ("7", Error),
    ];
    let expected: Vec<_> = expected.into_iter().map(|(range, why)| (range.to_owned(), why)).collect();
    assert_eq!(recommended(&events), expected);
}

#[test]
fn of_a_file_the_last_change_counts_and_of_an_error_its_last_coming() {
    let events = [
        edit("a.rs"),
        failed("x"),
        edit("b.rs"),
        edit("a.rs"),
        failed("x"),
        edit("c.rs"),
        result(ResultStatus::Error, "no such text", Some(6)).into(),
    ];
    let ranges: Vec<_> = recommended(&events).into_iter().map(|(range, _)| range).collect();
    assert_eq!(ranges, ["7", "4", "5", "3"]);
}

#[test]
fn what_was_left_out_and_read_back_comes_first() {
    let events = [user("No."), read(OTHER, 1, 20), read(OTHER, 7, 7), read(OTHER, 7, 7), read(OTHER, 1, 1)];
    let [first, second, ..] = &recommended(&events)[..] else { panic!() };
    assert_eq!(*first, ("1".to_owned(), WhyRecommended::LeftOutBefore));
    assert_eq!(*second, ("7".to_owned(), WhyRecommended::RecalledOften));
    assert_eq!(recommended(&events[..2]).len(), 1, "read once is not often");
}

#[test]
fn leafing_is_no_recall() {
    let events = [read(OTHER, 2, 200), read(OTHER, 2, 200)];
    assert_eq!(recommended(&events), []);
}

#[test]
fn a_session_of_any_length_is_remembered_in_the_same_room() {
    let room = |rounds: u64| {
        let events = (0..rounds).flat_map(|round| {
            let denied = format!("denied, not allowed: {round}");
            let (file, error) = (format!("{round}.rs"), format!("failure {round}"));
            let read = [read(OTHER, 1, 1), read(OTHER, 2 + round, 2 + round)];
            [user("No."), agent("Decided."), edit(&file), failed(&error), failed(&denied)]
                .into_iter()
                .chain(read)
        });
        let worth = fold(&events.collect::<Vec<_>>(), 1);
        assert!(worth.recommend(Seq::FIRST).len() > 10);
        format!("{worth:?}").matches("Seq(").count()
    };
    let full = room(REMEMBERED_MAX as u64);
    assert_eq!(room(3 * REMEMBERED_MAX as u64), full);
}

/// Events that say something to the fold, between others that may not.
fn telling() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => strategies::event(),
        1 => strategies::hostile_text().prop_map(|text| user(&format!("No, {text}"))),
        1 => Just(agent("We decided so.")),
        4 => (0_u8..200).prop_map(|file| edit(&format!("{file}.rs"))),
        4 => (0_u8..200).prop_map(|text| failed(&format!("failure {text}"))),
        1 => (0_u8..100).prop_map(|text| failed(&format!("denied, not allowed: {text}"))),
        1 => (1_u64..300).prop_map(|site| result(ResultStatus::Error, "f", Some(site)).into()),
        4 => (1_u64..50, 0_u64..40).prop_map(|(from, more)| read(OTHER, from, from + more)),
    ]
}

proptest! {
    #[test]
    fn bounded_for_any_transcript(events in prop::collection::vec(telling(), 0..400)) {
        let worth = fold(&events, 1);
        let found = worth.recommend(Seq::FIRST);
        prop_assert!(found.len() <= 1 + 6 * RECOMMENDED_EACH_MAX);
        // Numbers of events and hashes are all that it holds, for each thing one, two, or one for each reading.
        let numbers = format!("{worth:?}").matches("Seq(").count();
        prop_assert!(numbers <= 2 + READINGS_MAX + REMEMBERED_MAX * (5 + 2 + READINGS_MAX), "{numbers}");
    }

    #[test]
    fn what_came_before_does_not_matter(events in prop::collection::vec(telling(), 0..400), at in any::<prop::sample::Index>()) {
        let from = 1 + at.index(events.len() + 1) as u64;
        let (whole, newest) = (fold(&events, 1), fold(&events, from));
        prop_assert_eq!(whole.recommend(seq(from)), newest.recommend(seq(from)));
        prop_assert_eq!(fold(&events, 1), whole);
    }
}
