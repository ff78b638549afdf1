//! Knowledge of a kernel's launch: a trend in the size of work-groups.
//!
//! # Tried without gain
//!
//! By the experiments behind the rule, on recordings of GPUs, with standard errors of .005 to .013
//! after 25 evaluations: work per item, waves, idle tails and local memory as features of small
//! spaces; a prior mean learned from other kernels; first configurations inside the free range only.

use tunesmith_core::{Combinations, Launch, Volume};
use tunesmith_space::{ConfigId, Space};

/// The binary logarithm of the number of work-items at which the trend is lowest: a work-group of
/// 256 has enough work-items to hide latencies, and several of them fit on a multiprocessor.
const FAVOURED: f64 = 8.0;
/// The distance from [`FAVOURED`] within which there is no trend: 128 to 512 work-items are free.
const FREE: f64 = 1.0;
/// The rise of the trend for each doubling beyond, in the unit of the model's targets. The fit
/// multiplies it by the slope.
const RISE: f64 = 0.3;

/// The expected slowdown of very small and very large work-groups on a GPU: `0.3 max(0, |log2 T -
/// 8| - 1)` for `T` work-items. The model learns how far to trust it
/// ([`Hyperparameters`](tunesmith_model::Hyperparameters)).
#[derive(Clone, Debug)]
pub(super) struct Trend {
    combinations: Combinations,
    /// The trend of each combination.
    heights: Vec<f64>,
}

impl Trend {
    /// Returns the trend in `space`, or `None` if work-groups have no known size, or all the same.
    pub(super) fn new(launch: &Launch, space: &Space) -> Option<Self> {
        let Volume { combinations, numbers } = launch.group_items(space)?;
        let height =
            |items: &Option<f64>| items.map_or(0.0, |items| RISE * ((items.log2() - FAVOURED).abs() - FREE).max(0.0));
        let heights: Vec<f64> = numbers.iter().map(height).collect();
        let differ = heights.windows(2).any(|pair| pair[0] != pair[1]);
        differ.then_some(Self { combinations, heights })
    }

    /// Returns the trend at each configuration.
    pub(super) fn at(&self, space: &Space, configs: &[ConfigId]) -> Vec<f64> {
        let mut indices = Vec::new();
        let height = |config: &ConfigId| {
            space.unrank_into(*config, &mut indices);
            self.heights[self.combinations.place(&indices)]
        };
        configs.iter().map(height).collect()
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
        let trend = Trend::new(&launch("X"), &space).unwrap().at(&space, &configs);
        let expected = [2.1, 0.3, 0.0, 0.0, 0.0, 0.3];
        assert!(
            trend.iter().zip(expected).all(|(found, wanted): (&f64, f64)| (found - wanted).abs() < 1e-12),
            "{trend:?}"
        );
        assert!(Trend::new(&launch("256"), &space).is_none());
        assert!(Trend::new(&launch("Y"), &space).is_none());
    }
}
