//! Compares random small spaces with brute force: every combination, and each constraint evaluated
//! as Python would.

use crate::oracle;

use oracle::{Description, Text, Verdict, description};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::collections::HashSet;
use tunesmith_space::{Blocks, ConfigId, Constraint, Expr, Neighbourhood, Parameter, Space, SpaceError, Value, Values};

fn indices(space: &Space, id: ConfigId) -> Vec<u32> {
    space.unrank(id).indices().to_vec()
}

/// Returns the combinations that differ from `from` in exactly one place.
fn differing_in_one(valid: &HashSet<Vec<u32>>, from: &[u32]) -> HashSet<Vec<u32>> {
    let differences = |other: &&Vec<u32>| other.iter().zip(from).filter(|(a, b)| a != b).count();
    valid.iter().filter(|other| differences(other) == 1).cloned().collect()
}

/// Returns the nearest valid smaller and larger value of each parameter.
fn adjacent(valid: &HashSet<Vec<u32>>, from: &[u32]) -> HashSet<Vec<u32>> {
    let neighbours = differing_in_one(valid, from);
    let mut nearest = HashSet::new();
    for place in 0..from.len() {
        let moved = || neighbours.iter().filter(|other| other[place] != from[place]);
        nearest.extend(moved().filter(|other| other[place] < from[place]).max_by_key(|other| other[place]).cloned());
        nearest.extend(moved().filter(|other| other[place] > from[place]).min_by_key(|other| other[place]).cloned());
    }
    nearest
}

/// Checks every answer about one combination against brute force.
fn check_membership(description: &Description, space: &Space, combination: &[u32], is_valid: bool) {
    let value = |at: usize| description.parameters[at].1[combination[at] as usize].clone();
    let pairs: Vec<(&str, Value)> =
        description.parameters.iter().enumerate().map(|(at, (name, _))| (name.as_str(), value(at))).collect();
    let configuration = space.configuration(&pairs, None).unwrap();
    assert_eq!(configuration.indices(), combination);
    assert_eq!(space.contains(&configuration), is_valid);
    assert_eq!(space.rank(&configuration).is_some(), is_valid);
    assert_eq!(space.rank_indices(combination), space.rank(&configuration));
    let holds = |text: &Text| description.truths(combination, text).iter().all(|truth| matches!(truth, Ok(true)));
    let broken = description.constraints.iter().enumerate().filter(|(_, text)| !holds(text));
    let broken: Vec<String> = broken.map(|(index, _)| format!("c{index}")).collect();
    assert_eq!(space.violated(&configuration).iter().map(|constraint| constraint.name()).collect::<Vec<_>>(), broken);
    assert_eq!(broken.is_empty(), is_valid);
}

/// Checks that some combination has the values of an error, that the named constraint fails on it,
/// and that no constraint excludes it.
fn check_failure(description: &Description, constraint: &str, shown: &[(String, Value)]) {
    let text = &description.constraints[constraint[1..].parse::<usize>().unwrap()];
    let index = |name: &str| description.parameters.iter().position(|(known, _)| known == name).unwrap();
    let fits = |combination: &&Vec<u32>| {
        let values = shown.iter().map(|(name, value)| (index(name), value));
        values.into_iter().all(|(at, value)| description.parameters[at].1[combination[at] as usize] == *value)
    };
    let fails = |combination: &Vec<u32>| {
        matches!(description.judge(combination, &description.constraints), Verdict::Failing)
            && description.truths(combination, text).iter().any(Result::is_err)
    };
    assert!(description.combinations().iter().filter(fits).any(fails), "{constraint} does not fail at {shown:?}");
}

