//! The climb of Bergstra, Pinto and Cox on a function that costs almost nothing, such as a model.

use crate::local::resample;
use tunesmith_core::Rng;
use tunesmith_space::{ConfigId, Space};

/// Climbs from `start` for `steps` steps (Bergstra, Pinto and Cox, Machine learning for predictive
/// auto-tuning with boosted regression trees, 2012, section 2.4). Each step draws each parameter of
/// the current configuration anew with `probability`, at least one of them. A configuration with a
/// higher `score` becomes the current one. Returns the last one, which is the best of all scored,
/// and its score. Draws only valid configurations. Costs one draw within the space's diagrams and
/// one score for each step.
///
/// The strategy `hill_climbing` does the same with measured configurations.
pub fn climb(
    space: &Space,
    start: ConfigId,
    steps: usize,
    probability: f64,
    rng: &mut Rng,
    mut score: impl FnMut(ConfigId) -> f64,
) -> (ConfigId, f64) {
    let mut present = (start, score(start));
    for _ in 0..steps {
        let drawn = resample(space, present.0, probability, rng);
        let found = score(drawn);
        if found > present.1 {
            present = (drawn, found);
        }
    }
    present
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use tunesmith_space::{Parameter, Value};

    #[test]
    fn a_climb_never_goes_down_and_mostly_arrives() {
        let parameter = |name: &str| Parameter::new(name, (0..8).map(Value::Int)).unwrap();
        let space = ["A", "B", "C"].into_iter().fold(Space::builder(), |all, name| all.parameter(parameter(name)));
        let space = space.build().unwrap();
        let height =
            |config| -space.unrank(config).indices().iter().map(|index| (f64::from(*index) - 5.0).abs()).sum::<f64>();
        let start = space.rank_indices(&[0, 0, 0]).unwrap();
        let tops = (0..20).map(|seed| climb(&space, start, 200, 0.25, &mut Rng::seed_from_u64(seed), height).1);
        let tops: Vec<f64> = tops.collect();
        assert!(tops.iter().filter(|top| **top >= -1.0).count() >= 18, "{tops:?}");
        assert_eq!(climb(&space, start, 0, 0.25, &mut Rng::seed_from_u64(1), height), (start, -15.0));
    }
}
