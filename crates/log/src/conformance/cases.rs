//! Fixed cases: writing, reading, claims, blobs.

#![expect(clippy::unwrap_used, reason = "a failed assumption is a failed test")]
#![expect(clippy::indexing_slicing, reason = "a wrong length is a failed test")]

use std::sync::Arc;
use std::thread;

use segue_event::{KindSet, Position, SeqRange, codec};

use super::sample::{
    append, contents, fork, key, message, messages, position, read, read_all, seq, seqs, session, through,
};
use super::{Case, Subject};
use crate::limits::{CLAIM_BYTES_MAX, COMMIT_CLAIMS_MAX, COMMIT_EVENTS_MAX};
use crate::{
    ClaimKey, Commit, Depth, Direction, Expected, Head, LogErrorKind, SessionPage, WrongSeq, read_through,
};

pub(super) const ALL: &[Case] = &[
    an_empty_log_answers_everything,
    seqs_and_positions_have_no_gaps,
    a_wrong_seq_is_refused_with_the_head,
    a_claim_is_taken_once,
    a_commit_is_for_several_sessions_or_for_none,
    commits_beyond_a_limit_are_refused,
    a_commit_without_events_is_refused,
    a_refused_commit_leaves_everything_as_it_was,
    sessions_are_read_both_ways_and_in_ranges,
    the_log_is_read_from_any_position,
    large_and_interleaved_commits_read_back,
    sessions_are_listed_newest_first_page_by_page,
    blobs_are_kept_under_their_hash,
    what_need_not_wait_keeps_its_order,
    everything_is_there_after_reopening,
    of_racing_claims_exactly_one_wins,
    racing_appends_leave_no_gap,
    a_check_tells_how_far_it_has_come,
    a_fork_goes_on_behind_an_event_of_another_session,
    a_fork_that_goes_on_from_nothing_is_told_by_a_check,
];

fn an_empty_log_answers_everything(subject: &mut dyn Subject) {
    let log = subject.open();
    assert_eq!(log.end().unwrap(), None, "the end of an empty log");
    assert_eq!(log.head(session(1)).unwrap(), None, "the head of a session that is not there");
    assert_eq!(read_all(&*log, 1, Direction::Forward), [], "a session that is not there");
    assert_eq!(log.read_log(Position::FIRST).unwrap().count(), 0, "an empty log");
    assert_eq!(log.sessions(SessionPage { before: None, limit: 9 }).unwrap(), [], "no sessions");
    assert_eq!(log.claimed(&key("free")).unwrap(), None, "a free claim");
    assert!(log.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "an empty log is sound");
}

fn seqs_and_positions_have_no_gaps(subject: &mut dyn Subject) {
    let log = subject.open();
    let one = log.commit(append(1, 2)).unwrap();
    let two = log.commit(append(2, 1)).unwrap();
    let three = log.commit(append(1, 3)).unwrap();
    assert_eq!((one.first, one.last), (position(1), position(2)), "the first commit's positions");
    assert_eq!((two.first, two.last), (position(3), position(3)), "the second commit's positions");
    assert_eq!(three.extents[0].range, SeqRange { from: seq(3), to: seq(5) }, "numbers go on in the session");
    let events: Vec<_> = log.read_log(Position::FIRST).unwrap().map(Result::unwrap).collect();
    let positions: Vec<_> = events.iter().map(|event| event.position.get()).collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6], "positions of the log");
    assert_eq!(three.extents[0].head, events[5].header.hash, "the answer names the last event's id");
    assert_eq!(log.head(session(1)).unwrap().unwrap().hash, events[5].header.hash, "the head's id");
    assert!(log.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "the hash chain holds");
}

