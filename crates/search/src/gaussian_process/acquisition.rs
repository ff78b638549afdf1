//! The value of a candidate: the expected improvement, and the probability that limits are kept.

use super::told::Told;
use tunesmith_core::{Aspects, Scale, non_dominated};
use tunesmith_model::{Front, GaussianProcess, Posterior, Prediction, log_expected_improvement, log_probability_below};

/// Excess from which on targets are compressed, as slowdowns are: how far a limit is broken does not
/// help to find where it is kept.
const BEND: f64 = 0.5;
/// The share of the evaluations' extent by which the reference of the hypervolume lies beyond the worst.
const BEYOND: f64 = 0.1;
/// The least distance of the reference from the worst: a single evaluation has no extent.
const LEAST: f64 = 0.1;

/// The targets of the models beside that of the score: those of every objective of a front, then
/// those of every limit. Empty in most runs.
#[derive(Debug, Default)]
pub(super) struct AspectTargets {
    pub(super) each: Vec<Vec<f64>>,
    /// The number of objectives among them.
    objectives: usize,
}

/// A model of an aspect, ready to predict.
pub(super) struct Side<'a> {
    pub(super) process: &'a GaussianProcess,
    pub(super) posterior: Posterior,
}

/// The aim of the next evaluation.
#[derive(Debug)]
pub(super) enum Goal {
    /// A score below this target.
    Below(f64),
    /// More hypervolume.
    Front(Front),
    /// A configuration that keeps all limits: none is known.
    Feasible,
}

/// The rule that values candidates.
#[derive(Debug)]
pub(super) struct Acquisition {
    pub(super) goal: Goal,
    /// The number of aspects that are objectives. The others are limits.
    pub(super) objectives: usize,
}

impl AspectTargets {
    /// Returns the targets of all evaluations told. A failure, which has no aspects, is as bad as the
    /// worst of the others.
    pub(super) fn new(told: &[Told]) -> Self {
        let aspects = |told: &Told| told.aspects.as_deref().cloned();
        let all: Vec<Option<Aspects>> = told.iter().map(aspects).collect();
        let most = |count: fn(&Aspects) -> usize| all.iter().flatten().map(count).max().unwrap_or(0);
        let objectives = most(|aspects| aspects.objectives.len());
        let limits = most(|aspects| aspects.excesses.len());
        let objective = |at: usize| {
            let score = |aspects: &Option<Aspects>| aspects.as_ref()?.objectives.get(at).copied();
            logarithms(&all.iter().map(score).collect::<Vec<_>>())
        };
        let limit = |at: usize| {
            let excess = |aspects: &Option<Aspects>| aspects.as_ref()?.excesses.get(at).copied().map(bent);
            let excesses: Vec<Option<f64>> = all.iter().map(excess).collect();
            let worst = excesses.iter().copied().flatten().fold(0.0, f64::max);
            excesses.into_iter().map(|excess| excess.unwrap_or(worst)).collect()
        };
        Self { each: (0..objectives).map(objective).chain((0..limits).map(limit)).collect(), objectives }
    }

    /// Returns the rule for the next evaluation. `best` is the target of the best configuration that
    /// keeps all limits, less a margin, if there is one.
    pub(super) fn acquisition(&self, told: &[Told], best: Option<f64>) -> Acquisition {
        let goal = match best {
            None => Goal::Feasible,
            Some(_) if self.objectives > 0 => Goal::Front(self.front(told)),
            Some(best) => Goal::Below(best),
        };
        Acquisition { goal, objectives: self.objectives }
    }

    /// Returns the front of the configurations that keep all limits, in targets.
    fn front(&self, told: &[Told]) -> Front {
        let objectives = &self.each[..self.objectives];
        let correct = (0..told.len()).filter(|at| told[*at].score.is_some());
        let points: Vec<Vec<f64>> = correct.map(|at| objectives.iter().map(|targets| targets[at]).collect()).collect();
        let kept: Vec<Vec<f64>> = non_dominated(&points).into_iter().map(|at| points[at].clone()).collect();
        let reference = |dimension: usize| {
            // The worst of the front would confine the search to the front's present extent.
            let own = points.iter().map(|point| point[dimension]);
            let (best, worst) = (own.clone().fold(f64::INFINITY, f64::min), own.fold(f64::NEG_INFINITY, f64::max));
            worst + (BEYOND * (worst - best)).max(LEAST)
        };
        let reference: Vec<f64> = (0..objectives.len()).map(reference).collect();
        Front::new(&kept, &reference)
    }
}

