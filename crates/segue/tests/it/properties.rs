//! For any transcript: the continuation compiles again to the same bytes, and what was said is recalled.

use proptest::prelude::*;
use segue::Verdict;
use segue::event::{SeqRange, SessionId};
use segue::log::{Depth, Direction};
use segue::thread::{Chain, Query, RecallLimits, entries};
use segue::{Scope, Where, Workspace};
use segue_testkit::strategies;

use crate::desk::{continued, person, said, session, workspace};

/// Every text of a chain, by place.
fn texts(workspace: &Workspace, session: SessionId) -> Vec<(SessionId, u64, u32, String)> {
    let log = &**workspace.log();
    let mut texts = Vec::new();
    for thread in Chain::of(log, session).unwrap().sessions() {
        for entry in entries(log, thread, SeqRange::ALL, Direction::Backward).unwrap() {
            let entry = entry.unwrap();
            texts
                .extend(entry.parts.into_iter().map(|part| (thread, entry.seq.get(), part.index, part.text)));
        }
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_chain_of_three_holds_and_recalls_everything(
        transcript in strategies::transcript(),
        pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        page_bytes in 1_usize..4_000,
    ) {
        let workspace = workspace();
        let first = session(&workspace, "coder");
        if !transcript.is_empty() {
            workspace.append(first, transcript).unwrap();
        }
        let mut newest = first;
        for round in ["1", "2", "3"] {
            workspace.append(newest, [said("Now go on with what comes next, whatever it is.")]).unwrap();
            let before = workspace.log().head(newest).unwrap();
            let made = continued(&workspace, newest, &person(round));
            prop_assert_eq!(workspace.log().head(newest).unwrap(), before);
            prop_assert_eq!(workspace.recompile(made.successor).unwrap().verdict, Verdict::Same);
            newest = made.successor;
        }
        prop_assert!(workspace.verify(Depth::Full, &mut |_| ()).unwrap().is_sound());

        let texts = texts(&workspace, newest);
        let picked = &texts[pick.index(texts.len())].3;
        let chars: Vec<char> = picked.chars().collect();
        let start = at.index(chars.len());
        let needle: String = chars[start..].iter().take(40).collect();
        let expected: Vec<_> = texts
            .iter()
            .filter(|text| text.3.contains(&needle))
            .map(|(thread, seq, part, _)| (*thread, *seq, *part))
            .collect();

        // Page by page, while the log grows.
        let reader = workspace.reader(Scope::Workspace);
        let limits = RecallLimits { answer_bytes: page_bytes, ..RecallLimits::default() };
        let query = Query::literal(&needle).unwrap();
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let answer = reader.recall(Where::Chain(newest), &query, &limits.into(), cursor).unwrap();
            prop_assert!(answer.hits.iter().all(|hit| hit.excerpt.contains(&needle)));
            found.extend(answer.hits.iter().map(|hit| (hit.thread, hit.seq.get(), hit.part)));
            prop_assert_eq!(answer.coverage.complete, answer.cursor.is_none());
            workspace.append(newest, [said(&needle)]).unwrap();
            match answer.cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        prop_assert_eq!(found, expected);
    }
}
