//! What a model file says of a kernel before its first trial.

use crate::compare::ModelChoice;
use crate::devices::DeviceChoice;
use crate::estimate::{form, model, read_device};
use crate::metrics::Target;
use crate::nests::{Guess, NestEstimates, in_words};
use crate::timing::{TIMING_KIND, TimingModel};
use crate::{Error, Problem};
use serde_json::Value as Json;
use tunesmith_core::Searcher;
use tunesmith_model::cost::DEVICE_KIND;
use tunesmith_search::{PastTimes, Primed, begins_with_history};
use tunesmith_space::{ConfigId, Space};

/// What a model file says before the first trial.
pub(crate) enum Prior<'a> {
    /// Times learnt from runs over inputs and devices.
    Timing(Box<TimingModel>),
    /// Times of a loop nest by its counts and the costs of a device.
    Estimates {
        /// The estimates.
        estimates: NestEstimates<'a>,
        /// The language of the kernels that the device was measured with.
        measured: String,
    },
}

/// What a prior says of one space.
#[derive(Debug, Default)]
pub(crate) struct Estimated {
    /// Estimated times, as if they had been recorded on another device.
    pub(crate) times: Option<PastTimes>,
    /// The time that no configuration falls below by the model, in milliseconds.
    pub(crate) limit_ms: Option<f64>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// Estimated configurations that a strategy without a history begins with, and how many of them have to be correct.
const CANDIDATES: usize = 25;
const WANTED: usize = 5;

impl<'a> Prior<'a> {
    /// The prior of a choice, if its file is one by its `kind`.
    ///
    /// # Errors
    /// A damaged file; a device file for a kernel that is no loop nest.
    pub(crate) fn chosen(choice: Option<&ModelChoice>, problem: &'a Problem) -> Result<Option<Self>, Error> {
        let Some(ModelChoice::File(file)) = choice else { return Ok(None) };
        let json = std::fs::read_to_string(file).ok().and_then(|text| serde_json::from_str::<Json>(&text).ok());
        let kind = json.as_ref().and_then(|json| json.get("kind")).and_then(Json::as_str);
        match kind {
            Some(TIMING_KIND) => Ok(Some(Self::Timing(Box::new(TimingModel::read(file)?)))),
            Some(DEVICE_KIND) => {
                let device = read_device(file)?;
                let model = model(&device, form(None)?, file)?.clone();
                let estimates = NestEstimates::new(problem, model, file)?;
                Ok(Some(Self::Estimates { estimates, measured: device.provenance.backend }))
            }
            _ => Ok(None),
        }
    }

    /// What it says of the configurations of `space` on `device`, where time is what is optimised and not a `target`. Costs an
    /// estimate for each, of up to some thousands.
    pub(crate) fn estimated(&self, space: &Space, device: &DeviceChoice, target: Option<&Target>) -> Estimated {
        let Self::Estimates { estimates, measured } = self else { return Estimated::default() };
        if let Some(target) = target {
            let note = format!("the device file says nothing of `{}`: the search goes on without it", target.text());
            return Estimated { notes: vec![note], ..Estimated::default() };
        }
        let other = device.nest_language().map(|language| language.to_string()).filter(|run| run != measured);
        let other =
            other.map(|run| format!("the device file was measured with kernels in {measured}, and these are in {run}"));
        let mut notes = Vec::from_iter(other);
        let mut uncounted: Option<(usize, String)> = None;
        let mut scores: Vec<(ConfigId, Option<f64>)> = Vec::new();
        for (config, guess) in estimates.all(space) {
            match guess {
                Guess::Time(estimate) => scores.push((config, Some(estimate.seconds * 1e3))),
                Guess::Refused(_) => scores.push((config, None)),
                Guess::Unknown(reason) => uncounted.get_or_insert((0, reason)).0 += 1,
            }
        }
        if let Some((count, reason)) = uncounted {
            notes.push(format!("{count} configurations could not be counted and have no estimate: {reason}"));
        }
        let times = scores.iter().any(|(_, score)| score.is_some()).then(|| PastTimes::from_scores(vec![scores]));
        let limit_ms = match estimates.limit() {
            Ok(seconds) => Some(seconds * 1e3),
            Err(error) => {
                notes.push(format!("the nest has no modelled limit: {}", in_words(&error)));
                None
            }
        };
        Estimated { times, limit_ms, notes }
    }
}

impl Estimated {
    /// The strategy that begins with the best estimates, where it does not do so by itself.
    pub(crate) fn primed(&self, strategy: &str, searcher: Box<dyn Searcher>) -> Box<dyn Searcher> {
        match &self.times {
            Some(times) if !begins_with_history(strategy) => {
                Box::new(Primed::new(times.best(CANDIDATES), WANTED, searcher))
            }
            _ => searcher,
        }
    }
}
