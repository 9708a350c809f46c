//! For any transcript: within the budget, every byte accounted for, every event either shown or listed as left out.

use std::collections::BTreeSet;

use proptest::prelude::*;
use segue_continuation::Budget;
use segue_event::{Digest, Handoff, Included, OmittedItem, Reason, Seq, WhyOmitted};
use segue_frame::{Entry, line};
use segue_projection::{Projection, RECENT_TEXT_CHARS_MAX, compile};
use segue_testkit::strategies;

use crate::transcripts::{Case, entries, seq};

prop_compose! {
    fn cases()(
        events in strategies::transcript(),
        at in any::<prop::sample::Index>(),
        cited in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..5),
        recommended in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..6),
        reason in prop::sample::select(&Reason::ALL[..]),
        budget in 16_384_usize..60_000,
        title in strategies::hostile_text(),
        facts in prop::collection::vec(strategies::hostile_text(), 0..5),
    ) -> Case {
        let head = events.len() as u64 + 1;
        let point = |index: prop::sample::Index| 1 + index.index(usize::try_from(head).unwrap()) as u64;
        let ordered = |ranges: Vec<(prop::sample::Index, prop::sample::Index)>| {
            let points = ranges.into_iter().map(|(one, other)| (point(one), point(other)));
            points.map(|(one, other)| (one.min(other), one.max(other))).collect::<Vec<_>>()
        };
        let mut facts = facts;
        facts.retain(|fact| fact.len() < 1_000);
        Case {
            entries: entries(&events),
            initiating: point(at),
            head,
            cited: ordered(cited),
            recommended: ordered(recommended),
            reason,
            budget: Budget::new(budget).unwrap(),
            title,
            handoff: Handoff { purpose: "p".to_owned(), current_request: "r".to_owned(), established_facts: facts, ..Handoff::default() },
        }
    }
}

proptest! {
    #[test]
    fn never_over_budget_and_the_same_again(case in cases()) {
        let (projection, _) = compile(&case.input());
        prop_assert!(projection.text.len() <= case.budget.bytes());
        prop_assert_eq!(&compile(&case.input()).0, &projection);
        prop_assert_eq!(Digest::of(projection.text.as_bytes()), projection.manifest.projection);
    }

    #[test]
    fn the_parts_are_the_whole_text(case in cases()) {
        let Projection { text, manifest } = compile(&case.input()).0;
        let mut rest = text.as_str();
        for part in &manifest.parts {
            let (piece, after) = rest.split_at(usize::try_from(part.digest.bytes).unwrap());
            prop_assert_eq!(Digest::of(piece.as_bytes()), part.digest);
            rest = after;
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn what_is_included_stands_there_to_the_byte(case in cases()) {
        let Projection { text, manifest } = compile(&case.input()).0;
        for included in &manifest.included {
            let rendered = render(&case.entries, included);
            prop_assert!(text.contains(&rendered));
            prop_assert_eq!(Digest::of(rendered.as_bytes()), included.rendered);
        }
        // No line of the transcript stands there that no item accounts for.
        let lines: usize = manifest.included.iter().map(|included| head_lines(&render(&case.entries, included))).sum();
        prop_assert_eq!(head_lines(&text), lines);
    }

    #[test]
    fn every_event_is_shown_or_listed_once(case in cases()) {
        let manifest = compile(&case.input()).0.manifest;
        let mut accounted = BTreeSet::new();
        let ranges = manifest.included.iter().map(|included| included.range);
        let left_out = manifest.omitted.iter().filter_map(|omitted| match omitted.item {
            OmittedItem::Events { range, .. } => Some(range),
            OmittedItem::Source(_) => None,
        });
        for range in ranges.chain(left_out) {
            for number in range.from.get()..=range.to.get() {
                prop_assert!(accounted.insert(number), "{number} twice");
            }
        }
        for entry in &case.entries {
            let expected = entry.seq.get() != case.initiating || manifest.omitted.iter().any(|omitted| omitted.why == WhyOmitted::InitiatingMessage);
            prop_assert!(!expected || accounted.contains(&entry.seq.get()), "{} is lost", entry.seq);
        }
    }

    #[test]
    fn the_initiating_message_is_never_repeated(case in cases()) {
        let text = compile(&case.input()).0.text;
        let head = format!("[{}] ", case.initiating);
        prop_assert!(!text.lines().any(|line| line.starts_with(&head)));
    }
}

/// What the manifest says of an item, rendered anew from the entries.
fn render(entries: &[Entry], included: &Included) -> String {
    let mut text = String::new();
    for entry in entries.iter().filter(|entry| included.range.contains(entry.seq)) {
        for part in &entry.parts {
            match included.cuts.iter().find(|cut| cut.part == part.index) {
                None => line::write(&mut text, entry.seq, &part.who, &part.text),
                Some(cut) => {
                    let (shown, rest) = part.text.split_at(usize::try_from(cut.shown.end).unwrap());
                    assert_eq!(shown.chars().count(), RECENT_TEXT_CHARS_MAX);
                    line::write(&mut text, entry.seq, &part.who, shown);
                    let thread = included.thread;
                    let more = rest.chars().count();
                    let note =
                        format!("{more} more characters: read thread:{thread} from {0} to {0}", entry.seq);
                    line::write(&mut text, entry.seq, &line::Who::new("(cut)"), &note);
                }
            }
        }
    }
    text
}

fn head_lines(text: &str) -> usize {
    text.lines().filter(|line| is_head(line)).count()
}

fn is_head(line: &str) -> bool {
    let number = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
        .map(|(number, _)| number.parse::<u64>());
    matches!(number, Some(Ok(number)) if Seq::new(number) >= Some(seq(1)))
}
