//! A device that answers from a recording.

mod cores;
mod noise;
mod schedule;
mod workers;

use cores::{Answer, Cores, Cost};
use noise::Noise;
use schedule::Schedule;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::recording::Recorded;
use tunesmith_core::{
    Clock as _, CompileLimit, Completion, Depth, DeviceClass, Error, Evaluator, Failure, FailureKind, Interrupt,
    ManualClock, Measurement, Request, statistics,
};
use tunesmith_space::ConfigId;
use workers::Workers;

/// Answers with recorded evaluations, at the cost of a look-up. A configuration that was not
/// recorded fails with kind `constraints` and the message "not in recording".
///
/// ```
/// # use tunesmith_core::{Evaluation, Evaluator, Interrupt, Measurement, Request};
/// # use tunesmith_device::ReplayEvaluator;
/// # use tunesmith_space::{Parameter, Space, Value};
/// let tile = Parameter::new("TILE", vec![Value::Int(8), Value::Int(16)])?;
/// let space = Space::builder().parameter(tile).build()?;
/// let [first, second] = [0, 1].map(|rank| Request::timed(space.id(rank).unwrap()));
/// let measurement = Measurement { times_ms: vec![2.0], ..Measurement::default() };
/// let recorded =
///     Evaluation { request: first, failure: None, measurement, clock: Default::default(), proposed: None };
///
/// let mut device = ReplayEvaluator::new([recorded]);
/// device.submit(first)?;
/// device.submit(second)?;
/// assert_eq!(device.next(&Interrupt::default())?.unwrap().measurement.times_ms, [2.0]);
/// assert_eq!(device.next(&Interrupt::default())?.unwrap().failure.unwrap().message, "not in recording");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Clones share the recording. Each clone starts afresh, without requests, noise or clock.
#[derive(Debug, Default)]
pub struct ReplayEvaluator {
    recorded: Arc<HashMap<ConfigId, Recorded>>,
    mean_cost_ms: f64,
    schedule: Schedule,
    /// The limit of compilations, on simulated cores.
    limit: Option<CompileLimit>,
    noise: Option<Noise>,
    clock: Option<Arc<ManualClock>>,
    /// The number of launches for reading counters, beyond the recorded launch.
    further_passes: f64,
}

impl ReplayEvaluator {
    /// Creates a device that answers with `recorded`, which are evaluations or [`Recorded`] values.
    /// If a configuration occurs several times, the first entry counts.
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

    /// Adds noise: draws new samples for every evaluation from the recorded ones, as many as a live
    /// device takes ([`Sampling`](tunesmith_kernel::measure::Sampling) without its limit of time).
    ///
    /// - If a configuration has several samples, draws from them with replacement.
    /// - If it has one time and the relative standard deviation r, draws from a log-normal
    ///   distribution. Its median is the recorded time, so that the search still looks for the
    ///   recorded optimum. The variance of its logarithm is ln(1 + r^2).
    /// - If it has neither, there is no noise.
    ///
    /// The same seed, configuration and number of visits give the same samples.
    pub fn with_noise(mut self, seed: u64) -> Self {
        self.noise = Some(Noise::new(seed));
        self
    }

    /// Draws the samples of a visit in the recorded order, from a random start and round. They keep
    /// what successive samples have in common. Has an effect after [`with_noise`](Self::with_noise)
    /// alone, on configurations with several samples.
    pub fn with_successive_samples(mut self) -> Self {
        if let Some(noise) = &mut self.noise {
            noise.draw_successively();
        }
        self
    }