/// Checks that the nearest configuration is valid, that none is nearer, and that ties go to the
/// first rank.
fn check_nearest(description: &Description, space: &Space, valid: &HashSet<Vec<u32>>) {
    let lengths = || description.parameters.iter().map(|(_, values)| values.len() as f64);
    for round in 0..4 {
        // Points on values and between them, and missing coordinates.
        let coordinate = |(at, length): (usize, f64)| match (round + at) % 5 {
            0 => length * 0.5 - 0.25,
            1 => length - 1.0,
            2 => 0.75,
            3 => f64::NAN,
            _ => -1.0,
        };
        let point: Vec<f64> = lengths().enumerate().map(coordinate).collect();
        let distance = |indices: &[u32]| -> f64 {
            let steps = |(&index, (&at, length)): (&u32, (&f64, f64))| match at.is_nan() {
                true => 0.0,
                false => (f64::from(index) - at.clamp(0.0, length - 1.0)).abs(),
            };
            indices.iter().zip(point.iter().zip(lengths())).map(steps).sum()
        };
        let found = space.nearest(&point);
        let best = valid.iter().map(|other| distance(other)).fold(f64::INFINITY, f64::min);
        assert_eq!(distance(&indices(space, found)), best);
        assert!(space.iter().take_while(|id| *id < found).all(|id| distance(&indices(space, id)) > best));
    }
}

/// Returns the path at `coordinates` in the tree of all valid configurations, level by level (ATF
/// paper, section 5).
fn at_coordinates(space: &Space, valid: &HashSet<Vec<u32>>, coordinates: &[f64], blocks: Blocks) -> Vec<u32> {
    let mut left: Vec<&Vec<u32>> = valid.iter().collect();
    for parameter in space.levels() {
        let mut values: Vec<u32> = left.iter().map(|indices| indices[parameter]).collect();
        values.sort_unstable();
        if blocks == Blocks::Values {
            values.dedup();
        }
        let nth = (coordinates[parameter] * values.len() as f64).ceil() as usize - 1;
        left.retain(|indices| indices[parameter] == values[nth]);
    }
    left[0].clone()
}

/// Checks that coordinates give the same configuration as in a tree, and lead back.
fn check_coordinates(space: &Space, valid: &HashSet<Vec<u32>>, id: ConfigId) {
    for blocks in [Blocks::Values, Blocks::Configurations] {
        let middles = space.coordinates(id, blocks);
        assert_eq!(space.rank(&space.configuration_at(&middles, blocks)), Some(id), "{blocks:?} lead back");
        // Irrational shifts avoid the ends of blocks.
        let shifted: Vec<f64> = middles.iter().map(|middle| (middle * 0.7 + 0.30117).fract()).collect();
        let found = space.configuration_at(&shifted, blocks);
        assert_eq!(found.indices(), at_coordinates(space, valid, &shifted, blocks));
    }
    let middles = space.coordinates(id, Blocks::Values);
    let own = indices(space, id);
    let neighbours = space.neighbours(id, Neighbourhood::Coordinates);
    let found: HashSet<Vec<u32>> = neighbours.iter().map(|neighbour| indices(space, neighbour.id)).collect();
    let mut expected = HashSet::new();
    for parameter in space.levels() {
        for part in 0..48 {
            let mut moved = middles.clone();
            moved[parameter] = (f64::from(part) + 0.51) / 48.0;
            expected.insert(at_coordinates(space, valid, &moved, Blocks::Values));
        }
    }
    expected.remove(&own);
    assert_eq!(found, expected);
}

/// Checks the number, parameter and value of every neighbour.
fn check_numbered(space: &Space, id: ConfigId) {
    let own = indices(space, id);
    for neighbourhood in [Neighbourhood::Hamming, Neighbourhood::Adjacent, Neighbourhood::Coordinates] {
        let neighbours = space.neighbours(id, neighbourhood);
        let listed: Vec<_> = neighbours.iter().collect();
        assert_eq!(listed.len() as u64, neighbours.len());
        assert_eq!(neighbours.get(neighbours.len()), None);
        for (k, neighbour) in listed.iter().enumerate() {
            assert_eq!(neighbours.get(k as u64), Some(*neighbour));
            let other = indices(space, neighbour.id);
            assert_eq!(other[neighbour.parameter], neighbour.value);
            assert_ne!(other[neighbour.parameter], own[neighbour.parameter]);
        }
        let ascends = |pair: &[tunesmith_space::Neighbour]| {
            (pair[0].parameter, pair[0].value) < (pair[1].parameter, pair[1].value)
        };
        assert!(listed.windows(2).all(ascends), "{neighbourhood:?} is in order");
    }
}

