//! Fits the laws to samples.
//!
//! For a given ridge and voltage, the power is linear in the other two unknowns, and least squares
//! find them. Ridge and voltage are searched on a grid, which is then refined around the best point.
//! The fit depends on nothing but the samples, needs no start, and takes about a millisecond.

use super::{PowerLaw, Sample, TimeLaw};

/// The points of the grid in each direction.
const POINTS: usize = 25;

/// The number of times that the grid is refined. Each time it becomes [`POINTS`] / 4 times finer.
const REFINEMENTS: usize = 3;

/// The highest voltage at the highest clock, relative to the lowest one. GPUs go from 0.7 to 1.1 V.
const HIGHEST_VOLTAGE: f64 = 2.0;

/// The relative distance from the highest power within which samples are at the limit of power.
const AT_LIMIT: f64 = 0.03;

/// The fewest samples below the limit of power: the unknowns without the limit.
const FEWEST_FREE: usize = 4;

/// The errors of a law with a limit of power, relative to those without, at which it is believed.
const CLEARLY: f64 = 0.6;

/// The error up to which a law needs no limit of power.
const EXACT: f64 = 0.005;

/// Returns the coefficients, none of them negative, of the least squares `y = c0 + c1 * x`. Each
/// sample counts by its relative error.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let weighted = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| f(*x, *y) / (y * y)).sum::<f64>();
    let (n, x, xx) = (weighted(&|_, _| 1.0), weighted(&|x, _| x), weighted(&|x, _| x * x));
    let (y, xy) = (weighted(&|_, y| y), weighted(&|x, y| x * y));
    let determinant = n * xx - x * x;
    let (c0, c1) = if determinant.abs() > 1e-12 * n * xx {
        ((y * xx - x * xy) / determinant, (n * xy - x * y) / determinant)
    } else {
        (0.0, xy / xx)
    };
    // With two unknowns, the best on the border is the best of one unknown.
    match (c0 < 0.0, c1 < 0.0) {
        (false, false) => (c0, c1),
        (true, _) => (0.0, (xy / xx).max(0.0)),
        (false, true) => ((y / n).max(0.0), 0.0),
    }
}

