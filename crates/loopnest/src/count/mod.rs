//! Counts the operations of a nest symbolically in its sizes.

mod banks;
mod chain;
mod collect;
mod compiled;
mod depth;
mod everywhere;
mod factors;
mod floors;
mod footprint;
mod image;
mod lane;
mod least;
mod length;
mod merge;
mod modern;
mod operations;
mod outside;
mod points;
mod polynomial;
mod project;
mod property;
mod recurrence;
mod rows;
mod runs;
mod subgroups;
mod union;
mod waiting;

pub use compiled::Counts;
pub use least::{LeastOperations, count_least};
pub use modern::{Modern, count_chain, count_modern};
pub use outside::{Outside, outside};
pub use property::{Issue, Property, Stride};
pub use rows::count_rows;
pub use subgroups::Lanes;
pub use waiting::{Waiting, count_waiting};

use crate::error::NestError;
use crate::ir::{ArrayId, Nest};

/// Counts the properties on which the cost model's run time depends linearly, as functions of the
/// sizes.
///
/// ```
/// use tunesmith_loopnest::{Nest, Property, count};
///
/// let nest = "
///     sizes n
///     assume n > 0
///     array a[n]: f32
///     {[i, j]: 0 <= i < n and 0 <= j <= i}
///     a[i] = a[i] + 1.0 @ i, j
/// ".parse::<Nest>()?;
/// let counts = count::count(&nest)?;
/// let add = counts.properties().iter().position(|property| property.to_string() == "op:f32:add");
/// assert_eq!(counts.evaluate(&[1000])?[add.unwrap()], 500_500);
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
///
/// # Errors
///
/// Fails if the nest cannot be scheduled, or if something cannot be counted exactly. The error
/// names it.
pub fn count(nest: &Nest) -> Result<Counts, NestError> {
    Ok(Counts::new(nest, &collect::collect(nest, None)?))
}

/// Counts the same properties in the lanes that they occupy. If one work-item of a vector does
/// something, all lanes of the vector are occupied. A load from one cell for a whole row is counted
/// once for [each row](Lanes::InRows). Barriers, work-groups and the launch are counted as in
/// [`count()`], and so is everything if the nest has no work-items.
///
/// # Errors
///
/// Fails like [`count()`], and if sub-groups that lie [across rows](Lanes::Numbered) cannot be
/// counted exactly.
pub fn count_lanes(nest: &Nest, lanes: Lanes) -> Result<Counts, NestError> {
    Ok(Counts::new(nest, &collect::collect(nest, Some(lanes))?))
}

/// Counts the bytes of an array that the nest touches at least once: [`Property::TouchedBytes`]
/// alone.
///
/// # Errors
///
/// Fails if the set of touched cells has a shape that cannot be counted exactly.
pub fn footprint(nest: &Nest, array: ArrayId) -> Result<Counts, NestError> {
    Ok(Counts::new(nest, &collect::collect_footprint(nest, array)?))
}
