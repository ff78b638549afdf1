//! Samples: uniform ones, and ones spread evenly for the beginning of a search.

use std::collections::{HashMap, HashSet};

use rand::Rng;

use super::{ConfigId, Space};
use crate::diagram::Blocks;

impl Space {
    /// Returns a configuration drawn uniformly: every one has exactly the same chance.
    ///
    /// # Panics
    /// The space has more configurations than 128 bits can count; [`Space::len`] says so.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> ConfigId {
        ConfigId(below(rng, self.countable()))
    }

    /// Returns `count` different configurations drawn uniformly, in random order; all of them when
    /// there are not as many. Costs memory for `count`, not for the space.
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

    /// Returns `count` different configurations, one drawn uniformly from each of `count` equal
    /// parts of the order of ranks, in random order; all of them when there are not as many. Every
    /// configuration has the same chance as long as the parts are equal, and no part of the first
    /// levels is left out by bad luck.
    ///
    /// # Panics
    /// As [`Space::sample`].
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

    /// Returns `count` different configurations spread like a Latin hypercube (McKay, Beckman and
    /// Conover, 1979): in every dimension of the space's [coordinates](Blocks::Configurations) each
    /// of `count` equal intervals holds one of them, so that the values of every parameter occur
    /// about as often as they do in the space. All configurations when there are not as many;
    /// uniform distinct ones when more than half of all are wanted.
    ///
    /// The few that fall on a configuration a second time are replaced by uniform draws.
    ///
    /// # Panics
    /// As [`Space::sample`].
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

    /// Returns a configuration drawn uniformly from those whose values are all allowed: `allowed`
    /// gives each parameter, in the user's order, the indices of the values it may take, ascending;
    /// an empty list, and one missing at the end, leaves the parameter free. `None` when no
    /// configuration has such values.
    ///
    /// So is a part of a configuration drawn anew while the rest stays, or one drawn that has each
    /// value from one of two others: what constraints exclude is never drawn, and nothing is drawn
    /// in vain. Chances are equal up to the rounding of real numbers. Costs at most O(arcs) of the
    /// diagrams; arcs that the lists close are not followed.
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
    /// // With 16 threads the tile can only be 16.
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

/// Returns a number drawn uniformly from those below `bound`, without bias: numbers with as many
/// bits as the largest are drawn until one is in range, fewer than two on average.
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

/// Shuffles as Fisher and Yates do.
fn shuffle<T, R: Rng + ?Sized>(items: &mut [T], rng: &mut R) {
    for at in (1..items.len()).rev() {
        items.swap(at, below(rng, at as u128 + 1) as usize);
    }
}
