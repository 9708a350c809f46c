//! The limits of a workspace, each in one place.

/// How often a run is tried before it counts as failed.
pub const ATTEMPTS_MAX: u32 = 3;

/// How often a run that wants to end is reminded of what it owes.
pub const REMINDERS_MAX: u32 = 3;

/// How many bytes of lines one call of the `read` tool gives; more comes with its cursor: 64 KiB.
pub const READ_BYTES_MAX: usize = 64 * 1_024;

/// How often a commit is tried anew because somebody else wrote to the session meanwhile.
pub const TRIES_MAX: u32 = 64;

/// Through how many sessions that one goes on from a note is looked for.
pub const NOTE_ANCESTORS_MAX: usize = 64;

/// How many of a session's newest events tell what of it is worth citing.
pub const LOOK_BACK_EVENTS: u64 = 4_096;

/// For how many sessions a workspace keeps in memory what is worth citing; of others it is found anew.
pub const WORTH_KEPT_MAX: usize = 64;

/// How many sessions of delegated tasks are searched with a chain at most.
pub const TASKS_SEARCHED_MAX: usize = 1_024;

/// How long one call of the `recall` tool searches at most before it gives a cursor, in milliseconds.
pub const RECALL_MILLIS: u64 = 5_000;

/// How many events one call of the `recall` tool counts as read at most.
pub const TOUCHED_MAX: usize = 64;
/// For how long a fresh session that was armed can be started: 60 s. After that it is only told of.
pub const FRESH_WITHIN: std::time::Duration = std::time::Duration::from_secs(60);

/// How many of a session's newest messages a pointer is made from at most; it ends before as soon as it has enough.
pub const POINTER_LOOK_BACK: usize = 512;
