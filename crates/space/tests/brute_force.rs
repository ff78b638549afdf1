//! Random small spaces answer every question as brute force does.

mod common;

use std::collections::BTreeSet;

use common::oracle::{Verdict, verdicts};
use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use tunesmith_space::{Configuration, Constraint, Expr, Parameter, Space, SpaceError, Value};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A list of values that tuning parameters commonly take, or an uncommon one.
fn values() -> impl Strategy<Value = Vec<Value>> {
    let list = |values: &[i64]| values.iter().map(|&value| Value::Int(value)).collect::<Vec<_>>();
    prop_oneof![
        4 => prop::sample::subsequence(vec![1_i64, 2, 3, 4, 5, 6, 8, 12, 16, 32], 1..6).prop_map(move |v| list(&v)),
        2 => prop::sample::subsequence(vec![-7_i64, -2, -1, 0, 1, 3, 10], 1..5).prop_map(move |v| list(&v)).prop_shuffle(),
        1 => prop::sample::subsequence(vec![-1.5, 0.5, 1.0, 2.0, 3.25], 1..4)
            .prop_map(|v: Vec<f64>| v.into_iter().map(Value::Float).collect()),
        1 => Just(vec![Value::Bool(false), Value::Bool(true)]),
        1 => Just(vec![Value::from("x"), Value::from("yy"), Value::from("")]),
        1 => Just(vec![Value::Int(i64::MAX), Value::Int(3), Value::Int(i64::MIN)]),
    ]
}

/// A number, most often.
fn number() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => prop::sample::select(&NAMES[..]).prop_map(str::to_owned),
        2 => prop::sample::select(&["0", "1", "2", "3", "4", "8", "10", "1.5", "2.0"][..]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 10, 2, |inner| {
        let op = prop::sample::select(&["+", "-", "*", "*", "//", "%", "/", "&"][..]);
        let condition = comparison(inner.clone());
        prop_oneof![
            6 => (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("min({a}, {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("max({a}, {b}, 2)")),
            1 => (inner.clone(), condition, inner.clone()).prop_map(|(a, c, b)| format!("({a} if {c} else {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} or {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("ceildiv({a}, {b})")),
            1 => inner.clone().prop_map(|a| format!("-{a}")),
            1 => inner.clone().prop_map(|a| format!("abs({a})")),
            1 => inner.prop_map(|a| format!("({a} ** 2)")),
        ]
    })
}

fn comparison(number: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = String> {
    let op = prop::sample::select(&["<", "<=", ">", ">=", "==", "!="][..]);
    prop_oneof![
        6 => (number.clone(), op.clone(), number.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        2 => (number.clone(), number.clone()).prop_map(|(a, b)| format!("{a} % {b} == 0")),
        1 => (number.clone(), op, number.clone(), number.clone()).prop_map(|(a, op, b, c)| format!("{a} <= {b} {op} {c}")),
        1 => (number.clone(), number.clone()).prop_map(|(a, b)| format!("{a} in [{b}, 2, 8]")),
        1 => number,
    ]
}

fn condition() -> impl Strategy<Value = String> {
    comparison(number().boxed()).boxed().prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} or {b})")),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} and {b})")),
            1 => inner.prop_map(|a| format!("not ({a})")),
        ]
    })
}

/// Parameters under all five names, so that every expression's names are known.
fn parameters() -> impl Strategy<Value = Vec<Parameter>> {
    prop::collection::vec(values(), NAMES.len()).prop_map(|lists| {
        lists.into_iter().zip(NAMES).map(|(values, name)| Parameter::new(name, values).unwrap()).collect()
    })
}

fn build(parameters: &[Parameter], constraints: &[String]) -> Result<Space, SpaceError> {
    let builder = parameters.iter().fold(Space::builder(), |builder, parameter| builder.parameter(parameter.clone()));
    constraints.iter().fold(builder, |builder, text| builder.constraint(Constraint::parse(text).unwrap())).build()
}

