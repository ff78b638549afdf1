//! Samples are uniform, and distinct samples are distinct.

use rand::Rng;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::collections::BTreeSet;
use tunesmith_space::{Blocks, Constraint, Parameter, Space, Value};

/// Returns the chi-squared statistic of `counts` against equal chances, in standard deviations from
/// its mean.
fn deviation(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let freedom = counts.len() as f64 - 1.0;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

fn skewed() -> Space {
    let ints = |range: std::ops::RangeInclusive<i64>| range.map(Value::Int);
    Space::builder()
        .parameter(Parameter::new("tile", ints(1..=24)).unwrap())
        .parameter(Parameter::new("threads", ints(1..=24)).unwrap())
        .parameter(Parameter::new("unroll", ints(1..=3)).unwrap())
        .constraint(Constraint::parse("tile % threads == 0").unwrap())
        .build()
        .unwrap()
}

#[test]
fn samples_are_uniform() {
    let space = skewed();
    let mut counts = vec![0_u64; space.len().unwrap() as usize];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for _ in 0..100 * counts.len() {
        counts[space.sample(&mut rng).rank() as usize] += 1;
    }
    // Five standard deviations: p is below 1e-6 for a correct program.
    assert!(deviation(&counts).abs() < 5.0, "{}", deviation(&counts));
}

#[test]
fn distinct_samples_are_distinct_uniform_and_complete() {
    let space = skewed();
    let size = space.len().unwrap() as usize;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let all: BTreeSet<_> = space.sample_distinct(usize::MAX, &mut rng).into_iter().collect();
    assert_eq!(all.len(), size);
    let mut counts = vec![0_u64; size];
    let mut first = vec![0_u64; size];
    for _ in 0..4000 {
        let drawn = space.sample_distinct(10, &mut rng);
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 10);
        drawn.iter().for_each(|id| counts[id.rank() as usize] += 1);
        first[drawn[0].rank() as usize] += 1;
    }
    assert!(deviation(&counts).abs() < 5.0);
    assert!(deviation(&first).abs() < 5.0);
}

#[test]
fn stratified_samples_take_one_of_each_part_and_are_uniform() {
    let space = skewed();
    let size = space.len().unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(13);
    let mut counts = vec![0_u64; size as usize];
    for _ in 0..4000 {
        let mut ranks: Vec<u128> = space.sample_stratified(12, &mut rng).iter().map(|id| id.rank()).collect();
        ranks.iter().for_each(|&rank| counts[rank as usize] += 1);
        ranks.sort_unstable();
        // The lengths of the parts differ by at most one if the size is not a multiple of their
        // number.
        assert!(ranks.iter().enumerate().all(|(part, &rank)| rank * 12 / size == part as u128));
    }
    assert!(deviation(&counts).abs() < 5.0, "{}", deviation(&counts));
}

#[test]
fn uniform_coordinates_by_configurations_give_uniform_configurations_and_by_values_do_not() {
    let space = skewed();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
    let deviations = [Blocks::Configurations, Blocks::Values].map(|blocks| {
        let mut counts = vec![0_u64; space.len().unwrap() as usize];
        for _ in 0..100 * counts.len() {
            let point: Vec<f64> = (0..3).map(|_| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).collect();
            let configuration = space.configuration_at(&point, blocks);
            counts[space.rank(&configuration).unwrap().rank() as usize] += 1;
        }
        deviation(&counts).abs()
    });
    assert!(deviations[0] < 5.0 && deviations[1] > 5.0, "{deviations:?}");
}

#[test]
fn latin_samples_have_every_value_about_as_often_as_the_space() {
    let space = skewed();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(19);
    let drawn = space.sample_latin(72, &mut rng);
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 72);
    // UNROLL takes each of its three values in a third of the space, whatever the others are.
    let mut unrolls = [0; 3];
    drawn.iter().for_each(|&id| unrolls[space.unrank(id).indices()[2] as usize] += 1);
    assert!(unrolls.iter().all(|&count: &i32| (count - 24).abs() <= 3), "{unrolls:?}");
}

/// Returns the configurations of `space` with allowed values only, by value indices.
fn within(space: &Space, allowed: &[&[u32]]) -> BTreeSet<Vec<u32>> {
    let is_allowed = |list: &&[u32], index: &u32| list.is_empty() || list.contains(index);
    let all = space.iter().map(|id| space.unrank(id).indices().to_vec());
    all.filter(|indices| allowed.iter().zip(indices).all(|(list, index)| is_allowed(list, index))).collect()
}

#[test]
fn samples_within_allowed_values_are_uniform_among_all_that_have_them() {
    let space = skewed();
    let cases: [&[&[u32]]; 5] = [
        &[],
        &[&[], &[5], &[]],
        &[&[3, 7, 11, 23], &[0, 1, 2, 3, 5, 11], &[0, 2]],
        &[&[23], &[], &[1]],
        &[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[]],
    ];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for allowed in cases {
        let all: Vec<Vec<u32>> = within(&space, allowed).into_iter().collect();
        let mut counts = vec![0_u64; all.len()];
        for _ in 0..200 * all.len() {
            let drawn = space.unrank(space.sample_within(allowed, &mut rng).unwrap());
            counts[all.binary_search(&drawn.indices().to_vec()).unwrap()] += 1;
        }
        assert!(deviation(&counts).abs() < 5.0, "{allowed:?}: {}", deviation(&counts));
    }
}

#[test]
fn there_is_no_sample_where_no_configuration_has_allowed_values() {
    let space = skewed();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for allowed in [&[&[6][..], &[1, 2]][..], &[&[0], &[3]], &[&[99]]] {
        assert!(within(&space, allowed).is_empty());
        assert_eq!(space.sample_within(allowed, &mut rng), None);
    }
}

#[test]
fn samples_of_a_ball_are_uniform_among_all_configurations_that_differ_in_few_parameters() {
    let space = skewed();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(23);
    for (rank, radius) in [(0, 1), (0, 2), (17, 1), (100, 2), (200, 3), (251, 99)] {
        let centre = space.id(rank).unwrap();
        let own = space.unrank(centre).indices().to_vec();
        let differences = |indices: &[u32]| indices.iter().zip(&own).filter(|(a, b)| a != b).count();
        let all = space.iter().filter(|&id| (1..=radius).contains(&differences(space.unrank(id).indices())));
        let all: Vec<_> = all.collect();
        let ball = space.ball(centre, radius);
        assert_eq!(ball.len(), all.len() as f64, "{rank} {radius}");
        let mut counts = vec![0_u64; all.len()];
        for _ in 0..200 * all.len() {
            counts[all.binary_search(&ball.sample(&mut rng).unwrap()).unwrap()] += 1;
        }
        assert!(deviation(&counts).abs() < 5.0, "{rank} {radius}: {}", deviation(&counts));
    }
}

#[test]
fn a_ball_of_radius_0_and_that_of_an_only_configuration_are_empty() {
    let space = skewed();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(29);
    let only = Space::builder().parameter(Parameter::new("a", [Value::Int(1)]).unwrap()).build().unwrap();
    for ball in [space.ball(space.id(5).unwrap(), 0), only.ball(only.id(0).unwrap(), 3)] {
        assert!(ball.is_empty());
        assert_eq!(ball.sample(&mut rng), None);
    }
}
