//! Every event reads back from its stored form, and no other bytes do.

use std::path::Path;

use bytes::Bytes;
use proptest::prelude::*;
use segue_event::{
    EventHash, Kind, Position, Prepared, RawEvent, SchemaVersion, Seq, SessionId, chain, codec,
};
use segue_testkit::strategies;

/// The corpus of a fuzz target: kind, version, body. What reads is written in a form that reads the same.
#[test]
fn the_corpus_of_the_fuzz_target_does_no_harm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../log-file/fuzz/corpus/event");
    let files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let bytes = std::fs::read(file).unwrap();
        for changed in (0..=bytes.len()).map(|at| with_a_bit_flipped(&bytes, at)) {
            let (kind, rest) = changed.split_first_chunk().unwrap();
            let (version, body) = rest.split_first_chunk().unwrap();
            let (kind, version) =
                (Kind(u16::from_le_bytes(*kind)), SchemaVersion(u16::from_le_bytes(*version)));
            let Ok(event) = codec::decode(kind, version, &Bytes::copy_from_slice(body)) else { continue };
            let written = codec::encode(&event).unwrap();
            assert_eq!(codec::decode(event.kind(), event.version(), &written).unwrap(), event);
        }
    }
}

/// The same bytes with one bit of the byte at `at` flipped; behind the end: as they are.
fn with_a_bit_flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
    bytes
}

proptest! {
    #[test]
    fn events_read_back(event in strategies::event_of_any_kind(), time in strategies::timestamp()) {
        let prepared = Prepared::new(time, &event).unwrap();
        let raw = prepared.place(SessionId::from_bytes([1; 16]), Seq::FIRST, &chain::START, Position::FIRST);
        prop_assert!(raw.is_chained_to(&chain::START));
        let recorded = raw.decode().unwrap();
        prop_assert_eq!(recorded.event, event);
        prop_assert_eq!(recorded.time, time);
    }

    #[test]
    fn anything_behind_a_body_is_an_error(event in strategies::event(), extra in 1_usize..9) {
        let mut body = codec::encode(&event).unwrap().to_vec();
        body.extend(vec![0; extra]);
        prop_assert!(codec::decode(event.kind(), event.version(), &Bytes::from(body)).is_err());
    }

    #[test]
    fn any_change_breaks_the_chain(event in strategies::event(), at in any::<prop::sample::Index>(), flip in 1_u8..) {
        let prepared = Prepared::new(segue_event::Timestamp::default(), &event).unwrap();
        let raw = prepared.place(SessionId::from_bytes([1; 16]), Seq::FIRST, &chain::START, Position::FIRST);
        let mut body = raw.body.to_vec();
        if !body.is_empty() {
            let at = at.index(body.len());
            body[at] ^= flip;
            let changed = RawEvent { body: Bytes::from(body), ..raw.clone() };
            prop_assert!(!changed.is_chained_to(&chain::START));
        }
        prop_assert!(!raw.is_chained_to(&EventHash::from_bytes([1; 32])));
    }

    #[test]
    fn any_bytes_as_a_body_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0_u16..90) {
        let _ = codec::decode(Kind(kind), SchemaVersion(1), &Bytes::from(bytes));
    }
}
