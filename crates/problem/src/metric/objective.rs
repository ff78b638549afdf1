//! The objective of a run that optimises a metric.

use super::Metric;
use tunesmith_core::{Measurement, Objective};
use tunesmith_space::{ConfigId, Space, Value, lookup};

/// The objective of a [`Metric`] over the configurations of a space. A maximised metric scores as
/// its reciprocal, which is positive and scales as the metric does. Strategies need not know the
/// direction.
pub struct MetricObjective {
    metric: Metric,
    space: Space,
    name: String,
}

impl MetricObjective {
    /// Creates the objective of `metric` over the configurations of `space`.
    pub fn new(metric: Metric, space: &Space) -> Self {
        Self { name: metric.target().to_string(), space: space.clone(), metric }
    }

    /// Returns the metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    fn values(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        let configuration = self.space.unrank(config);
        let pairs: Vec<(String, Value)> =
            self.space.values(&configuration).map(|(name, value)| (name.to_string(), value.clone())).collect();
        self.metric.samples(&|name| lookup(&pairs, name), measurement)
    }
}

impl Objective for MetricObjective {
    fn name(&self) -> &str {
        &self.name
    }

    fn samples(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        let values = self.values(config, measurement)?;
        Ok(values.into_iter().map(|value| self.metric.score(value)).collect())
    }

    fn lacks(&self, config: ConfigId, measurement: &Measurement) -> Option<String> {
        let configuration = self.space.unrank(config);
        let value = |name: &str| {
            let mut values = self.space.values(&configuration);
            values.find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        };
        self.metric.lacking(&value, measurement)
    }

    /// Compares the score at three times. Other measurements are missing there, so that a metric
    /// that needs them has none.
    fn per_millisecond(&self, config: ConfigId) -> Option<f64> {
        let times_ms = vec![1.0, 1024.0, 1.0 / 1024.0];
        let scores =
            self.samples(config, &Measurement { times_ms: times_ms.clone(), ..Measurement::default() }).ok()?;
        let slope = scores[0];
        let straight = scores.iter().zip(&times_ms).all(|(score, time)| (score / time / slope - 1.0).abs() < 1e-9);
        straight.then_some(slope)
    }
}
