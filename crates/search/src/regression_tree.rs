//! Search with one regression tree.

use crate::options::{OptionSpec, Options, StrategyError};
use crate::tree_candidates::{Evaluations, TreeCandidates, is_new};
use crate::unseen::Unseen;
use rand::seq::IndexedRandom as _;
use std::cmp::Ordering;
use tunesmith_core::{Request, Rng, Scale, Searcher, Told, View};
use tunesmith_model::{RegressionTree as Model, Regressor as _, TreeSettings};
use tunesmith_space::ConfigId;

/// Starchart's search (Jia, Shaw and Martonosi, Starchart: hardware and software optimization using
/// recursive partitioning regression trees, 2013). It measures random configurations until a
/// regression tree predicts times well. Then it measures configurations in the order of the tree's
/// predictions.
///
/// There are two protocols:
///
/// - `paper` follows Filipovic et al., who ran it for comparison (Using hardware performance
///   counters to speed up autotuning convergence on GPUs, 2022, section 4.8.1). It measures 200
///   random configurations for validation. Then it learns from random configurations, 20 at first,
///   until the tree's median relative error on the validation set is at most 15 % or it has learnt
///   from 200. That tree orders the space once. Failures are not learnt.
/// - `frugal`, the default, spends no evaluation on validation. It predicts each random
///   configuration before it learns it. Sampling ends when the median relative error of the last 20
///   predictions is at most 15 %, or at the latest after a quarter of the budget (50 evaluations if
///   the budget is not a number). From then on, the tree is grown anew after every evaluation, so
///   the search leaves a leaf that disappoints. The tree learns logarithms of times; a failure is
///   as bad as the worst success.
///
/// Among configurations of the same leaf, a random one is taken. Trees use the features of the
/// Gaussian process. A space of more than 20,000 configurations is not ordered as a whole. In each
/// step, the tree predicts 2048 random configurations and the neighbours of the best five.
///
/// The unit of the times does not matter. Cost per evaluation: a tree, and one walk down it for
/// each configuration predicted.
#[derive(Debug)]
pub struct RegressionTree {
    settings: RegressionTreeSettings,
    told: Evaluations,
    /// Relative errors of predictions made before the evaluation.
    errors: Vec<f64>,
    phase: Phase,
    candidates: Option<TreeCandidates>,
    unseen: Unseen,
}

/// The options, as documented in [`RegressionTree::OPTIONS`].
#[derive(Clone, Debug)]
struct RegressionTreeSettings {
    paper: bool,
    first: usize,
    most: usize,
    error: f64,
    validation: usize,
    tree: TreeSettings,
}

/// The purpose of the next configuration.
#[derive(Debug)]
enum Phase {
    /// To learn from it.
    Sampling,
    /// To find the best. With the paper's protocol, holds the tree that orders the space.
    Choosing(Option<Model>),
}

/// Maximum number of random evaluations of the frugal protocol if the budget is not a number: a
/// quarter of the default budget.
const DEFAULT_SAMPLE: usize = 50;
/// Number of recent predictions whose median error the frugal protocol checks.
const RECENT: usize = 20;

