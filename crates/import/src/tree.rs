//! Importing every transcript below a folder, one after the other.

use std::fs;
use std::path::{Path, PathBuf};

use segue_log::EventLog;

use crate::limits::FOLDER_DEPTH_MAX;
use crate::{ImportError, ImportOptions, Imported, import_path};

/// Imports every `.jsonl` file below a folder, in the order of their paths, each when it is asked for.
///
/// What is no transcript is an entry too, skipped with its reason, and so is a link to a folder below
/// the one that was named, which is not entered. A file that fails leaves the others as they are. A path that names a file gives that one entry.
pub fn import_tree<'a>(log: &'a dyn EventLog, folder: &Path, options: &'a ImportOptions) -> TreeImport<'a> {
    TreeImport { log, options, waiting: vec![Waiting { path: folder.to_owned(), depth: 0 }] }
}

/// The files below a folder, imported one by one; see [`import_tree`].
pub struct TreeImport<'a> {
    log: &'a dyn EventLog,
    options: &'a ImportOptions,
    /// The next one last.
    waiting: Vec<Waiting>,
}

struct Waiting {
    path: PathBuf,
    depth: usize,
}

/// What became of one file of a tree.
#[derive(Debug)]
pub struct TreeEntry {
    /// The file, or the folder that could not be entered.
    pub path: PathBuf,
    /// What became of it.
    pub result: Result<Imported, ImportError>,
}

impl Iterator for TreeImport<'_> {
    type Item = TreeEntry;

    fn next(&mut self) -> Option<TreeEntry> {
        while let Some(Waiting { path, depth }) = self.waiting.pop() {
            // The folder that was named may be a link; those below it could lead round in a circle.
            let found = if depth == 0 { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
            let result = match found {
                Ok(found) if found.is_dir() => match self.enter(&path, depth) {
                    Ok(None) => continue,
                    Ok(Some(skipped)) => Ok(skipped),
                    Err(error) => Err(error),
                },
                Ok(_) => self.import(&path, depth),
                Err(error) => Err(ImportError::source(&path, error)),
            };
            return Some(TreeEntry { path, result });
        }
        None
    }
}

impl TreeImport<'_> {
    fn enter(&mut self, folder: &Path, depth: usize) -> Result<Option<Imported>, ImportError> {
        if depth > FOLDER_DEPTH_MAX {
            return Ok(Some(skipped(&format!("it lies more than {FOLDER_DEPTH_MAX} folders deep"))));
        }
        let failed = |error| ImportError::source(folder, error);
        let mut paths = fs::read_dir(folder)
            .map_err(failed)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        paths.sort_by(|one, other| other.cmp(one));
        self.waiting.extend(paths.into_iter().map(|path| Waiting { path, depth: depth + 1 }));
        Ok(None)
    }

    fn import(&self, path: &Path, depth: usize) -> Result<Imported, ImportError> {
        // A file that was named is imported whatever it is called.
        if depth > 0 {
            if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
                return Ok(skipped("it is a link to a folder, and such links are not followed"));
            }
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                return Ok(skipped("its name does not end in .jsonl"));
            }
        }
        import_path(self.log, path, self.options)
    }
}

fn skipped(reason: &str) -> Imported {
    Imported::Skipped(reason.to_owned())
}
