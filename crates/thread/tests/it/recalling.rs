//! Recall: verbatim, with coverage, and cursors that belong to one search.

use proptest::prelude::*;
use segue_event::{ByteRange, EventHash, Kind, Lost, LostEvent, SessionId, Timestamp};
use segue_log::{Commit, EventLog, Expected, MemoryLog, NewEvent};
use segue_thread::{Answer, Chain, Cursor, Query, RecallLimits, ThreadErrorKind, recall};

use crate::paging::{SESSION, log};

fn chain() -> Chain {
    Chain::of_sessions([SESSION])
}

fn search(log: &MemoryLog, text: &str, limits: RecallLimits, cursor: Option<Cursor>) -> Answer {
    recall(log, &chain(), &Query::literal(text).unwrap(), &limits.into(), cursor).unwrap()
}

/// One hit a page.
fn narrow() -> RecallLimits {
    RecallLimits { answer_bytes: 1, ..RecallLimits::default() }
}

#[test]
fn not_found_is_said_only_where_everything_was_searched() {
    let texts: Vec<_> = std::iter::once("needle").chain(std::iter::repeat_n("hay", 1_000)).collect();
    let log = log(&texts);
    let complete = search(&log, "nothing", RecallLimits::default(), None);
    assert!(complete.hits.is_empty() && complete.coverage.complete && complete.cursor.is_none());
    let limits = RecallLimits { searched_bytes: 1, ..RecallLimits::default() };
    let cut = search(&log, "needle", limits, None);
    assert!(cut.hits.is_empty() && !cut.coverage.complete);
    let (mut cursor, mut found) = (cut.cursor, 0);
    while let Some(next) = cursor {
        let answer = search(&log, "needle", limits, Some(next));
        found += answer.hits.len();
        cursor = answer.cursor;
    }
    assert_eq!(found, 1);
}

/// The mark of an event of a kind, or of one of which nothing is known.
fn lost(kind: Option<Kind>) -> NewEvent {
    let was = kind.map(|kind| LostEvent { kind, id: EventHash::from_bytes([8; 32]) });
    let bytes = ByteRange { start: 1, end: 2 };
    NewEvent::new(Timestamp::default(), Lost { reason: "broken".to_owned(), segment: 1, bytes, was })
}

#[test]
fn what_was_lost_may_have_been_what_is_looked_for() {
    let kinds = [(Kind::Message, 1), (Kind::SessionStarted, 1), (Kind::ImportedLine, 0)];
    for (kind, damaged) in kinds.map(|(kind, damaged)| (Some(kind), damaged)).into_iter().chain([(None, 1)]) {
        let log = log(&["needle", "hay"]);
        log.commit(Commit::new().append(SESSION, Expected::AtHead, vec![lost(kind)])).unwrap();
        let (mut cursor, mut damages) = (None, Vec::new());
        loop {
            let limits = RecallLimits { searched_bytes: 1, ..RecallLimits::default() };
            let answer = search(&log, "nothing", limits, cursor);
            damages.push(answer.coverage.damaged);
            cursor = answer.cursor;
            if cursor.is_none() {
                assert_eq!(answer.coverage.complete, damaged == 0, "{kind:?}");
                break;
            }
        }
        assert_eq!(damages.last(), Some(&damaged), "{kind:?}: {damages:?}");
    }
    // A mark of which nobody knows the session may be that of any.
    let log = log(&["needle", "hay"]);
    log.commit(Commit::new().append(SessionId::LOST_AND_FOUND, Expected::first(), vec![lost(None)])).unwrap();
    assert!(!search(&log, "nothing", RecallLimits::default(), None).coverage.complete);
}

#[test]
fn an_empty_log_is_searched_completely() {
    let answer =
        recall(&MemoryLog::new(), &chain(), &Query::literal("x").unwrap(), &narrow().into(), None).unwrap();
    assert!(answer.coverage.complete && answer.coverage.up_to.is_none());
}

#[test]
fn an_answer_has_a_largest_size_however_frequent_the_text_is() {
    let texts = vec!["ok"; 5_000];
    let log = log(&texts);
    let (mut found, mut cursor, mut pages) = (0, None, 0);
    loop {
        let answer = search(&log, "ok", RecallLimits::default(), cursor);
        let rendered = segue_thread::render_answer(&Query::literal("ok").unwrap(), &answer);
        assert!(rendered.len() <= 34_000, "{}", rendered.len());
        (found, pages, cursor) = (found + answer.hits.len(), pages + 1, answer.cursor);
        if cursor.is_none() {
            break;
        }
    }
    assert!(found == 5_000 && pages > 10, "{found} on {pages} pages");
}

