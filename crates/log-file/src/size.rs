//! How much a store holds, and how much room it takes.

use std::fs;
use std::io;
use std::path::Path;

use segue_log::{LogError, LogSize};

use crate::layout::Layout;
use crate::view::View;

pub(crate) fn size(layout: &Layout, view: &View) -> Result<LogSize, LogError> {
    let failed = |error| LogError::io(format!("measuring {}", layout.root().display()), error);
    let blobs = below(&layout.blobs()).map_err(failed)?;
    let index = below(&layout.index()).map_err(failed)?;
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

fn below(folder: &Path) -> io::Result<Files> {
    let mut found = Files::default();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // A folder that is not there, or went away meanwhile, holds nothing.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                continue;
            }
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.files += 1;
                found.bytes += entry.metadata()?.len();
            }
        }
    }
    Ok(found)
}
