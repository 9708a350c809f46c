//! Where everything lies in a store's folder, and how it is made.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_event::BlobId;
use segue_log::LogError;

use crate::blocks::KeptBlocks;
use crate::disk::{Disk, Entry, EntryKind, Open, RealDisk, read_file};
use crate::limits::FORMAT_VERSION;
use crate::place::SegmentNumber;

/// How the names of files begin that are not yet what they will be.
const TEMPORARY_PREFIX: &str = ".segue-new-";

/// The file that tells an index of ours from a folder of somebody else.
const INDEX_MARKER: &str = "SEGUE-INDEX";

/// The paths of a store.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    /// What was read last of compressed segments.
    pub(crate) blocks: Arc<KeptBlocks>,
}

impl Layout {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self::on(Arc::new(RealDisk), root)
    }

    pub(crate) fn on(disk: Arc<dyn Disk>, root: PathBuf) -> Self {
        Self { root, disk, blocks: Arc::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn format(&self) -> PathBuf {
        self.root.join("format")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join("LOCK")
    }

    pub(crate) fn published(&self) -> PathBuf {
        self.root.join("published")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// In the index: says that the folder is ours to remove.
    pub(crate) fn index_marker(&self) -> PathBuf {
        self.index().join(INDEX_MARKER)
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.root.join("blobs")
    }

    pub(crate) fn blob(&self, id: &BlobId) -> PathBuf {
        let name = id.to_string();
        self.blobs().join(name.get(..2).unwrap_or_default()).join(name)
    }

    pub(crate) fn segments(&self) -> PathBuf {
        self.root.join("log")
    }

    pub(crate) fn segment(&self, number: SegmentNumber) -> PathBuf {
        self.segments().join(format!("{:08}.seg", number.0))
    }

    /// The numbers of all segment files, ascending; none if the folder is not there.
    pub(crate) fn segment_numbers(&self) -> Result<Vec<SegmentNumber>, LogError> {
        let folder = self.segments();
        let failed = |error| LogError::io(format!("listing {}", folder.display()), error);
        let entries = match self.disk.list(&folder) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut numbers: Vec<_> = entries.iter().filter_map(|entry| number_of(&entry.name)).collect();
        numbers.sort();
        Ok(numbers)
    }

    /// Whether there is a store, of a format that this build can read.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::Version`] for a newer format, [`segue_log::LogErrorKind::Corrupt`] if the
    /// folder holds segments but does not say of which format.
    pub(crate) fn look(&self) -> Result<Presence, LogError> {
        if let Some(presence) = self.look_at_format()? {
            return Ok(presence);
        }
        let presence = self.look_without_format()?;
        // Another process may have finished making the store since the format was looked for.
        Ok(self.look_at_format()?.unwrap_or(presence))
    }

    /// What the format says; none if there is none.
    fn look_at_format(&self) -> Result<Option<Presence>, LogError> {
        let path = self.format();
        let text = match read_file(&*self.disk, &path) {
            Ok(bytes) => String::from_utf8(bytes).unwrap_or_default(),
            Err(error) if is_absence(&error) || error.kind() == io::ErrorKind::NotADirectory => {
                return Ok(None);
            }
            Err(error) => return Err(LogError::io(format!("reading {}", path.display()), error)),
        };
        match text.trim_end().parse::<u32>() {
            Ok(version) if version > FORMAT_VERSION => {
                Err(LogError::version(self.root.display().to_string(), version, FORMAT_VERSION))
            }
            Ok(_) => Ok(Some(Presence::There)),
            Err(_) => Err(LogError::corrupt(path, 0, "expected the number of the store's format")),
        }
    }

    fn look_without_format(&self) -> Result<Presence, LogError> {
        let failed = |error| LogError::io(format!("listing {}", self.root.display()), error);
        match self.foreign_entry() {
            Ok(None) => Ok(Presence::Missing),
            Ok(Some(_)) if self.segment_numbers().is_ok_and(|numbers| !numbers.is_empty()) => {
                Err(LogError::corrupt(self.format(), 0, "the file that names the store's format is missing"))
            }
            Ok(Some(name)) => Ok(Presence::Occupied(name)),
            Err(error) => Err(failed(error)),
        }
    }

    /// Something in the folder that an interrupted creation of ours cannot have left there.
    fn foreign_entry(&self) -> io::Result<Option<String>> {
        let entries = match self.disk.list(&self.root) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(None),
            // A file where the folder should be.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(Some(String::new())),
            Err(error) => return Err(error),
        };
        for Entry { name, kind } in entries {
            let is_ours = match name.as_str() {
                "log" | "blobs" => {
                    kind == EntryKind::Folder && self.disk.list(&self.root.join(&name))?.is_empty()
                }
                other => other.starts_with(TEMPORARY_PREFIX) && kind == EntryKind::File,
            };
            if !is_ours {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Refuses a folder that holds something else, before anything in it is touched.
    ///
    /// # Errors
    /// [`segue_log::LogErrorKind::Occupied`], or what [`Self::look`] answers.
    pub(crate) fn look_for_room(&self) -> Result<Presence, LogError> {
        match self.look()? {
            Presence::Occupied(found) => Err(LogError::occupied(&self.root, found)),
            presence => Ok(presence),
        }
    }

    /// Makes the folders and files of an empty store; does no harm to one that is there.
    pub(crate) fn create(&self) -> Result<(), LogError> {
        if self.look_for_room()? == Presence::There {
            return Ok(());
        }
        let failed = |error| LogError::io(format!("creating {}", self.root.display()), error);
        for folder in [&self.root, &self.segments(), &self.blobs()] {
            self.disk.make_folder(folder).map_err(failed)?;
        }
        // The format comes last: a folder without it holds no store yet.
        let text = format!("{FORMAT_VERSION}\n");
        self.write_whole(&self.root, &self.format(), text.as_bytes()).map_err(failed)?;
        self.root.parent().map_or(Ok(()), |parent| self.disk.sync_folder(parent)).map_err(failed)
    }

    /// Makes the store's own names durable, if whoever created it could not: before anything is written.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        self.disk.sync_folder(&self.root)?;
        self.root.parent().map_or(Ok(()), |parent| self.disk.sync_folder(parent))
    }

    /// Writes a file so that it is there whole or not at all, and durably; `scratch` is a folder on the same disk.
    pub(crate) fn write_whole(&self, scratch: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let temporary = scratch.join(temporary_name());
        // A dead process with our number may have left one behind.
        drop(self.disk.remove(&temporary));
        let written = self.disk.open(&temporary, Open::New).and_then(|file| {
            file.write_all_at(bytes, 0)?;
            file.sync_all()?;
            self.disk.rename(&temporary, path)
        });
        if written.is_err() {
            // Best effort: what matters is the error that led here.
            drop(self.disk.remove(&temporary));
        }
        written?;
        path.parent().map_or(Ok(()), |folder| self.disk.sync_folder(folder))
    }

    /// Whether there is a file.
    pub(crate) fn has_file(&self, path: &Path) -> io::Result<bool> {
        match self.disk.open(path, Open::Read) {
            Ok(_) => Ok(true),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Whether there is a store at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Presence {
    There,
    /// There is nothing, or an empty folder, or what an interrupted creation left.
    Missing,
    /// The folder holds something else, of which one name is given.
    Occupied(String),
}

fn is_absence(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn number_of(file_name: &str) -> Option<SegmentNumber> {
    let digits = file_name.strip_suffix(".seg").filter(|digits| digits.len() == 8)?;
    digits.parse().ok().filter(|number| *number > 0).map(SegmentNumber)
}

/// A name that no other thread or living process uses.
fn temporary_name() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{TEMPORARY_PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
