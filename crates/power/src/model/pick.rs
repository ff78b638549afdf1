//! Picks the clocks worth trying.

use super::{PowerLaw, Sample, TimeLaw, fit};
use std::fmt;

/// The quantity that depends on the clock, as an objective minimises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The time.
    Time,
    /// The energy, or work for each unit of it.
    Energy,
    /// The energy times the time.
    EnergyDelay,
}

/// The clocks worth trying.
#[derive(Clone, Debug, PartialEq)]
pub struct Picked {
    /// The clocks in MHz, ascending.
    pub clocks_mhz: Vec<u32>,
    /// The clock in MHz at which the model expects the optimum.
    pub optimum_mhz: u32,
    /// The model of the power, if the goal depends on it.
    pub power: Option<PowerLaw>,
    /// The model of the time.
    pub time: TimeLaw,
    /// The root mean square of the relative errors of the model at the samples.
    pub error: f64,
}

/// The reason why the model does not describe a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distrust {
    /// There are too few samples.
    Few(usize),
    /// Samples lack the power.
    NoPower,
    /// The law does not fit the samples: the root mean square of its relative errors.
    Unlike(f64),
    /// A sample at this clock in MHz is better than everything that the model would try.
    Contradicted(f64),
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Few(count) => write!(f, "{count} clocks could be measured, and it needs {FEWEST}"),
            Self::NoPower => f.write_str("the power was not measured"),
            Self::Unlike(error) => {
                write!(f, "its law does not fit this device: it is {:.0} % off at the measured clocks", error * 100.0)
            }
            Self::Contradicted(mhz) => write!(f, "a measurement at {mhz:.0} MHz is better than its optimum"),
        }
    }
}

/// The fewest samples: one more than the unknowns of the power.
const FEWEST: usize = 5;

/// The distance from the modelled optimum up to which clocks are tried, as in the paper. It covers
/// the error of the model, and the other configurations, whose optima differ from the default's.
const WINDOW: f64 = 0.1;

/// The most clocks that are tried. Neighbouring clocks of a GPU are 1 % apart, and the energy near its
/// optimum differs less than its measurement can tell.
const MOST: usize = 7;

/// The error of a law that describes the device. Energy is measured to 2 %, and a clock within 1 %.
const TRUSTED: f64 = 0.05;

/// The lead of a sample over the modelled optimum that contradicts the model.
const LEAD: f64 = 0.05;

/// Picks from `clocks`, which are ascending, those that are worth trying for `goal`.
///
/// # Errors
/// The model does not describe the device. The caller tries clocks all over the range instead.
pub fn pick(samples: &[Sample], goal: Goal, clocks: &[u32]) -> Result<Picked, Distrust> {
    if samples.len() < FEWEST || clocks.is_empty() {
        return Err(Distrust::Few(samples.len()));
    }
    let (time, time_error) = fit::time(samples);
    let (power, power_error) = match goal {
        Goal::Time => (None, 0.0),
        Goal::Energy | Goal::EnergyDelay => {
            let points: Option<Vec<(f64, f64)>> =
                samples.iter().map(|sample| Some((sample.mhz, sample.watts.filter(|watts| *watts > 0.0)?))).collect();
            let (law, error) = fit::power(&points.ok_or(Distrust::NoPower)?);
            (Some(law), error)
        }
    };
    let error = time_error.max(power_error);
    if error > TRUSTED {
        return Err(Distrust::Unlike(error));
    }
    let modelled = |mhz: f64| score(goal, time.time_ms(mhz), power.map_or(1.0, |power| power.watts(mhz)));
    let Some(optimum_mhz) = best(clocks, &modelled) else { return Err(Distrust::Few(0)) };
    let window = window(clocks, optimum_mhz);
    contradiction(samples, goal, &modelled, &window).map_or(Ok(()), Err)?;
    let clocks_mhz = with_best_sample(window, samples, goal, clocks);
    Ok(Picked { clocks_mhz, optimum_mhz, power, time, error })
}

