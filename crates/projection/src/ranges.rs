//! Arithmetic on ranges of event numbers.

use segue_event::SeqRange;

/// What is left of a range when others are taken out, in order.
pub(crate) fn subtract(range: SeqRange, taken: &[SeqRange]) -> Vec<SeqRange> {
    let mut taken: Vec<_> =
        taken.iter().filter(|other| other.from <= range.to && range.from <= other.to).collect();
    taken.sort();
    let mut left = Vec::new();
    let mut from = range.from;
    for other in taken {
        left.extend(other.from.previous().and_then(|before| SeqRange::new(from, before)));
        from = from.max(other.to.next());
    }
    left.extend(SeqRange::new(from, range.to));
    left
}

#[cfg(test)]
mod tests {
    use segue_event::Seq;

    use super::*;

    fn range(from: u64, to: u64) -> SeqRange {
        SeqRange::new(Seq::new(from).unwrap(), Seq::new(to).unwrap()).unwrap()
    }

    #[test]
    fn what_is_taken_out_is_not_left() {
        let all = range(3, 10);
        assert_eq!(subtract(all, &[]), [all]);
        assert_eq!(subtract(all, &[range(1, 2), range(11, 12)]), [all]);
        assert_eq!(subtract(all, &[range(9, 20), range(5, 6), range(1, 3)]), [range(4, 4), range(7, 8)]);
        assert_eq!(subtract(all, &[range(1, 20), range(4, 5)]), []);
    }
}
