//! Compiles parsed constraints into the work of construction.
//!
//! [`resolve`] resolves names, [`split`] takes conditions apart, and [`groups`] finds the
//! parameters that they join. A [`group`] translates its conjuncts into a [`graph`] of terms and
//! chooses an [`order`]. It rewrites the terms for this order ([`lower`]), adds [`bounds`], and
//! makes a [`plan`] that the [`machine`] executes.

mod bounds;
mod cell;
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

pub(crate) use cell::ERROR;
pub(crate) use graph::Steps;
pub(crate) use group::Group;
pub(crate) use groups::groups;
pub(crate) use machine::{Cells, Sources, run};
pub(crate) use plan::{Check, LevelPlan, Operand};
pub(crate) use resolve::Names;

use crate::expr::Node;

/// A part of a constraint that must hold by itself. Its names are parameter indices.
#[derive(Clone, Debug)]
pub(crate) struct Conjunct {
    /// The index of its constraint.
    pub(crate) constraint: usize,
    /// The condition that must be true.
    pub(crate) node: Node,
    /// The parameters that it uses, each once, in order of appearance.
    pub(crate) parameters: Vec<usize>,
}
