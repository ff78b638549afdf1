//! Queries about the loops that work-groups and work-items run.

use super::{Affine, Instruction, LoopId, Nest, Tag, Var};
use crate::error::NestError;
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// Number of axes of work-groups and of work-items.
pub const AXES: usize = 3;

/// The number of work-groups that a device runs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Multiprocessors, or cores.
    pub compute_units: NonZeroU32,
    /// Work-groups that are resident on each of them at a time.
    pub groups: NonZeroU32,
}

impl Nest {
    /// Returns the loops with a tag.
    pub fn tagged(&self, tag: Tag) -> impl Iterator<Item = LoopId> {
        self.order.iter().copied().filter(move |id| self.loop_at(*id).tag == tag)
    }

    /// Returns the loop of an instruction that has this hardware tag.
    pub fn hardware_loop(&self, instruction: &Instruction, tag: Tag) -> Option<LoopId> {
        self.loop_with(&instruction.within, tag)
    }

    /// Returns the loop with a tag among `within`.
    pub(crate) fn loop_with(&self, within: &BTreeSet<LoopId>, tag: Tag) -> Option<LoopId> {
        within.iter().copied().find(|id| self.loop_at(*id).tag == tag)
    }

    /// Returns the number of work-items of a work-group along each axis, or 1 along an axis that no
    /// loop uses.
    ///
    /// # Errors
    ///
    /// Fails if a work-item loop does not run from 0 to a constant.
    pub fn local_size(&self) -> Result<[i128; AXES], NestError> {
        let mut sizes = [1; AXES];
        for (axis, size) in sizes.iter_mut().enumerate() {
            for id in self.tagged(Tag::Local(axis as u8)) {
                *size = self.constant_extent(id)?.max(*size);
            }
        }
        Ok(sizes)
    }

    /// Returns the iterations of a loop from 0 to a constant. It includes iterations that other
    /// upper bounds cut off.
    pub(crate) fn constant_extent(&self, id: LoopId) -> Result<i128, NestError> {
        let own = self.loop_at(id);
        let starts_at_zero = own.lower(id).iter().any(|bound| bound.numerator.as_constant() == Some(0));
        let ends = own.upper(id);
        let end = ends.iter().filter_map(|bound| Some(bound.numerator.as_constant()?.div_euclid(bound.divisor))).min();
        match end {
            Some(end) if starts_at_zero && end >= 0 => Ok(end + 1),
            _ => Err(NestError::new(format!("loop `{}` does not run from 0 to a constant", own.name))
                .remedy(format!("split it first: `split {0} 16 -> {0}_outer, {0}_inner`", own.name))
                .at(own.place)),
        }
    }

    /// Returns the number of work-groups along each axis for these sizes, or 1 along an axis that
    /// no loop uses.
    pub fn group_counts(&self, sizes: &[i64]) -> [i128; AXES] {
        let value = |variable: Var| Affine::term(variable, 1).at_sizes(sizes);
        std::array::from_fn(|axis| {
            let tagged = self.tagged(Tag::Group(axis as u8));
            tagged.map(|id| (self.loop_at(id).range(id, value).1 + 1).max(0)).reduce(i128::max).unwrap_or(1)
        })
    }

    /// Returns the number of waves of work-groups that a device needs for these sizes. The last
    /// wave may fill the device only in part.
    pub fn waves(&self, sizes: &[i64], residency: Residency) -> i128 {
        let at_a_time = i128::from(residency.compute_units.get()) * i128::from(residency.groups.get());
        let groups: i128 = self.group_counts(sizes).into_iter().product();
        (groups + at_a_time - 1) / at_a_time
    }

    /// Returns the index along a hardware axis at which an instruction runs: its loop, or `free` if
    /// it has none.
    pub(crate) fn hardware_index(&self, instruction: &Instruction, tag: Tag, free: Var) -> Affine {
        Affine::term(self.hardware_loop(instruction, tag).map_or(free, Var::Loop), 1)
    }
}
