//! Entries in full, piece by piece.

use proptest::prelude::*;
use segue_event::{
    BlobId, CompactedBy, ContextCompacted, Digest, LineNumber, Seq, SessionId, Timestamp, Unreadable,
};
use segue_log::{Commit, EventLog, Expected, MemoryLog, NewEvent};
use segue_thread::{
    Chain, Fetched, TextPlace, ThreadErrorKind, Window, before_boundary, fetch, render_fetched,
};

use crate::paging::{SESSION, log};

fn one(seq: u64) -> Window {
    Window { thread: SESSION, seq: Seq::new(seq).unwrap(), before: 0, after: 0 }
}

fn texts(fetched: &Fetched) -> Vec<(u64, &str)> {
    fetched.pieces.iter().map(|piece| (piece.place.seq.get(), piece.text.as_str())).collect()
}

#[test]
fn a_window_counts_entries_that_have_something_to_show() {
    let log = log(&["a", "", "b", "c", "", "d", "e"]);
    let window = Window { before: 2, after: 1, ..one(5) };
    let fetched = fetch(&log, window, None, 1_000).unwrap();
    assert_eq!(texts(&fetched), [(2, "a"), (4, "b"), (5, "c"), (7, "d")]);
    assert_eq!(fetched.next, None);
    assert_eq!(texts(&fetch(&log, one(5), None, 1_000).unwrap()), [(5, "c")]);
    let all = fetch(&log, Window { before: 99, after: 99, ..one(5) }, None, 1_000).unwrap();
    assert_eq!(texts(&all), [(2, "a"), (4, "b"), (5, "c"), (7, "d"), (8, "e")]);
}

#[test]
fn what_is_not_there_is_said() {
    let log = log(&["a", "", "bcd"]);
    let kind = |window, from| fetch(&log, window, from, 10).unwrap_err().kind();
    assert_eq!(kind(one(3), None), ThreadErrorKind::EntryNotFound);
    assert_eq!(kind(one(99), None), ThreadErrorKind::EntryNotFound);
    let other = Window { thread: SessionId::from_bytes([9; 16]), ..one(2) };
    assert_eq!(kind(other, None), ThreadErrorKind::SessionNotFound);
    let place = |seq, part, offset| Some(TextPlace { seq: Seq::new(seq).unwrap(), part, offset });
    assert_eq!(kind(one(4), place(4, 0, 3)), ThreadErrorKind::BehindText);
    assert_eq!(kind(one(4), place(4, 1, 0)), ThreadErrorKind::EntryNotFound);
    assert_eq!(kind(one(4), place(77, 0, 0)), ThreadErrorKind::EntryNotFound);
    assert_eq!(fetch(&log, one(4), place(4, 0, 2), 10).unwrap().pieces[0].text, "d");
}

#[test]
fn a_place_reads_back_and_nothing_else_does() {
    let place = TextPlace { seq: Seq::new(17).unwrap(), part: 2, offset: 4_096 };
    assert_eq!(place.to_string().parse::<TextPlace>().unwrap(), place);
    for wrong in ["", "17", "17.2", "0.2.3", "17.2.3.4", "+17.2.3", "17.2.03", "17.4294967296.3", "a.b.c"] {
        assert_eq!(wrong.parse::<TextPlace>().unwrap_err().kind(), ThreadErrorKind::CursorInvalid, "{wrong}");
    }
}

#[test]
fn a_line_that_could_not_be_read_is_fetched_and_found() {
    let log = log(&["a"]);
    let line = b"{\"half\": \xff needle in a broken line";
    let blob = log.put_blob(line).unwrap();
    let unreadable = |blob: BlobId, bytes| Unreadable {
        line: LineNumber(3),
        offset: 10,
        bytes,
        blob,
        reason: "no JSON".to_owned(),
    };
    let events = [unreadable(blob, line.len() as u64), unreadable(BlobId::of(b"lost"), 4)];
    let events = events.map(|event| NewEvent::new(Timestamp::default(), event)).to_vec();
    log.commit(Commit::new().append(SESSION, Expected::AtHead, events)).unwrap();
    let fetched = fetch(&log, one(3), None, 1_000).unwrap();
    let expected = "{\"half\": \u{fffd} needle in a broken line";
    assert!(texts(&fetched)[0].1.starts_with("no JSON (line 3"));
    assert_eq!(texts(&fetched)[1], (3, expected));
    let query = segue_thread::Query::literal("needle").unwrap();
    let budget = segue_thread::Budget::default();
    let answer = segue_thread::recall(&log, &Chain::of_sessions([SESSION]), &query, &budget, None).unwrap();
    assert_eq!((answer.hits.len(), answer.hits[0].part, answer.hits[0].excerpt.as_str()), (1, 1, expected));
    assert_eq!(answer.coverage.damaged, 1, "of the other line nothing is left");
}

