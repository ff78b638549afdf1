//! Search spaces. A space is the product of the diagrams of all groups.

mod analysis;
mod ball;
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
pub use ball::Ball;
pub use builder::SpaceBuilder;
pub use config::{ConfigId, Configuration};
pub use neighbours::{Neighbour, Neighbourhood, Neighbours};

use crate::compile::{Conjunct, groups as groups_of};
use crate::constraint::Constraint;
use crate::diagram::Diagram;
use crate::parameter::Parameter;
use crate::value::Value;

/// A search space: tuning parameters and the configurations that satisfy all constraints.
///
/// Clones share the space, so cloning is cheap. Parameters keep the user's order everywhere. The
/// order inside the diagrams is internal; only the order of ranks shows it.
///
/// # Storing
/// Serde writes and reads a space together with its diagrams, in any self-describing format such as
/// JSON. A space that took seconds to build is read in milliseconds. Reading checks everything,
/// including the digest.
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
    /// The diagrams, sorted by the smallest index of their parameters. In ranks, the last one
    /// counts fastest.
    diagrams: Vec<Diagram>,
    /// The size of each diagram. Empty if the size of the space exceeds 128 bits.
    lengths: Vec<u128>,
    /// For each diagram, the number of configurations of all diagrams after it. Empty like
    /// `lengths`.
    weights: Vec<u128>,
    size: BigUint,
    digest: String,
}

impl Space {
    /// Returns an empty builder.
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

    /// Returns the number of configurations, or `None` if it exceeds 128 bits. Such spaces answer
    /// [`Space::size`] and [`Space::contains`], but have no ranks.
    pub fn len(&self) -> Option<u128> {
        u128::try_from(&self.inner.size).ok()
    }

    /// Returns false. A space without configurations cannot be built.
    pub fn is_empty(&self) -> bool {
        self.inner.size == BigUint::ZERO
    }

    /// Returns the groups of interdependent parameters (ATF paper, section 3.2). A group is the
    /// indices of the parameters that the written constraints join, in the user's order. Diagrams
    /// may be smaller, because parameters that turn out to be independent are kept apart.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let links = self.inner.conjuncts.iter().map(|conjunct| &conjunct.parameters[..]);
        groups_of(self.inner.parameters.len(), links)
    }

    /// Returns the indices of the parameters in the order in which ranks and coordinates count:
    /// diagram by diagram, and within each diagram in the order of its levels. The last parameter
    /// counts fastest. Values count by their index.
    pub fn levels(&self) -> Vec<usize> {
        self.inner.diagrams.iter().flat_map(Diagram::order).copied().collect()
    }

    /// Returns the total number of nodes of the diagrams.
    pub fn nodes(&self) -> usize {
        self.inner.diagrams.iter().map(Diagram::nodes).sum()
    }

    /// Returns the total number of arcs of the diagrams. Consecutive values with the same child are
    /// one arc.
    pub fn arcs(&self) -> usize {
        self.inner.diagrams.iter().map(|diagram| diagram.runs().len()).sum()
    }

    /// Returns the memory of the diagrams in bytes, without the parameters' lists.
    pub fn bytes(&self) -> usize {
        self.inner.diagrams.iter().map(Diagram::bytes).sum()
    }

    /// Returns the digest that identifies the space and its ranks. It is the SHA-256, in
    /// hexadecimal, of the parameters' names, types and values in the user's order, the reduced
    /// diagrams, and the number of the digest's format.
    ///
    /// The digest depends on the configurations that the constraints exclude, not on how the
    /// constraints are written.
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
