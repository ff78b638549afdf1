//! Counts what costs time on today's devices and is not among the paper's properties.

use super::banks::conflict;
use super::chain::longest;
use super::collect::Collected;
use super::compiled::Counts;
use super::depth::Depth;
use super::factors::Product;
use super::operations::count_arithmetic;
use super::property::{Issue, Property};
use super::runs::{all_groups, runs};
use super::subgroups::{WARP, issues};
use crate::error::NestError;
use crate::ir::{Instruction, Lookup, LoopId, Memory, Nest, Operation, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Counts in addition to those of the paper, and the kinds that could not be counted.
#[derive(Clone, Debug)]
pub struct Modern {
    /// The counts, as functions of the sizes.
    pub counts: Counts,
    /// The kinds of properties that are left out, with the reasons.
    pub refused: Vec<(&'static str, NestError)>,
}

/// Counts properties that the paper leaves out:
///
/// - `bank:...`: accesses to local memory, by bank conflicts.
/// - `sub:...`: instructions that sub-groups of 32 lanes issue.
/// - `arith:...`: arithmetic, with small powers as multiplications.
/// - `chain`: the longest chain of dependent arithmetic that one work-item executes.
///
/// Atomic updates are in none of them: [`count`](super::count()) counts them.
///
/// A kind that cannot be counted exactly is left out and [refused](Modern::refused) by name.
///
/// ```
/// use tunesmith_loopnest::{Nest, Property, count};
///
/// let nest = "
///     sizes n
///     assume n > 0
///     array a[n]: f32
///     array sum[1]: f32
///     temporary acc: f32
///     {[i]: 0 <= i < n}
///     acc = 0.0           @
///     acc = acc + a[i]**2 @ i
///     sum[0] = acc        @
/// ".parse::<Nest>()?;
/// let modern = count::count_modern(&nest)?;
/// let chain = modern.counts.properties().iter().position(|property| *property == Property::Chain);
/// assert_eq!(modern.counts.evaluate(&[1000])?[chain.unwrap()], 1001);
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
///
/// A vector loop counts every iteration.
///
/// Cost: some milliseconds, or up to seconds if sub-groups end within a row of work-items.
/// Evaluating the counts takes some hundred nanoseconds.
///
/// # Errors
///
/// Fails if the nest cannot be scheduled, or if its loops cannot be counted.
pub fn count_modern(nest: &Nest) -> Result<Modern, NestError> {
    let mut found = collect_arithmetic(nest)?;
    let mut refused = Vec::new();
    for (kind, gather) in [("bank", banks as Gather), ("sub", sub_groups), ("chain", chain)] {
        let mut tried = found.clone();
        match refuse_data(nest).and_then(|()| gather(nest, &mut tried)) {
            Ok(()) => found = tried,
            Err(error) => refused.push((kind, error)),
        }
    }
    Ok(Modern { counts: Counts::new(nest, &found), refused })
}

/// Counts only the longest chain of dependent operations: [`Property::Chain`].
///
/// # Errors
///
/// Fails if the nest cannot be scheduled, if the chain cannot be followed exactly, or if the nest
/// looks up values.
pub fn count_chain(nest: &Nest) -> Result<Counts, NestError> {
    refuse_data(nest)?;
    let mut found = Collected::new(nest);
    chain(nest, &mut found)?;
    Ok(Counts::new(nest, &found))
}

fn collect_arithmetic(nest: &Nest) -> Result<Collected, NestError> {
    let mut found = Collected::new(nest);
    for instruction in &nest.instructions {
        arithmetic(nest, instruction, &mut found).map_err(|error| error.at(instruction.place))?;
    }
    Ok(found)
}

/// Refuses a nest that looks up values: the cells that lanes access together are not known.
pub(super) fn refuse_data(nest: &Nest) -> Result<(), NestError> {
    match nest.lookups.first() {
        None => Ok(()),
        Some(Lookup { name, place, .. }) => {
            Err(NestError::new(format!("it depends on the value of `{name}`")).at(*place))
        }
    }
}

/// A function that adds the properties of a kind.
type Gather = fn(&Nest, &mut Collected) -> Result<(), NestError>;

fn arithmetic(nest: &Nest, instruction: &Instruction, found: &mut Collected) -> Result<(), NestError> {
    let runs = runs(nest, instruction, nest.local_size()?, &mut found.factors)?;
    for ((operation, kind), times) in operations(nest, instruction) {
        found.add(Property::Arithmetic(operation, kind), runs.scaled(times));
    }
    Ok(())
}

fn banks(nest: &Nest, found: &mut Collected) -> Result<(), NestError> {
    let local = nest.local_size()?;
    for instruction in &nest.instructions {
        for (access, place, direction) in instruction.plain_accesses() {
            let array = nest.array(access.array);
            if array.memory == Memory::Local {
                let conflict = conflict(nest, &instruction.within, access, local);
                let conflict = conflict.map_err(|error| error.at(place).at(instruction.place))?;
                let runs = runs(nest, instruction, local, &mut found.factors)?;
                found.add(Property::Banks(array.element.bits(), direction, conflict), runs);
            }
        }
    }
    Ok(())
}

fn sub_groups(nest: &Nest, found: &mut Collected) -> Result<(), NestError> {
    let local = nest.local_size()?;
    let mut known: BTreeMap<BTreeSet<LoopId>, Product> = BTreeMap::new();
    for instruction in &nest.instructions {
        let within = all_groups(nest, &instruction.within);
        let once = match known.get(&within) {
            Some(once) => once.clone(),
            None => {
                issues(nest, &within, local, WARP, &mut found.factors).map_err(|error| error.at(instruction.place))?
            }
        };
        known.insert(within, once.clone());
        for ((operation, kind), times) in operations(nest, instruction) {
            found.add(Property::SubGroups(Issue::Operation(operation, kind)), once.scaled(times));
        }
        for (access, _, direction) in instruction.plain_accesses() {
            let array = nest.array(access.array);
            if matches!(array.memory, Memory::Global | Memory::Local) {
                let issue = Issue::Access(array.memory, array.element.bits(), direction);
                found.add(Property::SubGroups(issue), once.clone());
            }
        }
    }
    Ok(())
}

fn chain(nest: &Nest, found: &mut Collected) -> Result<(), NestError> {
    let weight = longest(nest, &found.factors.floors)?;
    found.chain = Some(Depth::new(&weight, nest, &mut found.factors)?);
    Ok(())
}

/// Returns the operations of an instruction by kind and type.
fn operations(nest: &Nest, instruction: &Instruction) -> BTreeMap<(Operation, Type), i128> {
    let mut counts = BTreeMap::new();
    count_arithmetic(nest, instruction.computed(), nest.array(instruction.target.array).element, &mut counts);
    counts
}
