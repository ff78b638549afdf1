//! Uniform samples, and samples spread evenly for the beginning of a search.

use std::collections::{HashMap, HashSet};

use rand::Rng;

use super::{ConfigId, Space};
use crate::diagram::Blocks;

impl Space {
    /// Draws a configuration uniformly: every configuration has exactly the same chance.
    ///
    /// # Panics
    /// Panics if [`Space::len`] is `None`: the number of configurations exceeds 128 bits.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> ConfigId {
        ConfigId(below(rng, self.countable()))
    }

    /// Draws `count` different configurations uniformly, in random order, or all if there are
    /// fewer. The memory needed depends on `count`, not on the size of the space.
    ///
    /// # Panics
    /// Panics like [`Space::sample`].
    pub fn sample_distinct<R: Rng + ?Sized>(&self, count: usize, rng: &mut R) -> Vec<ConfigId> {
        let len = self.countable();
        let count = usize::try_from(len).map_or(count, |len| count.min(len));
        // The shuffle of Fisher and Yates on 0..len. Only the displaced numbers are stored.
        let mut displaced: HashMap<u128, u128> = HashMap::with_capacity(count);
        (0..count as u128)
            .map(|at| {
                let other = at + below(rng, len - at);
                let here = displaced.remove(&at).unwrap_or(at);
                if other == at { ConfigId(here) } else { ConfigId(displaced.insert(other, here).unwrap_or(other)) }
            })
            .collect()
    }

    /// Draws `count` different configurations, in random order, or all if there are fewer. Divides
    /// the order of ranks into `count` equal parts and draws one configuration uniformly from each.
    ///
    /// Every configuration has the same chance if the parts are exactly equal. No part of the first
    /// levels is left out by bad luck.
    ///
    /// # Panics
    /// Panics like [`Space::sample`].
    pub fn sample_stratified<R: Rng + ?Sized>(&self, count: usize, rng: &mut R) -> Vec<ConfigId> {
        let len = self.countable();
        let count = usize::try_from(len).map_or(count, |len| count.min(len));
        let Ok(parts) = u128::try_from(count.max(1)) else { return Vec::new() };
        let start = |part: u128| part * (len / parts) + part.min(len % parts);
        let draw = |part: usize| {
            let (from, to) = (start(part as u128), start(part as u128 + 1));
            ConfigId(from + below(rng, to - from))
        };
        let mut drawn: Vec<ConfigId> = (0..count).map(draw).collect();
        shuffle(&mut drawn, rng);
        drawn
    }

    /// Draws `count` different configurations spread like a Latin hypercube (McKay, Beckman and
    /// Conover, 1979). In every dimension of the space's [coordinates](Blocks::Configurations),
    /// each of `count` equal intervals holds one of them. So the values of every parameter occur
    /// about as often as in the space.
    ///
    /// A point that falls on a configuration already drawn is replaced by a uniform draw. If
    /// `count` exceeds half of the configurations, the sample is uniform as in
    /// [`Space::sample_distinct`].
    ///
    /// # Panics
    /// Panics like [`Space::sample`].
    pub fn sample_latin<R: Rng + ?Sized>(&self, count: usize, rng: &mut R) -> Vec<ConfigId> {
        if count as u128 > self.countable() / 2 {
            return self.sample_distinct(count, rng);
        }
        let mut points = vec![vec![0.0; self.parameters().len()]; count];
        let mut intervals: Vec<usize> = (0..count).collect();
        for parameter in 0..self.parameters().len() {
            shuffle(&mut intervals, rng);
            for (point, &interval) in points.iter_mut().zip(&intervals) {
                point[parameter] = (interval as f64 + unit(rng)) / count as f64;
            }
        }
        let mut taken = HashSet::with_capacity(count);
        let mut drawn = Vec::with_capacity(count);
        for point in points {
            let wanted = self.rank(&self.configuration_at(&point, Blocks::Configurations));
            let mut id = wanted.unwrap_or(ConfigId(0));
            while !taken.insert(id) {
                id = self.sample(rng);
            }
            drawn.push(id);
        }
        drawn
    }

    /// Draws a configuration uniformly among those with allowed values only, or returns `None` if
    /// there are none. `allowed` gives each parameter, in the user's order, the indices of its
    /// allowed values, ascending. A list that is empty or missing at the end leaves its parameter
    /// free.
    ///
    /// Strategies use this to draw a part of a configuration anew, or to combine two configurations
    /// value by value. The draw is always valid and never has to be repeated. Chances are equal up
    /// to the rounding of real numbers. Costs at most O(arcs) of the diagrams; arcs that the lists
    /// close are not followed.
    ///
    /// ```
    /// use rand::SeedableRng;
    /// use tunesmith_space::{Constraint, Parameter, Space, Values};
    ///
    /// let space = Space::builder()
    ///     .parameter(Parameter::new("TILE", Values::list([8, 16, 24]))?)
    ///     .parameter(Parameter::new("THREADS", Values::list([8, 12, 16]))?)
    ///     .constraint(Constraint::parse("TILE % THREADS == 0")?)
    ///     .build()?;
    /// let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    /// // With 16 threads, the tile can only be 16.
    /// let drawn = space.sample_within(&[&[], &[2]], &mut rng).map(|id| space.unrank(id));
    /// assert_eq!(drawn.unwrap().indices(), [1, 2]);
    /// assert_eq!(space.sample_within(&[&[0], &[1, 2]], &mut rng), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample_within<R: Rng + ?Sized>(&self, allowed: &[&[u32]], rng: &mut R) -> Option<ConfigId> {
        let mut lists: Vec<&[u32]> = allowed.to_vec();
        lists.resize(self.parameters().len(), &[]);
        let mut indices = vec![0; lists.len()];
        let drawn = self.inner.diagrams.iter().all(|diagram| diagram.sample_within(&lists, rng, &mut indices));
        if drawn { self.rank_indices(&indices) } else { None }
    }

    fn countable(&self) -> u128 {
        self.len().expect("a space of more than 2^128 - 1 configurations cannot be sampled by rank")
    }
}

/// Returns a number drawn uniformly below `bound`, without bias. Draws numbers with as many bits as
/// the largest until one is in range: fewer than two on average.
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

/// Returns a number drawn uniformly from (0, 1].
fn unit<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Shuffles with the algorithm of Fisher and Yates.
fn shuffle<T, R: Rng + ?Sized>(items: &mut [T], rng: &mut R) {
    for at in (1..items.len()).rev() {
        items.swap(at, below(rng, at as u128 + 1) as usize);
    }
}
