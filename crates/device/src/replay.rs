//! A device that is a recording: what was measured once is answered again.

mod noise;

use noise::Noise;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::recording::Recorded;
use tunesmith_core::{
    Completion, Depth, Error, Evaluator, Failure, FailureKind, Interrupt, ManualClock, Measurement, Request, statistics,
};
use tunesmith_space::ConfigId;

/// Answers with recorded evaluations, at the cost of looking them up. A configuration that was not
/// recorded is a failure of kind `constraints`, "not in recording".
///
/// ```
/// # use tunesmith_core::{Evaluation, Evaluator, Interrupt, Measurement, Request};
/// # use tunesmith_device::ReplayEvaluator;
/// # use tunesmith_space::{Parameter, Space, Value};
/// let tile = Parameter::new("TILE", vec![Value::Int(8), Value::Int(16)])?;
/// let space = Space::builder().parameter(tile).build()?;
/// let [first, second] = [0, 1].map(|rank| Request::timed(space.id(rank).unwrap()));
/// let measurement = Measurement { times_ms: vec![2.0], ..Measurement::default() };
/// let recorded = Evaluation { request: first, failure: None, measurement, clock: Default::default() };
///
/// let mut device = ReplayEvaluator::new([recorded]);
/// device.submit(first)?;
/// device.submit(second)?;
/// assert_eq!(device.next(&Interrupt::default())?.unwrap().measurement.times_ms, [2.0]);
/// assert_eq!(device.next(&Interrupt::default())?.unwrap().failure.unwrap().message, "not in recording");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Clones share what was recorded and start afresh: without requests, noise and clock.
#[derive(Debug, Default)]
pub struct ReplayEvaluator {
    recorded: Arc<HashMap<ConfigId, Recorded>>,
    mean_cost_ms: f64,
    submitted: VecDeque<Request>,
    noise: Option<Noise>,
    clock: Option<Arc<ManualClock>>,
    /// Launches that reading counters takes beyond the recorded ones.
    further_passes: f64,
}

impl ReplayEvaluator {
    /// Makes a device that answers with `recorded`, evaluations or [`Recorded`] ones; of several of
    /// one configuration with the first.
    pub fn new(recorded: impl IntoIterator<Item = impl Into<Recorded>>) -> Self {
        let mut by_config = HashMap::new();
        let (mut cost_ms, mut count) = (0.0, 0.0);
        for recorded in recorded {
            let recorded: Recorded = recorded.into();
            by_config.entry(recorded.evaluation.request.config).or_insert_with(|| {
                (cost_ms, count) = (cost_ms + recorded.cost_ms, count + 1.0);
                recorded
            });
        }
        let mean_cost_ms = if count > 0.0 { cost_ms / count } else { 0.0 };
        Self { recorded: Arc::new(by_config), mean_cost_ms, ..Self::default() }
    }

    /// Answers with other samples than the recorded ones, drawn anew for every evaluation from what
    /// was recorded: as many as a live device takes ([`Sampling`](crate::Sampling) without its
    /// limit of time).
    ///
    /// Where a configuration has several samples they are drawn from these, with replacement. Where
    /// it has one time and the relative standard deviation r, they are log-normal with that time as
    /// median and ln(1 + r^2) as variance of the logarithm, so that the recorded time stays what a
    /// search is after. Where it has neither, there is no noise. The same seed, configuration and
    /// number of its visit give the same samples.
    pub fn with_noise(mut self, seed: u64) -> Self {
        self.noise = Some(Noise::new(seed));
        self
    }

    /// Moves `clock` forward by what every evaluation took when it was recorded; by the mean of all
    /// for a configuration that was not, and by the time of the kernel for samples taken later.
    pub fn with_clock(mut self, clock: Arc<ManualClock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Lets a profiled evaluation take so many launches of the kernel, at least 1, instead of one:
    /// profilers run a kernel again for every few counters. Recordings do not say how often.
    pub fn with_profile_passes(mut self, passes: f64) -> Self {
        self.further_passes = (passes - 1.0).max(0.0);
        self
    }

    /// Returns what an evaluation took on average when it was recorded, in milliseconds; 0 where
    /// that is unknown.
    pub fn mean_cost_ms(&self) -> f64 {
        self.mean_cost_ms
    }

    /// Returns the recorded time of `config` in milliseconds, the median of its samples; `None`
    /// where it failed or was not recorded.
    pub fn time_ms(&self, config: ConfigId) -> Option<f64> {
        let evaluation = &self.recorded.get(&config)?.evaluation;
        evaluation.is_correct().then(|| statistics::median(&evaluation.measurement.times_ms))?
    }

    /// Returns how many configurations were recorded.
    pub fn len(&self) -> usize {
        self.recorded.len()
    }

    /// Returns whether none was.
    pub fn is_empty(&self) -> bool {
        self.recorded.is_empty()
    }
}

impl Clone for ReplayEvaluator {
    fn clone(&self) -> Self {
        Self { recorded: self.recorded.clone(), mean_cost_ms: self.mean_cost_ms, ..Self::default() }
    }
}

impl Evaluator for ReplayEvaluator {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.submitted.pop_front() else { return Ok(None) };
        let Some(recorded) = self.recorded.get(&request.config) else {
            self.pass(self.mean_cost_ms);
            let failure = Failure::new(FailureKind::Constraints, "not in recording");
            return Ok(Some(Completion { failure: Some(failure), ..Completion::default() }));
        };
        let launches_ms: f64 = recorded.evaluation.measurement.times_ms.iter().sum();
        let profiling_ms = if request.depth == Depth::Profiled { self.further_passes * launches_ms } else { 0.0 };
        self.pass(recorded.cost_ms + profiling_ms);
        let (failure, mut measurement) = (recorded.evaluation.failure.clone(), recorded.evaluation.measurement.clone());
        if let (Some(noise), None) = (&mut self.noise, &failure) {
            noise.disturb(recorded, &mut measurement);
        }
        Ok(Some(Completion { failure, measurement, ..Completion::default() }))
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        if let Some(noise) = &mut self.noise {
            noise.race(bar_ms);
        }
    }

    fn resample(&mut self, config: ConfigId, samples: usize, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let (Some(noise), Some(recorded)) = (&mut self.noise, self.recorded.get(&config)) else {
            return Ok(Some(Completion::default()));
        };
        let times_ms = noise.samples(recorded, samples);
        self.pass(times_ms.iter().sum());
        let measurement = Measurement { times_ms, ..Measurement::default() };
        Ok(Some(Completion { measurement, ..Completion::default() }))
    }
}

impl ReplayEvaluator {
    /// Lets simulated time pass.
    fn pass(&self, ms: f64) {
        if let (Some(clock), Ok(step)) = (&self.clock, Duration::try_from_secs_f64(ms / 1e3)) {
            clock.advance(step);
        }
    }
}

#[cfg(test)]
mod tests;
