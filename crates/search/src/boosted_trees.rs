//! Search with boosted trees.

use crate::gaussian_process::targets::targets;
use crate::options::{OptionSpec, Options, StrategyError};
use crate::tree_candidates::{Evaluations, Listing, TreeCandidates, is_new};
use crate::unseen::Unseen;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use tunesmith_core::{Request, Rng, Searcher, Told, View};
use tunesmith_model::{
    BoostedSettings, BoostedTrees as Model, Prediction, Regressor as _, Table, log_expected_improvement,
};
use tunesmith_space::ConfigId;

/// Sequential model-based search with boosted regression trees. The model is that of Bergstra,
/// Pinto and Cox, Machine learning for predictive auto-tuning with boosted regression trees, 2012.
/// The loop is that of Hutter, Hoos and Leyton-Brown, Sequential model-based optimization for
/// general algorithm configuration, 2011. Several boosted models are fitted to different subsamples
/// of the evaluations. The mean and the spread of their predictions give an expected improvement.
/// The configuration with the largest one is evaluated next.
///
/// - The features, the spread of the first configurations and the targets are those of the Gaussian
///   process strategy. Targets are bent logarithms of the slowdown, and a failure is as bad as the
///   worst success.
/// - Between two evaluations, trees give no uncertainty. If all models agree, `doubt` is taken as
///   their uncertainty.
/// - The models are fitted after every evaluation up to 50, then whenever the number of evaluations
///   has grown by a fiftieth. Beyond 600 evaluations, they are fitted to the 300 best and 300
///   random others.
/// - In a space of up to 20,000 configurations, one model chooses 768 of them and 256 random ones
///   are added. All models predict these. In a larger space, they choose among 2048 random
///   configurations and the neighbours of the best five.
/// - With several requests in flight, it asks the next best configuration. Until two configurations
///   were correct, it draws at random.
///
/// The unit of the times does not matter. Cost per evaluation with the defaults: 240 small trees, a
/// walk down each of them for 1024 configurations, and down 30 of them for every configuration of a
/// listed space.
#[derive(Debug)]
pub struct BoostedTrees {
    settings: BoostedTreesSettings,
    told: Evaluations,
    pending: Vec<ConfigId>,
    candidates: Option<TreeCandidates>,
    /// The most promising configurations of the last fit, the best last, and the number of
    /// evaluations told at that time.
    queue: Vec<ConfigId>,
    fitted: usize,
    unseen: Unseen,
}

/// The options, as documented in [`BoostedTrees::OPTIONS`].
#[derive(Clone, Debug)]
struct BoostedTreesSettings {
    initial: usize,
    models: usize,
    model: BoostedSettings,
    margin: f64,
    doubt: f64,
}

/// Number of random configurations of which the farthest is one of the first.
const SPREAD_DRAWS: usize = 100;
/// Minimum number of correct evaluations for a model.
const FEWEST_SUCCESSES: usize = 2;
/// Maximum number of candidates for all models. One model chooses among more.
const SHORTLIST: usize = 1024;
/// Maximum number of evaluations that a model is fitted to. Half of them are the best.
const MODELLED: usize = 600;

