//! Checks before a run the facts that the data decide: accesses stay within their arrays, and loops
//! have known lengths.

use super::data::Data;
use super::point::Point;
use crate::error::{NestError, Place};
use crate::ir::{Access, Affine, Lookup, LoopId, Nest};
use crate::lookups;
use std::collections::{BTreeMap, BTreeSet};

/// An axis of an access.
struct Reach<'a> {
    access: &'a Access,
    axis: usize,
    place: Option<Place>,
}

/// Refuses data with which a lookup or an access leaves its array.
///
/// It checks accesses only along axes where looked-up values decide.
/// [`count::outside`](crate::count::outside) checks the others. `data` must hold the arrays in
/// which values are looked up.
///
/// ```
/// use tunesmith_loopnest::{Data, Nest, interpret};
///
/// let nest = "
///     sizes n
///     array from[n]: i32
///     array a[n]: f32
///     array b[n]: f32
///     {[i]: 0 <= i < n}
///     lookup at = from[i]
///     b[i] = a[at]
/// ".parse::<Nest>()?;
/// let mut data = Data::empty(&nest);
/// let numbers: Vec<u8> = [2_i32, 3, 0].into_iter().flat_map(i32::to_ne_bytes).collect();
/// data.set_memory(&nest, &[3], nest.array_id("from")?, &numbers)?;
/// let refused = interpret::refuse_data(&nest, &[3], &data).unwrap_err();
/// assert_eq!(refused.message, "a[at] is at 3 of axis 0, which has 3 cells, where i = 1");
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
///
/// Cost: some 100 ns for each such access at each point of the loops on which it depends.
///
/// # Errors
///
/// Fails at the first such access, with its place and the indices of the loops. Also fails if an
/// array cannot exist in these sizes.
pub fn refuse_data(nest: &Nest, sizes: &[i64], data: &Data) -> Result<(), NestError> {
    let mut point = Point::with_data(nest, sizes, data)?;
    for (loops, reaches) in reaches(nest) {
        let loops = nest.nesting(&loops);
        let within = |point: &Point| {
            let mut all = reaches.iter();
            all.try_for_each(|Reach { access, axis, place }| {
                let reached = point.along(&data.cells, access, *axis).map(|_| ());
                reached.map_err(|error| point.located(error, &loops).at(*place))
            })
        };
        point.each(data, &loops, &mut |point| within(point))?;
    }
    Ok(())
}

/// Returns the average number of iterations of a loop whose bounds are looked up in `data`, over
/// its visits. Returns `None` if the loop is never visited. The statistic of the loop should state
/// this number.
///
/// Cost: some 100 ns for each visit.
///
/// # Errors
///
/// Fails if a value is looked up outside its array, or if an array cannot exist in these sizes.
pub fn mean_iterations(nest: &Nest, id: LoopId, sizes: &[i64], data: &Data) -> Result<Option<f64>, NestError> {
    let mut point = Point::with_data(nest, sizes, data)?;
    let mut around = nest.closed([id]);
    around.remove(&id);
    let (mut visits, mut iterations) = (0_i128, 0);
    point.each(data, &nest.nesting(&around), &mut |point| {
        let (first, last) = point.range(data, id)?;
        visits += 1;
        iterations += (last - first + 1).max(0);
        Ok(())
    })?;
    Ok((visits > 0).then(|| iterations as f64 / visits as f64))
}

/// Returns every lookup, and every axis of an access along which data decide, grouped by the loops
/// on which they depend.
fn reaches(nest: &Nest) -> BTreeMap<BTreeSet<LoopId>, Vec<Reach<'_>>> {
    let mut reaches: BTreeMap<BTreeSet<LoopId>, Vec<Reach>> = BTreeMap::new();
    for load in lookups::loads(nest) {
        let lookup = nest.lookup(load.lookup);
        let axes =
            (0..lookup.access.subscripts.len()).map(|axis| Reach { access: &lookup.access, axis, place: lookup.place });
        reaches.entry(lookups::cell_loops(nest, load.lookup)).or_default().extend(axes);
    }
    for instruction in &nest.instructions {
        for (access, place, _) in instruction.accesses() {
            for (axis, subscript) in access.subscripts.iter().enumerate() {
                let loops = nest.closed(nest.loops_of(subscript));
                let is_looked_up = |sum: &Affine| sum.lookups().next().is_some();
                if is_looked_up(subscript) || loops.iter().any(|id| nest.depends_on_data(*id)) {
                    let place = place.or(instruction.place);
                    reaches.entry(loops).or_default().push(Reach { access, axis, place });
                }
            }
        }
    }
    reaches
}

impl<'a> Point<'a> {
    /// Starts with `data`. Refuses data that lack an array in which values are looked up.
    fn with_data(nest: &'a Nest, sizes: &'a [i64], data: &Data) -> Result<Self, NestError> {
        let point = Point::new(nest, sizes)?;
        for Lookup { name, access, place } in &nest.lookups {
            let (wanted, given) = (point.extents[access.array.0].iter().product(), data.of(access.array).len());
            if given as i128 != wanted {
                let array = &nest.array(access.array).name;
                let text =
                    format!("`{name}` is looked up in `{array}`, but only {given} of its {wanted} cells are given");
                return Err(NestError::new(text).at(*place));
            }
        }
        Ok(point)
    }

    /// Calls `visit` at every point of the loops, from the outermost.
    fn each(
        &mut self,
        data: &Data,
        loops: &[LoopId],
        visit: &mut dyn FnMut(&Point) -> Result<(), NestError>,
    ) -> Result<(), NestError> {
        let Some((id, inner)) = loops.split_first() else { return visit(self) };
        let (first, last) = self.range(data, *id)?;
        for index in first..=last {
            self.indices[id.0] = index;
            self.each(data, inner, visit)?;
        }
        Ok(())
    }

    /// Returns the first and the last index of a loop.
    fn range(&self, data: &Data, id: LoopId) -> Result<(i128, i128), NestError> {
        let own = self.nest.loop_at(id);
        own.constraints.iter().try_for_each(|sum| self.can_look_up(&data.cells, sum))?;
        Ok(own.range(id, |variable| self.value(&data.cells, variable)))
    }

    /// Adds the indices of loops to an error.
    fn located(&self, error: NestError, loops: &[LoopId]) -> NestError {
        let index = |id: &LoopId| format!("{} = {}", self.nest.loop_at(*id).name, self.indices[id.0]);
        let indices: Vec<String> = loops.iter().map(index).collect();
        let message = match indices.is_empty() {
            true => error.message,
            false => format!("{}, where {}", error.message, indices.join(", ")),
        };
        NestError { message, ..error }
    }
}