fn a_wrong_seq_is_refused_with_the_head(subject: &mut dyn Subject) {
    let log = subject.open();
    log.commit(append(1, 2)).unwrap();
    for (number, expected, head) in [(1, 2, Some(seq(2))), (1, 4, Some(seq(2))), (2, 2, None)] {
        let commit = Commit::new().append(session(number), Expected::Seq(seq(expected)), messages(1));
        let error = log.commit(commit).unwrap_err();
        let wrong = WrongSeq { session: session(number), expected: seq(expected), head };
        assert_eq!(error.as_wrong_seq(), Some(wrong), "expected {expected} at {head:?}: {error}");
    }
    let commit = Commit::new().append(session(1), Expected::after(seq(2)), messages(1));
    assert_eq!(log.commit(commit).unwrap().extents[0].range.from, seq(3), "the right number is accepted");
}

fn a_claim_is_taken_once(subject: &mut dyn Subject) {
    let log = subject.open();
    log.commit(append(1, 2)).unwrap();
    log.commit(append(1, 2).claim(key("a")).claim(key("b"))).unwrap();
    assert_eq!(log.claimed(&key("a")).unwrap(), Some(position(3)), "the first position of the claimer");
    let error = log.commit(append(2, 1).claim(key("c")).claim(key("b"))).unwrap_err();
    assert_eq!((error.kind(), error.taken_at()), (LogErrorKind::ClaimTaken, Some(position(3))), "{error}");
    assert_eq!(log.claimed(&key("c")).unwrap(), None, "a refused commit claims nothing");
    let error = log.commit(append(2, 1).claim(key("d")).claim(key("d"))).unwrap_err();
    assert_eq!(error.taken_at(), Some(position(5)), "a key twice in one commit: {error}");
    assert_eq!(log.claimed(&key("d")).unwrap(), None, "a refused commit claims nothing");
}

fn a_commit_is_for_several_sessions_or_for_none(subject: &mut dyn Subject) {
    let log = subject.open();
    let several = append(1, 1).append(session(2), Expected::first(), messages(2)).append(
        session(1),
        Expected::Seq(seq(2)),
        messages(1),
    );
    let answer = log.commit(several).unwrap();
    assert_eq!(answer.extents.len(), 3, "one extent for each append");
    assert_eq!(seqs(&read_all(&*log, 1, Direction::Forward)), [1, 2], "a session named twice");
    let half = append(1, 1).append(session(2), Expected::first(), messages(1));
    assert_eq!(log.commit(half).unwrap_err().kind(), LogErrorKind::WrongSeq, "half of it does not fit");
    assert_eq!(seqs(&read_all(&*log, 1, Direction::Forward)), [1, 2], "nothing of it is written");
}

fn commits_beyond_a_limit_are_refused(subject: &mut dyn Subject) {
    let log = subject.open();
    let long = "x".repeat(codec::BODY_BYTES_MAX);
    let keys = (0..=COMMIT_CLAIMS_MAX).map(|number| key(&number.to_string()));
    let many = vec![message(""); COMMIT_EVENTS_MAX + 1];
    let commits = [
        ("an event", Commit::new().append(session(1), Expected::AtHead, vec![message(&long)])),
        ("the events", Commit::new().append(session(1), Expected::AtHead, many)),
        ("the claims", keys.fold(append(1, 1), Commit::claim)),
    ];
    for (what, commit) in commits {
        let error = log.commit(commit).unwrap_err();
        assert_eq!(error.kind(), LogErrorKind::TooLarge, "{what}: {error}");
    }
    assert!(ClaimKey::new(vec![0; CLAIM_BYTES_MAX + 1]).is_err(), "a claim that is too long");
    log.commit(append(1, 1).claim(ClaimKey::new(vec![0; CLAIM_BYTES_MAX]).unwrap())).unwrap();
    assert_eq!(log.end().unwrap(), Some(position(1)), "only the commit within the limits is written");
}

fn a_commit_without_events_is_refused(subject: &mut dyn Subject) {
    let log = subject.open();
    let none = Commit::new().claim(key("a"));
    let half = append(1, 1).append(session(2), Expected::AtHead, Vec::new());
    for commit in [Commit::new(), none, half] {
        assert_eq!(log.commit(commit).unwrap_err().kind(), LogErrorKind::Empty, "a commit without events");
    }
    assert_eq!(log.end().unwrap(), None, "nothing is written");
}

