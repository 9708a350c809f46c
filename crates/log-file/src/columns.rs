//! A set of columns of a search filter.

/// A set of columns of a search filter, by their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Columns {
    words: Vec<u64>,
}

impl Columns {
    /// No column.
    pub(crate) fn none(columns: u32) -> Self {
        Self { words: vec![0; columns.div_ceil(u64::BITS) as usize] }
    }

    /// Every column.
    pub(crate) fn all(columns: u32) -> Self {
        let bytes = vec![u8::MAX; columns.div_ceil(8) as usize];
        Self::from_bytes(columns, &bytes)
    }

    /// The columns whose bits are set, the lowest bit of each byte first.
    pub(crate) fn from_bytes(columns: u32, bytes: &[u8]) -> Self {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let mut words: Vec<u64> = bytes.chunks(8).map(word).collect();
        if let Some(last) = words.last_mut()
            && !columns.is_multiple_of(u64::BITS)
        {
            *last &= (1 << (columns % u64::BITS)) - 1;
        }
        Self { words }
    }

    /// The columns that are in both.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
        self
    }

    /// The columns that are in either.
    pub(crate) fn or(mut self, other: &Self) -> Self {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The first column of the set from a number on.
    pub(crate) fn first_from(&self, column: u32) -> Option<u32> {
        let (index, bit) = ((column / u64::BITS) as usize, column % u64::BITS);
        let masked = |at: usize, word: u64| if at == index { word & (u64::MAX << bit) } else { word };
        let words = self.words.iter().enumerate().skip(index);
        let mut found = words.map(|(at, word)| (at, masked(at, *word))).filter(|(_, word)| *word != 0);
        let (at, word) = found.next()?;
        Some(u32::try_from(at).ok()? * u64::BITS + word.trailing_zeros())
    }

    /// The last column of the set up to a number.
    pub(crate) fn last_up_to(&self, column: u32) -> Option<u32> {
        let (index, bit) = ((column / u64::BITS) as usize, column % u64::BITS);
        let masked = |at: usize, word: u64| {
            if at == index { word & (u64::MAX >> (u64::BITS - 1 - bit)) } else { word }
        };
        let words = self.words.iter().enumerate().take(index + 1).rev();
        let mut found = words.map(|(at, word)| (at, masked(at, *word))).filter(|(_, word)| *word != 0);
        let (at, word) = found.next()?;
        Some(u32::try_from(at).ok()? * u64::BITS + word.ilog2())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn columns(blocks: u32, set: &BTreeSet<u32>) -> Columns {
        let mut bytes = vec![0; blocks.div_ceil(8) as usize];
        set.iter().for_each(|block| bytes[(block / 8) as usize] |= 1 << (block % 8));
        Columns::from_bytes(blocks, &bytes)
    }

    proptest! {
        #[test]
        fn columns_are_a_set(
            blocks in 1_u32..200,
            one in prop::collection::btree_set(0_u32..200, 0..20),
            two in prop::collection::btree_set(0_u32..200, 0..20),
            at in 0_u32..200,
        ) {
            let fit = |set: BTreeSet<u32>| set.into_iter().filter(|block| *block < blocks).collect::<BTreeSet<u32>>();
            let (one, two) = (fit(one), fit(two));
            let both = columns(blocks, &one).and(&columns(blocks, &two));
            prop_assert_eq!(&both, &columns(blocks, &one.intersection(&two).copied().collect()));
            let either = columns(blocks, &one).or(&columns(blocks, &two));
            prop_assert_eq!(&either, &columns(blocks, &one.union(&two).copied().collect()));
            prop_assert_eq!(either.is_empty(), one.is_empty() && two.is_empty());
            prop_assert_eq!(columns(blocks, &one).last_up_to(at), one.range(..=at).next_back().copied());
            prop_assert_eq!(columns(blocks, &one).first_from(at), one.range(at..).next().copied());
            prop_assert_eq!(Columns::all(blocks), columns(blocks, &(0..blocks).collect()));
            prop_assert_eq!(Columns::none(blocks), columns(blocks, &BTreeSet::new()));
        }
    }
}
