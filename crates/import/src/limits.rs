//! The limits of an import, in one place.

/// The longest line that is read, in bytes with its terminator: 16 MiB. A longer one is kept in pieces of this
/// size and counts as unreadable.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The most bytes of a line that stay inside its event: 8 MiB. What is larger becomes a blob.
pub const INLINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The most bytes of text in the blocks of one event: 8 MiB. What is beyond becomes a blob.
pub const EVENT_TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The most blocks of one event; of those beyond only their number is told.
pub const EVENT_BLOCKS_MAX: usize = 65_536;

/// The most events made from one line; of those beyond only their number is told.
pub const LINE_EVENTS_MAX: usize = 16_384;

/// How often a record is looked for behind something unreadable in one line.
pub const RECORDS_TRIED_MAX: u32 = 64;

/// The shortest base64 text that is cut out of a line, in bytes: 8 KiB, which leaves most signatures where they are.
pub const BASE64_BYTES_MIN: usize = 8 * 1024;

/// A commit is written once it holds this many lines.
pub const COMMIT_LINES_MAX: u64 = 128;

/// A commit is written once it holds this many bytes of lines: 64 KiB.
///
/// Whoever reads one event of a commit reads all of it, so that larger ones would make recall slow.
pub const COMMIT_BYTES_MAX: usize = 64 * 1024;

/// A commit is written once it holds this many events.
pub const COMMIT_EVENTS_MAX: usize = 8_192;

/// How many lines at the beginning of a source tell what it is.
pub const HEAD_LINES_MAX: usize = 256;

/// The lines that tell what a source is begin at most this many bytes behind its first line: 4 MiB.
pub const HEAD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The longest first line behind which is looked what a source is, in bytes: 1 GiB.
pub const FIRST_LINE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// How many tool calls are remembered to find the call of a result; the oldest is forgotten first.
pub const CALLS_REMEMBERED_MAX: usize = 16_384;

/// The longest id of another program that is taken over, in bytes; longer ones are cut off.
pub const ID_BYTES_MAX: usize = 512;

/// The longest text of an error that is taken over, in bytes: 64 KiB; the line holds all of it.
pub const ERROR_BYTES_MAX: usize = 64 * 1024;

/// The longest path of a working directory that is taken over, in bytes.
pub const DIRECTORY_BYTES_MAX: usize = 4_096;

/// The longest title made from a first message, in characters.
pub const TITLE_CHARS_MAX: usize = 80;

/// How many rewritten versions of one source are told apart.
pub const VERSIONS_MAX: u32 = 1_000;

/// How often an import begins again because another importer was faster.
pub const ATTEMPTS_MAX: u32 = 16;

/// How many unreadable pieces a report lists one by one; all are counted and all are in the record.
pub const UNREADABLE_LISTED_MAX: usize = 1_000;

/// How deep folders are entered below the one that was named.
pub const FOLDER_DEPTH_MAX: usize = 32;
