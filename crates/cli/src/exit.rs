//! The exit codes.

/// The exit code of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// It did what was asked.
    Ok,
    /// Something on this machine failed.
    Unhealthy,
    /// It was asked wrongly, or refused.
    Usage,
    /// What was asked for is not there.
    NotFound,
    /// The record is damaged.
    Corrupt,
    /// The store is of a version that this build does not know.
    Version,
    /// Another process is writing.
    Busy,
    /// It did a part; the answer says which.
    Partial,
}

impl Exit {
    /// The number that the process ends with.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Unhealthy => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Corrupt => 5,
            Self::Version => 6,
            Self::Busy => 7,
            Self::Partial => 8,
        }
    }
}
