//! Search spaces: the diagrams of all groups chained as a product, and the questions they answer.

mod analysis;
mod builder;
mod config;
mod conflict;
mod coordinates;
mod digest;
mod groups;
mod nearest;
mod neighbours;
mod rank;
mod sample;
mod stored;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use num_bigint::BigUint;

pub use analysis::{Analysis, ConstraintEffect};
pub use builder::SpaceBuilder;
pub use config::{ConfigId, Configuration};
pub use neighbours::{Neighbour, Neighbourhood, Neighbours};

use crate::compile::{Conjunct, groups as groups_of};
use crate::constraint::Constraint;
use crate::diagram::Diagram;
use crate::parameter::Parameter;
use crate::value::Value;

/// A search space: tuning parameters and the configurations that its constraints leave.
///
/// Cloning is cheap, since clones share the space. Parameters keep the user's order everywhere; the
/// order inside the diagrams is the crate's own and shows only in the order of ranks.
///
/// # Storing
/// A space is written and read with serde, in any format that describes itself (JSON, say): with
/// its diagrams, so that reading one that took seconds to build takes milliseconds. What is read is
/// checked down to the digest.
#[derive(Clone)]
pub struct Space {
    inner: Arc<Inner>,
}

struct Inner {
    parameters: Vec<Parameter>,
    indices: HashMap<String, usize>,
    constraints: Vec<Constraint>,
    constants: BTreeMap<String, Value>,
    conjuncts: Vec<Conjunct>,
    /// The diagrams by the smallest index of their parameters; ranks count the last one fastest.
    diagrams: Vec<Diagram>,
    /// The size of each diagram, empty when the whole size exceeds 128 bits.
    lengths: Vec<u128>,
    /// For each diagram the number of configurations of those after it; empty like `lengths`.
    weights: Vec<u128>,
    size: BigUint,
    digest: String,
}

impl Space {
    /// Starts a space.
    pub fn builder() -> SpaceBuilder {
        SpaceBuilder::default()
    }

    /// Returns the tuning parameters in the user's order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.inner.parameters
    }

    /// Returns the index of the parameter called `name`.
    pub fn parameter_index(&self, name: &str) -> Option<usize> {
        self.inner.indices.get(name).copied()
    }

    /// Returns the constraints in the user's order.
    pub fn constraints(&self) -> &[Constraint] {
        &self.inner.constraints
    }

    /// Returns the exact number of configurations.
    pub fn size(&self) -> BigUint {
        self.inner.size.clone()
    }

    /// Returns the number of combinations of values, valid or not.
    pub fn cartesian_size(&self) -> BigUint {
        self.inner.parameters.iter().map(|parameter| BigUint::from(parameter.values().len())).product()
    }

    /// Returns the number of configurations where it fits into 128 bits. Larger spaces are counted
    /// and answer membership, but have no ranks.
    pub fn len(&self) -> Option<u128> {
        u128::try_from(&self.inner.size).ok()
    }

    /// Returns false always: a space without configurations cannot be built.
    pub fn is_empty(&self) -> bool {
        self.inner.size == BigUint::ZERO
    }

    /// Returns the groups of interdependent parameters (ATF paper, section 3.2): indices of
    /// parameters that constraints join, in the user's order, as the constraints are written. The
    /// diagrams may be smaller: what turns out not to depend on each other is kept apart.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let links = self.inner.conjuncts.iter().map(|conjunct| &conjunct.parameters[..]);
        groups_of(self.inner.parameters.len(), links)
    }

    /// Returns the parameters, by index, in the order in which ranks and coordinates count, the
    /// last one fastest: diagram by diagram, and within each in the order of its levels. Values
    /// count by their index.
    pub fn levels(&self) -> Vec<usize> {
        self.inner.diagrams.iter().flat_map(Diagram::order).copied().collect()
    }

    /// Returns the number of nodes of the diagrams.
    pub fn nodes(&self) -> usize {
        self.inner.diagrams.iter().map(Diagram::nodes).sum()
    }

    /// Returns the number of arcs of the diagrams, where consecutive values with the same child are
    /// one arc.
    pub fn arcs(&self) -> usize {
        self.inner.diagrams.iter().map(|diagram| diagram.runs().len()).sum()
    }

    /// Returns the memory that the diagrams occupy, in bytes; the parameters' lists are not
    /// counted.
    pub fn bytes(&self) -> usize {
        self.inner.diagrams.iter().map(Diagram::bytes).sum()
    }

    /// Returns what identifies the space and its ranks: the SHA-256, in hexadecimal, of the
    /// parameters' names, types and values in the user's order, the reduced diagrams, and the
    /// number of the digest's format.
    ///
    /// Constraints count by what they exclude, not by how they are written.
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Space")
            .field("parameters", &self.inner.parameters.iter().map(Parameter::name).collect::<Vec<_>>())
            .field("size", &self.inner.size.to_string())
            .field("digest", &self.inner.digest)
            .finish_non_exhaustive()
    }
}
