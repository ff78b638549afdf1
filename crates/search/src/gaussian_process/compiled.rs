//! The choice among candidates that were compiled.
//!
//! What a compiler tells is known of few configurations: those measured and those of shortlists. A
//! model with these numbers as features therefore chooses among the candidates of a shortlist, which
//! another model has made.

use super::surrogate::{Surrogate, next_fit, ranked, sample};
use super::targets::targets;
use super::{ProcessSettings, Told};
use tunesmith_core::{CompileData, Examined, Rng, View};
use tunesmith_model::{
    Candidates, Feature, GaussianProcess, Hyperparameters, Posterior, Prediction, Rows, log_expected_improvement,
};
use tunesmith_space::ConfigId;

/// The numbers that are features if they are known of all configurations and differ. The first
/// [`MOST`] of them are taken: with more, chance finds one that fits few evaluations. Not among them
/// are those that a driver tells later, or differently, such as the occupancy and shared memory.
const NAMES: [&str; 8] = [
    "registers",
    "local_bytes",
    "spill_store_bytes",
    "instructions",
    "global_loads",
    "shared_loads",
    "constant_bytes",
    BINARY,
];
/// The name of the size of the binary, which is no resource.
const BINARY: &str = "binary_bytes";
/// Maximum number of features.
const MOST: usize = 6;
/// Minimum number of evaluations with these numbers.
const FEWEST: usize = 6;
/// Number of levels of a feature.
const LEVELS: usize = 256;
/// Median of the prior of a feature's length scale. The parameters explain most of these numbers, as
/// they do of other derived features.
const LENGTH: f64 = 1.6;

/// The hyperparameters kept from one choice to the next.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    parameters: Option<Hyperparameters>,
    /// The features of the parameters.
    names: Vec<&'static str>,
    /// Number of evaluations told at the last fit.
    told: usize,
}

/// What the compiler told of configurations, as levels of features.
struct Facts {
    names: Vec<&'static str>,
    /// For each configuration a level of each feature.
    levels: Vec<Vec<u16>>,
}

/// The configurations that take part in a choice, in this order: those that taught the model, those in
/// flight, those to choose among.
struct Lesson {
    /// The features of the parameters and of the compiler.
    features: Vec<Feature>,
    names: Vec<&'static str>,
    /// The levels of all these features, and of those of the parameters alone.
    rows: Rows,
    base: Rows,
    /// The targets of those that taught, and the trend at each of them.
    targets: Vec<f64>,
    heights: Option<Vec<f64>>,
    /// Number of those that taught and of those in flight.
    points: usize,
}

/// A model of a lesson.
struct Model {
    process: GaussianProcess,
    posterior: Posterior,
    /// The targets without the trend.
    targets: Vec<f64>,
    slope: f64,
}

impl Facts {
    /// Returns the facts in `data`, one for each configuration. Returns `None` if nothing in it
    /// differs.
    fn new(data: &[&CompileData]) -> Option<Self> {
        let numbers = |name: &&'static str| {
            let numbers: Vec<f64> = data.iter().map(|data| number(data, name)).collect::<Option<_>>()?;
            let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let level = |number: &f64| ((number - low) / (high - low) * (LEVELS - 1) as f64).round() as u16;
            (high > low).then(|| (*name, numbers.iter().map(level).collect::<Vec<u16>>()))
        };
        let (names, columns): (Vec<_>, Vec<_>) = NAMES.iter().filter_map(numbers).take(MOST).unzip();
        let row = |at: usize| columns.iter().map(|column| column[at]).collect();
        (!names.is_empty()).then(|| Self { names, levels: (0..data.len()).map(row).collect() })
    }

    fn features(&self) -> impl Iterator<Item = Feature> {
        let levels: Vec<f64> = (0..LEVELS).map(|level| level as f64 / (LEVELS - 1) as f64).collect();
        self.names.iter().map(move |_| Feature::new(levels.clone(), LENGTH))
    }
}

