//! Configurations drawn near one configuration, or between two.

use rand::RngExt as _;
use std::slice;
use tunesmith_core::Rng;
use tunesmith_space::{ConfigId, Space};

/// Draws each parameter of `config` anew with `probability`, at least one of them, and keeps the
/// others. Draws uniformly among the valid configurations with the kept values. The result may be
/// `config` itself. Costs as much as [`Space::sample_within`].
pub(crate) fn resample(space: &Space, config: ConfigId, probability: f64, rng: &mut Rng) -> ConfigId {
    let own = space.unrank(config);
    let free = chosen(own.indices().len(), probability, rng);
    let allowed = own.indices().iter().zip(free);
    let allowed: Vec<&[u32]> =
        allowed.map(|(index, is_free)| if is_free { &[] } else { slice::from_ref(index) }).collect();
    space.sample_within(&allowed, rng).unwrap_or(config)
}

/// Returns a configuration with each parameter's value from one of the two parents or, with
/// probability `mutation`, any value. Draws uniformly among the valid configurations of this kind,
/// so no constraint excludes it.
pub(crate) fn cross(space: &Space, parents: [ConfigId; 2], mutation: f64, rng: &mut Rng) -> ConfigId {
    let [one, other] = parents.map(|parent| space.unrank(parent));
    let both = one.indices().iter().zip(other.indices());
    let values: Vec<Vec<u32>> = both
        .map(|(&a, &b)| match rng.random_bool(mutation) {
            true => Vec::new(),
            false if a == b => vec![a],
            false => vec![a.min(b), a.max(b)],
        })
        .collect();
    let allowed: Vec<&[u32]> = values.iter().map(Vec::as_slice).collect();
    space.sample_within(&allowed, rng).unwrap_or(parents[0])
}

/// Chooses each of `count` with `probability`, and a random one if there would be none.
fn chosen(count: usize, probability: f64, rng: &mut Rng) -> Vec<bool> {
    let mut chosen: Vec<bool> = (0..count).map(|_| rng.random_bool(probability)).collect();
    if count > 0 && !chosen.contains(&true) {
        chosen[rng.random_range(0..count)] = true;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::collections::HashSet;
    use tunesmith_space::{Constraint, Parameter, Value};

    fn space() -> Space {
        let parameter = |name: &str| Parameter::new(name, (1..=8).map(Value::Int)).unwrap();
        let builder =
            ["A", "B", "C", "D"].into_iter().fold(Space::builder(), |all, name| all.parameter(parameter(name)));
        builder.constraint(Constraint::parse("B % A == 0").unwrap()).build().unwrap()
    }

    #[test]
    fn a_resampled_configuration_differs_in_about_the_wanted_share_of_parameters() {
        let space = space();
        let mut rng = Rng::seed_from_u64(1);
        let config = space.rank_indices(&[0, 7, 3, 3]).unwrap();
        let own = space.unrank(config);
        let (mut free, draws) = (0, 4000);
        for _ in 0..draws {
            let drawn = space.unrank(resample(&space, config, 0.25, &mut rng));
            free += usize::from(drawn.indices()[2] != own.indices()[2]);
        }
        // A quarter, and a share of the (3/4)^4 without any. One of eight values is the old one.
        let expected = (0.25 + 0.75_f64.powi(4) / 4.0) * 7.0 / 8.0;
        assert!((f64::from(free as u32) / f64::from(draws) - expected).abs() < 0.03, "{free} of {draws}");
    }

    #[test]
    fn a_child_without_mutation_has_every_value_from_a_parent_and_all_children_occur() {
        let space = space();
        let mut rng = Rng::seed_from_u64(1);
        let parents = [[1, 3, 0, 0], [2, 5, 7, 7]].map(|indices| space.rank_indices(&indices).unwrap());
        let children: HashSet<Vec<u32>> =
            (0..500).map(|_| space.unrank(cross(&space, parents, 0.0, &mut rng)).indices().to_vec()).collect();
        // 2 divides 4 and 6, 3 divides 6: three valid pairs for A and B, four for C and D.
        assert_eq!(children.len(), 12);
        assert!(children.iter().all(|child| [1, 2].contains(&child[0]) && [3, 5].contains(&child[1])));
    }
}