impl Acquisition {
    /// Returns the logarithm of the value of a candidate, from the predictions of its score and of its
    /// aspects: the expected improvement times the probability that every limit is kept (Schonlau,
    /// Welch and Jones, Global versus local search in constrained optimization of computer models,
    /// 1998).
    pub(super) fn gain(&self, score: &Prediction, aspects: &[Prediction]) -> f64 {
        let (objectives, limits) = aspects.split_at(self.objectives.min(aspects.len()));
        let improvement = match &self.goal {
            Goal::Below(best) => log_expected_improvement(score.mean, score.deviation, *best),
            Goal::Front(front) => front.expected_improvement(objectives).ln(),
            Goal::Feasible => 0.0,
        };
        improvement + limits.iter().map(|limit| log_probability_below(limit.mean, limit.deviation, 0.0)).sum::<f64>()
    }
}

/// Returns the logarithms of scores against the least, on a [`Scale`] on which they are positive. Other than
/// the targets of a single objective,
/// they are not compressed: the ends of a front are far from the best in some objective. A failure is as
/// bad as the worst.
fn logarithms(scores: &[Option<f64>]) -> Vec<f64> {
    let scores = Scale::all(scores);
    let known = || scores.iter().copied().flatten();
    let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    scores.iter().map(|score| (score.unwrap_or(most) / least).ln()).collect()
}

/// Returns an excess on the scale of targets: about linear near the limit, logarithmic far from it.
fn bent(excess: f64) -> f64 {
    (BEND * (excess.abs() / BEND).ln_1p()).copysign(excess)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::{Parameter, Space, Value};

    fn told(rank: u128, score: Option<f64>, excesses: &[f64], objectives: &[f64]) -> Told {
        let parameter = Parameter::new("X", (0..9).map(Value::Int)).unwrap();
        let space = Space::builder().parameter(parameter).build().unwrap();
        let aspects = Aspects { score: Some(1.0), excesses: excesses.to_vec(), objectives: objectives.to_vec() };
        let aspects = (!excesses.is_empty() || !objectives.is_empty()).then(|| Box::new(aspects));
        Told { config: space.id(rank).unwrap(), score, aspects, ms: None }
    }

    #[test]
    fn a_failure_is_as_far_beyond_a_limit_as_the_worst() {
        let all = [told(0, Some(1.0), &[-1.0], &[]), told(1, None, &[2.0], &[]), told(2, None, &[], &[])];
        let targets = AspectTargets::new(&all);
        assert_eq!(targets.each[0][2], targets.each[0][1]);
        assert!(targets.each[0][0] < 0.0 && targets.each[0][1] > 0.0);
        assert!(AspectTargets::new(&all[2..]).each.is_empty());
    }

    #[test]
    fn what_surely_breaks_a_limit_is_worth_less_than_what_surely_keeps_it() {
        let all = [told(0, Some(1.0), &[-1.0], &[])];
        let rule = AspectTargets::new(&all).acquisition(&all, Some(0.0));
        let score = Prediction { mean: -0.1, deviation: 0.1 };
        let gain = |mean: f64| rule.gain(&score, &[Prediction { mean, deviation: 0.2 }]);
        assert!(gain(-1.0) > gain(0.0) && gain(0.0) > gain(1.0));
        assert!((gain(0.0) - gain(-5.0) - 0.5f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn a_front_values_what_no_member_dominates() {
        let all = [told(0, Some(1.0), &[], &[1.0, 4.0]), told(1, Some(1.0), &[], &[4.0, 1.0])];
        let targets = AspectTargets::new(&all);
        let rule = targets.acquisition(&all, Some(0.0));
        let at = |mean: f64| Prediction { mean, deviation: 0.01 };
        let worst = targets.each[0][1];
        let score = at(0.0);
        assert!(rule.gain(&score, &[at(0.1), at(0.1)]) > rule.gain(&score, &[at(worst), at(worst)]));
    }
}