impl BoostedTrees {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "initial",
            default: "8",
            meaning: "a whole number from 2: the number of first configurations, spread over the space",
        },
        OptionSpec {
            name: "models",
            default: "8",
            meaning: "a whole number from 2 to 100: the number of boosted models, whose spread is their uncertainty",
        },
        OptionSpec {
            name: "rounds",
            default: "30",
            meaning: "a whole number from 1 to 1000: the number of trees of each model",
        },
        OptionSpec { name: "depth", default: "4", meaning: "a whole number from 1 to 64: the depth of a tree" },
        OptionSpec {
            name: "min_leaf",
            default: "1",
            meaning: "a whole number from 1: the minimum number of evaluations of a leaf",
        },
        OptionSpec { name: "rate", default: "0.2", meaning: "a number above 0, at most 1: the learning rate" },
        OptionSpec {
            name: "subsample",
            default: "0.8",
            meaning: "a number above 0, at most 1: the part of the evaluations that each tree is fitted to",
        },
        OptionSpec {
            name: "shrinkage",
            default: "1",
            meaning: "a number from 0: the number of evaluations without deviation that are added to every leaf",
        },
        OptionSpec {
            name: "margin",
            default: "0.05",
            meaning: "a number from 0: the distance below the best at which an improvement begins, in standard \
                 deviations of the targets",
        },
        OptionSpec {
            name: "doubt",
            default: "0.1",
            meaning: "a number from 0: the least deviation of a prediction, in standard deviations of the targets",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let part = |name| options.number(name, |number| number > 0.0 && number <= 1.0);
        let positive = |name| options.number(name, |number| number >= 0.0);
        let model = BoostedSettings {
            rounds: options.number("rounds", |n| n.fract() == 0.0 && (1.0..=1000.0).contains(&n))? as usize,
            depth: options.number("depth", |n| n.fract() == 0.0 && (1.0..=64.0).contains(&n))? as usize,
            min_leaf: options.number("min_leaf", |n| n.fract() == 0.0 && n >= 1.0)? as usize,
            learning_rate: part("rate")?,
            subsample: part("subsample")?,
            shrinkage: positive("shrinkage")?,
            ..BoostedSettings::default()
        };
        let settings = BoostedTreesSettings {
            initial: options.number("initial", |n| n.fract() == 0.0 && n >= 2.0)? as usize,
            models: options.number("models", |n| n.fract() == 0.0 && (2.0..=100.0).contains(&n))? as usize,
            model,
            margin: positive("margin")?,
            doubt: positive("doubt")?,
        };
        Ok(Self {
            settings,
            told: Evaluations::default(),
            pending: Vec::new(),
            candidates: None,
            queue: Vec::new(),
            fitted: 0,
            unseen: Unseen::default(),
        })
    }

    /// Returns the next configuration to evaluate, or `None` if all are known.
    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if self.told.len() + self.pending.len() < self.settings.initial {
            let known: Vec<ConfigId> = self.told.configs.iter().chain(&self.pending).copied().collect();
            let farthest = self.candidates(view).features().farthest(
                view,
                &known,
                (SPREAD_DRAWS, |configs: &[ConfigId]| vec![0.0; configs.len()]),
                rng,
            );
            return farthest.or_else(|| self.unseen.draw(view, rng));
        }
        if self.told.successes() < FEWEST_SUCCESSES {
            return self.unseen.draw(view, rng);
        }
        // The longer the search, the less one more evaluation changes.
        if self.queue.is_empty() || self.told.len() > self.fitted + self.fitted / 50 {
            self.fitted = self.told.len();
            self.queue = self.ranked(view, rng);
        }
        let queue = &mut self.queue;
        std::iter::from_fn(|| queue.pop()).find(|&config| is_new(view, config)).or_else(|| self.unseen.draw(view, rng))
    }

    fn candidates(&mut self, view: &View<'_>) -> &TreeCandidates {
        self.candidates.get_or_insert_with(|| TreeCandidates::new(view.space()))
    }

    /// Returns new configurations by ascending expected improvement. Equal ones come in random
    /// order.
    fn ranked(&mut self, view: &View<'_>, rng: &mut Rng) -> Vec<ConfigId> {
        let y = targets(&self.told.scores);
        let order = ranked(&y);
        let sample = sample(&order, rng);
        let y: Vec<f64> = sample.iter().map(|&index| y[index]).collect();
        let configs: Vec<ConfigId> = sample.iter().map(|&index| self.told.configs[index]).collect();
        self.candidates(view);
        let Some(candidates) = &self.candidates else { return Vec::new() };
        let Some(models) = self.fit(&candidates.table(view.space(), &configs), &y, rng) else { return Vec::new() };
        let offered = candidates.offered(view, &configs, rng);
        let shortlist = shortlist(view, &offered, &models[0], rng);
        let predictions = predictions(&models, &offered.table.select(&shortlist));
        let scale = deviation(&y);
        let goal = y[0] - self.settings.margin * scale;
        let gain = |prediction: &Prediction| {
            let deviation = prediction.deviation.hypot(self.settings.doubt * scale);
            log_expected_improvement(prediction.mean, deviation, goal)
        };
        let mut gains: Vec<(f64, ConfigId)> =
            predictions.iter().zip(&shortlist).map(|(p, &index)| (gain(p), offered.configs[index])).collect();
        gains.shuffle(rng);
        gains.sort_by(|a, b| a.0.total_cmp(&b.0));
        gains.into_iter().map(|(_, config)| config).collect()
    }

    fn fit(&self, table: &Table, y: &[f64], rng: &mut Rng) -> Option<Vec<Model>> {
        (0..self.settings.models).map(|_| Model::fit(table, y, &self.settings.model, rng).ok()).collect()
    }
}

