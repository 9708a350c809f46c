//! Splitting a source into lines, with a bound on memory, while hashing all that was read.

use std::io::{self, BufRead};

use segue_event::Digest;

use crate::limits::LINE_BYTES_MAX;

/// A part of a source: a line with its terminator, or as much of a longer one as is taken at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// The byte of the source where it begins.
    pub(crate) offset: u64,
    /// Its bytes, with the terminator if it has one; never empty.
    pub(crate) bytes: Vec<u8>,
    /// Why it ends where it ends.
    pub(crate) end: PieceEnd,
}

/// Why a piece ends where it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PieceEnd {
    /// The line ends.
    Newline,
    /// The line goes on; no more than [`LINE_BYTES_MAX`] bytes are taken at once.
    Full,
    /// The source ends without a newline.
    EndOfSource,
}

/// Whether a line ends where its last piece does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineEnd {
    /// Yes, with a newline.
    Ended,
    /// The source ended first; what is appended to it continues the line.
    Open,
}

impl Piece {
    /// Whether the line ends here, for a piece behind which no further one is taken.
    pub(crate) fn line_end(&self) -> LineEnd {
        if self.end == PieceEnd::Newline { LineEnd::Ended } else { LineEnd::Open }
    }
}

/// Reads a source piece by piece.
pub(crate) struct LineReader<R> {
    inner: R,
    offset: u64,
    hasher: blake3::Hasher,
}

impl<R: BufRead> LineReader<R> {
    /// Reads from the beginning.
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, offset: 0, hasher: blake3::Hasher::new() }
    }

    /// The next piece; none at the end of the source.
    pub(crate) fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        let mut bytes = Vec::new();
        let end = loop {
            let room = LINE_BYTES_MAX - bytes.len();
            if room == 0 {
                break PieceEnd::Full;
            }
            let available = fill(&mut self.inner)?;
            if available.is_empty() {
                break PieceEnd::EndOfSource;
            }
            let available = available.get(..room).unwrap_or(available);
            let newline = memchr::memchr(b'\n', available);
            let taken = newline.map_or(available.len(), |at| at + 1);
            bytes.extend_from_slice(available.get(..taken).unwrap_or_default());
            self.inner.consume(taken);
            if newline.is_some() {
                break PieceEnd::Newline;
            }
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        let offset = self.offset;
        self.took(&bytes);
        Ok(Some(Piece { offset, bytes, end }))
    }

    /// Reads up to `count` bytes without looking at lines, and says how many there were.
    pub(crate) fn skip(&mut self, count: u64) -> io::Result<u64> {
        let mut left = count;
        while left > 0 {
            let available = fill(&mut self.inner)?;
            if available.is_empty() {
                break;
            }
            let room = usize::try_from(left).unwrap_or(usize::MAX);
            let available = available.get(..room).unwrap_or(available);
            let taken = available.len();
            self.hasher.update(available);
            self.inner.consume(taken);
            self.offset += taken as u64;
            left -= taken as u64;
        }
        Ok(count - left)
    }

    /// Whether nothing is left to read now.
    pub(crate) fn is_at_end(&mut self) -> io::Result<bool> {
        fill(&mut self.inner).map(<[u8]>::is_empty)
    }

    /// How many bytes were read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes read so far and their hash.
    pub(crate) fn prefix(&self) -> Digest {
        Digest { bytes: self.offset, blake3: self.hasher.finalize().into() }
    }

    fn took(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.offset += bytes.len() as u64;
    }
}

fn fill<R: BufRead>(inner: &mut R) -> io::Result<&[u8]> {
    // Asked twice because the borrow of a first, interrupted answer would outlive the loop.
    while let Err(error) = inner.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    inner.fill_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &[u8]) -> Vec<(u64, Vec<u8>, PieceEnd)> {
        let mut reader = LineReader::new(io::BufReader::with_capacity(3, text));
        let mut pieces = Vec::new();
        while let Some(piece) = reader.next_piece().unwrap() {
            pieces.push((piece.offset, piece.bytes, piece.end));
        }
        assert_eq!(reader.prefix(), Digest::of(text));
        pieces
    }

    #[test]
    fn lines_keep_their_terminators() {
        assert_eq!(pieces(b""), []);
        let expected = [
            (0, b"one\r\n".to_vec(), PieceEnd::Newline),
            (5, b"\n".to_vec(), PieceEnd::Newline),
            (6, b"last".to_vec(), PieceEnd::EndOfSource),
        ];
        assert_eq!(pieces(b"one\r\n\nlast"), expected);
    }

    #[test]
    fn a_line_over_the_limit_comes_in_pieces() {
        let mut text = vec![b'x'; LINE_BYTES_MAX + 2];
        text.push(b'\n');
        let mut reader = LineReader::new(io::BufReader::new(text.as_slice()));
        let first = reader.next_piece().unwrap().unwrap();
        assert_eq!((first.bytes.len(), first.end), (LINE_BYTES_MAX, PieceEnd::Full));
        let second = reader.next_piece().unwrap().unwrap();
        assert_eq!((second.bytes, second.end), (b"xx\n".to_vec(), PieceEnd::Newline));
    }

    #[test]
    fn skipping_hashes_and_stops_at_the_end() {
        let mut reader = LineReader::new(io::BufReader::with_capacity(2, b"abcdef".as_slice()));
        assert_eq!(reader.skip(4).unwrap(), 4);
        assert_eq!(reader.prefix(), Digest::of(b"abcd"));
        assert_eq!(reader.skip(4).unwrap(), 2);
    }
}
