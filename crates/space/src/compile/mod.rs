//! From parsed constraints to what construction computes.
//!
//! [`resolve`] gives names their meaning, [`split`] takes conditions apart, [`groups`] finds the
//! parameters that they join. A [`group`] translates its conjuncts into a [`graph`] of terms,
//! chooses an [`order`], makes the terms ready for it ([`lower`]), adds [`bounds`], and leaves a
//! [`plan`] that the [`machine`] executes.

mod bounds;
mod data;
mod distinct;
mod estimate;
mod graph;
mod group;
mod groups;
mod lower;
mod machine;
mod order;
mod plan;
mod range;
mod residual;
mod resolve;
mod split;
mod support;
mod translate;

pub(crate) use graph::ERROR;
pub(crate) use group::Group;
pub(crate) use groups::groups;
pub(crate) use machine::{Cells, Sources, run};
pub(crate) use plan::{Check, LevelPlan, Operand};
pub(crate) use resolve::Names;

use crate::expr::Node;

/// A part of a constraint that must hold by itself; its names are parameter indices.
#[derive(Clone, Debug)]
pub(crate) struct Conjunct {
    /// The index of the constraint it comes from.
    pub(crate) constraint: usize,
    /// The condition that must be true.
    pub(crate) node: Node,
    /// The parameters it uses, each once, in order of appearance.
    pub(crate) parameters: Vec<usize>,
}
