//! Memory maps of segments: the only place with `unsafe`.
//!
//! # Why this is sound
//! A map is kept as a raw address; a slice is made only of a range that the caller knows to be *settled*: whole
//! frames before the end of the log as this process knows it. The log is append-only, so that such bytes are never
//! changed again by any process that keeps to the format (a writer that adopts a dead writer's tail writes the
//! very same bytes over themselves, and a footer is written behind the last frame). Files are never truncated, and a
//! slice is only made of what lies within the file's length, so that touching it cannot fault. A segment that is
//! compressed becomes another file under the same name; a map of the one before goes on holding that, until its
//! process notices (`Store::view`). What a foreign program does to the files meanwhile is outside of this argument, as
//! with every memory map.
//!
//! Bytes behind the settled end are never looked at through a map, but copied out with `pread`.

#![expect(unsafe_code, reason = "slices of a memory map; see the argument above")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use memmap2::MmapRaw;

use crate::disk::DiskFile;

/// A file with its memory map, which may reach beyond the file's present end.
#[derive(Debug)]
pub(crate) struct Map {
    file: Arc<dyn DiskFile>,
    /// None on a disk whose files are copied from.
    raw: Option<MmapRaw>,
    /// A length that the file has at least.
    file_bytes: AtomicU64,
}

impl Map {
    /// Maps `capacity` bytes of a file that may still grow up to them.
    pub(crate) fn new(file: Arc<dyn DiskFile>, capacity: usize) -> io::Result<Self> {
        let raw = file.map(capacity)?;
        Ok(Self { file, raw, file_bytes: AtomicU64::new(0) })
    }

    /// The file.
    pub(crate) fn file(&self) -> &dyn DiskFile {
        &*self.file
    }

    /// Settled bytes of the file, without copying them; none if the file is too short.
    pub(crate) fn settled(self: &Arc<Self>, offset: u64, bytes: u64) -> Option<Bytes> {
        let end = offset.checked_add(bytes)?;
        let (from, bytes) = (offset, usize::try_from(bytes).ok()?);
        let offset = usize::try_from(offset).ok()?;
        if !self.reaches(end) {
            return None;
        }
        let Some(raw) = &self.raw else {
            let mut copy = vec![0; bytes];
            self.file.read_exact_at(&mut copy, from).ok()?;
            return Some(copy.into());
        };
        if end > raw.len() as u64 {
            return None;
        }
        Some(Bytes::from_owner(Window { map: Arc::clone(self), offset, bytes }))
    }

    /// Looks at settled bytes of the file for a moment; none if the file is too short.
    pub(crate) fn look_at<T>(
        self: &Arc<Self>,
        offset: u64,
        bytes: u64,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Option<T> {
        let end = offset.checked_add(bytes)?;
        match &self.raw {
            Some(raw) if self.reaches(end) && end <= raw.len() as u64 => {
                let (offset, bytes) = (usize::try_from(offset).ok()?, usize::try_from(bytes).ok()?);
                Some(look(slice(raw, offset, bytes)))
            }
            _ => self.settled(offset, bytes).map(|bytes| look(&bytes)),
        }
    }

    fn reaches(&self, end: u64) -> bool {
        if end <= self.file_bytes.load(Ordering::Relaxed) {
            return true;
        }
        let length = self.file.size().unwrap_or(0);
        self.file_bytes.store(length, Ordering::Relaxed);
        end <= length
    }
}

/// A range of a map, checked when it was made to lie within both the map and the file.
struct Window {
    map: Arc<Map>,
    offset: usize,
    bytes: usize,
}

impl AsRef<[u8]> for Window {
    fn as_ref(&self) -> &[u8] {
        self.map.raw.as_ref().map_or(&[], |raw| slice(raw, self.offset, self.bytes))
    }
}

/// A range of a map whose caller has checked that it lies within both the map and the file, and that it is settled.
fn slice(raw: &MmapRaw, offset: usize, bytes: usize) -> &[u8] {
    // SAFETY: the range lies within the map, which the answer borrows, and within the file; the bytes are settled,
    // that is, nobody changes them any more (see the argument at the top of this file).
    unsafe { std::slice::from_raw_parts(raw.as_ptr().add(offset), bytes) }
}
