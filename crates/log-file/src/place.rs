//! Places in the files of a log.

/// The size of a segment's header; the first frame stands behind it.
pub(crate) const SEGMENT_HEADER_BYTES: u64 = 128;

/// The number of a segment, from 1; its file is named after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct SegmentNumber(pub(crate) u32);

impl SegmentNumber {
    pub(crate) const FIRST: Self = Self(1);

    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// A place in the files: a segment and a byte in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Place {
    pub(crate) segment: SegmentNumber,
    pub(crate) offset: u64,
}