impl RegressionTree {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "protocol",
            default: "frugal",
            meaning: "frugal or paper: validates on the configurations to be learned next, or on separate evaluations",
        },
        OptionSpec {
            name: "first",
            default: "20",
            meaning: "a whole number from 2: the number of random configurations before the first validation",
        },
        OptionSpec {
            name: "error",
            default: "0.15",
            meaning: "a number from 0: the median relative error at which sampling ends",
        },
        OptionSpec {
            name: "most",
            default: "200",
            meaning: "a whole number from 2: the maximum number of random configurations",
        },
        OptionSpec {
            name: "validation",
            default: "200",
            meaning: "a whole number from 1: the number of random configurations for validation in the paper's \
                 protocol",
        },
        OptionSpec {
            name: "min_leaf",
            default: "2",
            meaning: "a whole number from 1: the minimum number of evaluations of a leaf",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let from_two = |name| options.number(name, |number| number.fract() == 0.0 && number >= 2.0);
        let from_one = |name| options.number(name, |number| number.fract() == 0.0 && number >= 1.0);
        let settings = RegressionTreeSettings {
            paper: options.choice("protocol", &["frugal", "paper"])? == 1,
            first: from_two("first")? as usize,
            most: from_two("most")? as usize,
            error: options.number("error", |error| error >= 0.0)?,
            validation: from_one("validation")? as usize,
            tree: TreeSettings { min_leaf: from_one("min_leaf")? as usize, ..TreeSettings::default() },
        };
        let (told, unseen) = (Evaluations::default(), Unseen::default());
        Ok(Self { settings, told, errors: Vec::new(), phase: Phase::Sampling, candidates: None, unseen })
    }

    fn candidates(&mut self, view: &View<'_>) -> &TreeCandidates {
        self.candidates.get_or_insert_with(|| TreeCandidates::new(view.space()))
    }

    /// Returns the next phase if the tree has learnt enough. With the paper's protocol, it contains
    /// the tree.
    fn sampled(&mut self, view: &View<'_>) -> Option<Phase> {
        let RegressionTreeSettings { paper, first, most, error, validation, .. } = self.settings;
        let count = self.told.len();
        if !paper {
            let most = most.min(view.budget().map_or(DEFAULT_SAMPLE, |budget| (budget / 4) as usize));
            let recent = &self.errors[self.errors.len().saturating_sub(RECENT)..];
            let is_good = count >= first && median(recent).is_some_and(|median| median <= error);
            return (count >= most || is_good).then_some(Phase::Choosing(None));
        }
        if count < validation + first {
            return None;
        }
        let tree = self.tree(view, validation..count);
        let is_good = tree.as_ref().is_some_and(|tree| self.error(view, tree, validation..count) <= error);
        (count >= validation + most || is_good).then_some(Phase::Choosing(tree))
    }

    /// Returns the median relative error, on the evaluations for validation, of a tree learnt from
    /// `learnt`.
    fn error(&mut self, view: &View<'_>, tree: &Model, learnt: std::ops::Range<usize>) -> f64 {
        let scores = Scale::all(&self.told.scores);
        let Some(best) = scores[learnt].iter().flatten().copied().reduce(f64::min) else {
            return f64::INFINITY;
        };
        let validation = self.settings.validation;
        let configs = self.told.configs[..validation].to_vec();
        let table = self.candidates(view).table(view.space(), &configs);
        let predicted = tree.predict_all(&table);
        let pairs = predicted.iter().zip(&scores);
        let errors: Vec<f64> = pairs.filter_map(|(p, score)| Some((p * best / (*score)? - 1.0).abs())).collect();
        median(&errors).unwrap_or(f64::INFINITY)
    }

    /// Returns the tree of the evaluations in `range`, or `None` without a success. With the
    /// paper's protocol it learns slowdowns, else their logarithms.
    fn tree(&mut self, view: &View<'_>, range: std::ops::Range<usize>) -> Option<Model> {
        let scores = &Scale::all(&self.told.scores)[range.clone()];
        let best = scores.iter().flatten().copied().reduce(f64::min)?;
        let worst = scores.iter().flatten().copied().fold(best, f64::max);
        let paper = self.settings.paper;
        // Use ratios: a change of the unit by a power of two then changes no bit.
        let target = |score: &Option<f64>| match score {
            Some(score) if paper => Some(score / best),
            None if paper => None,
            score => Some((score.unwrap_or(worst) / best).ln()),
        };
        let pairs = scores.iter().zip(&self.told.configs[range]);
        let (y, configs): (Vec<f64>, Vec<ConfigId>) =
            pairs.filter_map(|(score, config)| Some((target(score)?, *config))).unzip();
        let table = self.candidates(view).table(view.space(), &configs);
        Model::fit(&table, &y, &self.settings.tree).ok()
    }

    /// Returns the relative error of the tree of the evaluations told so far at one more
    /// evaluation.
    fn surprise(&mut self, view: &View<'_>, config: ConfigId, score: f64) -> Option<f64> {
        let scale = Scale::of(self.told.scores.iter().copied().flatten());
        let (best, score) = (self.told.scores.iter().copied().flatten().reduce(f64::min)?, scale.positive(score));
        let best = scale.positive(best);
        let tree = self.tree(view, 0..self.told.len())?;
        let table = self.candidates(view).table(view.space(), &[config]);
        Some((tree.predict_all(&table)[0].exp() * best / score - 1.0).abs())
    }

    /// Returns the new configuration with the lowest prediction, a random one of equal ones.
    fn choose(&mut self, view: &View<'_>, fixed: Option<&Model>, rng: &mut Rng) -> Option<ConfigId> {
        let grown = if fixed.is_none() { self.tree(view, 0..self.told.len()) } else { None };
        let tree = fixed.or(grown.as_ref())?;
        let mut order: Vec<usize> = (0..self.told.len()).filter(|&index| self.told.scores[index].is_some()).collect();
        order.sort_by(|&a, &b| self.told.scores[a].partial_cmp(&self.told.scores[b]).unwrap_or(Ordering::Equal));
        let leaders: Vec<ConfigId> = order.iter().map(|&index| self.told.configs[index]).collect();
        let offered = self.candidates(view).offered(view, &leaders, rng);
        let predicted = tree.predict_all(&offered.table);
        let mut lowest = f64::INFINITY;
        let mut equal = Vec::new();
        for (&config, &value) in offered.configs.iter().zip(&predicted) {
            if value <= lowest && is_new(view, config) {
                if value < lowest {
                    equal.clear();
                }
                lowest = value;
                equal.push(config);
            }
        }
        equal.choose(rng).copied()
    }

    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if matches!(self.phase, Phase::Sampling)
            && let Some(next) = self.sampled(view)
        {
            self.phase = next;
        }
        let chosen = match std::mem::replace(&mut self.phase, Phase::Sampling) {
            Phase::Sampling => None,
            Phase::Choosing(tree) => {
                let chosen = self.choose(view, tree.as_ref(), rng);
                self.phase = Phase::Choosing(tree);
                chosen
            }
        };
        chosen.or_else(|| self.unseen.draw(view, rng))
    }
}

/// Returns the median: the middle number, or the mean of the two in the middle.
fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => None,
        1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

impl Searcher for RegressionTree {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        self.propose(view, rng).map(Request::timed).into_iter().collect()
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        let config = told.evaluation.request.config;
        if let (false, Phase::Sampling, Some(score)) = (self.settings.paper, &self.phase, told.score) {
            let surprise = self.surprise(view, config, score);
            self.errors.extend(surprise);
        }
        self.told.add(config, told.score);
    }
}
