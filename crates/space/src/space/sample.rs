//! Uniform samples.

use std::collections::HashMap;

use rand::Rng;

use super::{ConfigId, Space};

impl Space {
    /// A configuration drawn uniformly: every one has exactly the same chance.
    ///
    /// # Panics
    /// The space has more configurations than 128 bits can count; [`Space::len`] says so.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> ConfigId {
        ConfigId(below(rng, self.countable()))
    }

    /// `count` different configurations drawn uniformly, in random order; all of them when there are not as many.
    /// Costs memory for `count`, not for the space.
    ///
    /// # Panics
    /// As [`Space::sample`].
    pub fn sample_distinct<R: Rng + ?Sized>(&self, count: usize, rng: &mut R) -> Vec<ConfigId> {
        let len = self.countable();
        let count = usize::try_from(len).map_or(count, |len| count.min(len));
        // Fisher and Yates' shuffle of 0..len, of which only the displaced numbers are kept.
        let mut displaced: HashMap<u128, u128> = HashMap::with_capacity(count);
        (0..count as u128)
            .map(|at| {
                let other = at + below(rng, len - at);
                let here = displaced.remove(&at).unwrap_or(at);
                if other == at { ConfigId(here) } else { ConfigId(displaced.insert(other, here).unwrap_or(other)) }
            })
            .collect()
    }

    fn countable(&self) -> u128 {
        self.len().expect("a space of more than 2^128 - 1 configurations cannot be sampled by rank")
    }
}

/// A number drawn uniformly from those below `bound`, without bias: numbers with as many bits as the largest are drawn
/// until one is in range, fewer than two on average.
fn below<R: Rng + ?Sized>(rng: &mut R, bound: u128) -> u128 {
    let largest = bound - 1;
    if let Ok(largest) = u64::try_from(largest) {
        let unused = largest.leading_zeros().min(63);
        loop {
            let drawn = rng.next_u64() >> unused;
            if drawn <= largest {
                return u128::from(drawn);
            }
        }
    }
    let unused = largest.leading_zeros();
    loop {
        let drawn = (u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())) >> unused;
        if drawn <= largest {
            return drawn;
        }
    }
}
