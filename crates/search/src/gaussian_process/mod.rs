//! Gaussian process search.
//!
//! # Tried without gain
//!
//! On the nine recorded spaces of `bench/results/search.md`, 40 to 100 repeats each:
//!
//! - Other acquisition functions: lower confidence bound, probability of improvement, inflated
//!   deviations.
//! - Floors of the kernel from 0.2 to 0.8, and other bends of the targets.
//! - A feature that marks powers of two: better on the W6600, worse on the A4000.
//! - One kernel factor per parameter; features switched on and off by the fit.
//! - With 4 and 8 requests in flight, to average the expected improvement over eight draws of their
//!   results (fantasies) instead of taking them as predicted: 52 repeats differ by noise only, and
//!   draws cost half as much again.
//! - With 8 in flight, other margins (.05, .4), or the trees at three quarters at every second request: .875 and .947
//!   after 25 and 50 evaluations on nine recordings of processors became .878 and .941, .881 and .942, .844 and .932.
//! - Trees beside the process in spaces that are not listed, for needles: .652 and .955 after 25 and 100 evaluations of
//!   a rugged formula, .680 and .961 without (ten searches).
//! - The expected improvement per second where evaluations take nearly equally long, as on the recordings of GPUs: they
//!   become 2 to 4 % cheaper, and more are needed.
//! - To compile the eight most promising configurations and to choose among them by registers, spills,
//!   instructions and other numbers of the compiler, the features of a further model: nothing on three
//!   recordings of KTT, whose parameters tell these numbers already. Numbers dealt at random cost up to
//!   .065 after 10 evaluations.
//! - To draw every second configuration at random while most of the model's last eight choices were worse than the
//!   median of the first configurations: .757, .899 after 10 and 25 evaluations became .756, .898 on nine recordings
//!   of processors (80 repeats), .814, .919 became .812, .918 on nine of GPUs (24 repeats).
//! - Two or three models in turn, turns with boosted trees, turns restricted to the neighbours of
//!   the best.
//!
//! Nine settings (4, 6 and 8 first points; margins of .05, .2 and .4; 30 repeats of 100
//! evaluations, with wider priors than today's) differ by noise only: .899 to .906 after 25
//! evaluations, .939 to .950 after 50, .975 to .981 after 100. Settings chosen with one kernel held
//! out give .899, .941 and .977 on the kernels held out. The best setting on all kernels gives
//! .906, .950 and .981. Narrower priors of the length scales and more early fits together gain
//! about .003 after 50 and 100 evaluations.

mod acquisition;
pub(crate) mod features;
mod forest;
mod history;
mod launch;
mod opinion;
mod pool;
mod seconds;
mod surrogate;
pub(crate) mod targets;
mod told;

use crate::candidates::is_listed;
use crate::knowledge::PastTimes;
use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use features::Features;
use history::History;
use launch::Trends;
use opinion::Opinion;
use seconds::Seconds;
use std::collections::HashSet;
use surrogate::{Beside, Surrogate};
use targets::targets;
use told::Told;
use tunesmith_core::{DeviceClass, Launch, Request, Rng, Searcher, View};
use tunesmith_space::ConfigId;

