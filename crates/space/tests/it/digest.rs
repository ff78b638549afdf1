//! The digest is equal if and only if ranks have the same meaning.

use tunesmith_space::{Constraint, Parameter, Space, Value, Values};

fn tile(values: &[i64]) -> Parameter {
    Parameter::new("TILE", Values::list(values.iter().copied())).unwrap()
}

fn vector() -> Parameter {
    Parameter::new("VECTOR", Values::list([1, 2, 4])).unwrap()
}

fn digest(parameters: impl IntoIterator<Item = Parameter>, constraints: &[&str]) -> String {
    let builder = parameters.into_iter().fold(Space::builder(), |builder, parameter| builder.parameter(parameter));
    let parsed = constraints.iter().map(|text| Constraint::parse(text).unwrap());
    let space = parsed.fold(builder.constant("N", Value::Int(8)), |builder, constraint| builder.constraint(constraint));
    space.build().unwrap().digest().to_owned()
}

#[test]
fn constraints_count_by_what_they_exclude_and_not_by_how_they_are_written() {
    let plain = digest([tile(&[2, 4, 8]), vector()], &["TILE % VECTOR == 0"]);
    let same: [&[&str]; 5] = [
        &["not (TILE % VECTOR)"],
        &["TILE // VECTOR * VECTOR == TILE"],
        &["TILE % VECTOR == 0", "N % TILE == 0"],
        &["VECTOR <= TILE and TILE <= N"],
        &["not (VECTOR > TILE or VECTOR > N)"],
    ];
    for constraints in same {
        assert_eq!(plain, digest([tile(&[2, 4, 8]), vector()], constraints), "{constraints:?}");
    }
    assert_ne!(plain, digest([tile(&[2, 4, 8]), vector()], &["TILE % VECTOR == 0", "TILE > 2"]));
}

#[test]
fn what_is_always_true_does_not_count_even_where_it_joins_groups() {
    let pad = || Parameter::new("PAD", Values::list([0, 1])).unwrap();
    let order = || Parameter::new("ORDER", Values::list([3, 5])).unwrap();
    let own = ["TILE % VECTOR == 0", "PAD < ORDER - 3"];
    let plain = digest([tile(&[2, 4, 8]), pad(), vector(), order()], &own);
    for always in ["TILE + PAD >= 0", "PAD * ORDER <= 8 * VECTOR", "TILE * 0 == PAD * 0", "ORDER > 2 or PAD == 1"] {
        assert_eq!(
            plain,
            digest([tile(&[2, 4, 8]), pad(), vector(), order()], &[&own[..], &[always]].concat()),
            "{always}"
        );
    }
}

#[test]
fn names_values_types_and_their_order_count() {
    let constraint = ["TILE % VECTOR == 0"];
    let all = [
        digest([tile(&[2, 4, 8]), vector()], &constraint),
        digest([tile(&[2, 4, 16]), vector()], &constraint),
        digest([tile(&[8, 4, 2]), vector()], &constraint),
        digest([vector(), tile(&[2, 4, 8])], &constraint),
        digest([Parameter::new("TILE", Values::list([2.0, 4.0, 8.0])).unwrap(), vector()], &constraint),
        digest([tile(&[2, 4, 8]), vector()], &[]),
        digest([Parameter::new("TILES", Values::list([2, 4, 8])).unwrap(), vector()], &[]),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(all[..index].iter().all(|other| other != one), "digest {index} is not new");
    }
}

/// Journals and recordings store digests. If this test fails, their ranks have lost their meaning,
/// and the format number of the digest must change.
#[test]
fn the_digest_of_a_space_never_changes() {
    let order = Parameter::new("ORDER", Values::list(["row", "column"])).unwrap();
    let scale = Parameter::new("SCALE", Values::list([0.5, 2.0])).unwrap();
    let unroll = Parameter::new("UNROLL", Values::list([false, true])).unwrap();
    let found = digest([tile(&[2, 4, 8]), vector(), order, scale, unroll], &["TILE % VECTOR == 0"]);
    assert_eq!(found, "6cddc40a703e36530a5c5d761248756d3641db070f1b061ffd53551ac3a1bdcd");
}
