//! The counts of a nest, as cost models take them.

use super::{Counted, in_words};
use crate::{Cache, CostProperty, Lanes, LeastWork, PropertyCounts};
use tunesmith_loopnest::{
    Array, ArrayId, Counts, Memory, Nest, NestError, Property, blocks, count, count::Waiting, schedule,
};

/// Sizes in bytes above which data do not fit into the fastest, the next and the last cache of
/// today's processors and GPUs.
const CACHES: [(Cache, f64); 3] = [(Cache::First, 48e3), (Cache::Second, 1.5e6), (Cache::Last, 32e6)];

/// Number of operations that a processor looks ahead of a waiting one. Shorter chains are hidden
/// behind those of the next work-items. It follows from some 300 instructions, about ten for each
/// operation of a block.
const AHEAD: f64 = 32.0;

/// The dependent operations for which work-items wait.
#[derive(Debug)]
enum Waits {
    /// The longest chain: the device runs other work-items meanwhile.
    Longest(Counts),
    /// The operations that all work-items wait for in program order, and the number of work-items that
    /// wait side by side.
    InOrder(Waiting, f64),
}

impl Waits {
    fn new(nest: &Nest, in_blocks: bool) -> Result<Self, NestError> {
        if !in_blocks {
            return Ok(Waits::Longest(count::count_chain(nest)?));
        }
        Ok(Waits::InOrder(count::count_waiting(nest)?, blocks::side_by_side(nest)? as f64))
    }

    /// Returns the operations for which `items` work-items wait, one after the other.
    fn at(&self, sizes: &[i64], items: f64) -> Result<Vec<(CostProperty, f64)>, NestError> {
        Ok(match self {
            Waits::Longest(chain) => {
                vec![(CostProperty::Chains, chain.evaluate(sizes)?.iter().sum::<i128>() as f64 * items)]
            }
            Waits::InOrder(waiting, together) => {
                let operations = waiting.evaluate(sizes, AHEAD)?.into_iter();
                operations.map(|(property, times)| (CostProperty::Waits(property), times / together)).collect()
            }
        })
    }
}

/// The counts of a nest, ready to be evaluated for many sizes.
#[derive(Debug)]
pub struct NestCounts<'a> {
    nest: &'a Nest,
    counts: Counts,
    /// The counts in lanes.
    lanes: Counts,
    /// The part of these lanes that generated C runs where work-groups only copy. Elsewhere other
    /// work-groups compute meanwhile.
    apart: Option<Counts>,
    waits: Option<Waits>,
    rows: Option<Counts>,
    /// Notes for users: the parts that estimates leave out.
    pub notes: Vec<String>,
}

impl<'a> NestCounts<'a> {
    /// Counts a nest, with operations in `lanes`.
    ///
    /// # Errors
    ///
    /// Fails if the nest cannot be counted. If only idle lanes cannot be counted, they count as
    /// busy. If only the longest chain of operations cannot be counted, it is left out.
    /// [notes](Self::notes) report both.
    pub fn new(nest: &'a Nest, lanes: Lanes) -> Result<Self, NestError> {
        let mut notes = Vec::new();
        let counts = count::count(nest)?;
        let in_blocks = matches!(lanes, Lanes::InBlocks(_));
        let apart = if in_blocks { copies(nest, lanes)? } else { None };
        let rows = count::count_rows(nest, lanes).map_err(|error| {
            notes.push(format!("the time in which rows of work-items begin is left out: {}", in_words(&error)));
        });
        let lanes = count::count_lanes(nest, lanes).or_else(|error| {
            notes.push(format!("the idle lanes are not known, so that all are taken as busy: {}", in_words(&error)));
            count::count_lanes(nest, lanes.alone())
        })?;
        let waits = Waits::new(nest, in_blocks).map_err(|error| {
            notes.push(format!("the time of waiting for results is left out: {}", in_words(&error)));
        });
        Ok(Self { nest, counts, lanes, apart, waits: waits.ok(), rows: rows.ok(), notes })
    }

    /// Returns the counts of the kernel for these sizes. Properties that it does not have are left
    /// out. The counts are:
    ///
    /// - the paper's properties;
    /// - the same properties in lanes, `lane:...`, with small powers as multiplications;
    /// - the operations for which work-items wait: on processors that run generated C by their kinds,
    ///   `wait:...`, and elsewhere `chains`, the longest chain of operations times the work-items;
    /// - on processors, the rows of work-items that begin, `rows`, and those that are cut off, `rows:cut`;
    /// - for each level of cache, the bytes of all arrays if they do not fit into it.
    ///
    /// # Errors
    ///
    /// Fails if a count exceeds 2^127.
    pub fn at(&self, sizes: &[i64]) -> Result<PropertyCounts, NestError> {
        let is_of_items = |property: Property| property != Property::Launch;
        let is_of_lanes =
            |property: Property| !matches!(property, Property::Launch | Property::Barriers | Property::Groups);
        let mut counts = PropertyCounts::default();
        for (property, count) in present(&self.counts, sizes, is_of_items)? {
            counts.set(CostProperty::Items(property), count);
        }
        for (property, count) in present(&self.lanes, sizes, is_of_lanes)? {
            counts.set(CostProperty::Lanes(property), count);
        }
        if let Some(apart) = &self.apart {
            for (property, count) in present(apart, sizes, is_of_lanes)? {
                counts.set_apart(CostProperty::Lanes(property), count);
            }
        }
        if let Some(waits) = &self.waits {
            let all = waits.at(sizes, self.items(sizes)?.0)?;
            all.into_iter().filter(|(_, times)| *times > 0.0).for_each(|(own, times)| counts.set(own, times));
        }
        if let Some(rows) = &self.rows {
            present(rows, sizes, |_| true)?.for_each(|(own, times)| counts.set(CostProperty::Items(own), times));
        }
        let bytes = array_bytes(self.nest, sizes);
        for (cache, _) in CACHES.iter().filter(|(_, size)| bytes > *size) {
            counts.set(CostProperty::Beyond(*cache), bytes);
        }
        Ok(counts)
    }

