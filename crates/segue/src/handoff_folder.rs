//! The files of handoff notes in an agent's folder: what people read, and what they set.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as IoErrorKind, Write as _};
use std::path::{Path, PathBuf};

use segue_prompt::handoff_note::{HandoffFile, HandoffSettings, SettingsProblem};

use crate::error::Detail;
use crate::{Consolidated, Error, Note};

/// The newest notes, for people.
const HANDOFF: &str = "HANDOFF.md";

/// What people set.
const SETTINGS: &str = "memory.jsonc";

/// Held by whoever writes the newest notes. A file of its own, beside that one, which is replaced.
const LOCK: &str = ".HANDOFF.lock";

/// The folder of an agent that holds `HANDOFF.md` and `memory.jsonc`.
///
/// `HANDOFF.md` is a view of the last few notes; the record holds all of them. Agents that share the folder share the
/// file, and what others wrote there stays as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandoffFolder {
    folder: PathBuf,
}

impl HandoffFolder {
    /// The files in a folder, which need not be there yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// What people set, and what of it could not be used: tell them that. Without a file the defaults.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn settings(&self) -> Result<(HandoffSettings, Vec<SettingsProblem>), Error> {
        let path = self.folder.join(SETTINGS);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(HandoffSettings::read(&bytes)),
            Err(error) if error.kind() == IoErrorKind::NotFound => {
                Ok((HandoffSettings::default(), Vec::new()))
            }
            Err(error) => Err(Detail::HandoffFile(path, error).into()),
        }
    }

    /// The file of the newest notes, as it is.
    ///
    /// # Errors
    /// If it is there and cannot be read, or is no UTF-8.
    pub fn read(&self) -> Result<HandoffFile, Error> {
        read(&self.folder.join(HANDOFF))
    }

    /// Writes a note as the latest entry, and of all entries keeps as many as the settings say; with 0 nothing is
    /// written. An entry that is there already stays where it is.
    ///
    /// Who reads sees the file before or after, whole; who writes at the same time waits.
    ///
    /// # Errors
    /// If the file cannot be read or written; then it is as it was.
    pub fn write(&self, note: &Note, settings: &HandoffSettings) -> Result<(), Error> {
        self.change(settings, |file, keep| file.with(&note.entry(), keep))
    }

    /// The same, with the note's summary in the place of the note that it replaces.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_consolidated(
        &self,
        consolidated: &Consolidated,
        settings: &HandoffSettings,
    ) -> Result<(), Error> {
        let Consolidated { note, replaced, .. } = consolidated;
        self.change(settings, |file, keep| {
            let without = replaced.iter().fold(file, |file, old| file.without(&old.entry()));
            without.with(&note.entry(), keep)
        })
    }

    fn change(
        &self,
        settings: &HandoffSettings,
        change: impl FnOnce(HandoffFile, usize) -> HandoffFile,
    ) -> Result<(), Error> {
        if settings.handoff_keep == 0 {
            return Ok(());
        }
        let failed = |error| Detail::HandoffFile(self.folder.join(HANDOFF), error);
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let path = self.target();
        // Let go when it is dropped, and by the system if this process is gone.
        let _lock = lock(&path).map_err(failed)?;
        let file = read(&path)?;
        let changed = change(file.clone(), settings.handoff_keep);
        if changed != file {
            replace(&path, changed.render().as_bytes()).map_err(failed)?;
        }
        Ok(())
    }

    /// Where the file is: behind a link, if people keep it elsewhere.
    fn target(&self) -> PathBuf {
        let path = self.folder.join(HANDOFF);
        path.canonicalize().unwrap_or(path)
    }
}

/// Keeps everybody else from writing a file, also those who come to it by a link.
fn lock(path: &Path) -> std::io::Result<File> {
    let lock = private().create(true).truncate(false).open(path.with_file_name(LOCK))?;
    lock.lock()?;
    Ok(lock)
}

fn read(path: &Path) -> Result<HandoffFile, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(HandoffFile::read(&text)),
        Err(error) if error.kind() == IoErrorKind::NotFound => Ok(HandoffFile::default()),
        Err(error) => Err(Detail::HandoffFile(path.to_owned(), error).into()),
    }
}

/// Puts a file with this content in the place of another, whole and durable. The lock is held.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let temporary = path.with_extension("md.tmp");
    // A writer that was killed may have left one, with whatever mode.
    match std::fs::remove_file(&temporary) {
        Err(error) if error.kind() != IoErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private().create_new(true).open(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&temporary, path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// For a file that is its owner's alone.
fn private() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> std::io::Result<()> {
    // Folders cannot be opened there, and a rename is durable without it.
    Ok(())
}
