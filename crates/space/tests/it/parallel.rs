//! Groups built at the same time give the same space as groups built one after the other.

use std::num::NonZeroUsize;
use tunesmith_space::{Constraint, Limits, Parameter, Space, SpaceBuilder, SpaceError, Values};

/// Returns three groups: two whose diagrams take tens of thousands of nodes during construction,
/// and a small one.
fn builder() -> SpaceBuilder {
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];
    let parameter = |name: &&str| Parameter::new(*name, Values::range(1, 32, 1).unwrap()).unwrap();
    let builder = names.iter().map(parameter).fold(Space::builder(), SpaceBuilder::parameter);
    let constraints = [
        "(A * 7919 + B * 104729 + C * 1299709 + D * 611953) % 15485863 < 1500000",
        "(E * 7907 + F * 104723 + G * 1299721 + H * 611957) % 15485867 < 1500000",
        "I % J == 0",
    ];
    constraints.iter().fold(builder, |builder, text| builder.constraint(Constraint::parse(text).unwrap()))
}

fn on(threads: usize, builder: SpaceBuilder) -> Result<Space, SpaceError> {
    builder.threads(NonZeroUsize::new(threads).unwrap()).build()
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let one = on(1, builder()).unwrap();
    let several = on(3, builder()).unwrap();
    assert_eq!(one.digest(), several.digest());
    assert_eq!(one.levels(), several.levels());
    // With too small a budget, the first group that exceeds it is blamed.
    let small = || builder().limits(Limits { nodes: 25_000, ..Limits::default() });
    assert_eq!(on(1, small()).unwrap_err(), on(3, small()).unwrap_err());
}
