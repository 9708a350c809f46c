//! Fixed cases: following a log, typed.

#![expect(clippy::unwrap_used, reason = "a failed assumption is a failed test")]

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use segue_event::{Event, Family, Position, SessionDescribed, SessionEvent, Timestamp, TranscriptEvent};

use super::sample::{append, position, session};
use super::{Case, Subject};
use crate::{EventLogExt, EventStream, Expected, NewEvent};

pub(super) const ALL: &[Case] = &[
    history_comes_first_then_what_is_new,
    a_stream_starts_anywhere,
    a_stream_holds_one_family,
    followers_miss_nothing_and_see_nothing_twice,
];

/// Long enough for any machine; a sound log never makes a test wait for it.
const PATIENCE: Duration = Duration::from_secs(30);

fn history_comes_first_then_what_is_new(subject: &mut dyn Subject) {
    let log = subject.open();
    log.commit(append(1, 2)).unwrap();
    let mut stream = log.follow::<Event>(Position::FIRST).unwrap();
    assert_eq!(take(&mut stream, 2), [1, 2], "history");
    assert!(stream.ready().unwrap().is_none(), "then nothing yet");
    log.commit(append(2, 1)).unwrap();
    assert_eq!(take(&mut stream, 1), [3], "then what is new");
    assert_eq!(stream.position(), position(4), "and the stream knows where it stands");
}

fn a_stream_starts_anywhere(subject: &mut dyn Subject) {
    let log = subject.open();
    log.commit(append(1, 5)).unwrap();
    assert_eq!(take(&mut log.follow::<Event>(position(4)).unwrap(), 2), [4, 5], "in the middle");
    let mut ahead = log.follow::<Event>(position(7)).unwrap();
    assert!(ahead.ready().unwrap().is_none(), "beyond the end there is nothing yet");
    log.commit(append(1, 3)).unwrap();
    assert_eq!(take(&mut ahead, 2), [7, 8], "beyond the end");
}

fn a_stream_holds_one_family(subject: &mut dyn Subject) {
    let log = subject.open();
    let described = SessionDescribed { description: "busy".to_owned() };
    let described = NewEvent::new(Timestamp::default(), Event::SessionDescribed(described));
    let commit = append(1, 1).append(session(1), Expected::AtHead, vec![described]);
    log.commit(commit.clone()).unwrap();
    log.commit(commit).unwrap();
    assert_eq!(take(&mut log.follow::<TranscriptEvent>(Position::FIRST).unwrap(), 2), [1, 3], "messages");
    assert_eq!(take(&mut log.follow::<SessionEvent>(Position::FIRST).unwrap(), 2), [2, 4], "descriptions");
}

fn followers_miss_nothing_and_see_nothing_twice(subject: &mut dyn Subject) {
    const WRITERS: u8 = 3;
    const COMMITS: usize = 40;
    let log = subject.open();
    log.commit(append(0, 5)).unwrap();
    let total = 5 + usize::from(WRITERS) * COMMITS * 2;
    let follow = || {
        let mut stream = log.follow::<Event>(Position::FIRST).unwrap();
        thread::spawn(move || take(&mut stream, total))
    };
    let early = follow();
    let write = |number: u8| {
        let log = Arc::clone(&log);
        let commit = move || append(number, 2);
        thread::spawn(move || (0..COMMITS).for_each(|_| drop(log.commit(commit()).unwrap())))
    };
    let writers: Vec<_> = (1..=WRITERS).map(write).collect();
    let late = follow();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let expected: Vec<u64> = (1..=total as u64).collect();
    assert_eq!(early.join().unwrap(), expected, "a follower from the beginning");
    assert_eq!(late.join().unwrap(), expected, "a follower that came while others wrote");
}

fn take<E: Family>(stream: &mut EventStream<E>, count: usize) -> Vec<u64> {
    let next = || stream.wait(PATIENCE).unwrap().map(|event| event.position.get());
    std::iter::from_fn(next).take(count).collect()
}
