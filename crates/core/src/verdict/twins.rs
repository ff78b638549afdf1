//! Configurations whose machine code, launches and arguments are the same. A difference of their times is chance.

use super::Court;
use std::hash::Hash;

/// The number of places of the order whose machine code is compared with the winner's. Chance puts equal code no
/// further apart, unless there is very much of it.
const MOST_TWINS: usize = 100;

impl<K: Copy + Ord + Hash> Court<'_, K> {
    /// Returns the digest of a configuration's machine code, launches and arguments, if it is known.
    fn code(&self, config: K) -> Option<String> {
        (self.evidence.code)(self.place(config)?)
    }

    /// Returns true if two configurations are known to run the same machine code in the same way.
    pub(super) fn are_twins(&self, one: K, other: K) -> bool {
        self.code(one).is_some_and(|code| self.code(other) == Some(code))
    }

    /// Returns the configurations with the machine code of `winner` among the first of `order` and the default.
    pub(super) fn twins(&self, winner: K, order: &[K]) -> Vec<K> {
        let Some(code) = self.code(winner) else { return Vec::new() };
        let first = order.iter().take(MOST_TWINS);
        let default = self.evidence.default.filter(|default| !order.iter().take(MOST_TWINS).any(|one| one == default));
        let others = first.chain(&default).copied().filter(|config| *config != winner);
        others.filter(|config| self.code(*config).as_ref() == Some(&code)).collect()
    }
}
