//! `published`: the durable end of the log, as the writer tells it to readers in other processes.
//!
//! # When it can be trusted
//! The record is written after each sync, never before, and never synced itself. So at any time, and after any
//! crash, the log is durable *at least* up to the end in a record that is whole: damage before it is damage of
//! acknowledged events, never a torn tail.
//!
//! Whether the log is durable *only* up to there depends on the boot id in it:
//! * The present boot's: a writer of this boot wrote it, and a writer publishes before it writes anything else.
//!   Behind the end there is only what nobody was told is durable: a commit under way, or the leftovers of a writer
//!   that was killed. Readers stop there; the next writer syncs what is whole of the leftovers and publishes it.
//! * An earlier boot's, missing, or garbled: the power may have gone before the newest record reached the disk,
//!   and no writer has begun since. What is found in the files was read from the disk, so it is durable: readers
//!   take every whole frame. They then look at the record again, for a writer may have begun meanwhile.

use std::io;
use std::sync::Arc;

use segue_event::Position;

use crate::boot::BootId;
use crate::disk::{DiskFile, Open};
use crate::layout::Layout;
use crate::limits::{FORMAT_VERSION, PUBLISHED_RETRIES};
use crate::place::{Place, SegmentNumber};
use crate::wire::{Fields, is_sealed, seal};

const RECORD_SIZE: usize = 64;
const MAGIC: [u8; 8] = *b"SeguePub";

/// The durable end of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Published {
    /// The byte behind the last durable frame.
    pub(crate) end: Place,
    /// The position that the next event gets.
    pub(crate) next: Position,
    /// The group that was written last.
    pub(crate) group: u64,
    pub(crate) boot: Option<BootId>,
}

impl Published {
    /// Reads the record; none if there is none or it is garbled.
    pub(crate) fn read(file: &dyn DiskFile) -> Option<Self> {
        // A reader may meet a writer in the middle of the record; it is whole again at once.
        (0..PUBLISHED_RETRIES).find_map(|_| {
            let mut bytes = [0; RECORD_SIZE];
            file.read_exact_at(&mut bytes, 0).ok()?;
            Self::from_bytes(&bytes)
        })
    }

    pub(crate) fn write(&self, file: &dyn DiskFile) -> io::Result<()> {
        file.write_all_at(&self.to_bytes(), 0)
    }

    pub(crate) fn create_file(layout: &Layout) -> io::Result<Arc<dyn DiskFile>> {
        layout.disk.open(&layout.published(), Open::Write)
    }

    fn to_bytes(self) -> [u8; RECORD_SIZE] {
        seal(&[
            &MAGIC,
            &FORMAT_VERSION.to_le_bytes(),
            &self.end.segment.0.to_le_bytes(),
            &self.end.offset.to_le_bytes(),
            &self.next.get().to_le_bytes(),
            &self.group.to_le_bytes(),
            &BootId::to_bytes(self.boot),
        ])
    }

    fn from_bytes(bytes: &[u8; RECORD_SIZE]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let known = is_sealed(bytes) && fields.array()? == MAGIC && fields.u32()? == FORMAT_VERSION;
        if !known {
            return None;
        }
        Some(Self {
            end: Place { segment: SegmentNumber(fields.u32()?), offset: fields.u64()? },
            next: Position::new(fields.u64()?)?,
            group: fields.u64()?,
            boot: BootId::from_bytes(fields.array()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back() {
        let record = Published {
            end: Place { segment: SegmentNumber(2), offset: 300 },
            next: Position::new(5).unwrap(),
            group: 9,
            boot: BootId::from_bytes([1; 16]),
        };
        assert_eq!(Published::from_bytes(&record.to_bytes()), Some(record));
        assert_eq!(Published::from_bytes(&[0; RECORD_SIZE]), None);
    }
}
