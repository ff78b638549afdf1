//! The values of the parameters among the best configurations.

use crate::condition::{Condition, Span};
use crate::trials::Trials;
use serde::Serialize;
use tunesmith_space::Value;

/// Maximum distance of the best configurations from the best of all, as a share of its score.
const WITHIN: f64 = 0.1;
/// Maximum number of the best configurations, as a share of all correct ones.
const TOP: f64 = 0.05;
/// Minimum number of the best configurations, if as many were correct.
const FEWEST: usize = 5;

/// The values of each parameter among the best configurations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AmongBest {
    /// Number of these configurations.
    pub count: usize,
    /// The largest score among them.
    pub up_to: f64,
    /// The values that they have, by parameter, in the parameters' order. Parameters with a single value
    /// are left out.
    pub parameters: Vec<BestValues>,
}

/// The values of one parameter among the best configurations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BestValues {
    /// The values as a condition that all of them meet.
    #[serde(rename = "values")]
    pub condition: Condition,
    /// The end of the list of values at which most of them are, if there is one.
    pub edge: Option<Edge>,
}

/// An end of the list of an ordered parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// The smallest value.
    Smallest,
    /// The largest value.
    Largest,
}

impl BestValues {
    /// Returns true if their values reach from the first to the last of the list.
    pub fn is_open(&self) -> bool {
        self.condition.span == Span::Any
    }
}

/// Returns the values among the best configurations: those within 10 % of the best score, at most
/// 5 % of all correct ones and at least five. Returns `None` if no configuration has a score.
pub fn among_best(trials: &Trials) -> Option<AmongBest> {
    let mut scored: Vec<(&[u32], f64)> = trials.scored().collect();
    scored.sort_by(|a, b| a.1.total_cmp(&b.1));
    let best = scored.first()?.1;
    let near = scored.partition_point(|(_, score)| *score <= best + WITHIN * best.abs());
    let top = (TOP * scored.len() as f64).floor() as usize;
    scored.truncate(near.min(top).max(FEWEST));
    let free = (0..trials.axes().len()).filter(|at| trials.axes()[*at].is_free());
    let parameters = free.map(|at| values(trials, at, &scored)).collect();
    Some(AmongBest { count: scored.len(), up_to: scored[scored.len() - 1].1, parameters })
}

/// Returns true if smaller values of a parameter may make sense. Sizes and counts begin at 1.
fn has_smaller(value: &Value) -> bool {
    !matches!(value, Value::Int(0 | 1))
}

fn values(trials: &Trials, at: usize, best: &[(&[u32], f64)]) -> BestValues {
    let axis = &trials.axes()[at];
    let mut places: Vec<usize> = best.iter().map(|(places, _)| places[at] as usize).collect();
    places.sort_unstable();
    let last = axis.values().len() - 1;
    let most = |place: usize| 2 * places.iter().filter(|own| **own == place).count() > places.len();
    // Of two values, each is at an end: that says nothing.
    let edge = match axis.is_ordered() && last >= 2 {
        true if most(0) && has_smaller(&axis.values()[0]) => Some(Edge::Smallest),
        true if most(last) => Some(Edge::Largest),
        _ => None,
    };
    places.dedup();
    BestValues { condition: Condition { parameter: axis.name().to_string(), span: Span::around(axis, &places) }, edge }
}
