//! The limits of a log, each with its error.

/// The most bytes of event bodies in one commit: 64 MiB.
pub const COMMIT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The most events in one commit.
pub const COMMIT_EVENTS_MAX: usize = 65_536;

/// The most claims in one commit.
pub const COMMIT_CLAIMS_MAX: usize = 1_024;

/// The longest claim, in bytes.
pub const CLAIM_BYTES_MAX: usize = 512;

/// The largest blob, in bytes: 1 GiB.
pub const BLOB_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// How many events a search reads at most before it tells where it stands.
pub const SIFT_QUIET_EVENTS: u32 = 256;
