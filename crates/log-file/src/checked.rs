//! Which frames of a segment were found whole by this process, so that each is checked once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::frame::FRAME_HEADER_BYTES;
use crate::limits::SEGMENT_BYTES_MAX;

/// A bit for each stretch of a segment in which a frame can begin.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Made with the first frame: 512 KiB, of which only what is touched takes memory.
    words: OnceLock<Vec<AtomicU64>>,
}

/// No two frames begin within so many bytes: a frame has a header and an event.
const STRETCH_BYTES: u64 = 64;
const _: () = assert!(STRETCH_BYTES <= FRAME_HEADER_BYTES + segue_event::HEADER_BYTES as u64);

impl Checked {
    pub(crate) fn contains(&self, offset: u64) -> bool {
        let word = self.words.get().and_then(|words| words.get(word(offset)));
        word.is_some_and(|word| word.load(Ordering::Relaxed) & bit(offset) != 0)
    }

    pub(crate) fn insert(&self, offset: u64) {
        let words = self.words.get_or_init(|| {
            let count = usize::try_from(SEGMENT_BYTES_MAX / STRETCH_BYTES / 64).unwrap_or(0);
            std::iter::repeat_with(AtomicU64::default).take(count).collect()
        });
        if let Some(word) = words.get(word(offset)) {
            word.fetch_or(bit(offset), Ordering::Relaxed);
        }
    }
}

fn word(offset: u64) -> usize {
    usize::try_from(offset / STRETCH_BYTES / 64).unwrap_or(usize::MAX)
}

fn bit(offset: u64) -> u64 {
    1 << (offset / STRETCH_BYTES % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_side_by_side_are_told_apart() {
        let checked = Checked::default();
        let smallest = FRAME_HEADER_BYTES + segue_event::HEADER_BYTES as u64;
        let offsets: Vec<_> = (0..500).map(|n| 128 + n * smallest).chain([SEGMENT_BYTES_MAX - 1]).collect();
        for offset in &offsets {
            assert!(!checked.contains(*offset), "{offset}");
            checked.insert(*offset);
            assert!(checked.contains(*offset), "{offset}");
        }
        checked.insert(SEGMENT_BYTES_MAX);
        assert!(!checked.contains(SEGMENT_BYTES_MAX), "no segment reaches so far");
    }
}
