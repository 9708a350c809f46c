//! The limits of a continuation, each with its refusal.

/// The longest title, in bytes.
pub const TITLE_BYTES_MAX: usize = 256;

/// The longest description, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 1_024;

/// The longest relevance of a source, in bytes.
pub const RELEVANCE_BYTES_MAX: usize = 1_024;

/// The longest address of a resource, in bytes.
pub const URL_BYTES_MAX: usize = 2_048;

/// The longest memory path, in bytes.
pub const PATH_BYTES_MAX: usize = 1_024;

/// The most sources a handoff can cite.
pub const SOURCES_MAX: usize = 64;

/// The most bytes that all rendered sources can have.
pub const SOURCES_BYTES_MAX: usize = 8 * 1_024;

/// The most successors that agents can make of one session; forks that people make do not count.
pub const AGENT_SUCCESSORS_MAX: usize = 8;

/// The largest request, in bytes of JSON.
pub const REQUEST_BYTES_MAX: usize = 1024 * 1_024;

/// The most bytes a projection can have: from [`Budget::MIN_BYTES`] to [`Budget::MAX_BYTES`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Budget(usize);

impl Budget {
    /// The smallest budget: 16 KiB.
    pub const MIN_BYTES: usize = 16 * 1_024;

    /// The largest budget: 1 MiB.
    pub const MAX_BYTES: usize = 1_024 * 1_024;

    /// The budget where nothing else was asked for: 40 KiB.
    pub const DEFAULT: Self = Self(40 * 1_024);

    /// A budget of that many bytes; none below [`Self::MIN_BYTES`] or above [`Self::MAX_BYTES`].
    pub const fn new(bytes: usize) -> Option<Self> {
        if bytes >= Self::MIN_BYTES && bytes <= Self::MAX_BYTES { Some(Self(bytes)) } else { None }
    }

    /// How many bytes the projection can have.
    pub const fn bytes(self) -> usize {
        self.0
    }

    /// How many of them the rendered handoff can have: half.
    pub const fn handoff_bytes_max(self) -> usize {
        self.0 / 2
    }

    /// How many of them the rendered sources can have: a quarter, and at most [`SOURCES_BYTES_MAX`].
    pub const fn sources_bytes_max(self) -> usize {
        let quarter = self.0 / 4;
        if quarter < SOURCES_BYTES_MAX { quarter } else { SOURCES_BYTES_MAX }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::DEFAULT
    }
}
