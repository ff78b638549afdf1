//! Counts the rows of work-items that a processor begins.

use super::Counts;
use super::collect::Collected;
use super::factors::{Product, apart_from_data};
use super::property::Property;
use super::runs::{all_groups, repeated};
use super::subgroups::{Lanes, issues};
use crate::blocks::{Block, blocks};
use crate::error::NestError;
use crate::ir::{AXES, Affine, LoopId, Nest, Tag, Var};
use crate::schedule::{Region, Schedule};
use std::collections::{BTreeMap, BTreeSet};

/// Counts the rows of work-items along axis 0 that a processor begins, as functions of the sizes:
/// - [`Property::Rows`]: all of them. Each costs the set-up of a loop.
/// - [`Property::CutRows`]: those in which a bound leaves out some of the work-items. Their loops have no
///   constant length, so that a compiler makes no whole vectors of them.
///
/// Generated C ([`Lanes::InBlocks`]) begins a row for each point of the other loops around an instruction.
/// Neighbouring instructions with the same loops share it. A [block](crate::blocks) begins once for all of
/// its loops. Without work-items, the innermost loop is the row. Compilers of work-items
/// ([`Lanes::InRows`]) begin a row for all that lies between two barriers. GPUs ([`Lanes::Numbered`]) begin
/// none.
///
/// ```
/// use tunesmith_loopnest::{Lanes, Recipe, count};
///
/// let recipe: Recipe = "
///     sizes n
///     assume n > 0
///     array a[n, 20]: f32
///     {[i, j]: 0 <= i < n and 0 <= j < 20}
///     a[i, j] = 1.0
///     split j 16 -> jo, ji
///     tag ji local.0
/// ".parse()?;
/// let counts = count::count_rows(&recipe.apply(&[])?, Lanes::InBlocks(16))?;
/// let names: Vec<String> = counts.properties().iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["rows", "rows:cut"]);
/// // A whole row and one of four work-items for each `i`.
/// assert_eq!(counts.evaluate(&[100])?, [200, 100]);
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
///
/// # Errors
///
/// Fails if the nest cannot be scheduled, or if its rows cannot be counted exactly.
pub fn count_rows(nest: &Nest, lanes: Lanes) -> Result<Counts, NestError> {
    let local = nest.local_size()?;
    let (mut found, in_blocks) = (Collected::new(nest), matches!(lanes, Lanes::InBlocks(_)));
    found.fixed.extend([Property::Rows, Property::CutRows].map(|property| (property, Vec::new())));
    if !matches!(lanes, Lanes::Numbered(_)) {
        let blocks = if in_blocks { blocks(nest)? } else { Vec::new() };
        let blocks = blocks.into_iter().filter_map(|(block, numbers)| Some((*numbers.first()?, block))).collect();
        let mut counter = Counter { nest, local, in_blocks, blocks, found };
        Schedule::new(nest)?.regions().iter().try_for_each(|region| counter.region(region))?;
        found = counter.found;
    }
    Ok(Counts::new(nest, &found))
}

struct Counter<'a> {
    nest: &'a Nest,
    local: [i128; AXES],
    in_blocks: bool,
    /// The blocks, by the first instruction of each.
    blocks: BTreeMap<usize, Block>,
    found: Collected,
}

impl Counter<'_> {
    /// Counts instructions without a barrier between them.
    fn region(&mut self, Region { instructions: numbers, around }: &Region) -> Result<(), NestError> {
        let [columns, rows, layers] = self.local;
        let block = numbers.first().and_then(|first| self.blocks.get(first));
        let times = match block {
            Some(block) => rows / block.rows * (columns / block.columns) * layers,
            None => rows * layers,
        };
        if block.is_some() || !self.in_blocks {
            let within = all_groups(self.nest, &self.nest.closed(around.iter().copied()));
            let regions = self.found.factors.points(self.nest, &within)?;
            self.found.add(Property::Rows, regions.scaled(times));
            return Ok(());
        }
        let nest = self.nest;
        let same = |one: &usize, two: &usize| nest.instructions[*one].within == nest.instructions[*two].within;
        for together in numbers.chunk_by(same) {
            let instruction = &nest.instructions[together[0]];
            self.row(&instruction.within).map_err(|error| error.at(instruction.place))?;
        }
        Ok(())
    }

    /// Counts the rows of an instruction within these loops.
    fn row(&mut self, within: &BTreeSet<LoopId>) -> Result<(), NestError> {
        if self.local[0] == 1 {
            let innermost = self.nest.nesting(within).last().copied();
            let others = within.iter().copied().filter(|id| Some(*id) != innermost);
            let others = all_groups(self.nest, &self.nest.closed(others));
            let rows = self.found.factors.points(self.nest, &others)?;
            self.found.add(Property::Rows, rows.scaled(repeated(self.nest, within, self.local, 1)));
            return Ok(());
        }
        let within = all_groups(self.nest, within);
        let width = u32::try_from(self.local[0]).unwrap_or(u32::MAX);
        let rows = issues(self.nest, &within, self.local, Lanes::InRows(width), &mut self.found.factors)?;
        if let Some(lane) = self.nest.loop_with(&within, Tag::Local(0)) {
            let whole = self.whole(&within, lane)?.scaled(repeated(self.nest, &within, self.local, 1));
            self.found.add(Property::CutRows, rows.clone());
            self.found.add(Property::CutRows, whole.scaled(-1));
        }
        self.found.add(Property::Rows, rows);
        Ok(())
    }

    /// Counts the points of the other loops at which the first and the last work-item of the row take part.
    /// Bounds are affine, so those between them do as well.
    fn whole(&mut self, within: &BTreeSet<LoopId>, lane: LoopId) -> Result<Product, NestError> {
        let (data, kept) = apart_from_data(self.nest, within)?;
        if data.contains(&lane) {
            return Ok(Product::number(0));
        }
        let ends = [0, self.local[0] - 1].map(Affine::constant);
        let at = |bound: &Affine| ends.clone().map(|end| bound.substitute(Var::Loop(lane), &end));
        let bounds = self.nest.domain(&kept).iter().flat_map(at).collect();
        let others = kept.into_iter().filter(|id| *id != lane).collect();
        let mut product = self.found.factors.points_within(bounds, &others)?;
        for id in data {
            product.factors.push(self.found.factors.average(self.nest, id)?);
        }
        product.factors.sort_unstable();
        Ok(product)
    }
}
