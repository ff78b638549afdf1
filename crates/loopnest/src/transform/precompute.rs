//! Computes values once for all points that need them.

use super::data::refuse_data_accesses;
use super::dependence::{runs_over, shared_loops, shared_through};
use super::tile::{Footprint, Tile, Use, named};
use crate::error::NestError;
use crate::ir::{Access, Affine, ArrayId, Expr, Instruction, LoopId, Memory, Nest, Var};
use crate::number::gcd;
use crate::print;
use std::collections::BTreeMap;

/// Computes the values of a temporary into a tile before they are used. Each value is computed
/// once, however many points of the swept loops use it. The instruction that computed the temporary
/// is removed.
pub(super) fn precompute(nest: &mut Nest, temporary: &str, sweep: &[String], tile: &Tile) -> Result<(), NestError> {
    if !matches!(tile.memory, Memory::Local | Memory::Private) {
        return Err(NestError::new(format!("`{}` is neither in local memory nor a temporary", tile.name)));
    }
    let id = nest.array_id(temporary)?;
    let sweep = named(nest, sweep)?;
    let number = only_writer(nest, id)?;
    let writer = &nest.instructions[number];
    always_the_same(nest, writer)?;
    let coordinates = Coordinates::new(nest, writer)?;
    let uses = uses(nest, number, &coordinates)?;
    let writer = take_out(nest, number)?;
    let footprint = Footprint::new(nest, uses, sweep)?;
    if !footprint.moves() {
        return Err(NestError::new(format!("no value of `{temporary}` that is used depends on a swept loop")));
    }
    footprint.fill(nest, id, tile, writer.place, |cell| coordinates.value_at(writer.value, cell))
}

/// Returns the one instruction that computes a temporary.
fn only_writer(nest: &Nest, id: ArrayId) -> Result<usize, NestError> {
    let array = nest.array(id);
    if array.memory != Memory::Private {
        return Err(NestError::new(format!("`{}` is not a temporary", array.name))
            .remedy("let an instruction compute the value into a temporary, and use that"));
    }
    let writers: Vec<usize> =
        (0..nest.instructions.len()).filter(|number| nest.instructions[*number].target.array == id).collect();
    match writers[..] {
        [number] => Ok(number),
        [] => Err(NestError::new(format!("nothing computes `{}`", array.name)).at(array.place)),
        [_, second, ..] => Err(NestError::new(format!("several instructions write `{}`", array.name))
            .remedy("give each value a temporary of its own")
            .at(nest.instructions[second].place)),
    }
}

/// Refuses a value that may differ when it is computed earlier, or whose points are not known.
fn always_the_same(nest: &Nest, computing: &Instruction) -> Result<(), NestError> {
    let target = computing.target.array;
    refuse_data_accesses(nest, target)?;
    let name = &nest.array(target).name;
    for (access, place) in computing.value.loads() {
        let place = place.or(computing.place);
        if access.array == target {
            return Err(NestError::new(format!("`{name}` is computed from its earlier value")).at(place));
        }
        if let Some(writer) = nest.instructions.iter().find(|writer| writer.target.array == access.array) {
            let source = nest.array(access.array);
            let line = writer.place.map(|place| format!(" (line {})", place.line)).unwrap_or_default();
            let error = NestError::new(format!(
                "`{name}` is computed from `{}`, which is written{line}: earlier it could be another value",
                source.name
            ));
            let remedy = match source.memory {
                Memory::Private => format!("replace `{}` by its definition", source.name),
                _ => "compute it from arrays that nothing writes, before they are copied into tiles".to_string(),
            };
            return Err(error.remedy(remedy).at(place));
        }
    }
    match computing.value.sums().into_iter().flat_map(Affine::lookups).next() {
        Some(lookup) => {
            let lookup = &nest.lookup(lookup).name;
            Err(NestError::new(format!("which values of `{name}` are needed depends on the value of `{lookup}`"))
                .at(computing.place))
        }
        None => Ok(()),
    }
}

/// The sums of loops on which a value depends, without offsets and factors. They are the axes of
/// the box of its values.
struct Coordinates(Vec<Affine>);

impl Coordinates {
    fn new(nest: &Nest, computing: &Instruction) -> Result<Self, NestError> {
        let mut sums: Vec<Affine> = Vec::new();
        for (sum, _) in computing.value.sums().into_iter().filter_map(direction) {
            if !sums.contains(&sum) {
                sums.push(sum);
            }
        }
        if are_apart(&sums) {
            return Ok(Coordinates(sums));
        }
        let name = &nest.array(computing.target.array).name;
        let texts: Vec<String> = sums.iter().map(|sum| print::affine(nest, sum)).collect();
        Err(NestError::new(format!(
            "the values of `{name}` are no box: the sums {} do not change independently of each other",
            texts.join(", ")
        ))
        .at(computing.place))
    }

    /// Returns the value whose coordinates are `cell`.
    fn value_at(&self, value: Expr, cell: &[Affine]) -> Expr {
        value.map_affine(&|sum| {
            let Some((own, factor)) = direction(sum) else { return sum.clone() };
            let at = self.0.iter().zip(cell).find(|(known, _)| **known == own);
            at.map_or(sum.clone(), |(_, cell)| &(sum - &own.scaled(factor)) + &cell.scaled(factor))
        })
    }
}

