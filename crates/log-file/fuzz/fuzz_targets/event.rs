//! Any bytes as a stored event: kind, version, body. What can be read is written in a form that reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use bytes::Bytes;
use segue_event::{Kind, SchemaVersion, codec};

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first_chunk() else { return };
    let Some((version, body)) = rest.split_first_chunk() else { return };
    let (kind, version) = (Kind(u16::from_le_bytes(*kind)), SchemaVersion(u16::from_le_bytes(*version)));
    let Ok(event) = codec::decode(kind, version, &Bytes::copy_from_slice(body)) else { return };
    let Ok(written) = codec::encode(&event) else { return };
    assert_eq!(codec::decode(event.kind(), event.version(), &written).ok(), Some(event));
});
