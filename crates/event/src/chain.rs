//! The hash chain of a session: what makes a changed, lost or exchanged event show.
//!
//! `hash(n) = blake3(hash(n - 1) ‖ header without its hash ‖ blake3(body))`, and the hash before the first event
//! is 32 zero bytes. The body enters by its own hash, so that the chain can be checked without the body.

use crate::{EventHash, EventHeader};

/// What stands in for the hash before a session's first event.
pub const START: EventHash = EventHash::from_bytes([0; 32]);

/// The id of an event: the hash over its predecessor's id, its header and its body.
///
/// The header's own `hash` field does not enter.
pub fn link(previous: &EventHash, header: &EventHeader, body_hash: &blake3::Hash) -> EventHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(previous.as_bytes());
    hasher.update(&header.hashed_bytes());
    hasher.update(body_hash.as_bytes());
    hasher.finalize().into()
}
