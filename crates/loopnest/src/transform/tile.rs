//! Tiles: arrays that hold the values used while loops are swept. Loops of their own fill them
//! first.

use super::dependence::shared_loops;
use super::names::fresh;
use crate::error::{NestError, Place};
use crate::ir::{Access, Affine, Array, ArrayId, Expr, Instruction, Layout, Loop, LoopId, Memory, Nest, Tag, Var};
use crate::polyhedra::{System, shadow};
use crate::print;
use std::collections::{BTreeMap, BTreeSet};

/// A tile as the transformation names it.
pub(super) struct Tile<'a> {
    pub(super) name: &'a str,
    /// Names of the loops that fill it.
    pub(super) indices: &'a [String],
    pub(super) memory: Memory,
}

/// A load that will read the tile.
pub(super) struct Use {
    /// Its instruction.
    pub(super) number: usize,
    pub(super) access: Access,
    pub(super) place: Option<Place>,
    /// The value that it needs: a sum for each axis.
    pub(super) cell: Vec<Affine>,
}

/// The box of the values that the uses need while loops are swept.
pub(super) struct Footprint {
    uses: Vec<Use>,
    sweep: BTreeSet<LoopId>,
    /// The first value of the box, by axis: a sum without swept loops.
    first: Vec<Affine>,
    /// Values along each axis.
    extents: Vec<i128>,
    /// The axes along which swept loops move a use, even by one value at most, and the axes along
    /// which the uses lie apart.
    moving: Vec<usize>,
}

/// Returns the loops with these names.
pub(super) fn named(nest: &Nest, names: &[String]) -> Result<BTreeSet<LoopId>, NestError> {
    names.iter().map(|name| nest.loop_id(name)).collect()
}

impl Footprint {
    /// Returns the box of the uses.
    ///
    /// # Errors
    ///
    /// Fails if a swept loop that moves a use does not run between constants, or if the uses move
    /// differently.
    pub(super) fn new(nest: &Nest, uses: Vec<Use>, sweep: BTreeSet<LoopId>) -> Result<Self, NestError> {
        let axes = uses.first().map_or(0, |first| first.cell.len());
        let mut bases: Vec<Option<Affine>> = vec![None; axes];
        let mut ranges = vec![(i128::MAX, i128::MIN); axes];
        let mut moving = BTreeSet::new();
        for own in &uses {
            for (axis, sum) in own.cell.iter().enumerate() {
                let (base, low, high) = swept_range(nest, sum, &sweep)?;
                if *bases[axis].get_or_insert_with(|| base.clone()) != base {
                    return Err(apart(nest, &own.access, axis).at(own.place));
                }
                ranges[axis] = (ranges[axis].0.min(low), ranges[axis].1.max(high));
                if sum.loops().any(|id| sweep.contains(&id)) {
                    moving.insert(axis);
                }
            }
        }
        let first =
            bases.into_iter().zip(&ranges).map(|(base, range)| base.unwrap_or_default().plus(range.0)).collect();
        let extents: Vec<i128> = ranges.iter().map(|(low, high)| high - low + 1).collect();
        let moving = (0..axes).filter(|axis| moving.contains(axis) || extents[*axis] > 1).collect();
        Ok(Footprint { uses, sweep, first, extents, moving })
    }

    /// Returns true if swept loops move some use, or if the uses lie apart.
    pub(super) fn moves(&self) -> bool {
        !self.moving.is_empty()
    }

