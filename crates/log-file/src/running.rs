//! The running hash: one value that stands for the ids of all events up to a place.

use segue_event::EventHash;

/// `running(n) = blake3(running(n - 1) ‖ id of event n)` in log order, from 32 zero bytes.
///
/// It does not depend on how events were spread over commits and segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RunningHash([u8; 32]);

impl RunningHash {
    pub(crate) const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn then(&self, event: &EventHash) -> Self {
        let mut both = [0; 64];
        let (before, id) = both.split_at_mut(32);
        before.copy_from_slice(&self.0);
        id.copy_from_slice(event.as_bytes());
        Self(*blake3::hash(&both).as_bytes())
    }
}