/// Returns the loops of a sum and their common factor. The sign of the factor makes the first
/// coefficient positive.
fn direction(sum: &Affine) -> Option<(Affine, i128)> {
    let coefficients: Vec<(Var, i128)> =
        sum.loops().map(|id| (Var::Loop(id), sum.coefficient(Var::Loop(id)))).collect();
    let (_, first) = coefficients.first()?;
    let common = coefficients.iter().fold(0, |common, (_, coefficient)| gcd(common, coefficient.abs()));
    let factor = common * first.signum();
    let mut direction = Affine::default();
    coefficients.iter().for_each(|(variable, coefficient)| direction.add_term(*variable, coefficient / factor));
    Some((direction, factor))
}

/// Returns true if sums take their values independently of each other. Each in turn must have a
/// loop that the remaining ones do not have.
fn are_apart(sums: &[Affine]) -> bool {
    let mut rest: Vec<&Affine> = sums.iter().collect();
    let has_own_loop = |rest: &[&Affine], at: usize| {
        let elsewhere = |id: LoopId| rest.iter().enumerate().any(|(other, sum)| other != at && sum.uses(id));
        rest[at].loops().any(|id| !elsewhere(id))
    };
    while let Some(at) = (0..rest.len()).find(|at| has_own_loop(&rest, *at)) {
        rest.remove(at);
    }
    rest.is_empty()
}

/// Returns the loads of the value that the instruction `writer` computes, numbered without that
/// instruction.
fn uses(nest: &Nest, writer: usize, coordinates: &Coordinates) -> Result<Vec<Use>, NestError> {
    let target = nest.instructions[writer].target.array;
    let mut uses = Vec::new();
    for (number, reader) in nest.instructions.iter().enumerate() {
        for (access, place) in reader.value.loads().into_iter().filter(|(access, _)| access.array == target) {
            let place = place.or(reader.place);
            let point = point(nest, writer, number, access).map_err(|error| error.at(place))?;
            let cell = coordinates.0.iter().map(|sum| replaced(sum, &point)).collect();
            uses.push(Use { number: number - 1, access: access.clone(), place, cell });
        }
    }
    Ok(uses)
}

/// Returns the point at which the instruction `writer` computed the value that another one reads.
/// The point lists the loops whose indices differ from those of the reader.
fn point(nest: &Nest, writer: usize, reader: usize, read: &Access) -> Result<BTreeMap<LoopId, Affine>, NestError> {
    let (written, text) = (&nest.instructions[writer], print::access(nest, read));
    if reader < writer {
        return Err(NestError::new(format!("{text} is read before it is computed")));
    }
    let shared = shared_through(nest, writer, reader);
    let is_shared = |id: &LoopId| match nest.loop_at(*id).tag.is_hardware() {
        true => nest.instructions[reader].within.contains(id),
        false => shared.contains(id),
    };
    let mut point = BTreeMap::new();
    for ((target, read), extent) in
        written.target.subscripts.iter().zip(&read.subscripts).zip(&nest.array(read.array).shape)
    {
        match whole_axis(nest, target, extent).filter(|id| !is_shared(id) && !point.contains_key(id)) {
            Some(id) => {
                point.insert(id, read.clone());
            }
            None if target == read && target.loops().all(|id| is_shared(&id)) => {}
            None => {
                let target = print::access(nest, &written.target);
                return Err(NestError::new(format!(
                    "{text} may differ from the value that was last computed as {target}"
                ))
                .remedy(
                    "write each cell in a loop over its whole axis, or read only cells that the same iteration wrote",
                ));
            }
        }
    }
    match written.within.iter().find(|id| !is_shared(id) && !point.contains_key(id)) {
        Some(id) => {
            let index = &nest.loop_at(*id).name;
            Err(NestError::new(format!(
                "{text} is read outside of loop `{index}`, but it differs in each iteration of the loop"
            ))
            .remedy(format!("read it within the same iteration of `{index}`")))
        }
        None => Ok(point),
    }
}

/// Returns the loop of a subscript that consists of one loop and runs over the whole axis.
fn whole_axis(nest: &Nest, subscript: &Affine, extent: &Affine) -> Option<LoopId> {
    let id = subscript.loops().next().filter(|id| *subscript == Affine::from(*id))?;
    extent.as_constant().filter(|extent| runs_over(nest, id, *extent)).map(|_| id)
}

/// Returns a sum with loops replaced by other sums, all at once.
fn replaced(sum: &Affine, by: &BTreeMap<LoopId, Affine>) -> Affine {
    sum.terms().fold(Affine::constant(sum.offset()), |replaced, (variable, coefficient)| {
        let other = match variable {
            Var::Loop(id) => by.get(&id),
            _ => None,
        };
        &replaced + &other.map_or(Affine::term(variable, coefficient), |other| other.scaled(coefficient))
    })
}

/// Removes an instruction. Refuses if its neighbours would then share more loops than it shares
/// with both.
fn take_out(nest: &mut Nest, number: usize) -> Result<Instruction, NestError> {
    if number > 0 && number + 1 < nest.instructions.len() {
        let (through, without) =
            (shared_through(nest, number - 1, number + 1), shared_loops(nest, number - 1, number + 1));
        if let Some(id) = without.get(through.len()) {
            let index = &nest.loop_at(*id).name;
            return Err(NestError::new(format!(
                "without this instruction, the ones before and after it would run in one loop over `{index}`"
            ))
            .remedy("move it to another place in the list")
            .at(nest.instructions[number].place));
        }
    }
    Ok(nest.instructions.remove(number))
}
