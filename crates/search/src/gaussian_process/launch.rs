//! Knowledge of a kernel's launch: a trend in the size of work-groups.
//!
//! # Tried without gain
//!
//! By the experiments behind the rule, on recordings of GPUs, with standard errors of .005 to .013
//! after 25 evaluations: work per item, waves, idle tails and local memory as features of small
//! spaces; a prior mean learned from other kernels; first configurations inside the free range only.

use tunesmith_core::{Combinations, Launch, Volume};
use tunesmith_model::{Hyperparameters, weighted_trends};
use tunesmith_space::{ConfigId, Space};

/// The binary logarithm of the number of work-items at which the first trend is lowest: a work-group of
/// 256 has enough work-items to hide latencies, and several of them fit on a multiprocessor.
const FAVOURED: f64 = 8.0;
/// The distance from [`FAVOURED`] within which there is no trend: 128 to 512 work-items are free.
const FREE: f64 = 1.0;
/// The rise of a trend for each doubling beyond, and for each extent that is no power of two, in the unit of the
/// model's targets. The fit multiplies it by the slope.
const RISE: f64 = 0.3;

/// The slowdown expected of work-groups: `0.3 max(0, |log2 T - 8| - 1)` for `T` work-items, so that very small and very
/// large ones are slow, and 0.3 for each extent that is no power of two. The model learns how far to trust each
/// ([`Hyperparameters`]).
#[derive(Clone, Debug, Default)]
pub(super) struct Trends {
    each: Vec<Trend>,
}

/// A number for the values of some parameters.
#[derive(Clone, Debug)]
struct Trend {
    combinations: Combinations,
    /// The trend of each combination.
    heights: Vec<f64>,
}

impl Trends {
    /// Returns the trends in `space` that tell configurations apart. There are none where work-groups have no known
    /// size, or all have the same.
    pub(super) fn new(launch: &Launch, space: &Space) -> Self {
        let items = |items: f64| RISE * ((items.log2() - FAVOURED).abs() - FREE).max(0.0);
        let extent = |extent: f64| if (extent as u64).is_power_of_two() { 0.0 } else { RISE };
        let extents = launch.extents(space).into_iter().map(|volume| Trend::new(volume, extent));
        let items = launch.group_items(space).map(|volume| Trend::new(volume, items));
        Self { each: items.into_iter().chain(extents).flatten().collect() }
    }

    /// Returns the number of trends.
    pub(super) fn len(&self) -> usize {
        self.each.len()
    }

    /// Returns the height of every trend at each configuration, trend by trend.
    pub(super) fn at(&self, space: &Space, configs: &[ConfigId]) -> Vec<Vec<f64>> {
        let mut indices = Vec::new();
        let mut heights = vec![Vec::with_capacity(configs.len()); self.each.len()];
        for config in configs {
            space.unrank_into(*config, &mut indices);
            for (heights, trend) in heights.iter_mut().zip(&self.each) {
                heights.push(trend.heights[trend.combinations.place(&indices)]);
            }
        }
        heights
    }

    /// Returns the slowdown expected of each configuration before any is measured.
    pub(super) fn expected(&self, space: &Space, configs: &[ConfigId]) -> Vec<f64> {
        let slopes = vec![Hyperparameters::TYPICAL_SLOPE; self.each.len()];
        weighted_trends(&self.at(space, configs), &slopes, configs.len())
    }
}

impl Trend {
    /// Returns the trend that `height` gives to each number, or `None` if all are equal.
    fn new(volume: Volume, height: impl Fn(f64) -> f64) -> Option<Self> {
        let Volume { combinations, numbers } = volume;
        let heights: Vec<f64> = numbers.iter().map(|number| number.map_or(0.0, &height)).collect();
        let differ = heights.windows(2).any(|pair| pair[0] != pair[1]);
        differ.then_some(Self { combinations, heights })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::{Expr, Parameter, Value};

    #[test]
    fn groups_of_128_to_512_are_free_and_others_rise_with_every_doubling() {
        let sizes = [1, 64, 128, 256, 512, 1024];
        let parameter = Parameter::new("X", sizes.map(Value::Int)).unwrap();
        let space = Space::builder().parameter(parameter).build().unwrap();
        let launch = |local: &str| Launch { local: vec![Expr::parse(local).unwrap()], ..Launch::default() };
        let configs: Vec<ConfigId> = space.iter().collect();
        let trends = Trends::new(&launch("X"), &space).at(&space, &configs);
        let expected = [2.1, 0.3, 0.0, 0.0, 0.0, 0.3];
        let [items] = &trends[..] else { panic!("one trend, as all extents are powers of two: {trends:?}") };
        let is_near = |(found, wanted): (&f64, f64)| (found - wanted).abs() < 1e-12;
        assert!(items.iter().zip(expected).all(is_near), "{items:?}");
        assert_eq!(Trends::new(&launch("256"), &space).len(), 0);
        assert_eq!(Trends::new(&launch("Y"), &space).len(), 0);
    }

    #[test]
    fn extents_that_are_no_powers_of_two_rise() {
        let list = |name: &str| Parameter::new(name, [8, 12, 16].map(Value::Int)).unwrap();
        let space = Space::builder().parameter(list("X")).parameter(list("Y")).build().unwrap();
        let local = ["X", "2 * Y"].map(|text| Expr::parse(text).unwrap()).to_vec();
        let trends = Trends::new(&Launch { local, ..Launch::default() }, &space);
        let configs: Vec<ConfigId> = space.iter().collect();
        let expected = |config: &ConfigId| {
            let configuration = space.unrank(*config);
            let odd = space.values(&configuration).filter(|(_, value)| value.as_int() == Some(12)).count();
            0.15 * odd as f64
        };
        // Work-groups of 128 to 512 work-items: only the extents tell them apart.
        assert_eq!(trends.len(), 2);
        assert_eq!(trends.expected(&space, &configs), configs.iter().map(expected).collect::<Vec<f64>>());
    }
}