/// Returns a number of the compiler on a logarithmic scale.
fn number(data: &CompileData, name: &str) -> Option<f64> {
    let number = match name {
        BINARY => data.binary_bytes.map(|bytes| bytes as f64),
        _ => data.resource(name),
    };
    number.filter(|number| *number >= 0.0 && number.is_finite()).map(f64::ln_1p)
}

/// Returns what the compiler told of a configuration. Returns `None` if it told nothing.
fn compile_data<'a>(view: &View<'a>, config: ConfigId) -> Option<&'a CompileData> {
    let measured = view.history().of(config).and_then(|scored| scored.evaluation.measurement.compile.as_ref());
    let examined = view.examined(config).map(|examined| &examined.compile);
    [measured, examined].into_iter().flatten().find(|data| !data.resources.is_empty())
}

impl Surrogate {
    /// Returns the configuration of `shortlist` to evaluate next. Without enough numbers of the
    /// compiler, or if they do not help to predict, it is the first of those that can run.
    pub(super) fn choose_compiled(
        &mut self,
        view: &View<'_>,
        settings: &ProcessSettings,
        known: (&[Told], &[ConfigId]),
        shortlist: &[ConfigId],
        rng: &mut Rng,
    ) -> Option<ConfigId> {
        let runs = |config: &ConfigId| !view.examined(*config).is_some_and(Examined::is_settled);
        let left: Vec<ConfigId> = shortlist.iter().copied().filter(runs).collect();
        match left.len() {
            0 => self.choose(view, settings, known, rng),
            1 => Some(left[0]),
            _ => self.compare(view, settings, known, &left, rng).or(Some(left[0])),
        }
    }

    /// Returns the best of `left` by the model that knows the compiler's numbers, if it is to be
    /// trusted.
    fn compare(
        &mut self,
        view: &View<'_>,
        settings: &ProcessSettings,
        (told, pending): (&[Told], &[ConfigId]),
        left: &[ConfigId],
        rng: &mut Rng,
    ) -> Option<ConfigId> {
        self.follow(view, told);
        let lesson = self.lesson(view, settings.fit_points, (told, pending), left, rng)?;
        let parameters = self.fit_compiled(&lesson, told.len());
        let plain = Model::new(self.features.features(), self.parameters.clone(), &lesson.base, &lesson);
        let mut compiled = Model::new(&lesson.features, parameters, &lesson.rows, &lesson);
        if compiled.evidence() <= plain.evidence() {
            return None;
        }
        let tilts = self.trend.as_ref().map_or(vec![0.0; left.len()], |trend| trend.at(view.space(), left));
        compiled.best(&lesson, &tilts, settings.margin).map(|at| left[at])
    }

    /// Returns the lesson of a choice among `left`. Returns `None` if too little is known.
    fn lesson(
        &self,
        view: &View<'_>,
        fit_points: usize,
        (told, pending): (&[Told], &[ConfigId]),
        left: &[ConfigId],
        rng: &mut Rng,
    ) -> Option<Lesson> {
        if told.iter().any(|told| told.aspects.is_some()) {
            return None;
        }
        let is_known = |config: &ConfigId| compile_data(view, *config).is_some();
        let all_targets = targets(&told.iter().map(|told| told.score).collect::<Vec<_>>());
        let known: Vec<usize> = ranked(&all_targets).into_iter().filter(|at| is_known(&told[*at].config)).collect();
        if known.len() < FEWEST {
            return None;
        }
        let taught = sample(&known, fit_points, rng);
        let mut all: Vec<ConfigId> = taught.iter().map(|at| told[*at].config).collect();
        all.extend(pending.iter().copied().filter(is_known));
        let points = all.len();
        all.extend(left);
        let facts = Facts::new(&all.iter().map(|config| compile_data(view, *config)).collect::<Option<Vec<_>>>()?)?;
        let base = self.features.rows(view.space(), &all);
        let features: Vec<Feature> = self.features.features().iter().cloned().chain(facts.features()).collect();
        let row = |at: usize| [base.row(at), facts.levels[at].clone()].concat();
        Some(Lesson {
            rows: Rows::from_rows(features.len(), (0..all.len()).map(row)),
            targets: taught.iter().map(|at| all_targets[*at]).collect(),
            heights: self.trend.as_ref().map(|_| taught.iter().map(|at| self.heights[*at]).collect()),
            names: facts.names,
            features,
            base,
            points,
        })
    }

