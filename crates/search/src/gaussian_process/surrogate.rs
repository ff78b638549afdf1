//! The model of a run: the schedule of its fits, and the evaluations it is fitted to.

use super::ProcessSettings;
use super::acquisition::{AspectTargets, Side};
use super::features::Features;
use super::launch::Trends;
use super::opinion::Opinion;
use super::pool::{CandidateSource, Pool, PoolScene};
use super::seconds::Seconds;
use super::told::Told;
use rand::seq::SliceRandom as _;
use std::collections::{HashMap, HashSet};
use tunesmith_core::{Rng, View};
use tunesmith_model::{Feature, GaussianProcess, Hyperparameters, Posterior, Rows, without_trends};
use tunesmith_space::ConfigId;

/// Maximum number of evaluations that a new model starts with. Half are the best, half random
/// others. More would cost ever more per step, and configurations far from the best say little
/// about it.
const MODELLED: usize = 400;
/// The model is fitted again after `n^2 / 400` more evaluations, between 1 and 100. So it is fitted
/// after each of the first 28, when the next evaluation says most about the hyperparameters and a
/// fit costs least.
const WAIT_DIVISOR: usize = 400;
const LONGEST_WAIT: usize = 100;

/// The state kept from one fit to the next.
#[derive(Debug)]
pub(super) struct Surrogate {
    features: Features,
    trends: Trends,
    /// The trends at the evaluations told so far.
    heights: Vec<Vec<f64>>,
    source: CandidateSource,
    parameters: Hyperparameters,
    /// The hyperparameters of the models of aspects.
    side_parameters: Vec<Hyperparameters>,
    fitted: Option<Fitted>,
}

/// The models beside the process of a surrogate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'a> {
    /// The second opinion on the scores, if there is one.
    pub(super) opinion: Option<&'a Opinion>,
    /// The predictor of seconds, if the choice looks at them.
    pub(super) seconds: Option<&'a Seconds>,
}

/// A model and its candidates.
#[derive(Debug)]
struct Fitted {
    /// The positions, among the evaluations told, of those that the model was fitted to.
    first: Vec<usize>,
    /// Number of evaluations told at the fit. Later ones follow the first.
    told: usize,
    /// The points of the process, in order.
    points: Vec<ConfigId>,
    process: GaussianProcess,
    /// The models of the aspects, with the same points.
    sides: Vec<GaussianProcess>,
    /// The slopes of the trends.
    slopes: Vec<f64>,
    pool: Pool,
    /// The best configuration whose neighbours were made candidates.
    leader: ConfigId,
}

impl Surrogate {
    /// Returns the model before its first fit. The `promising` configurations are candidates even
    /// in a space too large to list.
    pub(super) fn new(view: &View<'_>, (features, trends): (Features, Trends), promising: &[ConfigId]) -> Self {
        let source = CandidateSource::new(view.space(), (&features, &trends), promising);
        let parameters = Hyperparameters::typical(features.features());
        let (heights, side_parameters) = (vec![Vec::new(); trends.len()], Vec::new());
        Self { features, trends, heights, source, parameters, side_parameters, fitted: None }
    }

    /// Returns the configuration to evaluate next, or `None` if no candidate is left. `told` must
    /// contain a success; the targets are those of it. `pending` holds the configurations in flight.
    pub(super) fn choose(
        &mut self,
        view: &View<'_>,
        settings: &ProcessSettings,
        (told, targets, pending): (&[Told], &[f64], &[ConfigId]),
        beside: Beside<'_>,
        rng: &mut Rng,
    ) -> Option<ConfigId> {
        let aspects = AspectTargets::new(told);
        self.follow(view, told);
        let mut fitted = match self.fitted.take() {
            Some(fitted) if fitted.sides.len() == aspects.each.len() && fitted.is_fresh(told, pending) => fitted,
            _ => self.fit(view, settings, (told, targets, &aspects), beside, rng),
        };
        fitted.append(view, &self.features, told, pending);
        let posterior = fitted.posterior(told, &without_trends(targets, &self.heights, &fitted.slopes));
        let ranked = ranked(targets);
        let feasible = ranked.iter().copied().find(|&index| told[index].score.is_some());
        let best = feasible.unwrap_or(ranked[0]);
        let sides = sides(&fitted.sides, &aspects, |targets| fitted.of_points(told, targets));
        let (process, features) = (&fitted.process, &self.features);
        let trends = (&self.trends, fitted.slopes.as_slice());
        let Beside { opinion, seconds } = beside;
        let at = PoolScene { view, features, process, posterior: &posterior, trends, opinion, seconds, sides: &sides };
        if fitted.leader != told[best].config {
            fitted.leader = told[best].config;
            fitted.pool.add_neighbours(&at, &[fitted.leader], rng);
        }
        let goal = feasible.map(|best| targets[best] - settings.margin * posterior.variance.sqrt());
        let chosen = fitted.pool.choose(&at, &aspects.acquisition(told, goal), rng);
        self.fitted = Some(fitted);
        chosen
    }