#[test]
fn the_texts_of_one_event_are_found_once_each_over_many_pages() {
    let log = log(&["needle 0"]);
    let mut message =
        segue_event::Message::text(segue_event::Role::User, segue_event::Author::User, "needle 1");
    let blocks = (2..5).map(|number| segue_event::Block::Text(format!("needle {number}")));
    message.blocks.extend(blocks);
    let event = vec![NewEvent::new(Timestamp::default(), message)];
    log.commit(Commit::new().append(SESSION, Expected::AtHead, event)).unwrap();
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let answer = search(&log, "needle", narrow(), cursor);
        assert_eq!(answer.hits.len(), 1);
        found.extend(answer.hits.into_iter().map(|hit| hit.excerpt));
        assert!(found.len() <= 5, "a text comes again: {found:?}");
        cursor = answer.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, ["needle 1", "needle 2", "needle 3", "needle 4", "needle 0"]);
}

#[test]
fn coverage_counts_the_sessions_of_earlier_pages() {
    let log = log(&["needle"]);
    let other = SessionId::from_bytes([2; 16]);
    let message =
        segue_event::Message::text(segue_event::Role::User, segue_event::Author::User, "needle too");
    let event = vec![NewEvent::new(Timestamp::default(), message)];
    log.commit(Commit::new().append(other, Expected::first(), event)).unwrap();
    let both = Chain::of_sessions([other, SESSION]);
    let query = Query::literal("needle").unwrap();
    let first = recall(&log, &both, &query, &narrow().into(), None).unwrap();
    let second = recall(&log, &both, &query, &narrow().into(), first.cursor).unwrap();
    assert_eq!((first.coverage.threads_searched, second.coverage.threads_searched), (1, 2));
    assert!(second.coverage.complete);
}

#[test]
fn a_hit_says_where_and_how_often() {
    let log = log(&["αβ needle γδ needle ε"]);
    let limits = RecallLimits { context_bytes: 3, ..RecallLimits::default() };
    let answer = search(&log, "needle", limits, None);
    let hit = &answer.hits[0];
    assert_eq!((hit.seq.get(), hit.offset, hit.matches), (2, 5, 2));
    assert_eq!((hit.excerpt.as_str(), hit.excerpt_offset), ("β needle γ", 2));
}

#[test]
fn a_cursor_goes_with_one_search_over_one_record() {
    let log = log(&["needle 1", "needle 2"]);
    let cursor = search(&log, "needle", narrow(), None).cursor.unwrap();
    let kind = |log: &MemoryLog, chain: Chain, text: &str| {
        recall(log, &chain, &Query::literal(text).unwrap(), &narrow().into(), Some(cursor))
            .unwrap_err()
            .kind()
    };
    assert_eq!(kind(&log, chain(), "other"), ThreadErrorKind::CursorMismatch);
    let two = Chain::of_sessions([SESSION, SessionId::from_bytes([2; 16])]);
    assert_eq!(kind(&log, two, "needle"), ThreadErrorKind::CursorMismatch);
    assert_eq!(kind(&crate::paging::log(&["x", "y"]), chain(), "needle"), ThreadErrorKind::CursorStale);
    assert_eq!(kind(&MemoryLog::new(), chain(), "needle"), ThreadErrorKind::CursorStale);
    assert!(Query::literal("").is_err() && Query::literal(&"x".repeat(Query::BYTES_MAX + 1)).is_err());
}

proptest! {
    #[test]
    fn paging_finds_each_place_once_while_the_log_grows(
        texts in prop::collection::vec("[ab\u{301}日]{0,12}", 1..20),
        needle in "[ab\u{301}日]{1,3}",
    ) {
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let log = log(&all);
        let holding = (2..).zip(&texts).filter(|(_, text)| text.contains(&needle)).map(|(seq, _)| seq);
        let mut expected: Vec<u64> = holding.collect();
        expected.reverse();
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let answer = search(&log, &needle, narrow(), cursor);
            found.extend(answer.hits.iter().map(|hit| hit.seq.get()));
            let message = segue_event::Message::text(segue_event::Role::User, segue_event::Author::User, &needle);
            let more = vec![NewEvent::new(Timestamp::default(), message)];
            log.commit(Commit::new().append(SESSION, Expected::AtHead, more)).unwrap();
            match answer.cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        prop_assert_eq!(found, expected);
    }
}