    /// Advances `clock` by the recorded duration of every evaluation. A configuration that was not
    /// recorded takes the mean of all durations. Samples taken later take the time of the kernel.
    pub fn with_clock(mut self, clock: Arc<ManualClock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Evaluates up to `count` requests at once, as so many equal devices do, at least one. With a
    /// clock, each request takes its recorded duration, and answers come in the order in which they
    /// end. Without one they come in the order submitted.
    pub fn with_workers(mut self, count: usize) -> Self {
        self.schedule = Schedule::Workers(Workers::new(count));
        self
    }

    /// Simulates a machine with `count` processor cores, at least one, in place of workers. All submitted requests
    /// are in flight. Needs a clock: without one, nothing takes time.
    ///
    /// - Each core compiles one request at a time for its recorded time of compilation, in the order submitted.
    /// - What is compiled is measured next, one request at a time, for the rest of its recorded duration. The
    ///   measurement occupies one core.
    /// - All compilations stand still during a measurement. If `device_class` is that of a GPU, they go on, on the
    ///   other cores.
    /// - Compilations [may be limited](Evaluator::limit_compilation), which workers ignore.
    /// - A configuration that was not recorded takes the mean of all durations to compile.
    pub fn with_cores(mut self, count: usize, device_class: Option<DeviceClass>) -> Self {
        self.schedule = Schedule::Cores(Cores::new(count, device_class));
        self
    }

    /// Sets the number of launches of a profiled evaluation, at least 1. Profilers run a kernel
    /// again for every few counters, but recordings do not contain the number of passes.
    pub fn with_profile_passes(mut self, passes: f64) -> Self {
        self.further_passes = (passes - 1.0).max(0.0);
        self
    }

    /// Returns the simulated time that all cores together have compiled and measured, without samples taken later.
    /// Divided by the time passed, it is the mean number of cores in use. `None` without
    /// [`with_cores`](Self::with_cores).
    pub fn busy(&self) -> Option<Duration> {
        self.schedule.busy()
    }

    /// Returns the mean recorded duration of an evaluation, in milliseconds. Returns 0 if it is
    /// unknown.
    pub fn mean_cost_ms(&self) -> f64 {
        self.mean_cost_ms
    }

    /// Returns the recorded time of `config` in milliseconds, which is the median of its samples.
    /// Returns `None` if it failed or was not recorded.
    pub fn time_ms(&self, config: ConfigId) -> Option<f64> {
        let evaluation = &self.recorded.get(&config)?.evaluation;
        evaluation.is_correct().then(|| statistics::median(&evaluation.measurement.times_ms))?
    }

    /// Returns the number of recorded configurations.
    pub fn len(&self) -> usize {
        self.recorded.len()
    }

    /// Returns true if no configuration was recorded.
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
        self.schedule.submit(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let now = self.clock.as_ref().map(|clock| clock.now()).unwrap_or_default();
        let (recorded, [mean_ms, passes]) = (&self.recorded, [self.mean_cost_ms, self.further_passes]);
        let timed = self.clock.is_some();
        let cost = |request| if timed { cost_of(recorded, request, mean_ms, passes) } else { Cost::default() };
        let Some(Answer { request, end, is_aside }) = self.schedule.next(now, cost) else { return Ok(None) };
        if let Some(clock) = &self.clock {
            clock.advance(end.saturating_sub(now));
        }
        if let Some(limit) = self.limit.filter(|_| is_aside) {
            let failure = Some(Failure::put_aside(limit));
            return Ok(Some(Completion { request: Some(request), failure, ..Completion::default() }));
        }
        let completion = self.answer(request);
        Ok(Some(Completion { request: Some(request), ..completion }))
    }

    fn cancel(&mut self) {
        self.schedule.cancel();
    }

    fn limit_compilation(&mut self, limit: Option<CompileLimit>) {
        self.limit = limit;
        self.schedule.limit(limit.map(|limit| duration(limit.limit_ms)));
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
        if let Some(clock) = &self.clock {
            clock.advance(duration(times_ms.iter().sum()));
        }
        let measurement = Measurement { times_ms, ..Measurement::default() };
        Ok(Some(Completion { measurement, ..Completion::default() }))
    }
}

impl ReplayEvaluator {
    /// Returns the recorded answer.
    fn answer(&mut self, request: Request) -> Completion {
        let Some(recorded) = self.recorded.get(&request.config) else {
            let failure = Failure::new(FailureKind::Constraints, "not in recording");
            return Completion { failure: Some(failure), ..Completion::default() };
        };
        let (failure, mut measurement) = (recorded.evaluation.failure.clone(), recorded.evaluation.measurement.clone());
        if let (Some(noise), None) = (&mut self.noise, &failure) {
            noise.disturb(recorded, &mut measurement);
        }
        Completion { failure, measurement, ..Completion::default() }
    }
}

/// Returns the time that `request` takes: the recorded one, or `mean_ms` if it was not recorded, and
/// `passes` more launches if it is profiled.
fn cost_of(recorded: &HashMap<ConfigId, Recorded>, request: Request, mean_ms: f64, passes: f64) -> Cost {
    let Some(recorded) = recorded.get(&request.config) else {
        return Cost { total: duration(mean_ms), compiling: duration(mean_ms) };
    };
    let Measurement { times_ms, compile, .. } = &recorded.evaluation.measurement;
    let launches_ms: f64 = times_ms.iter().sum();
    let profiling_ms = if request.depth == Depth::Profiled { passes * launches_ms } else { 0.0 };
    let compiling_ms = compile.as_ref().map_or(0.0, |compile| compile.time_ms);
    Cost { total: duration(recorded.cost_ms + profiling_ms), compiling: duration(compiling_ms) }
}

/// Returns milliseconds as a duration. A recorded number that is none takes no time.
fn duration(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

#[cfg(test)]
mod tests;
