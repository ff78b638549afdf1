//! Sets of small numbers.

/// A set of small numbers as a bit mask. Absent words count as empty, so sets of different capacity
/// mix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Returns an empty set with room for numbers below `capacity`.
    pub(crate) fn new(capacity: usize) -> Bits {
        Bits { words: vec![0; capacity.div_ceil(64)] }
    }

    pub(crate) fn insert(&mut self, number: usize) {
        if self.words.len() <= number / 64 {
            self.words.resize(number / 64 + 1, 0);
        }
        self.words[number / 64] |= 1 << (number % 64);
    }

    pub(crate) fn union(&mut self, other: &Bits) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Returns true if `mask` contains at least one number of the set.
    pub(crate) fn meets(&self, mask: &[i64]) -> bool {
        self.words.iter().zip(mask).any(|(&word, &mask)| word & mask as u64 != 0)
    }

    /// Returns true if `mask` contains all numbers of the set.
    pub(crate) fn within(&self, mask: &[i64]) -> bool {
        self.words.iter().enumerate().all(|(at, &word)| word & !(mask.get(at).map_or(0, |&mask| mask as u64)) == 0)
    }

    /// Returns the numbers in the set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    index * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_inserted() {
        let mut set = Bits::new(10);
        [3, 64, 130].into_iter().for_each(|number| set.insert(number));
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 130]);
        assert!(set.meets(&[0, 1]) && !set.meets(&[4, 0]) && !set.meets(&[]));
        assert!(set.within(&[8, 1, 4]) && set.within(&[-1, -1, -1]) && !set.within(&[8, 1]) && !set.within(&[0, 1, 4]));
    }
}
