//! Numbers in random order.

use rand::RngExt as _;
use std::collections::HashMap;
use tunesmith_core::Rng;

/// The numbers below a bound, each once, in random order. It is the shuffle of Fisher and Yates
/// with only the displaced numbers stored. A number costs a draw and a hash, whatever the bound.
#[derive(Debug)]
pub(crate) struct Order {
    bound: u64,
    drawn: u64,
    displaced: HashMap<u64, u64>,
}

impl Order {
    pub(crate) fn below(bound: u64) -> Self {
        Self { bound, drawn: 0, displaced: HashMap::new() }
    }

    /// Returns the next number, or `None` if all were drawn.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> Option<u64> {
        let here = self.drawn;
        if here == self.bound {
            return None;
        }
        let other = rng.random_range(here..self.bound);
        self.drawn += 1;
        let displaced = self.displaced.remove(&here).unwrap_or(here);
        if other == here { Some(displaced) } else { Some(self.displaced.insert(other, displaced).unwrap_or(other)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn every_number_comes_once_and_first_numbers_are_uniform() {
        let mut rng = Rng::seed_from_u64(2);
        let mut first = [0_u32; 7];
        for _ in 0..7000 {
            let mut order = Order::below(7);
            let mut numbers: Vec<u64> = std::iter::from_fn(|| order.next(&mut rng)).collect();
            first[numbers[0] as usize] += 1;
            numbers.sort_unstable();
            assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6]);
        }
        // The standard deviation of each count is below 30.
        assert!(first.iter().all(|&count| (850..1150).contains(&count)), "{first:?}");
    }
}
