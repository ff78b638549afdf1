//! Top-down construction, one layer per parameter.
//!
//! A node stands for all beginnings of configurations after which the same continuations are valid as far as can be
//! seen from the values that constraints still need: ATF builds a tree of beginnings, this merges them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::{Diagram, Layer};
use crate::compile::Conjunct;
use crate::expr::{Datum, Evaluator, ExprError};
use crate::limits::Limits;
use crate::parameter::Parameter;

/// Why a group of parameters has no diagram.
#[derive(Clone, Debug)]
pub(crate) enum Obstacle {
    /// A conjunct cannot be evaluated on a configuration that nothing else excludes.
    Evaluation {
        /// The conjunct, by index.
        conjunct: usize,
        /// Its parameters and the indices of their values there.
        values: Vec<(usize, u32)>,
        /// What is wrong.
        error: ExprError,
    },
    /// The layers grow beyond a limit.
    TooLarge {
        /// The limit.
        limit: String,
        /// The conjuncts that keep the last layer's nodes apart, by index.
        conjuncts: Vec<usize>,
    },
}

/// Builds the diagram of the parameters in `order`, which `conjuncts` join; `None` when they leave nothing.
///
/// Every layer costs its nodes times the parameter's values times the conjuncts that end there.
pub(crate) fn build(
    order: Vec<usize>,
    parameters: &[Parameter],
    conjuncts: &[Conjunct],
    limits: &Limits,
) -> Result<Option<Diagram>, Obstacle> {
    let mut construction = Construction::new(&order, parameters, conjuncts, limits);
    let mut layers = Vec::with_capacity(order.len());
    let mut states = vec![State::default()];
    for level in 0..order.len() {
        let (layer, next) = construction.layer(level, &states)?;
        layers.push(layer);
        states = next;
    }
    match states.into_iter().find_map(|state| state.failure.0) {
        Some(failure) => Err(Arc::unwrap_or_clone(failure)),
        None => Ok(Diagram::reduce(order, &layers)),
    }
}

/// What a node of an unreduced layer remembers of the values before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    /// The value index of each earlier level; 0 where no later conjunct needs it.
    values: Vec<u32>,
    failure: Failure,
}

/// A conjunct that could not be evaluated, if there is one. What follows may still exclude the configuration; otherwise
/// it is an error. All failures are equal, so that one example stands for all beginnings that a state merges.
#[derive(Clone, Debug, Default)]
struct Failure(Option<Arc<Obstacle>>);

impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_some() == other.0.is_some()
    }
}

impl Eq for Failure {}

impl Hash for Failure {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.is_some().hash(state);
    }
}

struct Construction<'a> {
    conjuncts: &'a [Conjunct],
    limits: &'a Limits,
    /// The level of each parameter.
    level_of: HashMap<usize, usize>,
    /// The values by level.
    values: Vec<Vec<Datum>>,
    /// The levels of each conjunct's first and last parameter.
    spans: Vec<Range<usize>>,
    nodes: usize,
    bytes: usize,
}

impl<'a> Construction<'a> {
    fn new(order: &[usize], parameters: &[Parameter], conjuncts: &'a [Conjunct], limits: &'a Limits) -> Self {
        let level_of: HashMap<usize, usize> =
            order.iter().enumerate().map(|(level, &parameter)| (parameter, level)).collect();
        let span = |conjunct: &Conjunct| {
            let levels = || conjunct.parameters.iter().map(|parameter| level_of[parameter]);
            levels().min().unwrap_or(0)..levels().max().unwrap_or(0)
        };
        Self {
            conjuncts,
            limits,
            values: order
                .iter()
                .map(|&parameter| parameters[parameter].values().iter().map(Datum::from).collect())
                .collect(),
            spans: conjuncts.iter().map(span).collect(),
            level_of,
            nodes: 0,
            bytes: 0,
        }
    }

