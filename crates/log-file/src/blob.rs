//! Blobs: bytes under their own hash, one file each.

use std::io;

use bytes::Bytes;
use segue_event::BlobId;
use segue_log::LogError;
use segue_log::limits::BLOB_BYTES_MAX;

use crate::disk::read_file;
use crate::layout::Layout;

/// Keeps bytes durably; those that are there already are not written again.
pub(crate) fn put(layout: &Layout, bytes: &[u8]) -> Result<BlobId, LogError> {
    if bytes.len() > BLOB_BYTES_MAX {
        return Err(LogError::too_large("a blob's size in bytes", bytes.len(), BLOB_BYTES_MAX));
    }
    let id = BlobId::of(bytes);
    layout.create()?;
    write(layout, &id, bytes).map_err(|error| LogError::io(format!("keeping blob {id}"), error))?;
    Ok(id)
}

fn write(layout: &Layout, id: &BlobId, bytes: &[u8]) -> io::Result<()> {
    let path = layout.blob(id);
    let folder = path.parent().unwrap_or(layout.root());
    if layout.has_file(&path)? {
        // Whoever wrote it may not have come to this yet.
        return layout.disk.sync_folder(folder);
    }
    if layout.disk.list(folder).is_err() {
        layout.disk.make_folder(folder)?;
        layout.disk.sync_folder(&layout.blobs())?;
    }
    layout.write_whole(&layout.blobs(), &path, bytes)
}

/// The bytes of a blob, if it is there; their hash is checked.
pub(crate) fn get(layout: &Layout, id: &BlobId) -> Result<Option<Bytes>, LogError> {
    let path = layout.blob(id);
    match read_file(&*layout.disk, &path) {
        Ok(bytes) if BlobId::of(&bytes) == *id => Ok(Some(bytes.into())),
        Ok(_) => {
            Err(LogError::corrupt(path, 0, "the bytes do not have the hash that the file is named after"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LogError::io(format!("reading {}", path.display()), error)),
    }
}