fn check_space(description: &Description, space: &Space, valid: &HashSet<Vec<u32>>) {
    assert_eq!(space.len(), Some(valid.len() as u128));
    let listed: Vec<ConfigId> = space.iter().collect();
    for (rank, id) in listed.iter().enumerate() {
        assert_eq!(id.rank(), rank as u128, "iteration is in the order of ranks");
        assert_eq!(space.rank(&space.unrank(*id)), Some(*id));
    }
    let found: HashSet<Vec<u32>> = listed.iter().map(|id| indices(space, *id)).collect();
    assert_eq!(&found, valid);
    for combination in description.combinations() {
        check_membership(description, space, &combination, valid.contains(&combination));
    }
    for id in listed.iter().step_by(1 + listed.len() / 8) {
        let own = indices(space, *id);
        let set = |ids: Vec<ConfigId>| {
            let set: HashSet<Vec<u32>> = ids.iter().map(|id| indices(space, *id)).collect();
            assert_eq!(set.len(), ids.len(), "no neighbour twice");
            set
        };
        assert_eq!(set(space.hamming_neighbours(*id)), differing_in_one(valid, &own));
        assert_eq!(set(space.adjacent_neighbours(*id)), adjacent(valid, &own));
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    assert!(valid.contains(&indices(space, space.sample(&mut rng))));
    for drawn in
        [space.sample_distinct(10, &mut rng), space.sample_stratified(10, &mut rng), space.sample_latin(10, &mut rng)]
    {
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), valid.len().min(10));
        assert!(drawn.iter().all(|id| valid.contains(&indices(space, *id))));
    }
}

/// Checks the answers that take brute force longer.
fn check_thoroughly(description: &Description, space: &Space, valid: &HashSet<Vec<u32>>) {
    check_nearest(description, space, valid);
    check_analysis(description, space, valid);
    let some = 1 + valid.len() / 8;
    for id in space.iter().step_by(some) {
        check_numbered(space, id);
        check_coordinates(space, valid, id);
    }
}

/// Checks the effect of each constraint against brute force, and that dead values occur nowhere.
fn check_analysis(description: &Description, space: &Space, valid: &HashSet<Vec<u32>>) {
    let analysis = space.analyse();
    // `None` if a constraint fails on a combination that is left.
    let left = |chosen: &dyn Fn(usize) -> bool| {
        let texts: Vec<Text> = description
            .constraints
            .iter()
            .enumerate()
            .filter(|(at, _)| chosen(*at))
            .map(|(_, text)| text.clone())
            .collect();
        description.valid(&texts).map(|valid| valid.len())
    };
    let all = description.combinations().len();
    let as_number =
        |count: &Option<num_bigint::BigUint>| count.as_ref().map(|count| count.to_string().parse::<usize>().unwrap());
    for (index, effect) in analysis.constraints.iter().enumerate() {
        assert_eq!(effect.name, format!("c{index}"));
        assert_eq!(as_number(&effect.removed_alone), left(&|at| at == index).map(|left| all - left));
        let (before, after) = (left(&|at| at < index), left(&|at| at <= index));
        assert_eq!(as_number(&effect.removed_in_order), before.zip(after).map(|(before, after)| before - after));
        assert_eq!(effect.redundant, left(&|at| at != index).map(|left| left == valid.len()));
    }
    for (at, dead) in analysis.dead_values.iter().enumerate() {
        let count = description.parameters[at].1.len() as u32;
        let unused = (0..count).filter(|value| !valid.iter().any(|indices| indices[at] == *value));
        assert_eq!(dead[..], unused.collect::<Vec<_>>());
    }
}

