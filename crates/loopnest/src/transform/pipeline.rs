//! Loads the next tile while the current one is used.

use super::data::refuse_data;
use super::dependence::{run_within, shared_loops};
use super::names::fresh;
use crate::error::NestError;
use crate::ir::{Access, Affine, Array, ArrayId, Expr, Instruction, Layout, Loop, LoopId, Memory, Nest, Tag, Var};
use crate::print;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Splits the filling of a tile in the sequential loop `over`. The tile of the first iteration is
/// filled before the loop. Each iteration loads the cells of the next tile into temporaries first,
/// uses the tile, and then stores these cells in it.
pub(super) fn pipeline(nest: &mut Nest, tile: &str, over: &str, next: &str) -> Result<(), NestError> {
    let (tile, over) = (nest.array_id(tile)?, nest.loop_id(over)?);
    refuse_data(nest, over)?;
    fresh(nest, next)?;
    let filling = Filling::new(nest, tile, over)?;
    filling.is_independent(nest)?;
    let start = filling.start(nest)?;
    let extents = filling.inner.iter().map(|id| nest.constant_extent(*id)).collect::<Result<Vec<_>, _>>()?;

    let first = filling.first(nest, &start, next)?;
    let following = filling.following(nest, next)?;
    let shape = extents.into_iter().map(Affine::constant).collect();
    let layout = Layout::row_major(filling.inner.len());
    let element = nest.array(tile).element;
    nest.arrays.push(Array { name: next.to_string(), element, memory: Memory::Private, shape, layout, place: None });
    let subscripts = filling.inner.iter().copied().map(Affine::from).collect();
    let kept = Access { array: ArrayId(nest.arrays.len() - 1), subscripts };
    let load = Instruction { target: kept.clone(), ..following.clone() };
    let store = Instruction { value: Expr::Load(kept, following.place), ..following };
    nest.instructions[filling.number] = load;
    nest.instructions.insert(filling.run.end() + 1, store);
    nest.instructions.insert(*filling.run.start(), first);
    Ok(())
}

/// The instruction that fills a tile in each iteration of a loop.
struct Filling {
    tile: ArrayId,
    over: LoopId,
    number: usize,
    instruction: Instruction,
    /// The instructions in the loop.
    run: RangeInclusive<usize>,
    /// Its loops inside of `over`, hardware loops aside. A work-item has a cell for each of their
    /// iterations.
    inner: Vec<LoopId>,
    /// The loops whose bounds depend on `over`.
    dependent: BTreeSet<LoopId>,
}

impl Filling {
    fn new(nest: &Nest, tile: ArrayId, over: LoopId) -> Result<Self, NestError> {
        let [name, index] = [&nest.array(tile).name, &nest.loop_at(over).name];
        if nest.array(tile).memory != Memory::Local {
            return Err(NestError::new(format!("`{name}` does not live in local memory"))
                .remedy("make a tile with `prefetch` or `precompute` first"));
        }
        if !matches!(nest.loop_at(over).tag, Tag::Sequential | Tag::Unroll) {
            return Err(NestError::new(format!("the iterations of `{index}` do not run one after the other"))
                .remedy("name the sequential loop in which the tile is filled"));
        }
        let mut writers = (0..nest.instructions.len()).filter(|at| nest.instructions[*at].target.array == tile);
        let (Some(number), None) = (writers.next(), writers.next()) else {
            return Err(NestError::new(format!("`{name}` is not filled by exactly one instruction"))
                .remedy("make a tile with `prefetch` or `precompute` first"));
        };
        let instruction = nest.instructions[number].clone();
        let around = shared_loops(nest, number, number);
        let Some(depth) = around.iter().position(|id| *id == over) else {
            return Err(NestError::new(format!("`{name}` is not filled within loop `{index}`"))
                .remedy("name the loop in whose iterations the tile changes")
                .at(instruction.place));
        };
        let run = run_within(nest, number, &around[..=depth]);
        let dependent = dependent_on(nest, over, &instruction.within);
        let inner = around[depth + 1..].to_vec();
        inner.iter().chain(&dependent).try_for_each(|id| refuse_data(nest, *id))?;
        Ok(Filling { tile, over, number, instruction, run, inner, dependent })
    }

    /// Refuses a tile whose next cells cannot be loaded earlier, or that is used elsewhere.
    fn is_independent(&self, nest: &Nest) -> Result<(), NestError> {
        let [name, index] = [&nest.array(self.tile).name, &nest.loop_at(self.over).name];
        let Instruction { value, target, place, .. } = &self.instruction;
        for (access, at) in value.loads() {
            if nest.uses(access.array).0 {
                let text = print::access(nest, access);
                return Err(NestError::new(format!("`{name}` is filled with {text}, which is written in the nest"))
                    .remedy("pipeline tiles of arrays that nothing writes")
                    .at(at.or(*place)));
            }
        }
        let sums = value.sums().into_iter().chain(&target.subscripts);
        if sums.into_iter().any(|sum| sum.lookups().next().is_some()) {
            return Err(NestError::new(format!("the cells of `{name}` depend on looked-up values")).at(*place));
        }
        if target.subscripts.iter().any(|sum| sum.uses(self.over)) {
            return Err(NestError::new(format!("each iteration of `{index}` fills other cells of `{name}`"))
                .remedy("name a loop whose iterations fill the whole tile")
                .at(*place));
        }
        let reads =
            |at: &usize| nest.instructions[*at].value.loads().iter().any(|(access, _)| access.array == self.tile);
        let is_later = |at: &usize| (self.number + 1..=*self.run.end()).contains(at);
        if let Some(reader) = (0..nest.instructions.len()).filter(reads).find(|at| !is_later(at)) {
            return Err(NestError::new(format!("`{name}` is read before it is filled, or outside of `{index}`"))
                .remedy(format!("read the tile within `{index}`, after it is filled"))
                .at(nest.instructions[reader].place));
        }
        self.has_own_loops(nest)
    }

