//! Every event reads back from its stored form, and no other bytes do.

use bytes::Bytes;
use proptest::prelude::*;
use segue_event::{EventHash, Position, Prepared, RawEvent, Seq, SessionId, chain, codec};
use segue_testkit::strategies;

proptest! {
    #[test]
    fn events_read_back(event in strategies::event(), time in strategies::timestamp()) {
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
        let _ = codec::decode(segue_event::Kind(kind), segue_event::SchemaVersion(1), &Bytes::from(bytes));
    }
}
