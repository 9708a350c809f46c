//! Blobs on their way to the new store.

use std::collections::BTreeSet;

use segue_event::BlobId;
use segue_log::LogError;

use crate::blob;
use crate::disk::EntryKind;
use crate::layout::Layout;

/// What became of the blobs.
#[derive(Default)]
pub(super) struct Blobs {
    pub(super) copied: u64,
    pub(super) damaged: Vec<BlobId>,
    pub(super) missing: Vec<BlobId>,
}

/// Copies every blob whose bytes have the hash that it is named after.
///
/// # Errors
/// If one cannot be written; one that cannot be read counts as damaged.
pub(super) fn copy_blobs(old: &Layout, new: &Layout, named: &BTreeSet<BlobId>) -> Result<Blobs, LogError> {
    let mut blobs = Blobs::default();
    let mut left = named.clone();
    for id in stored(old) {
        match blob::get(old, &id) {
            Ok(Some(bytes)) => {
                blob::put(new, &bytes)?;
                blobs.copied += 1;
                left.remove(&id);
            }
            Ok(None) => {}
            Err(_) if left.remove(&id) => blobs.damaged.push(id),
            // Nobody names it.
            Err(_) => {}
        }
    }
    blobs.missing.extend(left);
    Ok(blobs)
}

/// The ids that files of blobs are named after, in order.
fn stored(layout: &Layout) -> BTreeSet<BlobId> {
    let folder = layout.blobs();
    let folders = layout.disk.list(&folder).unwrap_or_default();
    let folders = folders.into_iter().filter(|entry| entry.kind == EntryKind::Folder);
    let files = folders.flat_map(|entry| layout.disk.list(&folder.join(entry.name)).unwrap_or_default());
    files.filter_map(|entry| entry.name.parse().ok()).collect()
}
