//! What is worth knowing of the machine that figures come from.

use std::path::Path;

/// The machine, as far as it is cheap to know.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) cores: usize,
    pub(super) filesystem: String,
    pub(super) system: &'static str,
    pub(super) architecture: &'static str,
}

impl Machine {
    /// This machine, with the file system that holds `folder`.
    pub(super) fn of(folder: &Path) -> Self {
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            filesystem: filesystem(folder),
            system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
        }
    }
}

/// The name of a file system that one meets often, else its number.
fn filesystem(folder: &Path) -> String {
    match rustix::fs::statfs(folder).map(|found| found.f_type) {
        Ok(0xEF53) => "ext4".to_owned(),
        Ok(0x5846_5342) => "xfs".to_owned(),
        Ok(0x9123_683E) => "btrfs".to_owned(),
        Ok(0x0102_1994) => "tmpfs".to_owned(),
        Ok(0x794C_7630) => "overlayfs".to_owned(),
        Ok(other) => format!("{other:#x}"),
        Err(_) => "unknown".to_owned(),
    }
}
