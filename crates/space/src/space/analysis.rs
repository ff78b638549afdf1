//! The effect of each constraint and each value on a space.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroUsize;

use num_bigint::BigUint;

use super::groups::{self, Joined, joined};
use super::{Inner, Space};
use crate::compile::Conjunct;
use crate::diagram::Diagram;
use crate::limits::Limits;

/// The findings of [`Space::analyse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The effect of each constraint, in the user's order.
    pub constraints: Vec<ConstraintEffect>,
    /// For each parameter, in the user's order, the indices of the values that no configuration
    /// has.
    pub dead_values: Vec<Vec<u32>>,
}

/// The effect of one constraint. A number is `None` if the constraint cannot be evaluated on
/// configurations that only another constraint excludes, or if the diagram would grow too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintEffect {
    /// The constraint's name.
    pub name: String,
    /// Number of combinations of values that the constraint excludes alone.
    pub removed_alone: Option<BigUint>,
    /// Number of combinations that the constraint excludes among those that the constraints before
    /// it leave.
    pub removed_in_order: Option<BigUint>,
    /// True if the space would be the same without the constraint.
    pub redundant: Option<bool>,
}

/// Maximum number of nodes of all diagrams of an analysis together: a few seconds of work.
const MAX_NODES: usize = 4_000_000;

impl Space {
    /// Analyses the constraints and values. Reports the combinations that each constraint excludes,
    /// alone and after the constraints before it, the redundant constraints, and the values that no
    /// configuration has.
    ///
    /// Counts come from diagrams of the constraints concerned; nothing is listed. Costs about one
    /// construction of the constraints' groups per constraint. Groups of parameters that a
    /// constraint does not touch are not built again. Leaves single numbers out when the work grows
    /// too large. A closure that was missing when the space was [read back](Space#storing) counts
    /// as excluding nothing.
    pub fn analyse(&self) -> Analysis {
        let inner = &*self.inner;
        let counter = Counter { inner, nodes: RefCell::new(MAX_NODES), known: RefCell::default() };
        let count = inner.constraints.len();
        let mut before = Some(self.cartesian_size());
        let mut constraints = Vec::with_capacity(count);
        for (index, constraint) in inner.constraints.iter().enumerate() {
            let alone = counter.size(|other| other == index);
            let after = counter.size(|other| other <= index);
            let without = counter.size(|other| other != index);
            constraints.push(ConstraintEffect {
                name: constraint.name().to_owned(),
                removed_alone: alone.map(|left| self.cartesian_size() - left),
                removed_in_order: before.zip(after.as_ref()).map(|(before, after)| before - after),
                redundant: without.map(|without| without == inner.size),
            });
            before = after;
        }
        Analysis { constraints, dead_values: self.dead_values() }
    }

    /// Returns the indices of the values that no configuration has, for each parameter in the
    /// user's order. Costs O(arcs).
    pub fn dead_values(&self) -> Vec<Vec<u32>> {
        let mut used: Vec<Vec<bool>> =
            self.inner.parameters.iter().map(|parameter| vec![false; parameter.values().len()]).collect();
        self.inner.diagrams.iter().for_each(|diagram| diagram.mark_used(&mut used));
        let dead = |used: Vec<bool>| {
            used.iter().enumerate().filter(|(_, used)| !**used).map(|(index, _)| index as u32).collect()
        };
        used.into_iter().map(dead).collect()
    }
}

/// The parameters and the constraints of a group.
type Key = (Vec<usize>, Vec<usize>);

/// Counts the configurations left by a subset of a space's constraints.
struct Counter<'a> {
    inner: &'a Inner,
    /// The number of nodes still allowed.
    nodes: RefCell<usize>,
    /// The sizes of the groups counted so far.
    known: RefCell<HashMap<Key, Option<BigUint>>>,
}

impl Counter<'_> {
    /// Returns the size of the space under the constraints that `chosen` accepts.
    fn size(&self, chosen: impl Fn(usize) -> bool) -> Option<BigUint> {
        let conjuncts: Vec<Conjunct> =
            self.inner.conjuncts.iter().filter(|conjunct| chosen(conjunct.constraint)).cloned().collect();
        // Conjuncts without parameters are true, because the space exists.
        joined(self.inner.parameters.len(), &conjuncts).iter().map(|group| self.group(group)).product()
    }

    fn group(&self, group: &Joined) -> Option<BigUint> {
        let constraints: Vec<usize> = group.conjuncts.iter().map(|conjunct| conjunct.constraint).collect();
        let key = (group.parameters.clone(), constraints);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let size = self.build(group);
        self.known.borrow_mut().insert(key, size.clone());
        size
    }

    fn build(&self, group: &Joined) -> Option<BigUint> {
        let limits = Limits { nodes: *self.nodes.borrow() / 4, ..Limits::default() };
        let built =
            groups::build(std::slice::from_ref(group), &self.inner.parameters, &limits.into(), Some(NonZeroUsize::MIN));
        let built = built.into_iter().next()?;
        let nodes = match &built {
            Ok(Some(diagrams)) => diagrams.iter().map(Diagram::nodes).sum(),
            Ok(None) => 0,
            Err(_) => limits.nodes,
        };
        let mut left = self.nodes.borrow_mut();
        *left = left.saturating_sub(nodes);
        match built {
            Ok(Some(diagrams)) => Some(diagrams.iter().map(Diagram::size).product()),
            Ok(None) => Some(BigUint::ZERO),
            Err(_) => None,
        }
    }
}
