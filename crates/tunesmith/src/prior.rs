//! What a model file says of a kernel before its first trial.

use crate::compare::ModelChoice;
use crate::devices::DeviceChoice;
use crate::estimate::{form, read_device};
use crate::guided::{Guided, of_model};
use crate::nests::{Guess, NestEstimates};
use crate::timing::{TIMING_KIND, TimingModel};
use crate::tune::Plan;
use crate::{Error, Problem};
use serde_json::Value as Json;
use tunesmith_core::Searcher;
use tunesmith_core::counters::Hardware;
use tunesmith_model::cost::DEVICE_KIND;
use tunesmith_model::counters::{CounterModel, Method};
use tunesmith_search::profile_guided::counter_data;
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
    /// Counts in the place of counters, for a strategy that is guided by them.
    pub(crate) guided: Guided,
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
                let estimates = NestEstimates::new(problem, &device, form(None)?, file)?;
                Ok(Some(Self::Estimates { estimates, measured: device.provenance.backend }))
            }
            _ => Ok(None),
        }
    }

    /// What it says of the configurations of `space` on `device`, where time is what `plan` optimises. Costs an
    /// estimate for each, of up to some thousands.
    pub(crate) fn estimated(&self, space: &Space, device: &DeviceChoice, plan: &Plan) -> Estimated {
        let Self::Estimates { estimates, measured } = self else { return Estimated::default() };
        if let Some(target) = &plan.target {
            let note = format!("the device file says nothing of `{}`: the search goes on without it", target.text());
            return Estimated { notes: vec![note], ..Estimated::default() };
        }
        let other = device.nest_language().map(|language| language.to_string()).filter(|run| run != measured);
        let other =
            other.map(|run| format!("the device file was measured with kernels in {measured}, and these are in {run}"));
        let mut notes = Vec::from_iter(other);
        let mut uncounted: Option<(usize, &String)> = None;
        let mut scores: Vec<(ConfigId, Option<f64>)> = Vec::new();
        let guesses = estimates.all(space);
        for (config, guess) in &guesses {
            match guess {
                Guess::Time(known) => scores.push((*config, Some(known.0.seconds * 1e3))),
                Guess::Refused(_) => scores.push((*config, None)),
                Guess::Unknown(reason) => uncounted.get_or_insert((0, reason)).0 += 1,
            }
        }
        if let Some((count, reason)) = uncounted {
            notes.push(format!("{count} configurations could not be counted and have no estimate: {reason}"));
        }
        let times = scores.iter().any(|(_, score)| score.is_some()).then(|| PastTimes::from_scores(vec![scores]));
        let limit_ms = estimates.limit_ms().map_err(|reason| notes.push(reason)).ok();
        let is_guided = plan.strategy.trim_start().starts_with("profile_guided");
        let guided = if is_guided { counting(estimates, space, &guesses) } else { Guided::default() };
        Estimated { times, limit_ms, guided, notes }
    }
}

/// A guide by the counts of the configurations, as if they had been counted by hardware.
fn counting(estimates: &NestEstimates<'_>, space: &Space, guesses: &[(ConfigId, Guess)]) -> Guided {
    let without = |error: String| Guided::without(format!("the search goes on without counts: {error}"));
    let recording = match estimates.recording(space, guesses) {
        Ok(recording) => recording,
        Err(error) => return without(error.to_string()),
    };
    // A table of all of them, or trees where only some were estimated.
    let is_whole = space.len() == Some(guesses.len() as u128);
    let method = if is_whole { Method::Exact } else { Method::Trees { share: 1.0 } };
    let Some((data, provenance)) = counter_data(&recording) else { return without("nothing is counted".to_string()) };
    match CounterModel::train(&data.varying(), method, provenance, 0) {
        Ok(model) => of_model(&model, &Hardware::default(), space),
        Err(error) => without(error.to_string()),
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
