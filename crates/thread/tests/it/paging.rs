//! Pages of a session.

use segue_event::{
    AgentId, Author, Event, Message, Role, Seq, SeqRange, SessionId, SessionStarted, Timestamp, Title,
};
use segue_log::{Commit, EventLog, Expected, MemoryLog, NewEvent};
use segue_thread::{LIMIT_MAX, Limit, ThreadErrorKind, entry, read_range};

pub(crate) const SESSION: SessionId = SessionId::from_bytes([1; 16]);

/// A log with one session: its start, and then these texts.
pub(crate) fn log(texts: &[&str]) -> MemoryLog {
    let log = MemoryLog::new();
    let started = SessionStarted {
        agent: AgentId::new("coder").unwrap(),
        title: Title::default(),
        description: String::new(),
        working_directory: String::new(),
        model: None,
        plan: None,
        edge: None,
        import: None,
    };
    let messages = texts.iter().map(|text| Event::from(Message::text(Role::User, Author::User, *text)));
    let events = std::iter::once(Event::from(started)).chain(messages);
    let events = events.map(|event| NewEvent::new(Timestamp::default(), event)).collect();
    log.commit(Commit::new().append(SESSION, Expected::first(), events)).unwrap();
    log
}

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    let log = log(&["a", "", "b", "c", "d"]);
    let (mut from, mut seen) = (Seq::FIRST, Vec::new());
    loop {
        let page = read_range(&log, SESSION, SeqRange::starting_at(from), Limit::new(2).unwrap()).unwrap();
        assert!(page.entries.len() <= 2);
        seen.extend(page.entries.iter().map(|entry| (entry.seq.get(), entry.parts[0].text.clone())));
        match page.next {
            Some(next) => from = next,
            None => break,
        }
    }
    let expected = [(2, "a"), (4, "b"), (5, "c"), (6, "d")].map(|(seq, text)| (seq, text.to_owned()));
    assert_eq!(seen, expected);
}

#[test]
fn what_is_not_there_is_said() {
    let log = log(&["a"]);
    let missing = SessionId::from_bytes([9; 16]);
    let error = read_range(&log, missing, SeqRange::ALL, Limit::default()).unwrap_err();
    assert_eq!(error.kind(), ThreadErrorKind::SessionNotFound);
    for seq in [1, 99] {
        let error = entry(&log, SESSION, Seq::new(seq).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ThreadErrorKind::EntryNotFound, "{seq}");
    }
    assert!(Limit::new(0).is_none() && Limit::new(LIMIT_MAX + 1).is_none());
}
