//! Counts the accesses that leave their arrays.

use super::compiled::Counts;
use super::factors::{Factors, apart_from_data};
use super::points::count_points;
use crate::error::{NestError, Place};
use crate::ir::{Access, Affine, Lookup, LoopId, Nest};
use crate::lookups::{self, LookupLoad};
use crate::print;
use std::collections::BTreeSet;

/// The accesses of a nest that may leave their arrays, each with the number of times as a function
/// of the sizes.
#[derive(Clone, Debug)]
pub struct Outside {
    counts: Counts,
    suspects: Vec<Suspect>,
}

/// An end of an axis that an access may exceed. It has the same place in the list as its factor in
/// the counts.
#[derive(Clone, Debug)]
struct Suspect {
    access: String,
    array: String,
    axis: usize,
    extent: String,
    is_below: bool,
    place: Option<Place>,
}

/// Finds the accesses that may leave their arrays: those not proven to stay inside for all sizes
/// that satisfy the assumptions. Leaves out accesses whose cell depends on data. Counts a loop
/// whose bounds depend on data as one iteration.
///
/// ```
/// use tunesmith_loopnest::{Nest, count};
///
/// let nest = "
///     sizes n
///     array a[n]: f32
///     {[i]: 0 <= i < n}
///     a[i] = a[i + 3]
/// ".parse::<Nest>()?;
/// let refused = count::outside(&nest)?.refuse(&[10]).unwrap_err();
/// assert_eq!(refused.message, "a[i + 3] is beyond the end of axis 0 of `a` 3 times");
/// assert_eq!(refused.place.map(|place| place.line), Some(5));
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
///
/// Cost: one elimination of the loops for each end of each subscript.
///
/// # Errors
///
/// Fails if the number of times that an access is outside cannot be counted.
pub fn outside(nest: &Nest) -> Result<Outside, NestError> {
    let mut factors = Factors::new(nest);
    let mut suspects = Vec::new();
    for instruction in &nest.instructions {
        for (access, place, _) in instruction.accesses() {
            let place = place.or(instruction.place);
            suspects.extend(suspects_of(nest, &instruction.within, access, place, &mut factors)?);
        }
    }
    for LookupLoad { lookup, within } in lookups::loads(nest) {
        let Lookup { access, place, .. } = nest.lookup(lookup);
        suspects.extend(suspects_of(nest, &within, access, *place, &mut factors)?);
    }
    Ok(Outside { counts: Counts::of_factors(nest, &factors), suspects })
}

/// Returns the ends of the axes that an access may exceed, each with a new factor that counts how
/// often.
fn suspects_of(
    nest: &Nest,
    within: &BTreeSet<LoopId>,
    access: &Access,
    place: Option<Place>,
    factors: &mut Factors,
) -> Result<Vec<Suspect>, NestError> {
    let array = nest.array(access.array);
    let (data, within) = apart_from_data(nest, within).map_err(|error| error.at(place))?;
    let loops: Vec<LoopId> = within.iter().copied().collect();
    let is_counted = |sum: &Affine| sum.lookups().next().is_none() && !data.iter().any(|id| sum.uses(*id));
    let mut suspects = Vec::new();
    for (axis, (subscript, extent)) in access.subscripts.iter().zip(&array.shape).enumerate() {
        if !is_counted(subscript) {
            continue;
        }
        for (is_below, beyond) in [(true, (-subscript).plus(-1)), (false, subscript - extent)] {
            let mut bounds = nest.domain(&within);
            bounds.push(beyond);
            let known: Vec<_> = bounds.iter().map(|bound| factors.floors.known_remainders(bound)).collect();
            if factors.floors.contradict(&known) {
                continue;
            }
            let suspect = Suspect {
                access: print::access(nest, access),
                array: array.name.clone(),
                axis,
                extent: print::affine(nest, extent),
                is_below,
                place,
            };
            let pieces = count_points(&bounds, &loops, &mut factors.floors).map_err(|error| {
                let (what, why) = (&suspect.access, error.message);
                NestError::new(format!("how often {what} leaves `{}` cannot be counted: {why}", array.name)).at(place)
            })?;
            factors.push(pieces);
            suspects.push(suspect);
        }
    }
    Ok(suspects)
}

impl Outside {
    /// Refuses sizes for which an access leaves its array. The error names the first such access
    /// and the number of times.
    ///
    /// # Errors
    ///
    /// Fails for such sizes, if the number of sizes is wrong, or if a count exceeds 128 bits.
    pub fn refuse(&self, sizes: &[i64]) -> Result<(), NestError> {
        let times = self.counts.evaluate_factors(sizes)?;
        match self.suspects.iter().zip(times).find(|(_, times)| *times > 0) {
            Some((suspect, times)) => Err(suspect.refusal(times)),
            None => Ok(()),
        }
    }
}

impl Suspect {
    fn refusal(&self, times: i128) -> NestError {
        let Suspect { access, array, axis, extent, .. } = self;
        let side = if self.is_below { "before the start" } else { "beyond the end" };
        let often = if times == 1 { "once".to_string() } else { format!("{times} times") };
        NestError::new(format!("{access} is {side} of axis {axis} of `{array}` {often}"))
            .remedy(format!(
                "axis {axis} of `{array}` has the cells from 0 to {extent} - 1: bound the loops or enlarge the array"
            ))
            .at(self.place)
    }
}
