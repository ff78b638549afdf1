//! The contents of a buffer before a kernel runs.

use crate::data::file::copy_file;
use crate::data::fill::{Given, write_fill};
use crate::error::DataError;
use crate::problem::{Argument, ArgumentKind, Fill, Shape};
use std::io::Write;

/// Writes the contents of a buffer of the argument's type with the extents `shape`.
///
/// # Errors
/// A file is missing or not as declared, or the type cannot hold a number.
pub fn write_contents(
    argument: &Argument,
    shape: &[u64],
    fill: &Fill,
    given: Given<'_>,
    to: &mut dyn Write,
) -> Result<(), DataError> {
    match fill {
        Fill::File(from) => copy_file(from, argument.element, shape, to),
        _ => write_fill(fill, &argument.name, argument.element, shape.iter().product(), given, to),
    }
}

/// Returns the contents of a buffer before a kernel runs. Returns no bytes if the argument is not a
/// buffer, or if its extents depend on the parameters.
///
/// # Errors
/// A file is missing or not as declared, or the type cannot hold a number.
pub fn contents(argument: &Argument, given: Given<'_>) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    if let ArgumentKind::Buffer { shape: Shape::Fixed(shape), fill, .. } = &argument.kind {
        write_contents(argument, shape, fill, given, &mut bytes)?;
    }
    Ok(bytes)
}
