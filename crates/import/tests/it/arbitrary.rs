//! Sources made of anything at all.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use segue_event::SourceKind;
use segue_import::Outcome;

use crate::desk::{Desk, claude_lines};

/// Pieces that make trouble when they meet, among plain noise.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        proptest::sample::select(claude_lines()).prop_map(String::into_bytes),
        proptest::sample::select(claude_lines()).prop_map(|line| line.trim_end().as_bytes().to_vec()),
        proptest::sample::select(vec![
            "\n",
            "\r\n",
            "{",
            "}",
            "{}",
            "\"",
            "\\ud83d",
            "\u{feff}",
            "\0",
            "[",
            "null",
            r#"{"type":"user","message":{"content":["#,
            r#"{"type":"message","message":{"role":"user","content":"x"}}"#,
            r#"{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00Z"}"#,
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        (8_100_usize..8_300).prop_map(|length| [b"\"".as_slice(), &vec![b'A'; length], b"\""].concat()),
    ]
}

fn source() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(piece(), 1..20).prop_map(|pieces| pieces.concat())
}

fn kind() -> impl Strategy<Value = SourceKind> {
    proptest::sample::select(vec![SourceKind::ClaudeCode, SourceKind::Pi])
}

/// What `fuzz` begins with; the first byte of each is for the target.
#[test]
fn the_corpus_of_the_fuzz_target_comes_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/import");
    let files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let bytes = fs::read(file).unwrap();
        for kind in [SourceKind::ClaudeCode, SourceKind::Pi] {
            for end in (2..=bytes.len()).rev().step_by(11) {
                Desk::for_kind(kind).import(&bytes[1..end]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_come_back_and_are_imported_once(kind in kind(), bytes in source()) {
        prop_assume!(!bytes.is_empty());
        let desk = Desk::for_kind(kind);
        let report = desk.import(&bytes);
        let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let lines = newlines + usize::from(!bytes.ends_with(b"\n"));
        prop_assert_eq!(report.lines, lines as u64);
        prop_assert_eq!(desk.lines(report.session), lines as u64);
        desk.assert_sound();
    }

    #[test]
    fn any_growth_is_followed(kind in kind(), mut bytes in source(), cut in any::<prop::sample::Index>()) {
        // The first line tells the source from others, so it has to be there from the beginning.
        bytes.splice(0..0, claude_lines()[0].bytes());
        let first = claude_lines()[0].len();
        let cut = first + cut.index(bytes.len() - first + 1);
        let desk = Desk::for_kind(kind);
        let early = desk.import(&bytes[..cut]);
        let late = desk.import(&bytes);
        prop_assert_eq!(early.session, late.session);
        prop_assert_ne!(late.outcome, Outcome::Rewritten);
        desk.assert_sound();
    }
}
