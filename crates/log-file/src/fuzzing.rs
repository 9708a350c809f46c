//! A narrow door to the decoders, for fuzz targets and for the tests that replay their corpora. No part of the API.
//!
//! Whatever the bytes are, nothing here may panic, or take long.

use bytes::Bytes;
use segue_event::RawEvent;

use crate::footer::Footer;
use crate::frame::{Frame, FrameHeader};
use crate::index_entry::Checkpoint;
use crate::limits::SEGMENT_BYTES_MIN;
use crate::place::{Place, SegmentNumber};
use crate::wire::seal;

/// Reads bytes as a frame, whatever its checksum says; none if they cannot be one.
///
/// Gives the events and the number of claims.
pub fn frame(bytes: &[u8]) -> Option<(Vec<RawEvent>, usize)> {
    let header = FrameHeader::parse(bytes)?;
    let total = usize::try_from(header.total_bytes()).ok()?;
    let place = Place { segment: SegmentNumber(1), offset: SEGMENT_BYTES_MIN };
    let frame = Frame { place, header, bytes: Bytes::copy_from_slice(bytes.get(..total)?) };
    // Only the fuzzer's sums are never right; computing one must do no harm.
    let _ = frame.is_sound();
    let claims = frame.outline()?.claims.len();
    Some((frame.events().map(|located| located.raw).collect(), claims))
}

/// Reads bytes as the payload of a footer, whatever the checksum of its checkpoint says; none if they cannot be one.
///
/// Gives the number of sessions.
pub fn footer(payload: &[u8]) -> Option<usize> {
    const BEFORE: usize = 8 + 32;
    let (start, rest) = payload.split_at_checked(BEFORE)?;
    let (checkpoint, entries) = rest.split_at_checked(Checkpoint::SIZE)?;
    let fields = checkpoint.get(..Checkpoint::SIZE - 4)?;
    let sealed: [u8; Checkpoint::SIZE] = seal(&[fields]);
    let (footer, _) = Footer::parse(&[start, &sealed, entries].concat())?;
    Some(footer.part.sessions.len())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// What is kept for a target, by name.
    fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
        let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let mut files: Vec<_> = files.map(|path| (name(&path), std::fs::read(&path).unwrap())).collect();
        files.sort();
        files
    }

    /// Reads each file as it is, cut off anywhere, and with any byte changed.
    fn replay<T>(target: &str, read: impl Fn(&[u8]) -> Option<T>) -> Vec<String> {
        let mut whole = Vec::new();
        for (name, bytes) in corpus(target) {
            for at in 0..bytes.len() {
                read(&bytes[..at]);
                for changed in [bytes[at] ^ 1, bytes[at] ^ 0x80, 0, 0xff] {
                    let mut wrong = bytes.clone();
                    wrong[at] = changed;
                    read(&wrong);
                }
            }
            whole.extend(read(&bytes).map(|_| name));
        }
        whole
    }

    #[test]
    fn the_corpora_of_the_fuzz_targets_do_no_harm() {
        assert_eq!(replay("frame", frame), ["claims", "message"]);
        assert_eq!(replay("footer", footer), ["beginning", "continuation"]);
    }
}
