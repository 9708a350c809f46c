//! A sealed segment, written anew in compressed blocks, and read back before it takes the plain one's place.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::blocks::Packer;
use crate::disk::{DiskFile, Open};
use crate::footer::Made;
use crate::layout::Layout;
use crate::limits::BLOCK_BYTES;
use crate::place::SEGMENT_HEADER_BYTES;
use crate::segment::{Packed, Segment, SegmentHeader, Storage};

/// How compressing a segment ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The compressed file stands in the plain one's place.
    Replaced(Arc<Segment>),
    /// It was asked to stop; the plain one stays.
    Stopped,
    /// What was written read back as something else; the plain one stays.
    Garbled,
}

/// A plain sealed segment.
#[derive(Clone, Copy)]
pub(crate) struct Sealed<'a> {
    pub(crate) segment: &'a Segment,
    pub(crate) header: SegmentHeader,
    /// The byte behind its last frame.
    pub(crate) end: u64,
    /// What stands behind that: the footer and the search filter.
    pub(crate) behind: &'a Made,
}

/// Compresses a segment, for whoever holds its lock.
///
/// # Errors
/// What the disk answers. The plain segment is then where it was, unless only making the new name durable failed.
pub(crate) fn compress(layout: &Layout, sealed: Sealed<'_>, stop: &AtomicBool) -> io::Result<Outcome> {
    let new = new_path(layout, sealed);
    // A killed process may have left one behind.
    drop(layout.disk.remove(&new));
    let replaced = write_and_read_back(layout, &new, sealed, stop).and_then(|reading| {
        if reading == Reading::Same {
            layout.disk.rename(&new, &sealed.segment.path)?;
        }
        Ok(reading)
    });
    if !matches!(replaced, Ok(Reading::Same)) {
        drop(layout.disk.remove(&new));
    }
    match replaced? {
        Reading::Stopped => Ok(Outcome::Stopped),
        Reading::Differs => Ok(Outcome::Garbled),
        Reading::Same => {
            layout.disk.sync_folder(&layout.segments())?;
            open(layout, &sealed.segment.path, sealed).map(Outcome::Replaced)
        }
    }
}

fn new_path(layout: &Layout, sealed: Sealed<'_>) -> PathBuf {
    layout.segment(sealed.segment.number).with_extension("new")
}

fn open(layout: &Layout, path: &Path, sealed: Sealed<'_>) -> io::Result<Arc<Segment>> {
    let opened = Segment::open_at(layout, path.to_owned(), sealed.segment.number);
    opened.map(Arc::new).map_err(|error| io::Error::other(error.to_string()))
}

fn write_and_read_back(
    layout: &Layout,
    new: &Path,
    sealed: Sealed<'_>,
    stop: &AtomicBool,
) -> io::Result<Reading> {
    let file = layout.disk.open(new, Open::New)?;
    let Some(header) = write(&*file, sealed, stop)? else { return Ok(Reading::Stopped) };
    // What is in memory says nothing about what is on the disk.
    file.drop_cached();
    let written = open(layout, new, sealed)?;
    read_back(&*file, &written, &header, sealed, stop)
}

/// Writes the compressed file, durably, and gives its header; none if it was asked to stop.
fn write(file: &dyn DiskFile, sealed: Sealed<'_>, stop: &AtomicBool) -> io::Result<Option<SegmentHeader>> {
    // The real header comes last: until then the file is no segment.
    file.write_all_at(&[0; SEGMENT_HEADER_BYTES as usize], 0)?;
    let mut packer = Packer::new(SEGMENT_HEADER_BYTES)?;
    for (at, count) in blocks(sealed) {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let block = sealed.segment.copy(at, count)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let next = packer.next();
        file.write_all_at(&packer.pack(&block)?, next)?;
    }
    let (table_at, table) = packer.finish();
    file.write_all_at(&table, table_at)?;
    let behind_at = table_at + table.len() as u64;
    for (skip, piece) in sealed.behind.pieces() {
        file.write_all_at(piece, behind_at + skip)?;
    }
    let packed = Packed {
        end: sealed.end,
        table: table_at,
        table_bytes: crate::wire::to_u32(table.len() as u64),
        table_checksum: crc32fast::hash(&table),
    };
    let header = SegmentHeader { storage: Storage::Packed(packed), ..sealed.header };
    file.write_all_at(&header.to_bytes(), behind_at + sealed.behind.bytes())?;
    file.write_all_at(&header.to_bytes(), 0)?;
    file.sync_all()?;
    Ok(Some(header))
}

/// Where the blocks of a segment begin, and how long they are.
fn blocks(sealed: Sealed<'_>) -> impl Iterator<Item = (u64, u64)> {
    let starts =
        (SEGMENT_HEADER_BYTES..sealed.end).step_by(usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX));
    starts.map(move |at| (at, BLOCK_BYTES.min(sealed.end - at)))
}

/// What reading a file back told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reading {
    Same,
    Differs,
    Stopped,
}