/// Bayesian optimisation. A Gaussian process is fitted to the evaluations told, and the
/// configuration with the largest expected improvement is evaluated next (Jones, Schonlau and
/// Welch, Efficient global optimization of expensive black-box functions, 1998; for kernels
/// Willemsen, van Nieuwpoort and van Werkhoven, Bayesian optimization for auto-tuning GPU kernels,
/// 2021).
///
/// - The features are each parameter on a logarithmic scale, its powers of two, and products of
///   parameters.
/// - Unless the device is a GPU, extremely randomised trees over the same features are a second model: good
///   configurations are often conjunctions (this order *and* that vector width), which a smooth process
///   levels. A prediction is the normal variable with the mean and the variance of the mixture of both, of
///   which the trees are a quarter. 48 trees are grown anew after each of the first 24 evaluations and each
///   new best, and as many as cost the same after any other.
/// - The first configurations are far from each other: one random configuration, then each the
///   farthest of 5 random ones.
/// - The model learns bent logarithms of the slowdown against the best, so the unit of the times
///   does not matter. A failure is as bad as the worst success. The kernel is a product over the
///   features; each factor is one half plus half a Matern function.
/// - Hyperparameters are fitted after each of the first 28 evaluations, then ever more rarely.
///   Between fits, every evaluation is added to the model. After 400 evaluations, a fit starts from
///   the 200 best and 200 random others.
/// - In a space of up to 20,000 configurations, the model predicts all of them until it has 50
///   points. Then it predicts those with the lowest means, neighbours of the best five and some
///   random ones: between 8192 and 512, fewer with more points. In a larger space, it predicts 4096
///   random configurations and the neighbours from the start.
/// - Each request in flight is assumed to turn out as predicted (Kriging believer), so that the
///   next one is sought elsewhere.
/// - With a history ([`PastTimes`]), the first `picks` configurations are those that were best on
///   other devices, and two spread over the space follow. Each device's times are a feature beside
///   the parameters. The feature's length scale decides how much the model trusts it.
/// - What is known of the kernel may be wrong. Every second configuration comes from a model without
///   the history and without the trends of the launch, unless the history ranks the evaluations so far as they turned
///   out.
/// - With the work-items of the launches ([`Launch`]), very small and very large work-groups are
///   expected to be slower, and so are those whose extents are no powers of two. The fit decides how
///   much, and may reverse it. Every second of the first configurations is chosen by this, too. In a
///   space of more than 20,000 configurations, the numbers of work-items are features, and the
///   neighbours of the most promising candidates become candidates, for up to three rounds.
/// - Until two configurations were correct, it chooses as it chooses the first ones, and after 64 failures at random.
/// - With limits, a model of each predicts the excess over its bound, and the expected improvement is
///   multiplied by the probability that all limits are kept. A configuration that breaks one was
///   measured, so that the model of the score learns from it, too.
/// - If time alone limits the run, the expected improvement is divided by up to the root of the seconds that an
///   evaluation may take, which further trees predict: by less where evaluations take nearly equally long, and towards
///   the end.
/// - With several objectives, each has a model of its own, and the expected improvement is that of the
///   hypervolume ([`Front`](tunesmith_model::Front)), exact for two objectives and three.
///
/// Cost per evaluation: points x candidates products, at most 3 million between fits.
#[derive(Debug)]
pub struct GaussianProcess {
    settings: ProcessSettings,
    told: Vec<Told>,
    seen: HashSet<ConfigId>,
    pending: Vec<ConfigId>,
    basis: Option<Basis>,
    /// The trees, which know parameters alone.
    opinion: Option<Opinion>,
    /// The predictor of seconds, once time limits the run.
    seconds: Option<Seconds>,
    /// The model with all knowledge of the kernel.
    informed: Option<Surrogate>,
    /// The model without the knowledge that may be wrong.
    plain: Option<Surrogate>,
    unseen: Unseen,
    past: Option<PastTimes>,
    history: Option<History>,
    device: Option<DeviceClass>,
    launch: Option<Launch>,
}

/// The options, as documented in [`GaussianProcess::OPTIONS`].
#[derive(Clone, Debug)]
struct ProcessSettings {
    initial: usize,
    margin: f64,
    fit_points: usize,
    picks: usize,
}

/// Number of the history's best configurations that a model of a large space always predicts.
const PROMISING: usize = 1024;
/// Number of evaluations during which the trends of the launch are believed at every turn. They gain
/// most before them, and nothing after 100 evaluations. With 30, reversed trends cost more than correct ones gained.
const ALONE: usize = 20;
/// Number of random configurations of which one is taken for its distance and for what the launch lets expect.
const EXPECTED_DRAWS: usize = 10;
/// Number of random configurations of which one is taken for its distance alone. The farthest of many lie in corners of
/// the space: with 100, the first evaluations were below chance on several recordings.
const SPREAD_DRAWS: usize = 5;
/// Number of evaluations from which on configurations are random while there is no model: where so many fail, to spread
/// them costs ever more and gains nothing.
const MOST_SPREAD: usize = 64;
/// Minimum number of correct evaluations for a model.
const FEWEST_SUCCESSES: usize = 2;

