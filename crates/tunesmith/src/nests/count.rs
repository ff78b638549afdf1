//! Counts of a nest as cost models take them.

use super::Counted;
use std::collections::BTreeMap;
use tunesmith_loopnest::{Array, ArrayId, Direction, Memory, Nest, NestError, Property, Stride};

/// Where data no longer fit into the fastest cache, the next and the last of today's processors and GPUs, in bytes.
const CACHES: [(&str, f64); 3] = [("cache:first", 48e3), ("cache:second", 1.5e6), ("cache:last", 32e6)];

/// Counts of a nest, made ready for many sizes.
#[derive(Debug)]
pub(crate) struct NestCounts<'a> {
    nest: &'a Nest,
    counts: tunesmith_loopnest::Counts,
    /// Arithmetic with small powers as multiplications.
    arithmetic: tunesmith_loopnest::Counts,
}

impl<'a> NestCounts<'a> {
    /// # Errors
    /// What cannot be counted.
    pub(crate) fn new(nest: &'a Nest) -> Result<Self, NestError> {
        Ok(Self { nest, counts: nest.count()?, arithmetic: nest.count_arithmetic()? })
    }

    /// By property how often the kernel has it in these sizes: the paper's properties; arithmetic with small powers as multiplications; and
    /// beyond each level of cache the bytes of all arrays where they do not fit into it. Properties that it has not are left out.
    ///
    /// # Errors
    /// A count above 2^127.
    pub(crate) fn at(&self, sizes: &[i64]) -> Result<BTreeMap<String, f64>, NestError> {
        let mut counts = BTreeMap::new();
        for counted in [&self.counts, &self.arithmetic] {
            let found = counted.properties().iter().zip(counted.evaluate(sizes)?);
            let found = found.filter(|(property, count)| **property != Property::Launch && *count != 0);
            counts.extend(found.map(|(property, count)| (property.to_string(), count as f64)));
        }
        let bytes = self.bytes(sizes);
        let beyond = CACHES.iter().filter(|(_, size)| bytes > *size);
        counts.extend(beyond.map(|(name, _)| ((*name).to_string(), bytes)));
        Ok(counts)
    }

    /// What is known of the kernel without running it.
    ///
    /// # Errors
    /// A count above 2^127, a work-group without a size.
    pub(crate) fn counted(&self, sizes: &[i64]) -> Result<Counted, NestError> {
        let group: f64 = self.nest.local_size()?.into_iter().map(|items| items as f64).product();
        let groups: f64 = self.nest.group_counts(sizes).into_iter().map(|groups| groups as f64).product();
        let bytes = |is_written: bool| {
            let is_such = |id: &ArrayId| self.nest.uses(*id).0 == is_written;
            let global = self.nest.array_ids().filter(|id| self.nest.array(*id).memory == Memory::Global);
            global.filter(is_such).map(|id| array_bytes(self.nest.array(id), sizes)).sum::<f64>()
        };
        Ok(Counted { counts: self.at(sizes)?, arrays: (bytes(false), bytes(true)), items: (groups * group, group) })
    }

    /// What no variant of the nest can do less of: its operations, and each cell that it touches loaded or stored once, next to
    /// each other; beyond each level of cache, the bytes of all arrays. Arrays whose cells cannot be counted are left out.
    ///
    /// # Errors
    /// A count above 2^127.
    pub(crate) fn least(&self, sizes: &[i64]) -> Result<BTreeMap<String, f64>, NestError> {
        let is_kept = |property: &String| ["op:", "arith:", "cache:"].iter().any(|kind| property.starts_with(kind));
        let mut least: BTreeMap<String, f64> =
            self.at(sizes)?.into_iter().filter(|(property, _)| is_kept(property)).collect();
        for id in self.nest.array_ids().filter(|id| self.nest.array(*id).memory == Memory::Global) {
            let Ok(bytes) = self.nest.footprint(id).and_then(|counts| counts.evaluate(sizes)) else { continue };
            let direction = if self.nest.uses(id).0 { Direction::Store } else { Direction::Load };
            let bits = self.nest.array(id).element.bits();
            let property = Property::Global(bits, direction, Stride::Unit);
            *least.entry(property.to_string()).or_default() += bytes.iter().sum::<i128>() as f64 / f64::from(bits / 8);
        }
        Ok(least)
    }

    /// The bytes of all arrays.
    pub(crate) fn bytes(&self, sizes: &[i64]) -> f64 {
        let global = self.nest.arrays.iter().filter(|array| array.memory == Memory::Global);
        global.map(|array| array_bytes(array, sizes)).sum()
    }
}

fn array_bytes(array: &Array, sizes: &[i64]) -> f64 {
    let cells: f64 = array.cells().iter().map(|extent| extent.at_sizes(sizes) as f64).product();
    cells * f64::from(array.element.bits() / 8)
}