    /// Refuses loops of the filling that also run other instructions.
    fn has_own_loops(&self, nest: &Nest) -> Result<(), NestError> {
        for id in self.inner.iter().chain(&self.dependent) {
            let others = nest.instructions.iter().enumerate().filter(|(number, _)| *number != self.number);
            if let Some((_, other)) = others.into_iter().find(|(_, other)| other.within.contains(id)) {
                let [tile, name] = [&nest.array(self.tile).name, &nest.loop_at(*id).name];
                return Err(NestError::new(format!("loop `{name}` fills `{tile}` and runs another instruction"))
                    .remedy("fill the tile in loops of its own")
                    .at(other.place));
            }
        }
        Ok(())
    }

    /// Returns the first index of the loop.
    fn start(&self, nest: &Nest) -> Result<Affine, NestError> {
        let own = nest.loop_at(self.over);
        match &own.lower(self.over)[..] {
            [bound] if bound.divisor == 1 => Ok(bound.numerator.clone()),
            _ => Err(NestError::new(format!("loop `{}` does not begin at one sum", own.name))
                .remedy("give it one lower bound, without a factor")
                .at(own.place)),
        }
    }

    /// Returns the instruction that fills the tile for the first iteration. A loop of at most this
    /// iteration is around it, because `over` may have none.
    fn first(&self, nest: &mut Nest, start: &Affine, next: &str) -> Result<Instruction, NestError> {
        let mut copies = BTreeMap::new();
        for id in nest.nesting(&self.instruction.within) {
            if id != self.over && !self.dependent.contains(&id) {
                continue;
            }
            let copy = LoopId(nest.loops.len());
            let own = nest.loop_at(id).clone();
            let name = if id == self.over { format!("{next}_first") } else { format!("{next}_{}", own.name) };
            fresh(nest, &name)?;
            copies.insert(id, copy);
            let mut constraints: Vec<Affine> = own.constraints.iter().map(|sum| renamed(sum, &copies)).collect();
            if id == self.over {
                constraints.push(start - &Affine::from(copy));
            }
            nest.loops.push(Loop { name, constraints, ..own });
            insert_after(nest, id, copy);
        }
        let Instruction { target, value, is_atomic, within, place } = self.instruction.clone();
        Ok(Instruction {
            is_atomic,
            target: target.map(&|sum| renamed(sum, &copies)),
            value: value.map_affine(&|sum| renamed(sum, &copies)),
            within: within.into_iter().map(|id| copies.get(&id).copied().unwrap_or(id)).collect(),
            place,
        })
    }

    /// Returns the instruction that fills the tile for the next iteration. A loop of at most this
    /// iteration is around it, because the last iteration has none after it.
    fn following(&self, nest: &mut Nest, next: &str) -> Result<Instruction, NestError> {
        let own = nest.loop_at(self.over).clone();
        let name = format!("{next}_{}", own.name);
        fresh(nest, &name)?;
        let after = LoopId(nest.loops.len());
        let step = (&Affine::from(after) - &Affine::from(self.over)).plus(-1);
        let change = |sum: &Affine| sum.substitute(Var::Loop(self.over), &Affine::from(after));
        let is_upper = |sum: &&Affine| sum.coefficient(Var::Loop(self.over)) < 0;
        let ends = own.constraints.iter().filter(is_upper).map(change);
        let constraints = [-&step, step].into_iter().chain(ends).collect();
        nest.loops.push(Loop { name, constraints, tag: Tag::Sequential, ..own.clone() });
        insert_after(nest, self.over, after);
        for id in &self.dependent {
            let constraints = &mut nest.loops[id.0].constraints;
            constraints.iter_mut().for_each(|sum| *sum = change(sum));
        }
        let Instruction { target, value, is_atomic, mut within, place } = self.instruction.clone();
        within.insert(after);
        Ok(Instruction { target: target.map(&change), value: value.map_affine(&change), is_atomic, within, place })
    }
}

/// Returns the loops among `within` whose bounds depend on `over`, through other loops too.
fn dependent_on(nest: &Nest, over: LoopId, within: &BTreeSet<LoopId>) -> BTreeSet<LoopId> {
    let mut dependent = BTreeSet::from([over]);
    for id in nest.nesting(within) {
        if nest.loop_at(id).constraints.iter().flat_map(|sum| nest.loops_of(sum)).any(|used| dependent.contains(&used))
        {
            dependent.insert(id);
        }
    }
    dependent.remove(&over);
    dependent
}

/// Returns a sum with loops renamed.
fn renamed(sum: &Affine, copies: &BTreeMap<LoopId, LoopId>) -> Affine {
    sum.renumbered(|id| copies.get(&id).copied().unwrap_or(id))
}

/// Nests a new loop directly inside of another.
fn insert_after(nest: &mut Nest, outer: LoopId, inner: LoopId) {
    let position = nest.order.iter().position(|id| *id == outer).map_or(nest.order.len(), |at| at + 1);
    nest.order.insert(position, inner);
}
