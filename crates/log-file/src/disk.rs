//! All that the log does with its files, as one small trait, so that tests can put a disk of their own below it.
//!
//! Left out is the index, which is sled's and may be lost at any time.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{Advice, FallocateFlags, FlockOperation, fadvise, fallocate, flock};

use crate::boot::BootId;

/// Where files are.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// What the disk answers.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>>;

    /// What is in a folder, in any order.
    ///
    /// # Errors
    /// What the disk answers.
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>>;

    /// Makes a folder that only its owner can enter, and those above it, unless it is there.
    ///
    /// # Errors
    /// What the disk answers.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes names durable that were added to a folder or removed from it.
    ///
    /// # Errors
    /// What the disk answers.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name in the same folder or one beside it, in place of what has that name.
    ///
    /// # Errors
    /// What the disk answers.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// An id of the machine's present start; none if it is not known. What was written since is not lost with a
    /// process, only with the machine.
    fn boot(&self) -> Option<[u8; 16]>;

    /// Removes a file.
    ///
    /// # Errors
    /// What the disk answers.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A file that is open.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// How many bytes it has.
    ///
    /// # Errors
    /// What the disk answers.
    fn size(&self) -> io::Result<u64>;

    /// Reads exactly as many bytes as asked for.
    ///
    /// # Errors
    /// What the disk answers, and [`io::ErrorKind::UnexpectedEof`] if there are fewer.
    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()>;

    /// Writes all of the bytes.
    ///
    /// # Errors
    /// What the disk answers; then any of them may have been written.
    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Makes room for bytes, which makes the file longer.
    ///
    /// # Errors
    /// What the disk answers.
    fn allocate(&self, from: u64, bytes: u64) -> io::Result<()>;

    /// Makes the bytes durable.
    ///
    /// # Errors
    /// What the disk answers; then nobody knows which of them are.
    fn sync_data(&self) -> io::Result<()>;

    /// Makes the bytes and all that is known of the file durable.
    ///
    /// # Errors
    /// As [`Self::sync_data`].
    fn sync_all(&self) -> io::Result<()>;

    /// A map of so many bytes from the file's beginning; none where reading copies.
    ///
    /// # Errors
    /// What the disk answers.
    fn map(&self, capacity: usize) -> io::Result<Option<MmapRaw>>;

    /// Takes the file's lock if it is free, and tells whether it was.
    ///
    /// It is held until this handle is dropped or the process ends, against every other handle: those of this
    /// process too. It keeps nobody from reading or writing who does not ask for it.
    ///
    /// # Errors
    /// What the disk answers.
    fn try_lock(&self) -> io::Result<bool>;

    /// Whether the file still has a name. One that was replaced has none, and takes room until the last handle and
    /// the last map of it are dropped.
    ///
    /// # Errors
    /// What the disk answers.
    fn has_name(&self) -> io::Result<bool>;

    /// A number that no other file beside it has, and that stays when it gets another name: a copy has another.
    ///
    /// # Errors
    /// What the disk answers.
    fn identity(&self) -> io::Result<u64>;

    /// Lets what is read next come from the disk and not from memory, as far as the system can do that.
    fn drop_cached(&self);
}

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
    /// To read; it must be there.
    Read,
    /// To read and write; it is made if it is not there.
    Write,
    /// To read and write; it must not be there.
    New,
}

/// Something in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name, with what is no text replaced.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What something in a folder is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Anything else, such as a link.
    Other,
}

/// The disks of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        match how {
            Open::Read => options.read(true),
            Open::Write => options.read(true).write(true).create(true).truncate(false).mode(0o600),
            Open::New => options.read(true).write(true).create_new(true).mode(0o600),
        };
        Ok(Arc::new(RealFile(options.open(path)?)))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        fs::read_dir(folder)?.map(|entry| entry.and_then(|entry| entry_of(&entry))).collect()
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn boot(&self) -> Option<[u8; 16]> {
        BootId::current().map(|boot| BootId::to_bytes(Some(boot)))
    }
}

fn entry_of(entry: &fs::DirEntry) -> io::Result<Entry> {
    let kind = match entry.file_type()? {
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_dir() => EntryKind::Folder,
        _ => EntryKind::Other,
    };
    Ok(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind })
}

/// A file of this machine.
#[derive(Debug)]
pub(crate) struct RealFile(pub(crate) File);

impl DiskFile for RealFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, at)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }

    fn allocate(&self, from: u64, bytes: u64) -> io::Result<()> {
        match fallocate(&self.0, FallocateFlags::empty(), from, bytes) {
            // Some file systems cannot; then the zeros that follow take the room.
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn map(&self, capacity: usize) -> io::Result<Option<MmapRaw>> {
        MmapOptions::new().len(capacity).map_raw_read_only(&self.0).map(Some)
    }

    fn try_lock(&self) -> io::Result<bool> {
        match flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn has_name(&self) -> io::Result<bool> {
        Ok(self.0.metadata()?.nlink() > 0)
    }

    fn identity(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.ino())
    }

    fn drop_cached(&self) {
        // Only advice: where it is not taken, the bytes come from memory.
        fadvise(&self.0, 0, None, Advice::DontNeed).ok();
    }
}

/// All bytes of a file.
///
/// # Errors
/// What the disk answers.
pub(crate) fn read_file(disk: &dyn Disk, path: &Path) -> io::Result<Vec<u8>> {
    let file = disk.open(path, Open::Read)?;
    let mut bytes = vec![0; usize::try_from(file.size()?).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}