impl GaussianProcess {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "initial",
            default: "6",
            meaning: "a whole number from 2: the number of first configurations, spread over the space",
        },
        OptionSpec {
            name: "margin",
            default: "0.2",
            meaning: "a number from 0: the distance below the best at which an improvement begins, in standard \
                 deviations",
        },
        OptionSpec {
            name: "fit_points",
            default: "150",
            meaning: "a whole number from 2: the number of evaluations that hyperparameters are fitted to; half of \
                 them are the best",
        },
        OptionSpec {
            name: "picks",
            default: "3",
            meaning: "a whole number: with a history, the number of first configurations, which are the best on \
                 other devices",
        },
    ];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let whole = |number: f64| number >= 2.0 && number.fract() == 0.0;
        let settings = ProcessSettings {
            initial: options.number("initial", whole)? as usize,
            margin: options.number("margin", |margin| margin >= 0.0)?,
            fit_points: options.number("fit_points", whole)? as usize,
            picks: options.whole("picks", 0)?,
        };
        Ok(Self {
            settings,
            told: Vec::new(),
            seen: HashSet::new(),
            pending: Vec::new(),
            basis: None,
            opinion: None,
            seconds: None,
            informed: None,
            plain: None,
            unseen: Unseen::default(),
            past: options.knowledge().history.clone(),
            history: None,
            device: options.knowledge().device,
            launch: options.knowledge().launch.clone(),
        })
    }

    /// Returns the next configuration to evaluate, or `None` if all are known.
    fn propose(&mut self, view: &View<'_>, rng: &mut Rng) -> Option<ConfigId> {
        if let Some(pick) = self.pick(view) {
            return Some(pick);
        }
        let asked = self.told.len() + self.pending.len();
        let successes = self.told.iter().filter(|told| told.measured().is_some()).count();
        if successes < FEWEST_SUCCESSES && asked >= MOST_SPREAD {
            return self.unseen.draw(view, rng);
        }
        let is_first = asked < self.initial() || successes < FEWEST_SUCCESSES;
        let basis = self.basis.get_or_insert_with(|| Basis::new(view, self.launch.as_ref()));
        if is_first {
            let known: Vec<ConfigId> = self.told.iter().map(|told| told.config).chain(self.pending.clone()).collect();
            return basis.first(view, &known, rng).or_else(|| self.unseen.draw(view, rng));
        }
        // On GPUs, trees cost .01 after 25 and 50 evaluations.
        if self.opinion.is_none() && self.device != Some(DeviceClass::Gpu) {
            self.opinion = Some(Opinion::new(basis.features.clone()));
        }
        let scores: Vec<Option<f64>> = self.told.iter().map(Told::measured).collect();
        let targets = targets(&scores);
        let is_confirmed = self.history.as_ref().map(|history| history.is_confirmed(&self.told, &targets));
        let surrogate = if basis.is_informed_turn(asked, is_confirmed) {
            self.informed.get_or_insert_with(|| basis.informed(view, self.history.as_ref()))
        } else {
            self.plain.get_or_insert_with(|| basis.plain(view))
        };
        if let Some(opinion) = &mut self.opinion {
            opinion.follow(view, (&self.told, &targets), rng);
        }
        if let Some(used) = view.time_used() {
            let seconds = self.seconds.get_or_insert_with(|| Seconds::new(basis.features.clone()));
            seconds.follow(view, &self.told, used, rng);
        }
        let seconds = self.seconds.as_ref().filter(|seconds| seconds.is_heeded());
        let beside = Beside { opinion: self.opinion.as_ref(), seconds };
        let known = (self.told.as_slice(), targets.as_slice(), self.pending.as_slice());
        let chosen = surrogate.choose(view, &self.settings, known, beside, rng);
        chosen.or_else(|| self.unseen.draw(view, rng))
    }

    /// Returns the next of the first configurations that the history proposes.
    fn pick(&mut self, view: &View<'_>) -> Option<ConfigId> {
        let past = self.past.as_ref()?;
        let history = self.history.get_or_insert_with(|| History::new(past, view.space()));
        history.pick(view.space(), |config| !view.is_known(Request::timed(config)), self.settings.picks)
    }

    /// Returns the number of evaluations before the model is asked.
    fn initial(&self) -> usize {
        let with_history = self.settings.picks + history::SPREAD;
        if self.history.is_some() { with_history.min(self.settings.initial) } else { self.settings.initial }
    }
}

