//! Keeps the values that were used last.

use std::collections::VecDeque;

/// At most so many values by their keys. The one that was kept first goes first.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    entries: VecDeque<(K, V)>,
    most: usize,
}

impl<K: PartialEq, V> Recent<K, V> {
    /// Creates an empty collection for `most` values.
    pub(super) fn new(most: usize) -> Self {
        Self { entries: VecDeque::new(), most }
    }

    /// Removes the value of `key` and returns it.
    pub(super) fn take(&mut self, key: &K) -> Option<V> {
        let at = self.entries.iter().position(|(known, _)| known == key)?;
        self.entries.remove(at).map(|(_, value)| value)
    }

    /// Keeps a value. Drops the oldest if there is no room.
    pub(super) fn keep(&mut self, key: K, value: V) {
        self.entries.push_front((key, value));
        self.entries.truncate(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_value_goes_first_and_a_value_that_is_used_is_young() {
        let mut recent = Recent::new(2);
        recent.keep(1, "one");
        recent.keep(2, "two");
        assert_eq!(recent.take(&1), Some("one"));
        assert_eq!(recent.take(&1), None);
        recent.keep(1, "one");
        recent.keep(3, "three");
        assert_eq!((recent.take(&2), recent.take(&1), recent.take(&3)), (None, Some("one"), Some("three")));
    }
}
