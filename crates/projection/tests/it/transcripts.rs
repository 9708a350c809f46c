//! Inputs made from event lists, as the shell around the compiler makes them.

use segue_continuation::Budget;
use segue_event::{
    ContinuationId, Event, EventHash, Handoff, PlanTransfer, Position, Reason, Recommended, Recorded, Seq,
    SeqRange, SessionId, Source, SourceTarget, Timestamp, TranscriptEvent, WhyRecommended,
};
use segue_frame::Entry;
use segue_projection::{Cited, CitedRange, CutEntry, Input, Origin, Recent, RecommendedRange, admit};

pub(crate) const PREDECESSOR: SessionId = SessionId::from_bytes([2; 16]);

pub(crate) fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap()
}

/// The transcript events of a session, numbered from 2 on; what is no transcript event leaves a hole.
pub(crate) fn entries(events: &[Event]) -> Vec<Entry> {
    let numbered = (2..).zip(events);
    numbered
        .filter_map(|(number, event)| {
            let event = TranscriptEvent::try_from(event.clone()).ok()?;
            Some(Entry::of(&Recorded {
                session: PREDECESSOR,
                seq: seq(number),
                position: Position::FIRST,
                time: Timestamp::default(),
                hash: EventHash::from_bytes([0; 32]),
                event,
            }))
        })
        .filter(|entry| !entry.parts.is_empty())
        .collect()
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) entries: Vec<Entry>,
    pub(crate) initiating: u64,
    pub(crate) head: u64,
    pub(crate) cited: Vec<(u64, u64)>,
    pub(crate) recommended: Vec<(u64, u64)>,
    pub(crate) reason: Reason,
    pub(crate) budget: Budget,
    pub(crate) title: String,
    pub(crate) handoff: Handoff,
}

impl Case {
    pub(crate) fn input(&self) -> Input {
        let ranges: Vec<_> =
            self.cited.iter().map(|(from, to)| SeqRange::new(seq(*from), seq(*to)).unwrap()).collect();
        let cite = |range: &SeqRange| Source {
            target: SourceTarget::Events { thread: PREDECESSOR, range: *range },
            relevance: "cited".to_owned(),
        };
        let cited = (0..).zip(&ranges).map(|(source, range)| {
            let inside = self.entries.iter().filter(|entry| range.contains(entry.seq));
            let cited = Cited::Entries(inside.cloned().collect());
            CitedRange { source, thread: PREDECESSOR, range: *range, cited }
        });
        let recommended = self.recommended.iter().map(|(from, to)| {
            let range = SeqRange::new(seq(*from), seq(*to)).unwrap();
            let why = WhyRecommended::Error;
            let inside = self.entries.iter().filter(|entry| range.contains(entry.seq));
            RecommendedRange {
                recommended: Recommended { thread: PREDECESSOR, range, why },
                cited: Cited::Entries(inside.cloned().collect()),
            }
        });
        let before = self.entries.iter().rev().filter(|entry| entry.seq < seq(self.initiating));
        Input {
            origin: Origin {
                continuation: ContinuationId::from_bytes([1; 16]),
                reason: self.reason,
                first: PREDECESSOR,
                predecessor: PREDECESSOR,
                predecessor_title: self.title.clone(),
                initiating: seq(self.initiating),
            },
            admitted: admit(self.budget, self.handoff.clone(), ranges.iter().map(cite).collect()).unwrap(),
            cited: cited.collect(),
            recommended: recommended.collect(),
            recent: Recent { entries: before.cloned().map(CutEntry::of).collect(), ..Recent::default() },
            head: seq(self.head),
            earlier: None,
            plan: PlanTransfer::Omit,
            compiled_at: Position::new(99),
        }
    }
}
