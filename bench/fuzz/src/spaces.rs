//! Oracles of search spaces.

use crate::one_in;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use tunesmith_space::{ConfigId, Limits, Neighbourhood, Space, Value};

/// Limits that keep an input within some milliseconds.
pub const SMALL: Limits = Limits { nodes: 2_000, bytes: 32 << 20, steps: 30_000 };

/// One in so many spaces is looked at closely.
const CLOSELY: u64 = 8;

/// Checks that the first and the last rank of the space of `input` are configurations of the same rank
/// that satisfy the constraints. For one in eight inputs, does so for more ranks, and checks that drawn
/// configurations satisfy the constraints and that neighbours lie in the space.
pub fn check(space: &Space, input: &[u8]) {
    assert!(!space.is_empty(), "an empty space must be refused");
    let Some(len) = space.len() else { return };
    for rank in [0, len - 1] {
        let configuration = space.unrank(space.id(rank).expect("the rank is below the size"));
        assert_eq!(space.rank(&configuration).map(ConfigId::rank), Some(rank));
        assert!(space.contains(&configuration));
    }
    assert_eq!(space.id(len), None);
    if one_in(CLOSELY, input) {
        check_closely(space, len);
    }
}

fn check_closely(space: &Space, len: u128) {
    assert!(space.size() <= space.cartesian_size());
    let ranks = [0, 1, len / 3, len / 2, len - 1];
    for rank in ranks.into_iter().filter(|rank| *rank < len) {
        let id = space.id(rank).expect("the rank is below the size");
        let configuration = space.unrank(id);
        assert_eq!(space.rank(&configuration), Some(id));
        assert!(space.contains(&configuration));
        assert!(space.violated(&configuration).is_empty(), "rank {rank} violates a constraint");
        let neighbours = space.neighbours(id, Neighbourhood::Hamming);
        for neighbour in neighbours.iter().take(8) {
            assert!(neighbour.id.rank() < len && neighbour.id != id);
        }
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for _ in 0..4 {
        let id = space.sample(&mut rng);
        assert!(space.violated(&space.unrank(id)).is_empty(), "a drawn configuration violates a constraint");
    }
    let distinct = space.sample_distinct(5, &mut rng);
    assert_eq!(distinct.len() as u128, len.min(5));
}

/// Returns true if two values are the same, where a number that is no number equals itself.
pub fn same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Float(one), Value::Float(two)) => one.to_bits() == two.to_bits() || (one.is_nan() && two.is_nan()),
        _ => one == two,
    }
}