    /// Turns the array `id` into the tile, redirects the uses to it, and fills it before them.
    /// `value` gives the value of a cell of the box. `place` is the place of the instruction that
    /// fills it.
    ///
    /// # Errors
    ///
    /// Fails if the loops around the uses leave no room for the filling, or if a name is taken.
    pub(super) fn fill(
        &self,
        nest: &mut Nest,
        id: ArrayId,
        tile: &Tile,
        place: Option<Place>,
        value: impl FnOnce(&[Affine]) -> Expr,
    ) -> Result<(), NestError> {
        let axes = self.axes(tile.indices.len())?;
        tile.indices.iter().map(String::as_str).chain([tile.name]).try_for_each(|name| fresh(nest, name))?;
        let along: Vec<(usize, LoopId)> = axes.iter().copied().zip((nest.loops.len()..).map(LoopId)).collect();
        let mut cell = self.first.clone();
        along.iter().for_each(|(axis, id)| cell[*axis] = &cell[*axis] + &Affine::from(*id));
        let value = value(&cell);
        let filling = Filling { nest, footprint: self, along: &along };
        let bounds = filling.bounds(&value)?;
        let mut within = filling.outer_loops(&bounds, tile.memory)?;
        let position = filling.position(&within)?;

        let innermost = |sum: &Affine| along.iter().map(|(_, id)| *id).rfind(|id| sum.uses(*id));
        for ((_, id), name) in along.iter().zip(tile.indices) {
            let constraints = bounds.iter().filter(|sum| innermost(sum) == Some(*id)).cloned().collect();
            nest.loops.push(Loop { name: name.clone(), constraints, tag: Tag::Sequential, place: None });
            nest.order.push(*id);
        }
        self.reshape(&mut nest.arrays[id.0], tile, &axes);
        self.redirect(nest, id, &axes);
        within.extend(along.iter().map(|(_, id)| *id));
        let target = Access { array: id, subscripts: along.iter().map(|(_, id)| Affine::from(*id)).collect() };
        nest.instructions.insert(position, Instruction { target, value, is_atomic: false, within, place });
        Ok(())
    }

    /// Returns the axes that `count` loops fill: those with more than one cell, or all that move.
    /// The same loops then fill the tile whatever its size.
    fn axes(&self, count: usize) -> Result<Vec<usize>, NestError> {
        let long: Vec<usize> = (0..self.extents.len()).filter(|axis| self.extents[*axis] > 1).collect();
        if long.len() == count {
            return Ok(long);
        }
        if self.moving.len() == count {
            return Ok(self.moving.clone());
        }
        let extents = self.extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        let error = NestError::new(format!("the tile has {extents} cells, so it is filled by {} loops", long.len()));
        Err(error.remedy("name one loop for each axis with more than one cell"))
    }

    fn reshape(&self, array: &mut Array, tile: &Tile, axes: &[usize]) {
        array.name = tile.name.to_string();
        array.memory = tile.memory;
        array.shape = axes.iter().map(|axis| Affine::constant(self.extents[*axis])).collect();
        array.layout = Layout::row_major(axes.len());
    }

    /// Redirects the uses to the tile.
    fn redirect(&self, nest: &mut Nest, tile: ArrayId, axes: &[usize]) {
        let within = |own: &Use| axes.iter().map(|axis| &own.cell[*axis] - &self.first[*axis]).collect();
        for (number, instruction) in nest.instructions.iter_mut().enumerate() {
            let value = std::mem::replace(&mut instruction.value, Expr::Number(0.0));
            instruction.value = value.map(&mut |part| match part {
                Expr::Load(access, place) => {
                    let used = self.uses.iter().find(|own| own.number == number && own.access == access);
                    let access = used.map_or(access, |own| Access { array: tile, subscripts: within(own) });
                    Expr::Load(access, place)
                }
                other => other,
            });
        }
    }
}

fn apart(nest: &Nest, access: &Access, axis: usize) -> NestError {
    NestError::new(format!(
        "{} moves along axis {axis} unlike the other loads, so no tile of constant size holds both",
        print::access(nest, access)
    ))
    .remedy("sweep only loops on which all these loads depend alike")
}

/// Returns the part of a sum without swept loops, and the range of the rest.
fn swept_range(nest: &Nest, sum: &Affine, sweep: &BTreeSet<LoopId>) -> Result<(Affine, i128, i128), NestError> {
    let mut base = Affine::default();
    let (mut low, mut high) = (sum.offset(), sum.offset());
    for (variable, coefficient) in sum.terms() {
        match variable {
            Var::Loop(id) if sweep.contains(&id) => {
                let (first, last) = constant_range(nest, id)?;
                low += (coefficient * first).min(coefficient * last);
                high += (coefficient * first).max(coefficient * last);
            }
            _ => base.add_term(variable, coefficient),
        }
    }
    Ok((base, low, high))
}