fn a_refused_commit_leaves_everything_as_it_was(subject: &mut dyn Subject) {
    let mut log = subject.open();
    let keys = [key("a"), key("b")];
    log.commit(append(1, 2).claim(key("a"))).unwrap();
    let before = contents(&*log, 4, &keys);
    let refused = [
        append(3, 1).claim(key("b")).claim(key("a")),
        append(3, 1).append(session(1), Expected::first(), messages(1)),
        append(1, 1).append(session(2), Expected::AtHead, Vec::new()),
    ];
    for commit in refused {
        log.commit(commit).unwrap_err();
        assert_eq!(contents(&*log, 4, &keys), before, "after a refusal");
    }
    drop(log);
    log = subject.open();
    assert_eq!(contents(&*log, 4, &keys), before, "after refusals and reopening");
}

fn sessions_are_read_both_ways_and_in_ranges(subject: &mut dyn Subject) {
    let log = subject.open();
    for _ in 0..3 {
        log.commit(append(1, 3).append(session(2), Expected::AtHead, messages(2))).unwrap();
    }
    for from in 1..=10 {
        for to in from..=10 {
            let range = SeqRange { from: seq(from), to: seq(to) };
            let expected: Vec<u64> = (from..=to.min(9)).collect();
            assert_eq!(seqs(&read(&*log, 1, range, Direction::Forward)), expected, "{range} forward");
            let mut backward = seqs(&read(&*log, 1, range, Direction::Backward));
            backward.reverse();
            assert_eq!(backward, expected, "{range} backward");
        }
    }
}

fn the_log_is_read_from_any_position(subject: &mut dyn Subject) {
    let log = subject.open();
    for number in 0..8 {
        log.commit(append(number % 3, usize::from(number % 4) + 1)).unwrap();
    }
    let end = log.end().unwrap().unwrap().get();
    for from in 1..=end + 2 {
        let found: Vec<_> =
            log.read_log(position(from)).unwrap().map(|e| e.unwrap().position.get()).collect();
        assert_eq!(found, (from..=end).collect::<Vec<_>>(), "the log from {from}");
    }
}

fn large_and_interleaved_commits_read_back(subject: &mut dyn Subject) {
    let log = subject.open();
    let mut commit = Commit::new();
    for number in 0..300_usize {
        let large = message(&"x".repeat(number * 7));
        let which = u8::try_from(number % 3).unwrap();
        commit = commit.append(session(which), Expected::AtHead, vec![large; number % 4 + 1]);
    }
    log.commit(commit).unwrap();
    let all: Vec<_> = log.read_log(Position::FIRST).unwrap().map(Result::unwrap).collect();
    for number in 0..3 {
        let expected: Vec<_> =
            all.iter().filter(|event| event.header.session == session(number)).cloned().collect();
        assert_eq!(read_all(&*log, number, Direction::Forward), expected, "session {number} forward");
        let from = seq(expected.len() as u64 / 2);
        let mut tail = read(&*log, number, SeqRange::starting_at(from), Direction::Backward);
        tail.reverse();
        assert_eq!(tail, expected[expected.len() / 2 - 1..], "the end of session {number} backward");
    }
    assert!(log.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "the chain holds");
}

fn sessions_are_listed_newest_first_page_by_page(subject: &mut dyn Subject) {
    let log = subject.open();
    for number in [3, 1, 4, 1, 5, 9, 2] {
        log.commit(append(number, 1)).unwrap();
    }
    let mut found = Vec::new();
    let mut before = None;
    loop {
        let page = log.sessions(SessionPage { before, limit: 2 }).unwrap();
        assert!(page.len() <= 2, "a page is no longer than its limit");
        let Some(last) = page.last() else { break };
        before = Some(last.first);
        found.extend(page.iter().map(|listing| (listing.session, listing.head.seq.get())));
    }
    let expected = [(2, 1), (9, 1), (5, 1), (4, 1), (1, 2), (3, 1)].map(|(n, head)| (session(n), head));
    assert_eq!(found, expected, "every session once, newest first, with its head");
    assert_eq!(log.sessions(SessionPage { before: None, limit: 0 }).unwrap(), [], "a page of none");
}