/// The features of the parameters and the trends of the launch, which the models of a run share.
#[derive(Debug)]
struct Basis {
    features: Features,
    /// The slowdowns that the launch lets expect.
    trends: Trends,
}

impl Basis {
    fn new(view: &View<'_>, launch: Option<&Launch>) -> Self {
        let (space, mut features) = (view.space(), Features::new(view.space()));
        if let Some(launch) = launch.filter(|_| !is_listed(space)) {
            features = features.with_volumes(launch, space);
        }
        let trends = launch.map(|launch| Trends::new(launch, space)).unwrap_or_default();
        Self { features, trends }
    }

    /// Returns the next of the first configurations, after those `known`, or `None` if none is left. Every second one
    /// expects nothing of the launch, which may mislead.
    fn first(&self, view: &View<'_>, known: &[ConfigId], rng: &mut Rng) -> Option<ConfigId> {
        let is_trusting = self.trends.len() > 0 && known.len().is_multiple_of(2);
        let expected = |configs: &[ConfigId]| match is_trusting {
            true => self.trends.expected(view.space(), configs),
            false => vec![0.0; configs.len()],
        };
        let draws = if is_trusting { EXPECTED_DRAWS } else { SPREAD_DRAWS };
        self.features.farthest(view, known, (draws, expected), rng)
    }

    /// Returns true if the next configuration is that of the model with knowledge of the kernel.
    /// Every second one is of a model without, so that wrong knowledge costs at most every second
    /// evaluation: without a history from the [`ALONE`]th evaluation on, with one unless it `is_confirmed` by the
    /// evaluations so far.
    fn is_informed_turn(&self, asked: usize, is_confirmed: Option<bool>) -> bool {
        let alone = match is_confirmed {
            Some(true) => return true,
            Some(false) => 0,
            None if self.trends.len() > 0 => ALONE,
            None => return true,
        };
        asked < alone || asked.is_multiple_of(2)
    }

    /// Returns the model, before its first fit, that believes the history and the trends of the launch.
    fn informed(&self, view: &View<'_>, history: Option<&History>) -> Surrogate {
        let columns = history.map(History::columns).unwrap_or_default();
        let promising = history.map(|history| history.best(PROMISING)).unwrap_or_default();
        let features = self.features.clone().with(columns);
        Surrogate::new(view, (features, self.trends.clone()), &promising)
    }

    /// Returns the model, before its first fit, that believes neither.
    fn plain(&self, view: &View<'_>) -> Surrogate {
        Surrogate::new(view, (self.features.clone(), Trends::default()), &[])
    }
}

impl Searcher for GaussianProcess {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        let Some(config) = self.propose(view, rng) else { return Vec::new() };
        self.pending.push(config);
        vec![Request::timed(config)]
    }

    fn tell(&mut self, view: &View<'_>, told: &tunesmith_core::Told<'_>) {
        let config = told.evaluation.request.config;
        self.pending.retain(|pending| *pending != config);
        if self.seen.insert(config) {
            let known = view.history().get(told.evaluation.request);
            let aspects = known.and_then(|scored| scored.aspects.clone());
            self.told.push(Told { config, score: told.score, aspects, ms: told.evaluation.known_ms() });
        }
    }
}