/// Returns the constant range of a swept loop.
fn constant_range(nest: &Nest, id: LoopId) -> Result<(i128, i128), NestError> {
    let own = nest.loop_at(id);
    let constant = |bound: &crate::ir::Bound| bound.numerator.as_constant().map(|number| (number, bound.divisor));
    let lower = own.lower(id).iter().filter_map(constant).map(|(number, by)| -(-number).div_euclid(by)).max();
    let upper = own.upper(id).iter().filter_map(constant).map(|(number, by)| number.div_euclid(by)).min();
    match (lower, upper) {
        (Some(lower), Some(upper)) if lower <= upper => Ok((lower, upper)),
        _ => Err(NestError::new(format!("loop `{}` does not run between constants", own.name))
            .remedy(format!(
                "split it first and sweep the inner loop: `split {0} 16 -> {0}_outer, {0}_inner`",
                own.name
            ))
            .at(own.place)),
    }
}

/// A tile that is about to be filled.
struct Filling<'a> {
    nest: &'a Nest,
    footprint: &'a Footprint,
    /// The axes of the box with more than one cell, each with the new loop that runs along it.
    along: &'a [(usize, LoopId)],
}

impl Filling<'_> {
    fn is_of_tile(&self, sum: &Affine) -> bool {
        self.along.iter().any(|(_, id)| sum.uses(*id))
    }

    /// Returns the instructions with uses, in the order of the list.
    fn readers(&self) -> impl Iterator<Item = usize> {
        self.footprint.uses.iter().map(|own| own.number)
    }

    /// Returns the bounds of the loops that fill the tile with `value`. They keep to the cells that
    /// some use needs, as far as the uses agree. They also keep every load of the value inside its
    /// array.
    fn bounds(&self, value: &Expr) -> Result<Vec<Affine>, NestError> {
        let mut needed = self.footprint.uses.iter().map(|own| self.needed(own));
        let first = needed.next().unwrap_or_default();
        let mut bounds = needed.fold(first, |agreed, other| {
            // A bound holds for all uses if each of them has it. The loosest one counts.
            let looser = |(direction, offset): (Affine, i128)| {
                let other = *other.get(&direction)?;
                Some((direction, offset.max(other)))
            };
            agreed.into_iter().filter_map(looser).collect()
        });
        for (axis, id) in self.along {
            bounds.insert(Affine::from(*id), 0);
            bounds.insert(-&Affine::from(*id), self.footprint.extents[*axis] - 1);
        }
        let mut bounds: Vec<Affine> = bounds.into_iter().map(|(direction, offset)| direction.plus(offset)).collect();
        for (access, place) in value.loads() {
            self.stay_inside(access, &mut bounds).map_err(|error| error.at(place))?;
        }
        Ok(bounds)
    }

    /// Returns the bounds that the domain of a use puts on the filling loops, by direction.
    fn needed(&self, own: &Use) -> BTreeMap<Affine, i128> {
        let mut bounds = self.nest.domain(&self.nest.instructions[own.number].within);
        for (axis, id) in self.along {
            let difference = &(&own.cell[*axis] - &self.footprint.first[*axis]) - &Affine::from(*id);
            bounds.extend([difference.clone(), -&difference]);
        }
        let swept: Vec<Var> = self.footprint.sweep.iter().map(|id| Var::Loop(*id)).collect();
        let shadow = shadow(bounds, &swept).unwrap_or_default();
        let of_tile = shadow.into_iter().filter(|sum| self.is_of_tile(sum));
        of_tile.map(|sum| (sum.plus(-sum.offset()), sum.offset())).collect()
    }

    /// Adds the bounds that keep a load of the value inside its array.
    fn stay_inside(&self, access: &Access, bounds: &mut Vec<Affine>) -> Result<(), NestError> {
        let array = self.nest.array(access.array);
        for (cell, extent) in access.subscripts.iter().zip(&array.shape) {
            for inside in [cell.clone(), (extent - cell).plus(-1)] {
                if !self.may_fail(bounds, &inside) {
                    continue;
                }
                if self.is_of_tile(&inside) {
                    bounds.push(inside);
                } else if !self.may_fail_in_uses(&inside) {
                    let text = print::affine(self.nest, cell);
                    return Err(NestError::new(format!(
                        "the tile would also be filled where nothing uses it, and `{text}` is then no cell of `{}`",
                        array.name
                    ))
                    .remedy("bound the loops around it so that they only run where it is used"));
                }
            }
        }
        Ok(())
    }

    /// Returns true if a sum may be negative where the readers run and the bounds hold.
    fn may_fail(&self, bounds: &[Affine], sum: &Affine) -> bool {
        let used: BTreeSet<LoopId> = bounds.iter().chain([sum]).flat_map(Affine::loops).collect();
        let outer = used.into_iter().filter(|id| id.0 < self.nest.loops.len());
        let around = self.readers().next().map(|number| &self.nest.instructions[number].within);
        let is_known = |id: &LoopId| around.is_some_and(|around| around.contains(id));
        let known = self.nest.closed(outer).into_iter().filter(is_known).collect();
        may_be_negative(self.nest, self.nest.domain(&known).iter().chain(bounds).cloned(), sum)
    }

    /// Returns true if a sum may be negative where some reader runs.
    fn may_fail_in_uses(&self, sum: &Affine) -> bool {
        let domain = |number: usize| self.nest.domain(&self.nest.instructions[number].within);
        self.readers().any(|number| may_be_negative(self.nest, domain(number), sum))
    }

    /// Returns the loops around the instruction that fills the tile: the loops on which the tile
    /// depends, and the work-group loops of its readers.
    fn outer_loops(&self, bounds: &[Affine], memory: Memory) -> Result<BTreeSet<LoopId>, NestError> {
        let nest = self.nest;
        let used = self.footprint.first.iter().chain(bounds).flat_map(Affine::loops);
        let used = used.filter(|id| id.0 < nest.loops.len());
        let readers = self.readers().flat_map(|number| &nest.instructions[number].within);
        let groups = readers.copied().filter(|id| matches!(nest.loop_at(*id).tag, Tag::Group(_)));
        let within = nest.closed(used.chain(groups));
        let per_lane = |id: &&LoopId| match nest.loop_at(**id).tag {
            Tag::Local(_) => memory == Memory::Local,
            tag => matches!(tag, Tag::Vector | Tag::Parallel),
        };
        match within.iter().find(per_lane) {
            Some(lane) => {
                let name = &nest.loop_at(*lane).name;
                Err(NestError::new(format!("the tile would depend on `{name}`, which runs side by side"))
                    .remedy(format!("sweep `{name}` as well")))
            }
            None => Ok(within),
        }
    }

    /// Returns the position of the filling instruction: before its readers, inside the loops on
    /// which the tile depends.
    fn position(&self, within: &BTreeSet<LoopId>) -> Result<usize, NestError> {
        let nest = self.nest;
        let is_sequential = |id: &LoopId| !nest.loop_at(*id).tag.is_hardware();
        let prefix: Vec<LoopId> = nest.nesting(within).into_iter().filter(is_sequential).collect();
        let refuse = |number: usize| {
            let names: Vec<&str> = prefix.iter().map(|id| nest.loop_at(*id).name.as_str()).collect();
            NestError::new(format!(
                "the tile is filled in each iteration of {}, which is not around all its uses",
                names.join(", ")
            ))
            .remedy("make those loops the outer ones with `order`, or sweep the loops outside of them as well")
            .at(nest.instructions[number].place)
        };
        let has_prefix = |number: &usize| shared_loops(nest, *number, *number).starts_with(&prefix);
        if let Some(number) = self.readers().find(|number| !has_prefix(number)) {
            return Err(refuse(number));
        }
        let (mut first, last) = (self.readers().min().unwrap_or(0), self.readers().max().unwrap_or(0));
        let is_apart = |number: &usize| !shared_loops(nest, number - 1, *number).starts_with(&prefix);
        if let Some(number) = (first + 1..=last).find(is_apart) {
            return Err(refuse(number));
        }
        while first > 0 && shared_loops(nest, first - 1, first).len() > prefix.len() {
            first -= 1;
        }
        Ok(first)
    }
}

/// Returns true if a sum may be negative where bounds and assumptions hold.
fn may_be_negative(nest: &Nest, bounds: impl IntoIterator<Item = Affine>, sum: &Affine) -> bool {
    let mut system = System::default();
    system.at_least_zero(nest.assumptions.at_least_zero.iter().cloned());
    system.at_least_zero(bounds);
    system.at_least_zero([(-sum).plus(-1)]);
    system.may_have_points()
}
