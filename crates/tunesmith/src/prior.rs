//! Estimates by a model file before a kernel's first trial.

use crate::{Error, Problem};
use tunesmith_choose::timing::{TIMING_KIND, TimingModel};
use tunesmith_core::counters::Hardware;
use tunesmith_core::{Objective, Searcher};
use tunesmith_cost::{DEVICE_KIND, Guess, Limit, NestEstimates, foreign, form, notes_on, read_device};
use tunesmith_kernel::Language;
use tunesmith_model::counters::{COUNTERS_KIND, CounterModel, Method};
use tunesmith_search::profile_guided::counter_data;
use tunesmith_search::{PastTimes, Primed, StrategySpec};
use tunesmith_space::{ConfigId, Space};
use tunesmith_study::guided::{Guided, of_model};
use tunesmith_study::{ModelChoice, model_kind, no_model};

/// A model file that gives estimates before the first trial.
pub(crate) enum Prior<'a> {
    /// Times learned from runs over inputs and devices.
    Timing(Box<TimingModel>),
    /// Times of a loop nest, from its counts and the costs of a device.
    Estimates {
        /// The estimates.
        estimates: Box<NestEstimates<'a>>,
        /// A note for the user if the file is of another device.
        foreign: Option<String>,
    },
}

/// The estimates of a prior for one space.
#[derive(Debug, Default)]
pub(crate) struct PriorEstimates {
    /// Estimated times, in the form of a recording on another device.
    pub(crate) times: Option<PastTimes>,
    /// The time that no configuration can beat according to the model.
    pub(crate) limit: Option<Limit>,
    /// The reason why there is no limit, if a device file was given.
    pub(crate) no_limit: Option<String>,
}

/// Minimum difference between the least and the greatest estimate, as a share of the least. Below
/// it, the model does not tell the configurations apart.
const TELLING: f64 = 0.01;

/// Maximum number of estimated configurations that are tried. If that many fail, the strategy goes
/// on without them.
const CANDIDATES: usize = 25;

/// Number of correct configurations that a strategy without a history begins with.
const WANTED: usize = 5;

impl<'a> Prior<'a> {
    /// Returns the prior of a choice if its file is one by its `kind`. Returns `None` for a counter
    /// model, which has no times.
    ///
    /// # Errors
    /// The file is not a model or is damaged. Or it is a device file, but the kernel is not a loop
    /// nest, or the measured device runs kernels in another language than the one tuned on. `here`
    /// holds the latter's language and name.
    pub(crate) fn chosen(
        choice: Option<&ModelChoice>,
        problem: &'a Problem,
        here: impl FnOnce() -> Option<(Language, String)>,
    ) -> Result<Option<Self>, Error> {
        let Some(ModelChoice::File(file)) = choice else { return Ok(None) };
        match model_kind(file)?.as_str() {
            COUNTERS_KIND => Ok(None),
            TIMING_KIND => Ok(Some(Self::Timing(Box::new(TimingModel::read(file)?)))),
            DEVICE_KIND => {
                let device = read_device(file)?;
                let estimates = Box::new(NestEstimates::new(problem, &device, form(None)?, file)?);
                let foreign = match here() {
                    Some((language, name)) => foreign(&device.provenance, (language, &name), file)?,
                    None => None,
                };
                Ok(Some(Self::Estimates { estimates, foreign }))
            }
            other => Err(no_model(file, &format!("it is of kind `{other}`"))),
        }
    }

