//! The machine's present boot, which tells whether what a dead process left in memory can still be there.

use std::fmt;

/// An id that the operating system draws anew at each start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BootId([u8; 16]);

impl BootId {
    /// The id of the running system; none where it does not tell.
    pub(crate) fn current() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let digits: Vec<u8> = text
            .chars()
            .filter_map(|c| c.to_digit(16))
            .filter_map(|digit| u8::try_from(digit).ok())
            .collect();
        let bytes: Vec<u8> = digits.chunks_exact(2).filter_map(byte).collect();
        bytes.try_into().ok().map(Self)
    }

    /// The stored form; 16 zeros for none.
    pub(crate) fn to_bytes(id: Option<Self>) -> [u8; 16] {
        id.map_or([0; 16], |id| id.0)
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        (bytes != [0; 16]).then_some(Self(bytes))
    }
}

impl fmt::Display for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn byte(pair: &[u8]) -> Option<u8> {
    match pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    }
}
