//! Random transformations.

use tunesmith_loopnest::{Amount, Nest, Tag, Transformation};

/// Returns a transformation of a random nest; numbers choose loops and kinds.
pub(crate) fn transformation(nest: &Nest, number: usize, [kind, choice, amount]: [u8; 3]) -> Transformation {
    let pick = |choice: u8| nest.loops[usize::from(choice) % nest.loops.len()].name.clone();
    let index = pick(choice);
    match kind % 8 {
        0 | 1 => Transformation::Split {
            index,
            length: Amount::Number(i64::from(amount % 4) + 1),
            outer: format!("outer{number}"),
            inner: format!("inner{number}"),
        },
        2 => Transformation::Tag { index, tag: Tag::Group(amount % 2) },
        3 => Transformation::Tag { index, tag: Tag::Local(amount % 2) },
        4 => Transformation::Tag { index, tag: [Tag::Unroll, Tag::Parallel, Tag::Vector][usize::from(amount) % 3] },
        5 => Transformation::Order { loops: vec![index, pick(amount)] },
        6 => Transformation::Prefetch {
            array: "one".to_string(),
            sweep: vec![index, pick(amount)],
            tile: format!("tile{number}"),
            indices: vec![format!("fill{number}")],
        },
        _ => Transformation::Prefetch {
            array: "two".to_string(),
            sweep: vec![index],
            tile: format!("tile{number}"),
            indices: (0..usize::from(amount) % 2 + 1).map(|axis| format!("fill{number}_{axis}")).collect(),
        },
    }
}