    /// Returns the numbers of work-items of the launch and of a work-group.
    fn items(&self, sizes: &[i64]) -> Result<(f64, f64), NestError> {
        let group: f64 = self.nest.local_size()?.into_iter().map(|items| items as f64).product();
        let groups: f64 = self.nest.group_counts(sizes).into_iter().map(|groups| groups as f64).product();
        Ok((groups * group, group))
    }

    /// Returns everything known of the kernel without running it.
    ///
    /// # Errors
    ///
    /// Fails if a count exceeds 2^127, or if a work-group has no size.
    pub fn counted(&self, sizes: &[i64]) -> Result<Counted, NestError> {
        let bytes = |is_written: bool| {
            let is_such = |id: &ArrayId| self.nest.uses(*id).0 == is_written;
            let global = self.nest.array_ids().filter(|id| self.nest.array(*id).memory == Memory::Global);
            global.filter(is_such).map(|id| bytes_of(self.nest.array(id), sizes)).sum::<f64>()
        };
        Ok(Counted { counts: self.at(sizes)?, arrays: (bytes(false), bytes(true)), items: self.items(sizes)? })
    }
}

/// Returns the work that every variant of a nest does at least, whatever its transformations compute
/// once and keep. Arrays whose cells cannot be counted and operations whose values cannot be told
/// apart are left out.
///
/// # Errors
///
/// Fails if the nest cannot be scheduled, or if a count exceeds 2^127.
pub(crate) fn least_work(nest: &Nest, sizes: &[i64]) -> Result<LeastWork, NestError> {
    let mut work = LeastWork { bytes: touched_bytes(nest, sizes), ..LeastWork::default() };
    for (operation, kind, count) in count::count_least(nest)?.at(sizes)? {
        work.add(operation, kind, count);
    }
    Ok(work)
}

/// Returns the bytes of global memory that a nest touches at least once. Arrays whose cells cannot be
/// counted are left out.
pub(crate) fn touched_bytes(nest: &Nest, sizes: &[i64]) -> f64 {
    let touched = |id| count::footprint(nest, id).and_then(|counts| counts.evaluate(sizes)).ok();
    nest.arrays_in(Memory::Global).filter_map(touched).flatten().sum::<i128>() as f64
}

/// Returns the properties that `is_kept` selects and the kernel has, with their counts.
fn present(
    counts: &Counts,
    sizes: &[i64],
    is_kept: impl Fn(Property) -> bool,
) -> Result<impl Iterator<Item = (Property, f64)>, NestError> {
    let found = counts.properties().iter().copied().zip(counts.evaluate(sizes)?);
    let found = found.filter(move |(property, count)| is_kept(*property) && *count != 0);
    Ok(found.map(|(property, count)| (property, count as f64)))
}

/// Returns the counts in lanes where work-groups only copy. Returns `None` if they never only copy,
/// or if this cannot be counted separately.
fn copies(nest: &Nest, lanes: Lanes) -> Result<Option<Counts>, NestError> {
    let copying = schedule::copying(nest)?;
    if copying.is_empty() {
        return Ok(None);
    }
    let mut copies = nest.clone();
    copies.instructions = copying.into_iter().map(|number| nest.instructions[number].clone()).collect();
    Ok(count::count_lanes(&copies, lanes).ok())
}

/// Returns the bytes of all arrays in global memory.
pub(crate) fn array_bytes(nest: &Nest, sizes: &[i64]) -> f64 {
    let global = nest.arrays.iter().filter(|array| array.memory == Memory::Global);
    global.map(|array| bytes_of(array, sizes)).sum()
}

fn bytes_of(array: &Array, sizes: &[i64]) -> f64 {
    let cells: f64 = array.cells().iter().map(|extent| extent.at_sizes(sizes) as f64).product();
    cells * f64::from(array.element.bits() / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tunesmith_loopnest::Recipe;

    #[test]
    fn rows_and_waits_of_every_example_are_counted_also_if_data_bound_its_loops() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nests");
        let mut counted = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "nest") {
                continue;
            }
            let nest = std::fs::read_to_string(&path).unwrap().parse::<Recipe>().unwrap().apply(&[]).unwrap();
            let sizes = vec![64; nest.sizes.len()];
            for lanes in [Lanes::InBlocks(16), Lanes::InRows(8), Lanes::Numbered(32)] {
                let counts = NestCounts::new(&nest, lanes).and_then(|counts| counts.at(&sizes));
                let counts = counts.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let rows = counts.of(CostProperty::Items(Property::Rows));
                assert_eq!(rows > 0.0, !matches!(lanes, Lanes::Numbered(_)), "{} {lanes:?}", path.display());
                counted += 1;
            }
        }
        assert!(counted >= 24, "{counted}");
    }
}