/// Holds all of a compressed file to the plain segment, block by block.
fn read_back(
    file: &dyn DiskFile,
    written: &Segment,
    header: &SegmentHeader,
    sealed: Sealed<'_>,
    stop: &AtomicBool,
) -> io::Result<Reading> {
    let is_framed = written.header == Some(*header)
        && has_header(file, 0, header)?
        && has_header(file, file.size()?.saturating_sub(SEGMENT_HEADER_BYTES), header)?
        && sealed.behind.is_in(written, sealed.end);
    if !is_framed {
        return Ok(Reading::Differs);
    }
    for (at, count) in blocks(sealed) {
        if stop.load(Ordering::Relaxed) {
            return Ok(Reading::Stopped);
        }
        let plain = sealed.segment.copy(at, count)?;
        if plain.is_none() || written.copy(at, count)? != plain {
            return Ok(Reading::Differs);
        }
    }
    Ok(Reading::Same)
}

fn has_header(file: &dyn DiskFile, at: u64, header: &SegmentHeader) -> io::Result<bool> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES as usize];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes == header.to_bytes())
}

#[cfg(test)]
mod tests {
    use segue_event::{Author, Message, Role, SessionId, Timestamp};
    use segue_log::{Commit, Depth, EventLog, Expected, NewEvent};

    use super::*;
    use crate::faults::{Fault, FaultyDisk};
    use crate::footer::Footer;
    use crate::place::SegmentNumber;
    use crate::{Compression, FileLog, Options};

    /// A store whose first segment is sealed and plain, of three blocks.
    struct Store {
        folder: tempfile::TempDir,
        disk: FaultyDisk,
    }

    impl Store {
        fn new() -> Self {
            let store = Self { folder: tempfile::tempdir().unwrap(), disk: FaultyDisk::new() };
            let log = store.open();
            for round in 0..24_u8 {
                let text = format!("{round} ").repeat(8_000);
                let event =
                    NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, text));
                let session = SessionId::from_bytes([round % 3 + 1; 16]);
                log.commit(Commit::new().append(session, Expected::AtHead, vec![event])).unwrap();
            }
            drop(log);
            store
        }

        fn open(&self) -> FileLog {
            let options =
                Options { segment_bytes: 300_000, compression: Compression::Never, ..Options::default() };
            FileLog::open_on(Arc::new(self.disk.clone()), self.folder.path(), options).unwrap()
        }

        fn layout(&self) -> Layout {
            Layout::on(Arc::new(self.disk.clone()), self.folder.path().to_owned())
        }

        fn compress(&self) -> io::Result<Outcome> {
            let layout = self.layout();
            let second = Segment::open(&layout, SegmentNumber(2)).unwrap();
            let end = second.header.unwrap().previous.unwrap().offset;
            let segment = Arc::new(Segment::open(&layout, SegmentNumber::FIRST).unwrap());
            assert!(segment.is_plain());
            let behind = Footer::make(&segment, end, &mut |_| ()).unwrap();
            let sealed = Sealed { segment: &segment, header: segment.header.unwrap(), end, behind: &behind };
            compress(&layout, sealed, &AtomicBool::new(false))
        }

        /// Whether the first segment is plain; the log must be as it was in either case.
        fn is_plain(&self, what: &str) -> bool {
            let log = self.open();
            let report = log.verify(Depth::Full, &mut |_| ()).unwrap();
            assert!(report.is_sound() && report.events == 24, "{what}: {report:?}");
            assert!(!self.layout().has_file(&self.folder.path().join("log/00000001.new")).unwrap(), "{what}");
            Segment::open(&self.layout(), SegmentNumber::FIRST).unwrap().is_plain()
        }
    }

    #[test]
    fn what_the_disk_garbles_does_not_replace_what_was_whole() {
        let (mut operation, mut garbled) = (0, 0);
        loop {
            let store = Store::new();
            let before = store.disk.operations();
            store.disk.plan(operation, Fault::Garbled);
            let outcome = store.compress().unwrap();
            let what = format!("operation {operation}: {outcome:?}");
            match outcome {
                Outcome::Garbled => {
                    garbled += 1;
                    assert!(store.is_plain(&what), "{what}");
                }
                Outcome::Replaced(_) => assert!(!store.is_plain(&what), "{what}"),
                Outcome::Stopped => panic!("{what}"),
            }
            if store.disk.operations() - before <= operation {
                break;
            }
            operation += 1;
        }
        // Three blocks, their table, the footer, the filter, and both headers.
        assert_eq!(garbled, 8);
    }

    #[test]
    fn a_failure_of_any_step_leaves_a_whole_segment() {
        for operation in 0..16 {
            for fault in [Fault::Failure, Fault::NoRoom, Fault::Short] {
                let store = Store::new();
                store.disk.plan(operation, fault);
                let what = format!("{fault:?} at {operation}: {:?}", store.compress());
                if store.is_plain(&what) {
                    assert!(matches!(store.compress(), Ok(Outcome::Replaced(_))), "{what}: and again");
                }
            }
        }
    }
}
