//! How much a store holds, and how much room it takes.

use std::io;
use std::path::Path;

use segue_log::{LogError, LogSize};

use crate::disk::{Disk, EntryKind, Open, RealDisk};
use crate::layout::Layout;
use crate::view::View;

pub(crate) fn size(layout: &Layout, view: &View) -> Result<LogSize, LogError> {
    let failed = |error| LogError::io(format!("measuring {}", layout.root().display()), error);
    let blobs = below(&*layout.disk, &layout.blobs()).map_err(failed)?;
    // The index is on the real disk, whatever the log is on.
    let index = below(&RealDisk, &layout.index()).map_err(failed)?;
    let mut size = LogSize {
        events: view.counts.events,
        sessions: view.sessions.len() as u64,
        written_bytes: view.counts.log_bytes,
        blobs: blobs.files,
        blob_bytes: blobs.bytes,
        index_bytes: index.bytes,
        ..LogSize::default()
    };
    for span in view.spans.values() {
        let stored = span.segment.stored_bytes();
        size.stored_bytes += stored;
        if !span.segment.is_plain() {
            size.compressed_bytes += stored;
        }
    }
    Ok(size)
}

/// The files below a folder.
#[derive(Default)]
struct Files {
    files: u64,
    bytes: u64,
}

fn below(disk: &dyn Disk, folder: &Path) -> io::Result<Files> {
    let mut found = Files::default();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in there(disk.list(&folder))?.unwrap_or_default() {
            let path = folder.join(&entry.name);
            match entry.kind {
                EntryKind::Folder => open.push(path),
                EntryKind::File => {
                    // One that went away since is none.
                    if let Some(bytes) = there(disk.open(&path, Open::Read).and_then(|file| file.size()))? {
                        found.files += 1;
                        found.bytes += bytes;
                    }
                }
                EntryKind::Other => {}
            }
        }
    }
    Ok(found)
}

/// None for what is not there, or went away meanwhile.
fn there<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