fn score(goal: Goal, time_ms: f64, watts: f64) -> f64 {
    match goal {
        Goal::Time => time_ms,
        Goal::Energy => time_ms * watts,
        Goal::EnergyDelay => time_ms * time_ms * watts,
    }
}

/// Returns the clock with the least modelled score.
fn best(clocks: &[u32], modelled: &impl Fn(f64) -> f64) -> Option<u32> {
    clocks.iter().copied().min_by(|a, b| modelled(f64::from(*a)).total_cmp(&modelled(f64::from(*b))))
}

/// Returns up to [`MOST`] clocks around the optimum, ascending and with the optimum.
fn window(clocks: &[u32], optimum: u32) -> Vec<u32> {
    let is_near = |mhz: &&u32| (f64::from(**mhz) / f64::from(optimum) - 1.0).abs() <= WINDOW;
    let near: Vec<u32> = clocks.iter().filter(is_near).copied().collect();
    let center = near.iter().position(|mhz| *mhz == optimum).unwrap_or_default();
    // Equal steps from the optimum to both sides.
    let step = near.len().div_ceil(MOST).max(1);
    near.iter().enumerate().filter(|(at, _)| at.abs_diff(center) % step == 0).map(|(_, mhz)| *mhz).collect()
}

/// Adds the clock of the best sample. Where the model is a little wrong, the measurement is right.
fn with_best_sample(mut window: Vec<u32>, samples: &[Sample], goal: Goal, clocks: &[u32]) -> Vec<u32> {
    let measured = |sample: &&Sample| score(goal, sample.time_ms, sample.watts.unwrap_or(1.0));
    let best = samples.iter().min_by(|a, b| measured(a).total_cmp(&measured(b)));
    let distance = |mhz: &u32, best: &Sample| (f64::from(*mhz) - best.mhz).abs();
    let near =
        best.and_then(|best| clocks.iter().copied().min_by(|a, b| distance(a, best).total_cmp(&distance(b, best))));
    let is_outside =
        |mhz: &u32| window.first().is_none_or(|first| mhz < first) || window.last().is_none_or(|last| mhz > last);
    window.extend(near.filter(is_outside));
    window.sort_unstable();
    window
}

