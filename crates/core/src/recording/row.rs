//! One configuration of a recording.

use crate::objective::TIME_MS;
use crate::{Cut, Failure, Measurement, statistics};
use tunesmith_space::Value;

/// One configuration and its measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// A value for every parameter, in the parameters' order.
    pub values: Vec<Value>,
    /// The reason why the configuration is not correct, or `None` if it is.
    pub failure: Option<Failure>,
    /// The measurement.
    pub measurement: Measurement,
    /// The time in milliseconds that the file itself states, if it has samples besides: the score of its own tool,
    /// such as their mean.
    pub stated_ms: Option<f64>,
    /// The standard deviation of the samples as a share of their mean, if the file has it.
    pub rel_std: Option<f64>,
    /// The costs of the configuration besides its compilation.
    pub costs: Costs,
}

/// The wall-clock costs of evaluating one configuration, in milliseconds. The measurement holds the
/// cost of the compilation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Running the kernel: all samples and warm-up.
    pub benchmark_ms: Option<f64>,
    /// Comparing its output.
    pub verification_ms: Option<f64>,
    /// The tuner's own work.
    pub framework_ms: Option<f64>,
    /// The strategy.
    pub search_ms: Option<f64>,
}

impl Row {
    /// Returns the limit from the best time that ended the configuration, if one did.
    pub fn cut(&self) -> Option<Cut> {
        self.failure.as_ref()?.cut
    }

    /// Returns the time of a correct configuration in milliseconds: the stated time, or else the
    /// median of the samples.
    pub fn time_ms(&self) -> Option<f64> {
        self.value(TIME_MS)
    }

    /// Returns the number of a correct configuration that is called so, in its unit: the one that the file states, or
    /// else the median of the samples, as of a measurement on a device. `time_ms` is the time.
    pub fn value(&self, quantity: &str) -> Option<f64> {
        let Measurement { times_ms, values, .. } = &self.measurement;
        let is_time = quantity == TIME_MS;
        let samples = if is_time { times_ms } else { values.get(quantity)? };
        let score = || self.stated_ms.filter(|_| is_time).or_else(|| statistics::median(samples));
        self.failure.is_none().then(score).flatten()
    }

    /// Returns the wall time of evaluating the configuration in milliseconds: compiling, running,
    /// comparing and the tuner's own work, as far as the file has them. If the file does not state
    /// the time of running, the samples and the first launch count. The cost of the search is
    /// excluded, because another strategy made it.
    pub fn cost_ms(&self) -> f64 {
        let Measurement { times_ms, warmup_ms, compile, .. } = &self.measurement;
        let Costs { benchmark_ms, verification_ms, framework_ms, search_ms: _ } = self.costs;
        let launches = || times_ms.iter().sum::<f64>() + warmup_ms.unwrap_or_default();
        let compiling = compile.as_ref().map_or(0.0, |compile| compile.time_ms);
        let rest = verification_ms.unwrap_or_default() + framework_ms.unwrap_or_default();
        // Files of tools that do not know a cost state 0.
        compiling + benchmark_ms.filter(|ms| *ms > 0.0).unwrap_or_else(launches) + rest
    }
}
