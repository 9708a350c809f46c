//! `LOCK`: one writer at a time, over all processes.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use segue_log::LogError;

use crate::boot::BootId;
use crate::layout::{Layout, open_or_create};
use crate::limits::LOCK_RETRY;

/// The right to write to a store, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock, waiting at most about `patience`.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::Busy`] with the owner's process id.
    pub(crate) fn take(layout: &Layout, patience: Duration) -> Result<Self, LogError> {
        let path = layout.lock();
        let failed = |error| LogError::io(format!("locking {}", path.display()), error);
        let file = open_or_create(&path).map_err(failed)?;
        let mut waited = Duration::ZERO;
        while !try_lock(&file).map_err(failed)? {
            if waited >= patience {
                return Err(LogError::busy(owner(&file), waited));
            }
            let pause = LOCK_RETRY.min(patience - waited);
            std::thread::sleep(pause);
            waited += pause;
        }
        sign(&file).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Leaves the process id and the boot id for those who find the store busy.
fn sign(file: &File) -> io::Result<()> {
    let boot = BootId::current().map_or_else(|| "unknown".to_owned(), |boot| boot.to_string());
    let text = format!("{}\n{boot}\n", std::process::id());
    file.set_len(0)?;
    file.write_all_at(text.as_bytes(), 0)
}

fn owner(mut file: &File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.lines().next()?.parse().ok()
}