    /// Estimates the configurations of `space` for a search by `strategy`, if time is optimised.
    /// Costs an estimate for each, up to some thousands. Also returns counts in the place of
    /// counters, for a strategy that they guide.
    pub(crate) fn estimates(
        &self,
        space: &Space,
        objective: &Objective,
        strategy: &StrategySpec,
    ) -> (PriorEstimates, Guided) {
        let Self::Estimates { estimates, foreign } = self else { return Default::default() };
        if !objective.is_time() {
            let note = format!("the device file does not estimate `{objective}`: the search goes on without it");
            return (PriorEstimates::default(), Guided::without(note));
        }
        let guesses = estimates.all(space);
        let mut notes: Vec<String> = foreign.iter().cloned().chain(notes_on(&guesses)).collect();
        let (limit, no_limit) = match (foreign, estimates.limit()) {
            (None, Ok(limit)) => (Some(limit), None),
            (None, Err(reason)) => {
                notes.push(reason.clone());
                (None, Some(reason))
            }
            (Some(_), _) => (None, None),
        };
        // A strategy made for a counter model takes counts as counters.
        let is_guided = strategy.strategy().without_guide().is_some();
        let mut guided = if is_guided { counting(estimates, space, &guesses) } else { Guided::default() };
        let times = times(&guesses).filter(|_| {
            is_telling(&guesses) || {
                let note = "the model does not tell the configurations apart: the search goes on without its estimates";
                notes.push(note.to_string());
                false
            }
        });
        guided.notes.extend(notes);
        (PriorEstimates { times, limit, no_limit }, guided)
    }
}

/// Returns true if the estimates differ enough to order the configurations. A single estimate does.
fn is_telling(guesses: &[(ConfigId, Guess)]) -> bool {
    let times: Vec<f64> = guesses.iter().filter_map(|(_, guess)| seconds(guess)).collect();
    let (least, greatest) =
        times.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), own| (low.min(*own), high.max(*own)));
    times.len() == 1 || greatest > least * (1.0 + TELLING)
}

fn seconds(guess: &Guess) -> Option<f64> {
    match guess {
        Guess::Time(known) => Some(known.0.estimate.seconds),
        Guess::Refused(_) | Guess::Unknown(_) | Guess::Unmeasured(_) => None,
    }
}

/// Returns the estimated times in the form of a recording, or `None` if there is none.
fn times(guesses: &[(ConfigId, Guess)]) -> Option<PastTimes> {
    let score = |(config, guess): &(ConfigId, Guess)| match guess {
        Guess::Refused(_) => Some((*config, None)),
        _ => seconds(guess).map(|seconds| (*config, Some(seconds * 1e3))),
    };
    let scores: Vec<(ConfigId, Option<f64>)> = guesses.iter().filter_map(score).collect();
    scores.iter().any(|(_, score)| score.is_some()).then(|| PastTimes::from_scores(vec![scores]))
}

/// Returns a guide by the counts of the configurations, as if hardware had counted them.
fn counting(estimates: &NestEstimates<'_>, space: &Space, guesses: &[(ConfigId, Guess)]) -> Guided {
    let without = |error: String| Guided::without(format!("the search goes on without counts: {error}"));
    let recording = match estimates.recording(space, guesses) {
        Ok(recording) => recording,
        Err(error) => return without(error.to_string()),
    };
    // Uses a table if all were estimated, and trees if only some were.
    let is_whole = space.len() == Some(guesses.len() as u128);
    let method = if is_whole { Method::Exact } else { Method::Trees { share: 1.0 } };
    let Some((data, provenance)) = counter_data(&recording) else { return without("nothing is counted".to_string()) };
    match CounterModel::train(&data.varying(), method, provenance, 0) {
        Ok(model) => of_model(&model, &Hardware::default(), space),
        Err(error) => without(error.to_string()),
    }
}

impl PriorEstimates {
    /// Returns the strategy such that it begins with the best estimates, if it does not do so by
    /// itself.
    pub(crate) fn primed(&self, strategy: &StrategySpec, searcher: Box<dyn Searcher>) -> Box<dyn Searcher> {
        match &self.times {
            Some(times) if !strategy.strategy().begins_with_history() => {
                Box::new(Primed::new(times.best(CANDIDATES), WANTED, searcher))
            }
            _ => searcher,
        }
    }
}
