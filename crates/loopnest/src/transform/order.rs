//! Reorders loops.

use super::data::refuse_data;
use super::dependence::{Pair, pairs, shared_loops};
use crate::error::NestError;
use crate::ir::{Affine, LoopId, Nest};
use crate::print;
use crate::schedule::Instances;

/// Nests the named loops in this order, in the places that they have now. Refuses if two instances,
/// one of them a write, would then touch the same cell in another order.
pub(super) fn order(nest: &mut Nest, names: &[String]) -> Result<(), NestError> {
    let loops = names.iter().map(|name| nest.loop_id(name)).collect::<Result<Vec<_>, _>>()?;
    loops.iter().try_for_each(|id| refuse_data(nest, *id))?;
    let mut places: Vec<usize> = Vec::new();
    for (place, id) in nest.order.iter().enumerate() {
        if loops.contains(id) {
            places.push(place);
        }
    }
    if places.len() != loops.len() {
        return Err(NestError::new("a loop is named twice").remedy("name every loop once"));
    }
    let mut changed = nest.clone();
    for (place, id) in places.iter().zip(&loops) {
        changed.order[*place] = *id;
    }
    crate::ir::check::check(&changed)?;
    let commutes = |pair: &Pair| {
        let [first, second] = [pair.first, pair.second].map(|number| &nest.instructions[number]);
        first.commutes(second, pair.one.array)
    };
    for pair in pairs(nest, |_| true).into_iter().filter(|pair| !commutes(pair)) {
        if turns_round(nest, &changed, &pair) {
            let [one, two] = [pair.one, pair.two].map(|access| print::access(nest, access));
            return Err(NestError::new(format!(
                "in the new order {one} and {two} would touch a cell of `{}` the other way round",
                nest.array(pair.one.array).name
            ))
            .remedy("an iteration that reads a cell must stay behind the one that writes it")
            .at(nest.instructions[pair.second].place));
        }
    }
    *nest = changed;
    Ok(())
}

/// Returns true if two points of the instructions that touch the same cell change their order. The
/// point of the first instruction comes before that of the second in the old order, and after it in
/// the new one.
fn turns_round(old: &Nest, new: &Nest, pair: &Pair) -> bool {
    let before = precedences(old, pair.first, pair.second, false);
    let after = precedences(new, pair.first, pair.second, true);
    let instances = Instances::new(old);
    before.iter().any(|earlier| {
        after.iter().any(|later| {
            let mut system = instances.same_cell((pair.first, pair.one), (pair.second, pair.two));
            for (equal, ahead) in [earlier, later] {
                equal.iter().for_each(|sum| system.equal_zero(sum.clone()));
                system.at_least_zero(ahead.iter().cloned());
            }
            system.may_have_points()
        })
    })
}

/// Sums that are zero, and sums that are not negative.
type Precedence = (Vec<Affine>, Vec<Affine>);

/// Returns the ways in which a point of the first instruction can precede one of the second. With
/// `reversed`, the ways in which it can follow.
fn precedences(nest: &Nest, first: usize, second: usize, reversed: bool) -> Vec<Precedence> {
    let instances = Instances::new(nest);
    let ahead = |id: LoopId| &Affine::term(instances.second(id), 1) - &Affine::from(id);
    let mut ways = Vec::new();
    let mut equal = Vec::new();
    for id in shared_loops(nest, first, second) {
        let difference = if reversed { -&ahead(id) } else { ahead(id) };
        ways.push((equal.clone(), vec![difference.plus(-1)]));
        equal.push(difference);
    }
    if (first < second) != reversed && first != second {
        ways.push((equal, Vec::new()));
    }
    ways
}
