//! Builds a space from its description.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use num_bigint::BigUint;

use super::digest::digest;
use super::{Inner, Space};
use super::{conflict, groups};
use crate::compile::{Conjunct, Names};
use crate::constraint::Constraint;
use crate::diagram::{Diagram, Obstacle};
use crate::error::SpaceError;
use crate::expr::{Datum, Evaluator, ExprError};
use crate::limits::{Bounds, Limits};
use crate::parameter::Parameter;
use crate::value::Value;

/// Collects parameters, constants and constraints. [`SpaceBuilder::build`] makes the [`Space`].
#[derive(Clone, Debug, Default)]
pub struct SpaceBuilder {
    parameters: Vec<Parameter>,
    constraints: Vec<Constraint>,
    constants: BTreeMap<String, Value>,
    bounds: Bounds,
    threads: Option<NonZeroUsize>,
}

impl SpaceBuilder {
    /// Adds a tuning parameter. The order of these calls is the user's order.
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Adds a constraint.
    pub fn constraint(mut self, constraint: Constraint) -> Self {
        self.constraints.push(constraint);
        self
    }

    /// Defines a constant that constraints may name, such as a problem size or a device limit
    /// (`device.max_work_group_size`). If a name is defined twice, the last value counts.
    pub fn constant(mut self, name: impl Into<String>, value: Value) -> Self {
        self.constants.insert(name.into(), value);
        self
    }

    /// Replaces the default [`Limits`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.bounds.limits = limits;
        self
    }

    /// Ends the construction soon after `flag` is raised, with [`SpaceError::Cancelled`].
    pub fn cancel_on(mut self, flag: Arc<AtomicBool>) -> Self {
        self.bounds.cancel = Some(flag);
        self
    }

    /// Sets the number of threads that build groups of parameters at the same time. The default is
    /// the number of processors. The space does not depend on it.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Builds the space. Splits the constraints, groups the parameters that they join (ATF paper,
    /// section 3.2), and turns each group into one reduced diagram.
    ///
    /// # Errors
    /// A name is unknown or given twice, a constraint cannot be evaluated on some configuration,
    /// the constraints leave no configuration, a diagram grows beyond the limits, or the construction was cancelled.
    pub fn build(self) -> Result<Space, SpaceError> {
        if self.parameters.is_empty() {
            return Err(SpaceError::NoParameters);
        }
        let conjuncts = self.conjuncts()?;
        match self.diagrams(&conjuncts)? {
            Some(diagrams) => Ok(assemble(self.parameters, self.constants, self.constraints, conjuncts, diagrams)),
            None => Err(SpaceError::Empty { culprits: self.culprits(&conjuncts) }),
        }
    }

    fn conjuncts(&self) -> Result<Vec<Conjunct>, SpaceError> {
        let names = Names::new(&self.parameters, &self.constants)?;
        let mut conjuncts = Vec::new();
        for (index, constraint) in self.constraints.iter().enumerate() {
            names.conjuncts(index, constraint, &mut conjuncts)?;
        }
        Ok(conjuncts)
    }

    /// Returns the diagrams of all groups, or `None` if the space is empty: a group is empty or a
    /// constraint without parameters is false. Nothing is then left on which another constraint
    /// could fail.
    fn diagrams(&self, conjuncts: &[Conjunct]) -> Result<Option<Vec<Diagram>>, SpaceError> {
        let constants = conjuncts.iter().filter(|conjunct| conjunct.parameters.is_empty());
        let constants = constants.map(|conjunct| self.holds(conjunct).map(|holds| holds.then(Vec::new)));
        let joined = groups::joined(self.parameters.len(), conjuncts);
        let built = groups::build(&joined, &self.parameters, &self.bounds, self.threads);
        let built = built.into_iter().zip(&joined);
        let built = built.map(|(built, group)| built.map_err(|obstacle| self.refusal(obstacle, &group.conjuncts)));
        let mut diagrams = Ok(Vec::new());
        for part in constants.chain(built) {
            match (part, &mut diagrams) {
                (Ok(None), _) => return Ok(None),
                (Ok(Some(part)), Ok(diagrams)) => diagrams.extend(part),
                (Err(error), Ok(_)) => diagrams = Err(error),
                (_, Err(_)) => {}
            }
        }
        // Sort, so that the order does not reveal which constraints joined which parameters.
        let first = |diagram: &Diagram| diagram.order().iter().copied().min();
        diagrams.map(|mut diagrams: Vec<Diagram>| {
            diagrams.sort_by_key(first);
            Some(diagrams)
        })
    }

    /// Returns true if a conjunct without parameters holds.
    fn holds(&self, conjunct: &Conjunct) -> Result<bool, SpaceError> {
        let nothing = |_: usize, span: &Range<usize>| Err(ExprError::new("no parameter is known here", span.clone()));
        let value = Evaluator::new(&nothing).evaluate(&conjunct.node);
        value.map(|value| value.truthy()).map_err(|error| self.failure(conjunct, &[], error))
    }

    fn refusal(&self, obstacle: Obstacle, conjuncts: &[Conjunct]) -> SpaceError {
        match obstacle {
            Obstacle::Evaluation { conjunct, values } => {
                let conjunct = &conjuncts[conjunct];
                let value = |parameter: usize, _: &Range<usize>| {
                    let index = values.iter().find(|(known, _)| *known == parameter).map_or(0, |(_, index)| *index);
                    Ok(Datum::from(&self.parameters[parameter].values()[index as usize]))
                };
                let error = Evaluator::new(&value).evaluate(&conjunct.node).err();
                let error = error.unwrap_or_else(|| ExprError::new("cannot be evaluated", conjunct.node.span.clone()));
                self.failure(conjunct, &values, error)
            }
            Obstacle::TooLarge { limit, conjuncts: open } => {
                let name = |conjunct: usize| self.constraints[conjuncts[conjunct].constraint].name().to_owned();
                let mut culprits: Vec<String> = open.into_iter().map(name).collect();
                culprits.dedup();
                SpaceError::TooLarge { limit, culprits }
            }
            Obstacle::Cancelled => SpaceError::Cancelled,
        }
    }

    /// Returns the error of `conjunct` on the value indices in `values`.
    fn failure(&self, conjunct: &Conjunct, values: &[(usize, u32)], error: ExprError) -> SpaceError {
        let value = |parameter: &usize| {
            let (_, index) = values.iter().find(|(known, _)| known == parameter)?;
            let parameter = &self.parameters[*parameter];
            Some((parameter.name().to_owned(), parameter.values()[*index as usize].clone()))
        };
        SpaceError::Evaluation {
            constraint: self.constraints[conjunct.constraint].name().to_owned(),
            configuration: conjunct.parameters.iter().filter_map(value).collect(),
            error,
        }
    }

    /// Returns a smallest set of constraints that no configuration satisfies.
    fn culprits(&self, conjuncts: &[Conjunct]) -> Vec<String> {
        let empty = |chosen: &[usize]| {
            let is_chosen = |conjunct: &&Conjunct| chosen.binary_search(&conjunct.constraint).is_ok();
            let chosen: Vec<Conjunct> = conjuncts.iter().filter(is_chosen).cloned().collect();
            // A set that fails is not known to be empty.
            matches!(self.diagrams(&chosen), Ok(None))
        };
        let culprits = conflict::smallest(self.constraints.len(), empty);
        culprits.into_iter().map(|index| self.constraints[index].name().to_owned()).collect()
    }
}

