//! Fixed cases: searching, held to reading everything.

#![expect(clippy::unwrap_used, reason = "a failed assumption is a failed test")]

use std::collections::BTreeSet;

use segue_event::{
    Author, BlobId, Block, ByteRange, Event, Family as _, KindSet, LineNumber, Lost, Message, Position,
    RawEvent, Role, SeqRange, Timestamp, ToolCall, TranscriptEvent, Unreadable,
};

use super::sample::{described, message, position, seq, session};
use super::{Case, Subject};
use crate::{
    Case as LetterCase, Commit, Direction, EventLog, Expected, NewEvent, Sieve, Sift, Sifted, Stretch,
    TELLING,
};

pub(super) const ALL: &[Case] = &[a_search_finds_what_reading_finds, a_search_takes_in_what_it_is_told_to];

/// Texts of which each is in few events, in many, in none, or too short for a filter; some only in what JSON means.
const NEEDLES: [&str; 14] = [
    "needle 17",
    "needle",
    "nothing of the kind",
    "say \"17\"",
    "line\n17",
    "\u{e9}17",
    "17",
    "\\n",
    "漢字17",
    "字",
    "😀",
    "x/17",
    "7\u{301}",
    "\u{0}",
];

fn a_search_finds_what_reading_finds(subject: &mut dyn Subject) {
    let log = subject.open();
    write(&*log);
    check(&*log, "as it was written");
    log.settle().unwrap();
    check(&*log, "settled");
    drop(log);
    let log = subject.open();
    check(&*log, "reopened");
    write(&*log);
    check(&*log, "with more behind it");
}

/// Commits of one event and of many, for one session and for several.
fn write(log: &dyn EventLog) {
    for number in 0..40_u32 {
        let which = u8::try_from(number % 3).unwrap();
        let mut commit = Commit::new().append(session(which), Expected::AtHead, vec![said(number)]);
        if number % 4 == 0 {
            let more = (0..90)
                .map(|line| message(&format!("hay {line} of {number}, {}", "hay and straw ".repeat(60))))
                .collect();
            commit = commit.append(session(3), Expected::AtHead, more);
            let mark = if number % 8 == 0 { lost() } else { unreadable() };
            commit = commit.append(session(which), Expected::AtHead, vec![calls(number), mark]);
        }
        log.commit(commit).unwrap();
    }
}

fn said(number: u32) -> NewEvent {
    message(&format!(
        "needle {number} Needle {number} 漢字{number} 😀 {number}\u{301} \u{0} {}",
        "hay ".repeat(9)
    ))
}

fn calls(number: u32) -> NewEvent {
    let arguments = format!(
        r#"{{"text": "say \"{number}\" line\n{number}", "path": "x\/{number}", "odd": "\u00e9{number} needl\u0065 {number}"}}"#
    );
    let call = ToolCall { provider_id: String::new(), name: "write".to_owned(), arguments };
    let mut message = Message::text(Role::Assistant, Author::Agent, "I write.");
    message.blocks.push(Block::ToolCall(call));
    NewEvent::new(Timestamp::utc_micros(9), message)
}

fn lost() -> NewEvent {
    let bytes = ByteRange { start: 1, end: 2 };
    NewEvent::new(Timestamp::utc_micros(9), Lost { reason: "torn".to_owned(), segment: 1, bytes, was: None })
}

fn unreadable() -> NewEvent {
    let reason = "no JSON".to_owned();
    let line = LineNumber(1);
    NewEvent::new(
        Timestamp::utc_micros(9),
        Unreadable { line, offset: 0, bytes: 7, blob: BlobId::of(b"garbled"), reason },
    )
}

fn everywhere() -> Vec<Stretch> {
    (0..4).map(|number| Stretch { session: session(number), range: SeqRange::ALL }).collect()
}

fn looking_for(needle: &str) -> Sift {
    let kinds = KindSet::of::<TranscriptEvent>();
    let (from, to) = (Position::FIRST, Position::FIRST.plus(u64::MAX));
    Sift {
        stretches: everywhere(),
        from,
        to,
        direction: Direction::Backward,
        kinds,
        sieve: Sieve::holding(needle.as_bytes(), LetterCase::Sensitive),
    }
}

