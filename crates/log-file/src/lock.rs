//! `LOCK`: one writer at a time, over all processes, each in its turn.
//!
//! The lock is free when its holder dies. The text in the file is for people, for a log
//! that takes the lock again, which sees by it whether anybody wrote meanwhile, and for those who wait: they leave
//! a mark in it, and whoever writes gives the lock back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use segue_log::LogError;

use crate::boot::BootId;
use crate::disk::{DiskFile, Open};
use crate::layout::Layout;
use crate::limits::{LOCK_COURTESY, LOCK_RETRY};

const RECORD_SIZE: usize = 128;
/// Where those who wait leave their mark.
const MARK_AT: usize = 126;
const MARK: u8 = b'w';

/// The right to write to a store, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct WriterLock {
    _file: Arc<dyn DiskFile>,
    signature: Signature,
    /// What stood in the file before.
    before: Option<Signature>,
}

/// What a writer leaves in the file: its process, the boot, and a number for this turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signature([u8; RECORD_SIZE]);

/// Whether the lock is tried at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Manners {
    /// It is.
    #[default]
    AtOnce,
    /// Others were waiting when it was given back: one of them goes first.
    AfterOthers,
}

impl WriterLock {
    /// Takes the lock, waiting at most about `patience`.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::Busy`] with the owner's process id.
    pub(crate) fn take(layout: &Layout, patience: Duration, manners: Manners) -> Result<Self, LogError> {
        let path = layout.lock();
        let failed = |error| LogError::io(format!("locking {}", path.display()), error);
        let file = layout.disk.open(&path, Open::Write).map_err(failed)?;
        if manners == Manners::AfterOthers {
            let_others_go_first(&*file);
        }
        let mut waited = Duration::ZERO;
        while !file.try_lock().map_err(failed)? {
            if waited >= patience {
                return Err(LogError::busy(owner(&*file), waited));
            }
            file.write_all_at(&[MARK], MARK_AT as u64).map_err(failed)?;
            let pause = LOCK_RETRY.min(patience - waited);
            std::thread::sleep(pause);
            waited += pause;
        }
        let (before, signature) = (Signature::read(&*file), Signature::new(layout));
        file.write_all_at(&signature.0, 0).map_err(failed)?;
        Ok(Self { _file: file, signature, before })
    }

    /// Whether nobody had the lock since the turn that a signature is of.
    pub(crate) fn follows(&self, earlier: &Signature) -> bool {
        self.before.as_ref() == Some(earlier)
    }

    pub(crate) fn signature(&self) -> Signature {
        self.signature
    }
}

impl Signature {
    /// One that no other turn has.
    fn new(layout: &Layout) -> Self {
        static TURNS: AtomicU64 = AtomicU64::new(1);
        let boot = layout.disk.boot().and_then(BootId::from_bytes);
        let boot = boot.map_or_else(|| "unknown".to_owned(), |boot| boot.to_string());
        let turn = TURNS.fetch_add(1, Ordering::Relaxed);
        let text = format!("{}\n{boot}\n{turn}\n", std::process::id());
        let mut record = [b' '; RECORD_SIZE];
        record.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        if let Some(last) = record.last_mut() {
            *last = b'\n';
        }
        Self(record)
    }

    fn read(file: &dyn DiskFile) -> Option<Self> {
        let mut record = [0; RECORD_SIZE];
        file.read_exact_at(&mut record, 0).ok()?;
        if let Some(mark) = record.get_mut(MARK_AT) {
            *mark = b' ';
        }
        Some(Self(record))
    }
}

/// Tells the holder of the lock whether somebody waits for it.
#[derive(Debug)]
pub(crate) struct Doorbell(Arc<dyn DiskFile>);

impl Doorbell {
    /// Opens the file anew: a copy of the holder's own descriptor would keep the lock.
    pub(crate) fn open(layout: &Layout) -> io::Result<Self> {
        layout.disk.open(&layout.lock(), Open::Read).map(Self)
    }

    pub(crate) fn rings(&self) -> bool {
        has_mark(&*self.0)
    }
}

fn has_mark(file: &dyn DiskFile) -> bool {
    let mut mark = [0];
    file.read_exact_at(&mut mark, MARK_AT as u64).is_ok() && mark == [MARK]
}

/// Waits until one of those who wait has taken the lock, and so wiped the mark; not long, for it may be dead.
fn let_others_go_first(file: &dyn DiskFile) {
    let mut waited = Duration::ZERO;
    while waited < LOCK_COURTESY && has_mark(file) {
        std::thread::sleep(LOCK_RETRY);
        waited += LOCK_RETRY;
    }
}

fn owner(file: &dyn DiskFile) -> Option<u32> {
    let mut record = [0; RECORD_SIZE];
    file.read_exact_at(&mut record, 0).ok()?;
    std::str::from_utf8(&record).ok()?.lines().next()?.parse().ok()
}