/// Assembles a space from its parts.
pub(super) fn assemble(
    parameters: Vec<Parameter>,
    constants: BTreeMap<String, Value>,
    constraints: Vec<Constraint>,
    conjuncts: Vec<Conjunct>,
    diagrams: Vec<Diagram>,
) -> Space {
    let digest = digest(&parameters, &diagrams);
    let size: BigUint = diagrams.iter().map(Diagram::size).product();
    let (lengths, weights) = weights(&diagrams).unwrap_or_default();
    let indices =
        parameters.iter().enumerate().map(|(index, parameter)| (parameter.name().to_owned(), index)).collect();
    let inner =
        Inner { parameters, indices, constraints, constants, conjuncts, diagrams, lengths, weights, size, digest };
    Space { inner: Arc::new(inner) }
}

/// Returns the size of each diagram, and for each diagram the number of configurations of all
/// diagrams after it. Returns `None` if the total exceeds 128 bits.
fn weights(diagrams: &[Diagram]) -> Option<(Vec<u128>, Vec<u128>)> {
    let lengths: Vec<u128> = diagrams.iter().map(Diagram::len).collect::<Option<_>>()?;
    let mut weights = vec![1; diagrams.len()];
    let mut total = 1_u128;
    for (weight, length) in weights.iter_mut().zip(&lengths).rev() {
        *weight = total;
        total = total.checked_mul(*length)?;
    }
    Some((lengths, weights))
}
