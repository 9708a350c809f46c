//! The floor: a file that bytes are appended to, and nothing else.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};
use segue::log_file::limits::PREALLOCATE_BYTES;

/// What `cat` reads at once.
const READ_BYTES: usize = 128 * 1024;

/// A file filled with zeros ahead of its end, as the embedded log fills its own.
pub(super) struct PlainFile {
    file: File,
    end: u64,
    allocated: u64,
}

impl PlainFile {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        Ok(Self { file: File::create_new(path)?, end: 0, allocated: 0 })
    }

    /// Appends bytes, durably.
    pub(super) fn append(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let end = self.end + bytes.len() as u64;
        if end > self.allocated {
            self.allocate(end)?;
        }
        self.file.write_all_at(bytes, self.end)?;
        self.file.sync_data()?;
        self.end = end;
        Ok(())
    }

    fn allocate(&mut self, end: u64) -> anyhow::Result<()> {
        let target = (self.allocated + PREALLOCATE_BYTES).max(end);
        fallocate(&self.file, FallocateFlags::empty(), self.allocated, target - self.allocated)?;
        // What is about to be written needs no zeros.
        self.file.write_all_at(&vec![0; usize::try_from(target - end)?], end)?;
        self.allocated = target;
        Ok(())
    }
}

/// Reads a whole file as `cat` does, and tells its length.
pub(super) fn cat(path: &PathBuf, buffer: &mut Vec<u8>) -> anyhow::Result<u64> {
    let mut file = File::open(path)?;
    buffer.resize(READ_BYTES, 0);
    let mut bytes = 0;
    loop {
        let read = file.read(buffer)?;
        if read == 0 {
            return Ok(bytes);
        }
        std::hint::black_box(buffer.get(..read));
        bytes += read as u64;
    }
}