fn blobs_are_kept_under_their_hash(subject: &mut dyn Subject) {
    let log = subject.open();
    let id = log.put_blob(b"picture").unwrap();
    assert_eq!(id, segue_event::BlobId::of(b"picture"), "the id is the hash");
    assert_eq!(log.put_blob(b"picture").unwrap(), id, "the same bytes again");
    let empty = log.put_blob(b"").unwrap();
    drop(log);
    let log = subject.open();
    assert_eq!(log.blob(&id).unwrap().as_deref(), Some(b"picture".as_slice()), "after reopening");
    assert_eq!(log.blob(&empty).unwrap().as_deref(), Some(b"".as_slice()), "an empty blob");
    assert_eq!(log.blob(&segue_event::BlobId::of(b"other")).unwrap(), None, "a blob that is not there");
    assert_eq!(log.end().unwrap(), None, "blobs are no events");
}

fn what_need_not_wait_keeps_its_order(subject: &mut dyn Subject) {
    let log = subject.open();
    for number in 1..=20 {
        let commit = append(1, 1).claim(key(&number.to_string()));
        let commit = if number % 5 == 0 { commit } else { commit.without_waiting() };
        assert_eq!(log.commit(commit).unwrap().extents[0].range.to, seq(number), "commit {number}");
        assert_eq!(log.head(session(1)).unwrap().unwrap().seq, seq(number), "what was answered is seen");
        assert_eq!(log.claimed(&key(&number.to_string())).unwrap(), Some(position(number)), "its claim too");
    }
    drop(log);
    assert_eq!(read_all(&*subject.open(), 1, Direction::Forward).len(), 20, "after reopening");
}

fn everything_is_there_after_reopening(subject: &mut dyn Subject) {
    let keys = ["a", "b", "c", "d"].map(key);
    let mut log = subject.open();
    for claim in &keys {
        log.commit(append(1, 2).claim(claim.clone()).append(session(2), Expected::AtHead, messages(1)))
            .unwrap();
        let before = contents(&*log, 3, &keys);
        drop(log);
        log = subject.open();
        assert_eq!(contents(&*log, 3, &keys), before, "after reopening");
    }
    assert!(log.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "the chain holds over reopenings");
}

fn of_racing_claims_exactly_one_wins(subject: &mut dyn Subject) {
    let log = subject.open();
    for round in 0..10 {
        let claim = key(&format!("round {round}"));
        let race = |number: u8| {
            let (log, commit) = (Arc::clone(&log), append(number, 1).claim(claim.clone()));
            move || log.commit(commit).map_err(|error| error.taken_at())
        };
        let racers: Vec<_> = (0..6).map(|number| thread::spawn(race(number))).collect();
        let answers: Vec<_> = racers.into_iter().map(|racer| racer.join().unwrap()).collect();
        let winners: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
        assert_eq!(winners.len(), 1, "round {round}: {answers:?}");
        let taken_at = Some(winners[0].first);
        let losers_know = answers.iter().filter_map(|a| a.as_ref().err()).all(|at| *at == taken_at);
        assert!(losers_know, "round {round}: losers hear who won: {answers:?}");
    }
}

fn a_check_tells_how_far_it_has_come(subject: &mut dyn Subject) {
    let log = subject.open();
    (0..40).for_each(|number| drop(log.commit(append(number % 3, 50)).unwrap()));
    for depth in [Depth::Quick, Depth::Full] {
        let mut told = Vec::new();
        assert!(log.verify(depth, &mut |progress| told.push(progress)).unwrap().is_sound());
        let total = told[0].total;
        assert!(total >= 2_000, "{depth:?}: every event is read at least once: {total}");
        assert!(told.iter().all(|progress| progress.total == total), "{depth:?}: the total stays");
        assert!(told.iter().map(|progress| progress.done).is_sorted(), "{depth:?}: it only grows");
        assert_eq!((told[0].done, told[told.len() - 1].done), (0, total), "{depth:?}: from nothing to all");
        assert!((10..2_000).contains(&told.len()), "{depth:?}: now and then: {}", told.len());
    }
}

