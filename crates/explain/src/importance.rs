//! The importance of parameters and of their interactions.

use crate::surrogate::{Scale, Surrogate};
use crate::trials::Trials;
use crate::variance::{Variances, pair, pairs, variances};
use serde::Serialize;

/// The shares of parameters and of pairs of them in the variance of a run's scores. Empty if the
/// run has too few scores for a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Importance {
    /// Number of parameters with more than one value.
    #[serde(skip)]
    pub parameters: usize,
    /// The share of each parameter alone, the largest first.
    pub importance: Vec<MainShare>,
    /// The share of each pair beyond those of its members, the largest first. Those below
    /// [`LEAST_PAIR`] are left out.
    pub interactions: Vec<PairShare>,
    /// The share of interactions of three parameters and more, and of the pairs left out.
    pub higher: Option<f64>,
    /// The share, from 0 to 1, of the variance of held-out scores that the model does not predict:
    /// noise, and what too few evaluations do not show. The other shares are those of the model.
    pub unexplained: Option<f64>,
    /// The scale of the scores.
    pub scale: Option<Scale>,
}

/// The share of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MainShare {
    /// The parameter.
    pub parameter: String,
    /// The share of the parameter alone.
    pub share: f64,
    /// That share and those of all pairs with it.
    pub with_interactions: f64,
}

/// The share of a pair of parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairShare {
    /// The two parameters.
    pub parameters: [String; 2],
    /// The share beyond those of each alone.
    pub share: f64,
}

/// Minimum share of a pair that is listed.
pub const LEAST_PAIR: f64 = 0.005;

/// Share of unexplained variance above which the other shares mean little.
pub const DOUBTFUL: f64 = 0.5;

/// Maximum share, with all its interactions, of a parameter without visible effect.
pub const INERT: f64 = 0.02;

impl MainShare {
    /// Returns true if the parameter has no visible effect, whatever the others are.
    pub fn is_inert(&self) -> bool {
        self.with_interactions < INERT
    }
}

/// Returns the importance of the parameters by functional analysis of variance (Hutter, Hoos and
/// Leyton-Brown, ICML 2014).
///
/// The variance of every tree of the model is divided exactly; a share is the mean of those of the
/// trees that have any. The variance is that over *all combinations* of the listed values, each
/// equally likely. In a constrained space some of these combinations are no configurations: there
/// the model continues what it saw in the neighbourhood.
pub fn importance(trials: &Trials, surrogate: Option<&Surrogate>) -> Importance {
    let parameters = trials.free().len();
    let found = surrogate.map(|surrogate| of_model(trials, surrogate));
    Importance { parameters, ..found.unwrap_or_default() }
}

fn of_model(trials: &Trials, surrogate: &Surrogate) -> Importance {
    let axes = trials.free();
    let weights: Vec<Vec<f64>> = axes.iter().map(|axis| axis.weights()).collect();
    let trees: Vec<Variances> = surrogate.trees().iter().map(|tree| variances(tree, &weights)).collect();
    let trees: Vec<&Variances> = trees.iter().filter(|tree| tree.total > 0.0).collect();
    let mean = |part: &dyn Fn(&Variances) -> f64| {
        trees.iter().map(|tree| part(tree) / tree.total).sum::<f64>() / trees.len().max(1) as f64
    };
    let count = weights.len();
    let alone: Vec<f64> = (0..count).map(|at| mean(&|tree| tree.main[at])).collect();
    let beyond: Vec<f64> = (0..count * count.saturating_sub(1) / 2).map(|at| mean(&|tree| tree.pairs[at])).collect();
    let name = |at: usize| axes[at].name().to_string();
    let main = |at: usize| {
        let others = (0..count).filter(|other| *other != at);
        let shared: f64 = others.map(|other| beyond[pair(at.min(other), at.max(other))]).sum();
        MainShare { parameter: name(at), share: alone[at], with_interactions: alone[at] + shared }
    };
    let mut importance: Vec<MainShare> = (0..count).map(main).collect();
    importance.sort_by(|a, b| b.share.total_cmp(&a.share));
    let shares = pairs(count).zip(&beyond).filter(|(_, share)| **share >= LEAST_PAIR);
    let mut interactions: Vec<PairShare> =
        shares.map(|((a, b), share)| PairShare { parameters: [name(a), name(b)], share: *share }).collect();
    interactions.sort_by(|a, b| b.share.total_cmp(&a.share));
    let listed: f64 = alone.iter().sum::<f64>() + interactions.iter().map(|pair| pair.share).sum::<f64>();
    Importance {
        importance,
        interactions,
        higher: Some((1.0 - listed).max(0.0)),
        unexplained: Some(surrogate.unexplained()),
        scale: Some(surrogate.scale()),
        ..Importance::default()
    }
}