/// Returns the indices of the targets from the lowest to the highest. Among equal targets, the
/// earlier comes first.
fn ranked(targets: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_by(|&a, &b| targets[a].total_cmp(&targets[b]));
    order
}

/// Returns at most [`MODELLED`] of `order`, best first. If there are more, half are the best and
/// half are random others.
fn sample(order: &[usize], rng: &mut Rng) -> Vec<usize> {
    if order.len() <= MODELLED {
        return order.to_vec();
    }
    let (best, others) = order.split_at(MODELLED / 2);
    let mut others = others.to_vec();
    let (random, _) = others.partial_shuffle(rng, MODELLED / 2);
    best.iter().chain(&*random).copied().collect()
}

/// Returns the new configurations among the offered ones. If there are more than [`SHORTLIST`],
/// three quarters are those with the lowest predictions of one model and the rest are random.
fn shortlist(view: &View<'_>, offered: &Listing, model: &Model, rng: &mut Rng) -> Vec<usize> {
    let mut new: Vec<usize> =
        (0..offered.configs.len()).filter(|&index| is_new(view, offered.configs[index])).collect();
    if new.len() <= SHORTLIST {
        return new;
    }
    let first = model.predict_all(&offered.table);
    let count = SHORTLIST / 4 * 3;
    new.select_nth_unstable_by(count, |&a, &b| first[a].total_cmp(&first[b]).then(a.cmp(&b)));
    for at in count..SHORTLIST {
        let other = rng.random_range(at..new.len());
        new.swap(at, other);
    }
    new.truncate(SHORTLIST);
    new
}

/// Returns the mean and deviation of the models' predictions for each row.
fn predictions(models: &[Model], table: &Table) -> Vec<Prediction> {
    let mut sums = vec![(0.0, 0.0); table.len()];
    for model in models {
        for (sum, value) in sums.iter_mut().zip(model.predict_all(table)) {
            *sum = (sum.0 + value, sum.1 + value * value);
        }
    }
    let count = models.len() as f64;
    let prediction = |(sum, squares): (f64, f64)| {
        let mean = sum / count;
        Prediction { mean, deviation: (squares / count - mean * mean).max(0.0).sqrt() }
    };
    sums.into_iter().map(prediction).collect()
}

fn deviation(y: &[f64]) -> f64 {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    (y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / y.len() as f64).sqrt()
}

impl Searcher for BoostedTrees {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        let Some(config) = self.propose(view, rng) else { return Vec::new() };
        self.pending.push(config);
        vec![Request::timed(config)]
    }

    fn tell(&mut self, _: &View<'_>, told: &Told<'_>) {
        let config = told.evaluation.request.config;
        self.pending.retain(|pending| *pending != config);
        self.told.add(config, told.score);
    }
}