/// Checks that `culprits` leave no configuration, that each of them is needed for that, and that no
/// smaller set leaves none.
fn check_culprits(description: &Description, culprits: &[String]) {
    let chosen: Vec<usize> = culprits.iter().map(|name| name[1..].parse().unwrap()).collect();
    let texts = |chosen: &[usize]| chosen.iter().map(|at| description.constraints[*at].clone()).collect::<Vec<_>>();
    assert!(description.valid(&texts(&chosen)).is_some_and(|valid| valid.is_empty()));
    for left_out in &chosen {
        let rest: Vec<usize> = chosen.iter().copied().filter(|at| at != left_out).collect();
        assert!(!description.valid(&texts(&rest)).is_some_and(|valid| valid.is_empty()), "c{left_out} is not needed");
    }
    for set in 0..1_u32 << description.constraints.len() {
        let chosen_too: Vec<usize> = (0..description.constraints.len()).filter(|at| set >> at & 1 == 1).collect();
        let smaller = chosen_too.len() < chosen.len();
        assert!(!(smaller && description.valid(&texts(&chosen_too)).is_some_and(|valid| valid.is_empty())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_space_equals_brute_force(description in description(), thorough in proptest::bool::weighted(0.1)) {
        match (description.build(), description.valid(&description.constraints)) {
            (Ok(space), Some(valid)) => {
                check_space(&description, &space, &valid);
                if thorough {
                    check_thoroughly(&description, &space, &valid);
                }
            }
            (Err(SpaceError::Empty { culprits }), Some(valid)) => {
                prop_assert!(valid.is_empty());
                check_culprits(&description, &culprits);
            }
            (Err(SpaceError::Evaluation { constraint, configuration, .. }), None) => {
                check_failure(&description, &constraint, &configuration);
            }
            (result, valid) => prop_assert!(false, "{result:?} where brute force finds {:?}", valid.map(|v| v.len())),
        }
    }
}

#[test]
fn a_failing_constraint_names_itself_and_the_configuration() {
    let x = Parameter::new("X", Values::range(0, 3, 1).unwrap()).unwrap();
    let builder = Space::builder().parameter(x);
    let space = builder.clone().constraint(Constraint::new("even split", Expr::parse("12 % X == 0").unwrap()));
    let error = space.clone().build().unwrap_err();
    assert!(
        matches!(&error, SpaceError::Evaluation { constraint, configuration, .. }
        if constraint == "even split" && configuration[..] == [("X".to_string(), Value::Int(0))]),
        "{error:?}"
    );
    // An empty list contains nothing, but what is looked for in it is computed all the same.
    for text in ["12 % X in [] or X >= 0", "12 % X not in []", "\"a\" >> X in [] or True"] {
        let built = builder.clone().constraint(Constraint::parse(text).unwrap()).build();
        assert!(matches!(built, Err(SpaceError::Evaluation { .. })), "{text}: {built:?}");
    }
    let guarded = space.constraint(Constraint::parse("X > 0").unwrap()).build().unwrap();
    assert_eq!(guarded.len(), Some(3), "another constraint may exclude what fails");
}

#[test]
fn a_constraint_without_parameters_removes_everything_or_nothing() {
    let x = Parameter::new("X", Values::range(0, 3, 1).unwrap()).unwrap();
    let builder = Space::builder().parameter(x).constant("N", Value::Int(7));
    assert_eq!(builder.clone().constraint(Constraint::parse("N % 7 == 0").unwrap()).build().unwrap().len(), Some(4));
    let error = builder.constraint(Constraint::parse("N % 2 == 0").unwrap()).build().unwrap_err();
    assert_eq!(error, SpaceError::Empty { culprits: vec!["N % 2 == 0".to_string()] });
}

#[test]
fn a_space_beyond_128_bits_is_counted_exactly_and_has_no_ranks() {
    let parameter = |i| Parameter::new(format!("P{i}"), Values::range(1, 10, 1).unwrap()).unwrap();
    let space = (0..64).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).build().unwrap();
    assert_eq!(space.size().to_string(), format!("1{}", "0".repeat(64)));
    assert_eq!(space.len(), None);
    let first = space.configuration(&[], None).unwrap();
    assert!(space.contains(&first));
    assert_eq!(space.rank(&first), None);
}

#[test]
fn parameters_that_all_differ_are_counted_like_permutations() {
    // Values within 62 of each other make a mask. The values of the second case do not.
    for (low, step) in [(-3, 1), (-300, 100)] {
        let list = |length: i64| Values::range(low, low + (length - 1) * step, step).unwrap();
        let names = ["A", "B", "C", "D", "E"];
        let lengths = [5, 6, 4, 7, 5];
        let mut description = Description { parameters: Vec::new(), constraints: Vec::new() };
        description.parameters =
            names.iter().zip(lengths).map(|(name, length)| ((*name).into(), list(length))).collect();
        for a in 0..5 {
            for b in 0..a {
                description.constraints.push(Text::simple(format!("{} != {}", names[a], names[b])));
            }
        }
        description.constraints.push(Text::simple(format!("A + B <= {}", 4 * step)));
        let valid = description.valid(&description.constraints).unwrap();
        check_space(&description, &description.build().unwrap(), &valid);
    }
}

#[test]
fn nodes_of_hundreds_of_runs_are_walked_like_any_other() {
    let x = Parameter::new("X", Values::range(0, 1999, 1).unwrap()).unwrap();
    let y = Parameter::new("Y", Values::list([0, 1, 2])).unwrap();
    let z = Parameter::new("Z", Values::range(1, 5, 1).unwrap()).unwrap();
    let builder = Space::builder().parameter(x).parameter(y).parameter(z);
    let builder = builder.constraint(Constraint::parse("X % 3 == Y and (X * 7 + Z) % 11 < 8").unwrap());
    let space = builder.build().unwrap();
    let expected = (0..2000).map(|x| (1..=5).filter(|z| (x * 7 + z) % 11 < 8).count() as u128).sum();
    assert_eq!(space.len(), Some(expected));
    assert!(space.iter().all(|id| space.rank(&space.unrank(id)) == Some(id)));
}

#[test]
fn a_hostile_space_of_twelve_parameters_ends_with_the_constraint_to_blame() {
    let parameter = |i| Parameter::new(format!("P{i}"), Values::range(1, 50, 1).unwrap()).unwrap();
    let sum: Vec<String> = (0..12).map(|i| format!("P{i} ** {} * P{}", i % 3 + 1, (i + 5) % 12)).collect();
    let hostile = Constraint::new("hostile", Expr::parse(&format!("({}) % 99991 < 17", sum.join(" + "))).unwrap());
    let limits = tunesmith_space::Limits { nodes: 50_000, ..tunesmith_space::Limits::default() };
    let builder = (0..12).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).limits(limits);
    let error = builder.constraint(hostile).build().unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the diagram of the space grows beyond 50000 nodes, because of constraint `hostile`"),
        "{text}"
    );
}