fn racing_appends_leave_no_gap(subject: &mut dyn Subject) {
    let log = subject.open();
    let write = |number: u8| {
        let log = Arc::clone(&log);
        move || (0..25).for_each(|_| drop(log.commit(append(number % 3, 2)).unwrap()))
    };
    let writers: Vec<_> = (0..6).map(|number| thread::spawn(write(number))).collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(log.end().unwrap(), Some(position(300)), "every event has a position");
    for number in 0..3 {
        let found = seqs(&read_all(&*log, number, Direction::Forward));
        assert_eq!(found, (1..=100).collect::<Vec<_>>(), "session {number}");
    }
    assert!(log.verify(Depth::Full, &mut |_| ()).unwrap().is_sound(), "the chains hold");
}

fn a_fork_goes_on_behind_an_event_of_another_session(subject: &mut dyn Subject) {
    let log = subject.open();
    log.commit(append(1, 4)).unwrap();
    let base = read_all(&*log, 1, Direction::Forward);
    let at = Head { seq: base[1].header.seq, hash: base[1].header.hash };
    log.commit(fork(2, 1, at, 2)).unwrap();
    let again = log.commit(fork(2, 1, at, 0)).unwrap_err();
    let wrong = WrongSeq { session: session(2), expected: seq(3), head: Some(seq(5)) };
    assert_eq!(again.as_wrong_seq(), Some(wrong), "a session is forked off once");
    log.commit(append(2, 1)).unwrap();
    log.commit(append(1, 1)).unwrap();
    // A fork of the fork, at an event that is not its own.
    let first = Head { seq: base[0].header.seq, hash: base[0].header.hash };
    log.commit(fork(3, 2, first, 1)).unwrap();
    drop(log);

    let log = subject.open();
    assert_eq!(
        (log.first(session(1)).unwrap(), log.first(session(2)).unwrap()),
        (Some(seq(1)), Some(seq(3)))
    );
    assert_eq!(log.first(session(9)).unwrap(), None);
    let own = read_all(&*log, 2, Direction::Forward);
    assert_eq!(seqs(&own), [3, 4, 5, 6], "its own events only");
    assert_eq!(log.head(session(2)).unwrap().unwrap().seq, seq(6));
    let whole = through(&*log, 2).unwrap();
    assert_eq!(whole, [&base[..2], &own[..]].concat(), "those that it holds by reference come first");
    let mut backward: Vec<_> =
        read_through(&*log, session(2), SeqRange::ALL, Direction::Backward, KindSet::ALL)
            .unwrap()
            .map(Result::unwrap)
            .collect();
    backward.reverse();
    assert_eq!(backward, whole, "both ways");
    let middle = SeqRange { from: seq(2), to: seq(3) };
    let middle = read_through(&*log, session(2), middle, Direction::Forward, KindSet::ALL).unwrap();
    assert_eq!(middle.map(Result::unwrap).collect::<Vec<_>>(), whole[1..3], "across the border");
    assert_eq!(seqs(&through(&*log, 3).unwrap()), [1, 2, 3], "a fork of a fork");
    let report = log.verify(Depth::Full, &mut |_| ()).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

fn a_fork_that_goes_on_from_nothing_is_told_by_a_check(subject: &mut dyn Subject) {
    let log = subject.open();
    log.commit(append(1, 1)).unwrap();
    let nowhere = Head { seq: seq(7), hash: segue_event::EventHash::from_bytes([7; 32]) };
    log.commit(fork(2, 1, nowhere, 1)).unwrap();
    let report = log.verify(Depth::Full, &mut |_| ()).unwrap();
    assert_eq!(report.problems.len(), 1, "{report:?}");
}