fn configuration(space: &Space, indices: &[u32]) -> Configuration {
    let pairs: Vec<(&str, Value)> = space
        .parameters()
        .iter()
        .zip(indices)
        .map(|(parameter, &index)| (parameter.name(), parameter.values()[index as usize].clone()))
        .collect();
    space.configuration(&pairs, None).unwrap()
}

/// Compares every answer of the space with the list of its valid configurations.
fn check(space: &Space, all: &[(Vec<u32>, Verdict)]) {
    let valid: BTreeSet<&[u32]> =
        all.iter().filter(|(_, verdict)| *verdict == Verdict::Valid).map(|(indices, _)| &indices[..]).collect();
    assert_eq!(space.size(), valid.len().into());
    assert_eq!(space.len(), Some(valid.len() as u128));
    for (indices, _) in all {
        let configuration = configuration(space, indices);
        let id = space.rank(&configuration);
        let expected = valid.contains(&indices[..]);
        assert_eq!(space.contains(&configuration), expected, "{indices:?}");
        assert_eq!(space.violated(&configuration).is_empty(), expected, "{indices:?}");
        assert_eq!(id.is_some(), expected, "{indices:?}");
        if let Some(id) = id {
            assert_eq!(space.unrank(id), configuration);
        }
    }
    for (rank, id) in space.iter().enumerate() {
        assert_eq!(id.rank(), rank as u128);
        assert_eq!(space.rank(&space.unrank(id)), Some(id));
    }
    assert_eq!(space.iter().count(), valid.len());
    assert_eq!(space.id(valid.len() as u128), None);
    for id in space.iter().take(5) {
        check_neighbours(space, id, &valid);
    }
}

fn check_neighbours(space: &Space, id: tunesmith_space::ConfigId, valid: &BTreeSet<&[u32]>) {
    let own = space.unrank(id);
    let found: Vec<Vec<u32>> =
        space.hamming_neighbours(id).iter().map(|&id| space.unrank(id).indices().to_vec()).collect();
    let mut hamming = Vec::new();
    let mut adjacent = Vec::new();
    for at in 0..own.indices().len() {
        let differing: Vec<Vec<u32>> = (0..space.parameters()[at].values().len() as u32)
            .filter(|&value| value != own.indices()[at])
            .map(|value| {
                let mut other = own.indices().to_vec();
                other[at] = value;
                other
            })
            .filter(|other| valid.contains(&other[..]))
            .collect();
        adjacent.extend(differing.iter().rfind(|other| other[at] < own.indices()[at]).cloned());
        adjacent.extend(differing.iter().find(|other| other[at] > own.indices()[at]).cloned());
        hamming.extend(differing);
    }
    assert_eq!(found, hamming);
    let found: Vec<Vec<u32>> =
        space.adjacent_neighbours(id).iter().map(|&id| space.unrank(id).indices().to_vec()).collect();
    assert_eq!(found, adjacent);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2500))]

    #[test]
    fn random_spaces_equal_brute_force(
        parameters in parameters(),
        constraints in prop::collection::vec(condition(), 0..4),
    ) {
        let expressions: Vec<Expr> = // The truth alone: an intermediate value may exceed the 64 bits that `evaluate` gives.
            constraints.iter().map(|text| Expr::parse(&format!("bool({text})")).unwrap()).collect();
        let all = verdicts(&parameters, &expressions);
        let count = |wanted| all.iter().filter(|(_, verdict)| *verdict == wanted).count();
        match build(&parameters, &constraints) {
            Ok(space) => check(&space, &all),
            Err(SpaceError::Empty { culprits }) => {
                prop_assert_eq!(count(Verdict::Valid), 0);
                prop_assert!(!culprits.is_empty());
                // Every culprit is needed: without it, something is left.
                for culprit in &culprits {
                    let rest: Vec<String> = culprits.iter().filter(|other| *other != culprit).cloned().collect();
                    let empty = matches!(build(&parameters, &rest), Err(SpaceError::Empty { .. }));
                    prop_assert!(!empty, "{culprit} is not needed");
                }
            }
            // A space is an error as a whole when one of its configurations cannot be judged.
            Err(SpaceError::Evaluation { .. }) => prop_assert!(count(Verdict::Undefined) > 0),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

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
