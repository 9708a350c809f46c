//! Little-endian fields, one after the other.

/// Reads fields from the front of some bytes; none once they run out.
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Segments are far smaller than 4 GiB, so that nothing is lost.
pub(crate) fn to_u32(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Makes a fixed-size record: the fields, zeros up to four bytes before the end, then the checksum over all that.
pub(crate) fn seal<const N: usize>(fields: &[&[u8]]) -> [u8; N] {
    let mut record = [0; N];
    let space = record.iter_mut().take(N - 4);
    space.zip(fields.iter().copied().flatten()).for_each(|(to, from)| *to = *from);
    let checksum = checksum_of(&record);
    record.iter_mut().skip(N - 4).zip(checksum.to_le_bytes()).for_each(|(to, from)| *to = from);
    record
}

/// Whether the checksum at the end of a record made by [`seal`] is right.
pub(crate) fn is_sealed<const N: usize>(record: &[u8; N]) -> bool {
    record.last_chunk::<4>().is_some_and(|sum| u32::from_le_bytes(*sum) == checksum_of(record))
}

fn checksum_of<const N: usize>(record: &[u8; N]) -> u32 {
    crc32fast::hash(record.get(..N - 4).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_of_a_sealed_record_shows() {
        let record: [u8; 32] = seal(&[b"magic", &7u32.to_le_bytes()]);
        assert!(is_sealed(&record));
        for index in 0..record.len() {
            let mut changed = record;
            changed[index] ^= 1;
            assert!(!is_sealed(&changed), "byte {index}");
        }
    }
}
