//! What became of each source, and how often it was read back.

use segue_continuation::Budget;
use segue_event::{
    Author, Event, EventHash, Fold as _, Handoff, Message, Position, Reason, Recorded, Role, Seq, SeqRange,
    SessionId, Timestamp, TranscriptEvent, WhyOmitted,
};
use segue_projection::{Audit, CitedBy, Fate, compile};

use crate::transcripts::{Case, PREDECESSOR, entries, seq};
use crate::worth::read;

fn case(texts: &[&str], cited: &[(u64, u64)]) -> Case {
    let said = |text: &&str| Event::from(Message::text(Role::User, Author::User, *text));
    let initiating = 1 + texts.len() as u64;
    Case {
        entries: entries(&texts.iter().map(said).collect::<Vec<_>>()),
        initiating,
        head: initiating + 1,
        cited: cited.to_vec(),
        recommended: Vec::new(),
        reason: Reason::PhaseChange,
        budget: Budget::DEFAULT,
        title: String::new(),
        handoff: Handoff::default(),
    }
}

fn long() -> String {
    "a long line, ".repeat(4_000)
}

fn audit() -> Audit {
    let mut case = case(&[&long(), "short", "shorter", "now go on"], &[(2, 2), (4, 4), (4, 5)]);
    case.recommended = vec![(2, 2), (3, 3)];
    Audit::of(&compile(&case.input()).0.manifest)
}

fn fates(audit: &Audit) -> Vec<Fate> {
    audit.sources().iter().map(|source| source.fate).collect()
}

fn take(audit: &mut Audit, event: Event) {
    audit.apply(&Recorded {
        session: SessionId::from_bytes([3; 16]),
        seq: Seq::FIRST,
        position: Position::FIRST,
        time: Timestamp::default(),
        hash: EventHash::from_bytes([0; 32]),
        event: TranscriptEvent::try_from(event).unwrap(),
    });
}

#[test]
fn every_source_has_a_fate() {
    let audit = audit();
    let in_part = Fate::ShownInPart(WhyOmitted::InitiatingMessage);
    // What is too large as an excerpt stands among the recent exchanges, cut.
    assert_eq!(fates(&audit), [Fate::Cut, Fate::Shown, in_part, Fate::Cut, Fate::Shown]);
    let by_runtime = audit.sources().iter().filter(|source| matches!(source.cited_by, CitedBy::Runtime(_)));
    assert_eq!(by_runtime.count(), 2);
    assert_eq!(audit.left_out().next(), Some((PREDECESSOR, SeqRange::one(seq(2)))));
}

#[test]
fn what_no_part_of_the_projection_shows_is_left_out() {
    let long = long();
    let texts = [&[long.as_str()][..], &["filler"; 30]].concat();
    let manifest = compile(&case(&texts, &[(2, 2)]).input()).0.manifest;
    assert_eq!(fates(&Audit::of(&manifest)), [Fate::LeftOut(WhyOmitted::OverBudget)]);
}

#[test]
fn a_result_counts_once_for_each_source_that_it_touches() {
    let mut audit = audit();
    take(&mut audit, read(PREDECESSOR, 1, 3));
    take(&mut audit, read(PREDECESSOR, 4, 4));
    take(&mut audit, read(SessionId::from_bytes([3; 16]), 2, 4));
    let readings: Vec<_> = audit.sources().iter().map(|source| source.readings).collect();
    assert_eq!(readings, [1, 1, 1, 1, 1]);
}