    /// The nodes of `level`, one per state, and the states of the next level.
    fn layer(&mut self, level: usize, states: &[State]) -> Result<(Layer, Vec<State>), Obstacle> {
        let kept = self.kept_after(level);
        let checks: Vec<usize> =
            (0..self.conjuncts.len()).filter(|&conjunct| self.spans[conjunct].end == level).collect();
        let mut layer = Layer::default();
        let mut numbers: HashMap<State, u32> = HashMap::new();
        let mut next = Vec::new();
        for state in states {
            for value in 0..self.values[level].len() as u32 {
                let Some(mut state) = self.step(state, value, &checks) else { continue };
                state.values.iter_mut().zip(&kept).filter(|(_, kept)| !**kept).for_each(|(value, _)| *value = 0);
                let child = match numbers.entry(state) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        next.push(new.key().clone());
                        *new.insert(next.len() as u32 - 1)
                    }
                };
                layer.push(value, child);
            }
            layer.finish_node();
            self.check_limits(level, next.len(), layer.runs().len())?;
        }
        self.nodes += next.len();
        self.bytes += size_of_val(layer.runs());
        Ok((layer, next))
    }

    /// The state after `value`, unless one of `checks` excludes it.
    fn step(&self, state: &State, value: u32, checks: &[usize]) -> Option<State> {
        let mut after = State { values: Vec::with_capacity(state.values.len() + 1), failure: state.failure.clone() };
        after.values.extend(&state.values);
        after.values.push(value);
        for &conjunct in checks {
            match self.evaluate(conjunct, &after.values) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    after.failure.0.get_or_insert_with(|| Arc::new(self.failure(conjunct, &after.values, error)));
                }
            }
        }
        Some(after)
    }

    fn evaluate(&self, conjunct: usize, indices: &[u32]) -> Result<bool, ExprError> {
        let lookup = |parameter: usize, _: &Range<usize>| {
            let level = self.level_of[&parameter];
            Ok(self.values[level][indices[level] as usize].clone())
        };
        Evaluator::new(&lookup).evaluate(&self.conjuncts[conjunct].node).map(|value| value.truthy())
    }

    fn failure(&self, conjunct: usize, indices: &[u32], error: ExprError) -> Obstacle {
        let value = |&parameter: &usize| (parameter, indices[self.level_of[&parameter]]);
        let values = self.conjuncts[conjunct].parameters.iter().map(value).collect();
        Obstacle::Evaluation { conjunct, values, error }
    }

    /// For each level up to `level`, whether a conjunct that ends later needs its value.
    fn kept_after(&self, level: usize) -> Vec<bool> {
        let mut kept = vec![false; level + 1];
        for (conjunct, _) in self.conjuncts.iter().zip(&self.spans).filter(|(_, span)| span.end > level) {
            let levels = conjunct.parameters.iter().map(|parameter| self.level_of[parameter]);
            levels.filter(|&earlier| earlier <= level).for_each(|earlier| kept[earlier] = true);
        }
        kept
    }

    /// Refuses to go on once `nodes` new nodes and `runs` new runs on top of what there is pass a limit.
    fn check_limits(&self, level: usize, nodes: usize, runs: usize) -> Result<(), Obstacle> {
        let all_nodes = self.nodes + nodes;
        // A state is kept twice, with the values of all levels so far.
        let state_bytes = 2 * (size_of::<State>() + 4 * (level + 1));
        let bytes = self.bytes + runs * size_of::<super::Run>() + nodes * state_bytes;
        let limit = if all_nodes > self.limits.nodes {
            format!("{} nodes", self.limits.nodes)
        } else if bytes > self.limits.bytes {
            format!("{} bytes", self.limits.bytes)
        } else {
            return Ok(());
        };
        let spans = |conjunct: &usize| self.spans[*conjunct].start <= level && self.spans[*conjunct].end > level;
        Err(Obstacle::TooLarge { limit, conjuncts: (0..self.conjuncts.len()).filter(spans).collect() })
    }
}