    /// Fits a new model with new hyperparameters and candidates.
    fn fit(
        &mut self,
        view: &View<'_>,
        settings: &ProcessSettings,
        (told, targets, aspects): (&[Told], &[f64], &AspectTargets),
        beside: Beside<'_>,
        rng: &mut Rng,
    ) -> Fitted {
        let order = ranked(targets);
        let sample = sample(&order, settings.fit_points, rng);
        let (rows, y) = self.rows(view, told, targets, &sample);
        let features: &[Feature] = self.features.features();
        let sampled = |heights: &Vec<f64>| sample.iter().map(|&index| heights[index]).collect::<Vec<f64>>();
        let heights: Vec<Vec<f64>> = self.heights.iter().map(sampled).collect();
        self.parameters = Hyperparameters::fit(features, &rows, &y, &heights, self.parameters.clone());
        fit_sides(&mut self.side_parameters, features, (&rows, &sample), aspects);
        let slopes = self.parameters.slopes.clone();
        let first = sample_in_order(&order, rng);
        let (rows, y) = self.rows(view, told, &without_trends(targets, &self.heights, &slopes), &first);
        let process = GaussianProcess::new(features, self.parameters.clone(), &rows);
        let posterior = process.posterior(&y);
        let trends = (&self.trends, slopes.as_slice());
        let parameters = self.side_parameters.iter().cloned();
        let processes: Vec<_> = parameters.map(|own| GaussianProcess::new(features, own, &rows)).collect();
        let picked = |targets: &[f64]| first.iter().map(|&index| Some(targets[index])).collect();
        let sides = sides(&processes, aspects, picked);
        let (process, posterior, sides) = (&process, &posterior, sides.as_slice());
        let features = &self.features;
        let Beside { opinion, seconds } = beside;
        let at = PoolScene { view, features, process, posterior, trends, opinion, seconds, sides };
        let leaders: Vec<ConfigId> = order.iter().take(8).map(|&index| told[index].config).collect();
        let pool = self.source.pool(&at, &leaders, rng);
        let points = first.iter().map(|&index| told[index].config).collect();
        let process = process.clone();
        Fitted { first, told: told.len(), points, process, sides: processes, slopes, pool, leader: leaders[0] }
    }

    fn rows(&self, view: &View<'_>, told: &[Told], targets: &[f64], indices: &[usize]) -> (Rows, Vec<f64>) {
        let configs: Vec<ConfigId> = indices.iter().map(|&index| told[index].config).collect();
        let targets = indices.iter().map(|&index| targets[index]).collect();
        (self.features.rows(view.space(), &configs), targets)
    }

    /// Notes the trends at evaluations told since the last time.
    fn follow(&mut self, view: &View<'_>, told: &[Told]) {
        let noted = self.heights.first().map_or(told.len(), Vec::len);
        let new: Vec<ConfigId> = told[noted..].iter().map(|told| told.config).collect();
        let new = self.trends.at(view.space(), &new);
        self.heights.iter_mut().zip(new).for_each(|(heights, new)| heights.extend(new));
    }
}