#[test]
fn a_space_that_grows_beyond_its_limit_is_refused_with_the_constraints_to_blame() {
    let parameter = |i| Parameter::new(format!("P{i}"), Values::range(1, 50, 1).unwrap()).unwrap();
    let sum: Vec<String> = (0..6).map(|i| format!("P{i} ** {}", i + 1)).collect();
    let hostile = Constraint::new("hostile", Expr::parse(&format!("({}) % 977 == 5", sum.join(" + "))).unwrap());
    let limits = tunesmith_space::Limits { nodes: 10_000, ..tunesmith_space::Limits::default() };
    let builder = (0..6).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).limits(limits);
    let error = builder.constraint(hostile).build().unwrap_err();
    assert!(matches!(&error, SpaceError::TooLarge { culprits, .. } if culprits == &["hostile"]), "{error:?}");
}

#[test]
fn the_ends_of_64_bits_are_values_like_any_other() {
    let ends = [i64::MAX, 3, i64::MIN, -1];
    let build = |text: &str| {
        let p = Parameter::new("P", Values::list(ends)).unwrap();
        let q = Parameter::new("Q", Values::list([12, 16])).unwrap();
        Space::builder().parameter(p).parameter(q).constraint(Constraint::parse(text).unwrap()).build()
    };
    // 1 % P is below zero for the smallest value only.
    assert_eq!(build("0 * P > 1 % P").unwrap().len(), Some(2));
    assert_eq!(
        build("0 * P > 1 % P and Q < P ** 1").unwrap_err().to_string(),
        "no configuration satisfies constraint `0 * P > 1 % P and Q < P ** 1`"
    );
    assert_eq!(build("-P == 2 ** 63").unwrap().len(), Some(2));
    assert_eq!(build("abs(P) + Q > 2 ** 63").unwrap().len(), Some(4));
    assert_eq!(build("P // -1 > P").unwrap().len(), Some(4));
}