/// Returns the root mean square of the relative differences.
fn difference(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let squares: Vec<f64> = pairs.map(|(is, should)| (is / should - 1.0).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}

/// Returns the law of the time, and the root mean square of its relative errors.
pub(super) fn time(samples: &[Sample]) -> (TimeLaw, f64) {
    let points: Vec<(f64, f64)> = samples.iter().map(|sample| (1.0 / sample.mhz, sample.time_ms)).collect();
    let (still_ms, cycles) = line(&points);
    let law = TimeLaw { still_ms, cycles };
    (law, difference(samples.iter().map(|sample| (law.time_ms(sample.mhz), sample.time_ms))))
}

/// Returns the law of the power, and the root mean square of its relative errors. `points` are clocks
/// and powers.
pub(super) fn power(points: &[(f64, f64)]) -> (PowerLaw, f64) {
    let highest = points.iter().map(|(_, watts)| *watts).fold(0.0, f64::max);
    let at_limit: Vec<f64> =
        points.iter().map(|(_, watts)| *watts).filter(|watts| *watts >= (1.0 - AT_LIMIT) * highest).collect();
    let mean = at_limit.iter().sum::<f64>() / at_limit.len().max(1) as f64;
    let (free, limited) = (best_on_grids(points, None), best_on_grids(points, Some(mean)));
    // A limit is one more unknown, so that it explains some of the errors of measuring as well.
    if limited.1 < CLEARLY * free.1 && free.1 > EXACT { limited } else { free }
}

fn flat(watts: f64) -> PowerLaw {
    PowerLaw { idle_w: watts, alpha: 0.0, ridge_mhz: 0.0, beta: 0.0, most_w: None }
}

/// Searches ridge and voltage, the latter as its value at the highest clock.
fn best_on_grids(points: &[(f64, f64)], most_w: Option<f64>) -> (PowerLaw, f64) {
    let (lowest, highest) = bounds(points);
    let (mut ridges, mut voltages) = ((lowest, highest), (1.0, HIGHEST_VOLTAGE));
    let mut best = (flat(points[0].1), f64::INFINITY);
    let mut at = (lowest, 1.0);
    for _ in 0..=REFINEMENTS {
        for ridge in grid(ridges) {
            for voltage in grid(voltages) {
                let found = with_shape(points, ridge, (voltage - 1.0) / (highest - ridge).max(1.0), most_w);
                if found.1 < best.1 {
                    (best, at) = (found, (ridge, voltage));
                }
            }
        }
        ridges = around(at.0, ridges, (lowest, highest));
        voltages = around(at.1, voltages, (1.0, HIGHEST_VOLTAGE));
    }
    best
}

fn bounds(points: &[(f64, f64)]) -> (f64, f64) {
    let clocks = || points.iter().map(|(mhz, _)| *mhz);
    (clocks().fold(f64::INFINITY, f64::min), clocks().fold(0.0, f64::max))
}

fn grid((low, high): (f64, f64)) -> impl Iterator<Item = f64> {
    (0..POINTS).map(move |at| low + (high - low) * at as f64 / (POINTS - 1) as f64)
}

/// Returns a smaller interval around `at`, within `within`.
fn around(at: f64, (low, high): (f64, f64), within: (f64, f64)) -> (f64, f64) {
    let reach = 2.0 * (high - low) / (POINTS - 1) as f64;
    ((at - reach).max(within.0), (at + reach).min(within.1))
}

/// Fits idle power and slope for a given ridge and voltage.
fn with_shape(points: &[(f64, f64)], ridge_mhz: f64, beta: f64, most_w: Option<f64>) -> (PowerLaw, f64) {
    let shape = PowerLaw { idle_w: 0.0, alpha: 1.0, ridge_mhz, beta, most_w: None };
    let is_free = |watts: f64| most_w.is_none_or(|most| watts < (1.0 - AT_LIMIT) * most);
    let free = points.iter().filter(|(_, watts)| is_free(*watts));
    let free: Vec<(f64, f64)> = free.map(|(mhz, watts)| (shape.watts(*mhz), *watts)).collect();
    if free.len() < FEWEST_FREE {
        return (flat(points[0].1), f64::INFINITY);
    }
    let (idle_w, alpha) = line(&free);
    let law = PowerLaw { idle_w, alpha, most_w, ..shape };
    (law, difference(points.iter().map(|(mhz, watts)| (law.watts(*mhz), *watts))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_without_negative_coefficients_is_the_best_of_all_of_them() {
        let falling = [(1.0, 10.0), (2.0, 8.0), (3.0, 6.0)];
        let (c0, c1) = line(&falling);
        assert!(c1 == 0.0 && (6.0..=10.0).contains(&c0));
        let steep = [(1.0, 1.0), (2.0, 4.0), (3.0, 7.0)];
        assert_eq!(line(&steep).0, 0.0);
    }

    proptest! {
        #[test]
        fn the_laws_of_a_device_are_found_in_its_samples(
            idle in 20.0..120.0f64, alpha in 0.05..0.3f64, ridge in 800.0..1600.0f64, beta in 2e-4..8e-4f64,
            still in 0.0..2.0f64, cycles in 500.0..5000.0f64,
        ) {
            let law = PowerLaw { idle_w: idle, alpha, ridge_mhz: ridge, beta, most_w: None };
            let clocks: Vec<f64> = (0..8).map(|at| 400.0 + 225.0 * f64::from(at)).collect();
            let (found, error) = power(&clocks.iter().map(|mhz| (*mhz, law.watts(*mhz))).collect::<Vec<_>>());
            prop_assert!(error < 0.01, "{found:?} {error}");
            for mhz in (400..=1975).step_by(25).map(f64::from) {
                prop_assert!((found.watts(mhz) / law.watts(mhz) - 1.0).abs() < 0.03, "{mhz} {found:?}");
            }
            let times = TimeLaw { still_ms: still, cycles };
            let sample = |mhz: &f64| Sample { mhz: *mhz, time_ms: times.time_ms(*mhz), watts: None };
            let (found, error) = time(&clocks.iter().map(sample).collect::<Vec<_>>());
            prop_assert!(error < 1e-6 && (found.time_ms(1000.0) / times.time_ms(1000.0) - 1.0).abs() < 1e-6);
        }

        #[test]
        fn a_limit_of_power_is_found(most in 0.55..0.9f64) {
            let free = PowerLaw { idle_w: 60.0, alpha: 0.12, ridge_mhz: 1200.0, beta: 6e-4, most_w: None };
            let law = PowerLaw { most_w: Some(most * free.watts(1975.0)), ..free };
            let points: Vec<(f64, f64)> =
                (0..8).map(|at| 400.0 + 225.0 * f64::from(at)).map(|mhz| (mhz, law.watts(mhz))).collect();
            let (found, error) = power(&points);
            prop_assert!(error < 0.03, "{found:?} {error}");
        }
    }
}
