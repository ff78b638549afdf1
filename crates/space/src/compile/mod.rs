//! From parsed constraints to conjuncts over parameter indices.

mod groups;
mod resolve;
mod split;

pub(crate) use groups::groups;
pub(crate) use resolve::Names;

use crate::expr::Node;

/// A part of a constraint that must hold by itself; its names are parameter indices.
#[derive(Clone, Debug)]
pub(crate) struct Conjunct {
    /// The index of the constraint it comes from.
    pub(crate) constraint: usize,
    /// What must be true.
    pub(crate) node: Node,
    /// The parameters it uses, each once, in order of appearance.
    pub(crate) parameters: Vec<usize>,
}