/// Every needle, alone and joined, is found wherever reading finds it, and the newest comes first.
fn check(log: &dyn EventLog, when: &str) {
    let all: Vec<RawEvent> = log.read_log(Position::FIRST).unwrap().collect::<Result<_, _>>().unwrap();
    for (place, needle) in NEEDLES.into_iter().enumerate() {
        let what = format!("{needle:?} {when}");
        let holding = |event: &&RawEvent| texts(event).iter().any(|text| text.contains(needle));
        let sift = looking_for(needle);
        let found = sifted(log, &sift);
        let is_falling =
            found.windows(2).all(|pair| pair.first().map(|e| e.position) > pair.last().map(|e| e.position));
        assert!(is_falling, "{what}: the newest comes first, each once");
        holds(&found, all.iter().filter(holding), &what);
        holds(
            &found,
            all.iter().filter(|event| TELLING.may_hold(event.kind())),
            &format!("{what}: what tells"),
        );
        let lowered = |event: &&RawEvent| {
            texts(event).iter().any(|text| text.to_ascii_lowercase().contains(&needle.to_ascii_lowercase()))
        };
        let ignoring = Sieve::holding(needle.to_ascii_uppercase().as_bytes(), LetterCase::Insensitive);
        holds(&sifted(log, &Sift { sieve: ignoring, ..sift.clone() }), all.iter().filter(lowered), &what);
        let other = NEEDLES.into_iter().cycle().nth(place + 5).unwrap();
        let sieve = |needle: &str| Sieve::holding(needle.as_bytes(), LetterCase::Sensitive);
        let has_other = |event: &&RawEvent| texts(event).iter().any(|text| text.contains(other));
        let both = Sift { sieve: Sieve::All(vec![sieve(needle), sieve(other)]), ..sift.clone() };
        holds(&sifted(log, &both), all.iter().filter(holding).filter(has_other), &what);
        let either = Sift { sieve: Sieve::Any(vec![sieve(needle), sieve(other)]), ..sift };
        holds(&sifted(log, &either), all.iter().filter(|event| holding(event) || has_other(event)), &what);
    }
}

fn holds<'a>(found: &[RawEvent], expected: impl Iterator<Item = &'a RawEvent>, what: &str) {
    for event in expected {
        assert!(found.contains(event), "{what}: {} of {} is missed", event.header.seq, event.header.session);
    }
}

fn texts(event: &RawEvent) -> Vec<String> {
    let Some(recorded) = event.decode_as::<TranscriptEvent>().unwrap() else { return Vec::new() };
    let texts = recorded.event.texts();
    let unescaped = texts.iter().flat_map(|text| text.unescaped()).map(|string| string.text().to_owned());
    texts.iter().map(|text| text.text.to_owned()).chain(unescaped).collect()
}

/// What a search finds both ways. Beside what it has to find, each way may find something else, as filters come to be.
fn sifted(log: &dyn EventLog, sift: &Sift) -> Vec<RawEvent> {
    let forward: BTreeSet<_> =
        sifted_in(log, sift, Direction::Forward).into_iter().map(|event| event.position).collect();
    let mut found = sifted_in(log, sift, Direction::Backward);
    found.retain(|event| forward.contains(&event.position));
    found
}

fn sifted_in(log: &dyn EventLog, sift: &Sift, direction: Direction) -> Vec<RawEvent> {
    let mut found = Vec::new();
    let mut last = None;
    for item in log.sift(&Sift { direction, ..sift.clone() }).unwrap() {
        let is_due = |at: Position| match direction {
            Direction::Forward => last.is_none_or(|last| at >= last),
            Direction::Backward => last.is_none_or(|last| at < last),
        };
        match item.unwrap() {
            Sifted::Event(event) => {
                assert!(is_due(event.position), "an event comes behind a place that was passed");
                last = Some(if direction == Direction::Forward {
                    event.position.next()
                } else {
                    event.position
                });
                found.push(event);
            }
            Sifted::Passed { reached, .. } => last = Some(reached),
        }
    }
    found
}

fn a_search_takes_in_what_it_is_told_to(subject: &mut dyn Subject) {
    let log = subject.open();
    write(&*log);
    log.commit(Commit::new().append(session(1), Expected::AtHead, vec![described("only here")])).unwrap();
    write(&*log);
    log.settle().unwrap();
    let sift = looking_for("needle");
    let all = sifted(&*log, &sift);
    let middle = all.get(all.len() / 2).unwrap().position;
    let before: Vec<_> = all.iter().filter(|event| event.position < middle).cloned().collect();
    assert_eq!(
        sifted(&*log, &Sift { to: middle.previous().unwrap(), ..sift.clone() }),
        before,
        "before a position"
    );
    let stretches = vec![
        Stretch { session: session(2), range: SeqRange::new(seq(3), seq(9)).unwrap() },
        Stretch { session: session(9), range: SeqRange::ALL },
    ];
    let inside =
        |event: &&RawEvent| event.header.session == session(2) && (3..=9).contains(&event.header.seq.get());
    let some: Vec<_> = all.iter().filter(inside).cloned().collect();
    assert!(!some.is_empty(), "there is something to find");
    assert_eq!(sifted(&*log, &Sift { stretches, ..sift.clone() }), some, "in a stretch");
    let described = KindSet::one(segue_event::Kind::SessionDescribed);
    let sieve = Sieve::holding(b"only here", LetterCase::Sensitive);
    let found = sifted(&*log, &Sift { kinds: described, sieve, ..sift.clone() });
    let found: Vec<_> = found.iter().map(|event| event.decode().unwrap().event).collect();
    assert!(matches!(found.as_slice(), [Event::SessionDescribed(_)]), "of a kind: {found:?}");
    assert_eq!(sifted(&*log, &Sift { from: position(90_000), ..sift.clone() }), [], "behind everything");
    assert_eq!(sifted(&*log, &Sift { stretches: Vec::new(), ..sift }), [], "nowhere");
    assert!(TranscriptEvent::accepts(all.first().unwrap().kind()), "only texts");
}
