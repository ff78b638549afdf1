//! Configurations and ranks by name and by index.

use std::fmt;
use std::ops::Range;

use super::Space;
use crate::constraint::Constraint;
use crate::error::SpaceError;
use crate::expr::{Datum, Evaluator};
use crate::parameter::Parameter;
use crate::suggest;
use crate::value::Value;

/// The exact rank of a valid configuration in its space.
///
/// Only a [`Space`] makes ranks, so every `ConfigId` stands for a valid configuration. A rank means
/// nothing without the [digest](Space::digest) of its space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ConfigId(pub(super) u128);

impl ConfigId {
    /// Returns the rank, counted from 0.
    pub fn rank(self) -> u128 {
        self.0
    }
}

impl fmt::Display for ConfigId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One value for every parameter, valid or not. Holds indices into the parameters' lists, in the
/// user's order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    pub(super) indices: Vec<u32>,
}

impl Configuration {
    /// Returns the index of each parameter's value.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }
}

impl Space {
    /// Returns the configuration with the values in `pairs`. Other parameters take their values
    /// from `base`, or else their first value. If a name occurs twice, the last value counts. The
    /// configuration need not be valid; see [`Space::rank`].
    ///
    /// # Errors
    /// A name is not a parameter, or a value is not in the parameter's list.
    pub fn configuration(
        &self,
        pairs: &[(&str, Value)],
        base: Option<&Configuration>,
    ) -> Result<Configuration, SpaceError> {
        let first = || vec![0; self.parameters().len()];
        let mut indices = base.map_or_else(first, |base| base.indices.clone());
        for (name, value) in pairs {
            let index = self.parameter_index(name).ok_or_else(|| self.unknown_parameter(name))?;
            let parameter = &self.parameters()[index];
            let position = parameter.index_of(value).ok_or_else(|| SpaceError::NotAllowed {
                parameter: (*name).to_owned(),
                value: value.clone(),
                allowed: parameter.values().to_vec(),
            })?;
            indices[index] = position as u32;
        }
        Ok(Configuration { indices })
    }

    fn unknown_parameter(&self, name: &str) -> SpaceError {
        let names = self.parameters().iter().map(Parameter::name);
        SpaceError::UnknownParameter {
            name: name.to_owned(),
            suggestion: suggest::closest(name, names).map(str::to_owned),
        }
    }

    /// Returns true if no constraint excludes `configuration`. Costs about the number of
    /// parameters.
    pub fn contains(&self, configuration: &Configuration) -> bool {
        let indices = &configuration.indices;
        indices.len() == self.parameters().len() && self.inner.diagrams.iter().all(|diagram| diagram.contains(indices))
    }

    /// Returns the constraints that exclude `configuration` or cannot be evaluated on it, in the
    /// user's order.
    pub fn violated(&self, configuration: &Configuration) -> Vec<&Constraint> {
        let mut violated = vec![false; self.constraints().len()];
        let lookup = |parameter: usize, _: &Range<usize>| Ok(Datum::from(self.value(configuration, parameter)));
        for conjunct in &self.inner.conjuncts {
            let holds = Evaluator::new(&lookup).evaluate(&conjunct.node).is_ok_and(|value| value.truthy());
            violated[conjunct.constraint] |= !holds;
        }
        self.constraints()
            .iter()
            .zip(violated)
            .filter(|(_, violated)| *violated)
            .map(|(constraint, _)| constraint)
            .collect()
    }

    /// Returns the value of the parameter with index `parameter` in `configuration`.
    pub fn value(&self, configuration: &Configuration, parameter: usize) -> &Value {
        &self.parameters()[parameter].values()[configuration.indices[parameter] as usize]
    }

    /// Returns the name and value of every parameter in `configuration`, in the user's order.
    pub fn values<'a>(&'a self, configuration: &Configuration) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
        let indices = configuration.indices.clone();
        self.parameters()
            .iter()
            .zip(indices)
            .map(|(parameter, index)| (parameter.name(), &parameter.values()[index as usize]))
    }
}