impl Fitted {
    /// Returns true if the model can be extended: few evaluations were told since the fit, and each of
    /// its points was told or is pending.
    fn is_fresh(&self, told: &[Told], pending: &[ConfigId]) -> bool {
        let wait = (self.told * self.told / WAIT_DIVISOR).clamp(1, LONGEST_WAIT);
        let wanted: HashSet<ConfigId> = self.wanted(told, pending).collect();
        told.len() < self.told + wait && self.points.iter().all(|point| wanted.contains(point))
    }

    /// Returns the wanted points: those of the fit, those told since, and the pending ones.
    fn wanted<'a>(&'a self, told: &'a [Told], pending: &'a [ConfigId]) -> impl Iterator<Item = ConfigId> + 'a {
        let first = self.first.iter().map(|&index| told[index].config);
        first.chain(told[self.told..].iter().map(|told| told.config)).chain(pending.iter().copied())
    }

    /// Appends the wanted points that the process lacks. A point keeps its place when it is told.
    fn append(&mut self, view: &View<'_>, features: &Features, told: &[Told], pending: &[ConfigId]) {
        let points: HashSet<ConfigId> = self.points.iter().copied().collect();
        let new: Vec<ConfigId> = self.wanted(told, pending).filter(|config| !points.contains(config)).collect();
        let rows = features.rows(view.space(), &new);
        let processes = std::iter::once(&mut self.process).chain(&mut self.sides);
        processes.for_each(|process| (0..rows.len()).for_each(|row| process.append(&rows.row(row))));
        self.points.extend(new);
    }

    /// Returns the posterior of the evaluations told, whose targets lack the trends, with pending ones
    /// as predicted.
    fn posterior(&self, told: &[Told], targets: &[f64]) -> Posterior {
        self.process.posterior_with_gaps(&self.of_points(told, targets))
    }

    /// Returns the target of each point, or `None` if it is pending.
    fn of_points(&self, told: &[Told], targets: &[f64]) -> Vec<Option<f64>> {
        let first = self.first.iter().copied();
        let targets: HashMap<ConfigId, f64> =
            first.chain(self.told..told.len()).map(|index| (told[index].config, targets[index])).collect();
        self.points.iter().map(|point| targets.get(point).copied()).collect()
    }
}

/// Fits the hyperparameters of the models of aspects to the evaluations at positions, whose rows are
/// given.
fn fit_sides(
    all: &mut Vec<Hyperparameters>,
    features: &[Feature],
    (rows, positions): (&Rows, &[usize]),
    aspects: &AspectTargets,
) {
    all.resize_with(aspects.each.len(), || Hyperparameters::typical(features));
    for (parameters, targets) in all.iter_mut().zip(&aspects.each) {
        let y: Vec<f64> = positions.iter().map(|&index| targets[index]).collect();
        *parameters = Hyperparameters::fit(features, rows, &y, &[], parameters.clone());
    }
}

/// Returns the models of the aspects with their posteriors. `of_points` picks the targets of the
/// points of a model.
fn sides<'a>(
    processes: &'a [GaussianProcess],
    aspects: &AspectTargets,
    of_points: impl Fn(&[f64]) -> Vec<Option<f64>>,
) -> Vec<Side<'a>> {
    let side = |(process, targets): (&'a GaussianProcess, &Vec<f64>)| Side {
        process,
        posterior: process.posterior_with_gaps(&of_points(targets)),
    };
    processes.iter().zip(&aspects.each).map(side).collect()
}

/// Returns the positions of the targets from the lowest to the highest. Among equal targets, the
/// earlier comes first.
fn ranked(targets: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_by(|&a, &b| targets[a].total_cmp(&targets[b]));
    order
}

/// Returns at most `count` of `order`: half are the best, half random others.
fn sample(order: &[usize], count: usize, rng: &mut Rng) -> Vec<usize> {
    if order.len() <= count {
        return order.to_vec();
    }
    let (best, others) = order.split_at(count / 2);
    let mut others = others.to_vec();
    let (random, _) = others.partial_shuffle(rng, count - count / 2);
    best.iter().chain(&*random).copied().collect()
}

/// Returns the evaluations that a new model starts with, in the order told.
fn sample_in_order(order: &[usize], rng: &mut Rng) -> Vec<usize> {
    let mut sample = sample(order, MODELLED, rng);
    sample.sort_unstable();
    sample
}
