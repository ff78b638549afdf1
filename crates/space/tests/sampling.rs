//! Samples are uniform; distinct ones are distinct.

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::collections::BTreeSet;
use tunesmith_space::{Constraint, Parameter, Space, Value};

/// The chi-squared statistic of `counts` against equal chances, in standard deviations from its mean.
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
    // Five standard deviations: p below 1e-6 for a right program.
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