/// Returns the reason if a sample outside of the window is clearly better than the best of the model.
fn contradiction(samples: &[Sample], goal: Goal, modelled: &impl Fn(f64) -> f64, window: &[u32]) -> Option<Distrust> {
    let (first, last) = (f64::from(*window.first()?), f64::from(*window.last()?));
    let least = window.iter().map(|mhz| modelled(f64::from(*mhz))).fold(f64::INFINITY, f64::min);
    let leads = |sample: &&Sample| {
        let is_outside = !(first..=last).contains(&sample.mhz);
        is_outside && score(goal, sample.time_ms, sample.watts.unwrap_or(1.0)) < (1.0 - LEAD) * least
    };
    samples.iter().find(leads).map(|sample| Distrust::Contradicted(sample.mhz))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clocks() -> Vec<u32> {
        (400..=1975).step_by(15).collect()
    }

    fn probes() -> impl Iterator<Item = f64> {
        (0..8).map(|at| 400.0 + 225.0 * f64::from(at))
    }

    /// Returns a number in [-1, 1] that depends on `seed` and `at` alone.
    fn noise(seed: u64, at: usize) -> f64 {
        let mixed = (seed ^ (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    proptest! {
        /// On devices of the law, with errors of measuring of up to 2 %, the clocks tried contain one
        /// within 5 % of the optimum over all clocks, and they are few.
        #[test]
        fn the_clocks_tried_contain_a_good_one_on_devices_of_the_law(
            idle in 30.0..120.0f64, alpha in 0.05..0.3f64, ridge in 800.0..1600.0f64, beta in 3e-4..8e-4f64,
            still in 0.0..1.0f64, most in 0.7..1.3f64, seed in any::<u64>(), delay in any::<bool>(),
        ) {
            let free = PowerLaw { idle_w: idle, alpha, ridge_mhz: ridge, beta, most_w: None };
            let power = PowerLaw { most_w: Some(most * free.watts(1975.0)), ..free };
            let time = TimeLaw { still_ms: still, cycles: 2000.0 };
            let samples: Vec<Sample> = probes().enumerate().map(|(at, mhz)| Sample {
                mhz,
                time_ms: time.time_ms(mhz) * (1.0 + 0.01 * noise(seed, at)),
                watts: Some(power.watts(mhz) * (1.0 + 0.02 * noise(seed, at + 100))),
            }).collect();
            let goal = if delay { Goal::EnergyDelay } else { Goal::Energy };
            let real = |mhz: &u32| score(goal, time.time_ms(f64::from(*mhz)), power.watts(f64::from(*mhz)));
            let least = clocks().iter().map(real).fold(f64::INFINITY, f64::min);
            match pick(&samples, goal, &clocks()) {
                Ok(picked) => {
                    prop_assert!(picked.clocks_mhz.len() <= MOST + 1 && picked.clocks_mhz.is_sorted());
                    let found = picked.clocks_mhz.iter().map(real).fold(f64::INFINITY, f64::min);
                    prop_assert!(found <= 1.05 * least, "{} {picked:?}", found / least);
                }
                // A limit that cuts in between two clocks may look like another law.
                Err(distrust) => prop_assert!(most < 1.0, "{distrust}"),
            }
        }

        /// A device of another law is not believed, or the clocks tried are good all the same.
        #[test]
        fn a_device_of_another_law_is_seen_through(dip in 600.0..1800.0f64, depth in 0.3..0.6f64) {
            let watts = |mhz: f64| 100.0 + 0.1 * mhz - depth * 100.0 * (-((mhz - dip) / 60.0).powi(2)).exp();
            let sample = |mhz: f64| Sample { mhz, time_ms: 2000.0 / mhz, watts: Some(watts(mhz)) };
            let samples: Vec<Sample> = probes().map(sample).collect();
            if let Ok(picked) = pick(&samples, Goal::Energy, &clocks()) {
                let real = |mhz: &u32| watts(f64::from(*mhz)) / f64::from(*mhz);
                let energies = samples.iter().map(|sample| watts(sample.mhz) / sample.mhz);
                let measured = energies.fold(f64::INFINITY, f64::min);
                let found = picked.clocks_mhz.iter().map(real).fold(f64::INFINITY, f64::min);
                prop_assert!(found <= 1.06 * measured, "{picked:?}");
            }
        }
    }

    #[test]
    fn a_law_that_does_not_fit_is_refused_with_its_error() {
        let sample = |(at, mhz): (usize, f64)| Sample { mhz, time_ms: 1.0, watts: Some([300.0, 90.0][at % 2]) };
        let samples: Vec<Sample> = probes().enumerate().map(sample).collect();
        let Err(Distrust::Unlike(error)) = pick(&samples, Goal::Energy, &clocks()) else { panic!("believed") };
        assert!(error > 0.3);
        assert_eq!(pick(&samples[..4], Goal::Energy, &clocks()), Err(Distrust::Few(4)));
        let silent: Vec<Sample> = samples.iter().map(|sample| Sample { watts: None, ..*sample }).collect();
        assert_eq!(pick(&silent, Goal::Energy, &clocks()), Err(Distrust::NoPower));
    }

    #[test]
    fn time_alone_wants_the_highest_clocks() {
        let samples: Vec<Sample> =
            probes().map(|mhz| Sample { mhz, time_ms: 0.3 + 2000.0 / mhz, watts: None }).collect();
        let picked = pick(&samples, Goal::Time, &clocks()).unwrap();
        assert_eq!(picked.optimum_mhz, 1975);
        assert!(picked.clocks_mhz.iter().all(|mhz| *mhz > 1770));
    }
}