#[test]
fn a_session_that_begins_its_chain_has_nothing_before_it() {
    let log = log(&["a"]);
    assert_eq!(before_boundary(&log, &Chain::of_sessions([SESSION]), 9, 99).unwrap(), None);
}

#[test]
fn the_tail_ends_where_something_stands_in_place_of_what_was_said() {
    let log = log(&["a", "b", "c"]);
    let by = CompactedBy::Summary { author: "harness".to_owned() };
    let compacted = ContextCompacted { text: "a summary".to_owned(), kept_from: None, by };
    let later = segue_event::Message::text(segue_event::Role::User, segue_event::Author::User, "d");
    let events =
        vec![NewEvent::new(Timestamp::default(), compacted), NewEvent::new(Timestamp::default(), later)];
    log.commit(Commit::new().append(SESSION, Expected::AtHead, events)).unwrap();
    let tail = before_boundary(&log, &Chain::of_sessions([SESSION]), 2, 1_000).unwrap().unwrap();
    let texts: Vec<_> = tail.entries.iter().map(|entry| entry.parts[0].text.as_str()).collect();
    assert_eq!(texts, ["b", "c"]);
}

/// All of a window, page by page.
fn all(log: &MemoryLog, window: Window, bytes_max: usize) -> Vec<(u64, u32, String, Digest)> {
    let mut all: Vec<(u64, u32, String, Digest)> = Vec::new();
    let mut from = None;
    loop {
        let fetched = fetch(log, window, from, bytes_max).unwrap();
        assert!(!fetched.pieces.is_empty(), "every page goes on");
        assert!(fetched.pieces.iter().map(|piece| piece.text.len()).sum::<usize>() <= bytes_max.max(4));
        for piece in fetched.pieces {
            let (seq, part) = (piece.place.seq.get(), piece.place.part);
            match all.last_mut().filter(|(last_seq, last_part, ..)| (*last_seq, *last_part) == (seq, part)) {
                Some((_, _, text, _)) => {
                    assert_eq!(
                        text.len() as u64,
                        piece.place.offset,
                        "a page goes on where the last one ended"
                    );
                    text.push_str(&piece.text);
                }
                None => all.push((seq, part, piece.text, piece.whole)),
            }
        }
        match fetched.next {
            Some(next) => from = Some(next),
            None => return all,
        }
    }
}

proptest! {
    #[test]
    fn pages_give_every_byte_once(
        texts in prop::collection::vec("[a\u{301}日😀\n\\[\\]]{1,40}", 1..12),
        at in any::<prop::sample::Index>(),
        (before, after) in (0_usize..6, 0_usize..6),
        bytes_max in 0_usize..90,
    ) {
        let given: Vec<&str> = texts.iter().map(String::as_str).collect();
        let log = log(&given);
        let at = at.index(texts.len());
        let window = Window { before, after, ..one(at as u64 + 2) };
        let found = all(&log, window, bytes_max);
        let range = at.saturating_sub(before)..(at + after + 1).min(texts.len());
        let expected: Vec<_> = range
            .map(|index| (index as u64 + 2, 0, texts[index].clone(), Digest::of(texts[index].as_bytes())))
            .collect();
        prop_assert_eq!(found, expected);
        let framed = render_fetched(SESSION, &fetch(&log, window, None, bytes_max).unwrap());
        prop_assert!(framed.starts_with("<excerpt ") && framed.trim_end().ends_with("</excerpt>"));
        prop_assert_eq!(framed.matches("</excerpt>").count(), 1);
    }
}