    /// Returns the hyperparameters of the model with the compiler's numbers, fitted again if it is
    /// time.
    fn fit_compiled(&mut self, lesson: &Lesson, told: usize) -> Hyperparameters {
        let kept = &self.compiled;
        if let Some(parameters) = &kept.parameters
            && kept.names == lesson.names
            && told < next_fit(kept.told)
        {
            return parameters.clone();
        }
        let mut start = self.parameters.clone();
        start.lengths.extend(lesson.names.iter().map(|name| kept.length(name)));
        let rows = lesson.rows.select(&(0..lesson.targets.len()).collect::<Vec<_>>());
        let heights = lesson.heights.as_deref();
        let parameters = Hyperparameters::fit(&lesson.features, &rows, &lesson.targets, heights, start);
        self.compiled = Compiled { parameters: Some(parameters.clone()), names: lesson.names.clone(), told };
        parameters
    }
}

impl Compiled {
    /// Returns the last length scale of a feature, or the typical one.
    fn length(&self, name: &str) -> f64 {
        let place = self.names.iter().rev().position(|known| *known == name);
        let lengths = self.parameters.as_ref().map(|parameters| &parameters.lengths);
        lengths.zip(place).and_then(|(lengths, place)| lengths.iter().rev().nth(place)).copied().unwrap_or(LENGTH)
    }
}

impl Model {
    /// Returns the model of those that taught in `lesson`, with these levels of `features`.
    fn new(features: &[Feature], parameters: Hyperparameters, rows: &Rows, lesson: &Lesson) -> Self {
        let slope = if lesson.heights.is_some() { parameters.slope } else { 0.0 };
        let height = |at: usize| lesson.heights.as_ref().map_or(0.0, |heights| slope * heights[at]);
        let targets: Vec<f64> = lesson.targets.iter().enumerate().map(|(at, target)| target - height(at)).collect();
        let taught = rows.select(&(0..targets.len()).collect::<Vec<_>>());
        let process = GaussianProcess::new(features, parameters, &taught);
        let posterior = process.posterior(&targets);
        Self { process, posterior, targets, slope }
    }

    /// Returns the sum of the logarithms of the densities that the model gives each target, predicted
    /// from all others (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equation
    /// 5.11), without the constant.
    fn evidence(&self) -> f64 {
        let noise = self.process.noise() * self.posterior.variance;
        let density = |(prediction, target): (Prediction, &f64)| {
            let variance = prediction.deviation.powi(2) + noise;
            -0.5 * (variance.ln() + (target - prediction.mean).powi(2) / variance)
        };
        self.process.left_out(&self.posterior, &self.targets).into_iter().zip(&self.targets).map(density).sum()
    }

    /// Returns the position of the largest expected improvement among those to choose from, the first
    /// of equal ones. `tilts` is the trend at each. Those in flight are believed to turn out as
    /// predicted.
    fn best(&mut self, lesson: &Lesson, tilts: &[f64], margin: f64) -> Option<usize> {
        (self.targets.len()..lesson.points).for_each(|row| self.process.append(&lesson.rows.row(row)));
        self.posterior = self.process.posterior(&self.targets);
        let least = lesson.targets.iter().copied().fold(f64::INFINITY, f64::min);
        let goal = least - margin * self.posterior.variance.sqrt();
        let left = lesson.rows.select(&(lesson.points..lesson.rows.len()).collect::<Vec<_>>());
        let predictions = Candidates::new(&self.process, left).predict(&self.posterior);
        let gain = |(prediction, tilt): (&Prediction, &f64)| {
            log_expected_improvement(prediction.mean + self.slope * tilt, prediction.deviation, goal)
        };
        let gains: Vec<f64> = predictions.iter().zip(tilts).map(gain).collect();
        (0..gains.len()).rev().max_by(|a, b| gains[*a].total_cmp(&gains[*b]))
    }
}
