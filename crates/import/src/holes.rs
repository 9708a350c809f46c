//! Cutting large pieces out of a line, so that they are stored once and not as base64; and putting them back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use segue_event::{BlobId, Hole, ImportedLine};

use crate::limits::{BASE64_BYTES_MIN, INLINE_BYTES_MAX};

/// What is left of a line, and what was cut out of it.
#[derive(Debug)]
pub(crate) struct CutLine {
    /// The bytes that stay, terminator included.
    pub(crate) bytes: Bytes,
    /// The places of what was cut out, in order.
    pub(crate) holes: Vec<Hole>,
    /// The blobs that fill them, in the same order.
    pub(crate) blobs: Vec<Vec<u8>>,
}

/// Cuts large base64 strings out of a line, or all of it if it is too large even so.
pub(crate) fn cut(line: &[u8]) -> CutLine {
    let mut cut = CutLine { bytes: Bytes::new(), holes: Vec::new(), blobs: Vec::new() };
    let mut left = Vec::new();
    let mut kept_to = 0;
    for (start, end) in long_strings(line) {
        let Some(piece) = line.get(start..end) else { continue };
        let skipped = before_data(piece);
        // Strict decoding accepts one spelling only, so that encoding gives the very bytes back.
        let Some(blob) = piece.get(skipped..).and_then(decode_large) else { continue };
        left.extend_from_slice(line.get(kept_to..start + skipped).unwrap_or_default());
        kept_to = end;
        cut.holes.push(Hole::Base64 { at: left.len() as u64, blob: BlobId::of(&blob) });
        cut.blobs.push(blob);
    }
    left.extend_from_slice(line.get(kept_to..).unwrap_or_default());
    if left.len() > INLINE_BYTES_MAX {
        return cut_whole(line);
    }
    cut.bytes = left.into();
    cut
}

/// A line's bytes as they were, given its blobs.
///
/// # Errors
/// Whatever `blob` answers with, and nothing else.
pub(crate) fn fill<E>(
    line: &ImportedLine,
    blob: impl Fn(&BlobId) -> Result<Bytes, E>,
    mut piece: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut from = 0;
    for hole in &line.holes {
        let at = usize::try_from(hole.at()).unwrap_or(usize::MAX).clamp(from, line.bytes.len());
        piece(line.bytes.get(from..at).unwrap_or_default())?;
        from = at;
        let bytes = blob(&hole.blob())?;
        match hole {
            Hole::Base64 { .. } => piece(STANDARD.encode(&bytes).as_bytes())?,
            Hole::Raw { .. } => piece(&bytes)?,
        }
    }
    piece(line.bytes.get(from..).unwrap_or_default())
}

/// The bytes of a line without its newline.
pub(crate) fn without_terminator(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn cut_whole(line: &[u8]) -> CutLine {
    let content = without_terminator(line);
    CutLine {
        // The terminator stays, so that a look at the last line's event tells whether the line has ended.
        bytes: Bytes::copy_from_slice(line.get(content.len()..).unwrap_or_default()),
        holes: vec![Hole::Raw { at: 0, blob: BlobId::of(content) }],
        blobs: vec![content.to_vec()],
    }
}

/// The stretches between two quotes that are long enough.
fn long_strings(line: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let starts = memchr::memchr_iter(b'"', line).map(|at| at + 1);
    let ends = memchr::memchr_iter(b'"', line).skip(1);
    starts.zip(ends).filter(|(start, end)| end - start >= BASE64_BYTES_MIN)
}

/// The length of what stands before the data in a `data:` URL; 0 for any other string.
fn before_data(piece: &[u8]) -> usize {
    if !piece.starts_with(b"data:") {
        return 0;
    }
    memchr::memchr(b',', piece).map_or(0, |at| at + 1)
}

fn decode_large(piece: &[u8]) -> Option<Vec<u8>> {
    if piece.len() < BASE64_BYTES_MIN || !piece.len().is_multiple_of(4) {
        return None;
    }
    STANDARD.decode(piece).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use segue_event::LineNumber;

    use super::*;

    fn round_trip(line: &[u8]) -> CutLine {
        let cut = cut(line);
        let blobs: BTreeMap<_, _> = cut.blobs.iter().map(|blob| (BlobId::of(blob), blob.clone())).collect();
        let event = ImportedLine {
            line: LineNumber(1),
            offset: 0,
            bytes: cut.bytes.clone(),
            holes: cut.holes.clone(),
        };
        let mut filled = Vec::new();
        let blob = |id: &BlobId| Ok::<_, ()>(Bytes::from(blobs[id].clone()));
        fill(&event, blob, |piece| {
            filled.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        assert_eq!(filled, line);
        cut
    }

    #[test]
    fn canonical_base64_is_cut_out_and_put_back() {
        let picture = STANDARD.encode([7; 9_000]);
        let cut = round_trip(
            format!("{{\"a\":\"{picture}\",\"b\":\"data:image/png;base64,{picture}\"}}\n").as_bytes(),
        );
        assert_eq!(cut.holes.len(), 2);
        assert_eq!(cut.bytes, "{\"a\":\"\",\"b\":\"data:image/png;base64,\"}\n");
        assert_eq!(cut.blobs[0], [7; 9_000]);
    }

    #[test]
    fn what_would_not_come_back_stays() {
        let mut picture = STANDARD.encode([255; 9_001]);
        let end = picture.find('=').unwrap();
        picture.replace_range(end - 1..end, "x");
        assert!(round_trip(format!("\"{picture}\"").as_bytes()).holes.is_empty());
        let redacted = format!("\"{}REDACTED*\"", "A".repeat(9_000));
        assert!(round_trip(redacted.as_bytes()).holes.is_empty());
    }

    #[test]
    fn a_line_too_large_even_so_is_cut_out_as_a_whole() {
        let mut line = vec![b' '; INLINE_BYTES_MAX + 1];
        line.push(b'\n');
        let cut = round_trip(&line);
        assert_eq!((cut.bytes.as_ref(), cut.holes.len()), (b"\n".as_slice(), 1));
    }
}
