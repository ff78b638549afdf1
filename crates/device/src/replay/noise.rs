//! Draws the noise of a recording anew. Pure functions: seed and recorded samples in, new samples
//! out.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::time::Duration;
use tunesmith_core::Measurement;
use tunesmith_core::recording::Recorded;
use tunesmith_kernel::measure::Sampling;
use tunesmith_kernel::measure::sampling::{Decision, decide};
use tunesmith_space::ConfigId;

/// A limit of time that no recorded kernel reaches. The number of samples must not depend on the
/// unit of time.
const NO_LIMIT: Duration = Duration::from_secs(1 << 32);

/// Draws samples of recorded configurations.
#[derive(Debug)]
pub(super) struct Noise {
    seed: u64,
    sampling: Sampling,
    successive: bool,
    /// The number of draws for each configuration.
    visits: HashMap<ConfigId, u64>,
}

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        let sampling = Sampling { time_cap: NO_LIMIT, ..Sampling::default() };
        Self { seed, sampling, successive: false, visits: HashMap::new() }
    }

    /// Takes the samples of a visit in the recorded order, from a random start and round.
    pub(super) fn draw_successively(&mut self) {
        self.successive = true;
    }

    /// Abandons configurations above `bar_ms` after few samples.
    pub(super) fn race(&mut self, bar_ms: Option<f64>) {
        self.sampling.bar_ms = bar_ms;
    }

    /// Replaces the samples in `measurement` by new ones, unless the configuration was recorded
    /// without noise. Removes the times of parts and other values, because they belong to the
    /// recorded samples.
    pub(super) fn disturb(&mut self, recorded: &Recorded, measurement: &mut Measurement) {
        let Some(mut draw) = self.draws(recorded) else { return };
        let mut times = Vec::with_capacity(self.sampling.min_samples);
        while decide(&times, Duration::ZERO, &self.sampling) == Decision::More {
            times.push(draw());
        }
        measurement.times_ms = times;
        measurement.parts_ms.clear();
        measurement.values.clear();
    }

    /// Draws `count` more samples. Returns none if the configuration failed or was recorded without
    /// noise.
    pub(super) fn samples(&mut self, recorded: &Recorded, count: usize) -> Vec<f64> {
        if !recorded.evaluation.is_correct() {
            return Vec::new();
        }
        self.draws(recorded).map_or_else(Vec::new, |mut draw| (0..count).map(|_| draw()).collect())
    }

    /// Returns the source of a visit's samples, or `None` if the configuration has no known noise.
    fn draws<'a>(&mut self, recorded: &'a Recorded) -> Option<impl FnMut() -> f64 + use<'a>> {
        let spread = Spread::of(recorded)?;
        let mut rng = self.generator(recorded.evaluation.request.config);
        let mut next = self.successive.then(|| rng.random_range(0..spread.len()));
        Some(move || {
            let at = next.map(|at| at % spread.len());
            next = next.map(|at| at + 1);
            spread.draw(at, &mut rng)
        })
    }

    /// Returns a separate generator for every visit of a configuration. The samples of one
    /// configuration thus do not depend on the others.
    fn generator(&mut self, config: ConfigId) -> Xoshiro256PlusPlus {
        let visit = self.visits.entry(config).or_default();
        let digest = Sha256::digest(format!("{} {} {visit}", self.seed, config.rank()).as_bytes());
        *visit += 1;
        let mut seed = [0; 32];
        seed.copy_from_slice(&digest);
        Xoshiro256PlusPlus::from_seed(seed)
    }
}

/// The distribution of a configuration's samples.
enum Spread<'a> {
    /// The recorded samples.
    Samples(&'a [f64]),
    /// A log-normal distribution, by its median and the standard deviation of the logarithm.
    LogNormal { median_ms: f64, sigma: f64 },
}

impl<'a> Spread<'a> {
    /// Creates the distribution of a recorded configuration. Returns `None` if its noise is
    /// unknown.
    fn of(recorded: &'a Recorded) -> Option<Self> {
        match (recorded.evaluation.measurement.times_ms.as_slice(), recorded.rel_std) {
            (samples @ [_, _, ..], _) => Some(Self::Samples(samples)),
            // If the standard deviation of a log-normal variable is r times its mean, its logarithm
            // has this standard deviation.
            (&[median_ms], Some(r)) if r > 0.0 => Some(Self::LogNormal { median_ms, sigma: (r * r).ln_1p().sqrt() }),
            _ => None,
        }
    }

    /// Returns the number of recorded times.
    fn len(&self) -> usize {
        match self {
            Self::Samples(samples) => samples.len(),
            Self::LogNormal { .. } => 1,
        }
    }

    /// Draws the sample at a position, or any.
    fn draw(&self, at: Option<usize>, rng: &mut Xoshiro256PlusPlus) -> f64 {
        match *self {
            Self::Samples(samples) => samples[at.unwrap_or_else(|| rng.random_range(0..samples.len()))],
            Self::LogNormal { median_ms, sigma } => median_ms * (sigma * normal(rng)).exp(),
        }
    }
}

/// Returns a standard normal number (G. E. P. Box and M. E. Muller, 1958, equation 1).
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    // 1 - u lies in (0, 1], where the logarithm is finite.
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
