//! The expected improvement.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The number of deviations below which the two terms of the expected improvement cancel. Its
/// expansion is used there.
const TAIL: f64 = -8.0;

/// Returns the logarithm of the expected improvement of a normal variable on `best`, where smaller
/// is better: `ln(s (u Phi(u) + phi(u)))` with `u = (best - mean) / s` (Jones, Schonlau and Welch,
/// Efficient global optimization of expensive black-box functions, 1998, equation 15).
///
/// The logarithm tells candidates apart even if the improvement underflows. For `u < -8` it is the
/// first term of the expansion: `-u^2/2 - ln sqrt(2 pi) - 2 ln |u|`. Without a deviation the
/// improvement is certain: the result is the logarithm of `best - mean`, or minus infinity.
pub fn log_expected_improvement(mean: f64, deviation: f64, best: f64) -> f64 {
    let gain = best - mean;
    if deviation <= 0.0 {
        return if gain > 0.0 { gain.ln() } else { f64::NEG_INFINITY };
    }
    let u = gain / deviation;
    let log_root = (2.0 * PI).ln() / 2.0;
    let of_unit = if u < TAIL {
        -u * u / 2.0 - log_root - 2.0 * u.abs().ln()
    } else {
        let density = (-u * u / 2.0 - log_root).exp();
        (u * upper_tail(-u) + density).ln()
    };
    deviation.ln() + of_unit
}

/// Returns the expected improvement of a normal variable on `best`, where smaller is better.
#[cfg(any(feature = "fit", test))]
pub(crate) fn expected_improvement(mean: f64, deviation: f64, best: f64) -> f64 {
    let gain = best - mean;
    if deviation <= 0.0 {
        return gain.max(0.0);
    }
    let u = gain / deviation;
    let density = (-u * u / 2.0).exp() / (2.0 * PI).sqrt();
    (deviation * (u * upper_tail(-u) + density)).max(0.0)
}

/// Returns the logarithm of the probability that a normal variable is at most `bound`. For more than
/// 8 deviations below, it is the first term of the expansion. Without a deviation it is 0 or minus
/// infinity.
pub fn log_probability_below(mean: f64, deviation: f64, bound: f64) -> f64 {
    if deviation <= 0.0 {
        return if mean <= bound { 0.0 } else { f64::NEG_INFINITY };
    }
    let u = (bound - mean) / deviation;
    if u < TAIL { -u * u / 2.0 - (2.0 * PI).ln() / 2.0 - u.abs().ln() } else { upper_tail(-u).ln() }
}

/// Returns the probability that a standard normal variable exceeds `x`. The relative error is below
/// 1.2e-7 in both tails. Uses the Chebyshev fit of Press et al., Numerical Recipes, section 6.2
/// (erfcc).
fn upper_tail(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let z = x.abs() * FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * z);
    let exponent = COEFFICIENTS.into_iter().fold(0.0, |sum, coefficient| sum * t + coefficient);
    let tail = 0.5 * t * (-z * z + exponent).exp();
    if x >= 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_gain_expected_and_deviation_one_improves_by_the_density_at_zero() {
        let expected = 1.0 / (2.0 * PI).sqrt();
        assert!((log_expected_improvement(3.0, 1.0, 3.0).exp() - expected).abs() < 1e-6);
    }

    #[test]
    fn the_improvement_is_the_integral_over_the_normal_density() {
        for (mean, deviation, best) in [(0.0, 1.0, 0.5), (1.0, 0.3, 0.2), (2.0, 1.0, -3.0), (-1.0, 0.5, 1.0)] {
            let step = deviation / 1000.0;
            let density = |x: f64| (-((x - mean) / deviation).powi(2) / 2.0).exp() / (deviation * (2.0 * PI).sqrt());
            let points = (0..20_000).map(|i| mean + deviation * 10.0 - f64::from(i) * step);
            let integral: f64 = points.map(|x: f64| (best - x).max(0.0) * density(x) * step).sum();
            let closed = log_expected_improvement(mean, deviation, best).exp();
            assert!((closed - integral).abs() < 1e-3 * integral, "{mean} {deviation} {best}: {closed} {integral}");
        }
    }

    #[test]
    fn a_probability_has_its_logarithm_in_both_tails() {
        let half = log_probability_below(3.0, 2.0, 3.0);
        assert!((half - 0.5f64.ln()).abs() < 1e-6);
        let (near, far) = (log_probability_below(7.99, 1.0, 0.0), log_probability_below(8.01, 1.0, 0.0));
        assert!(far < near && near - far < 0.2, "{near} {far}");
        assert!(log_probability_below(0.0, 1.0, 9.0).abs() < 1e-12);
        assert_eq!(log_probability_below(1.0, 0.0, 0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn far_below_nothing_underflows_and_nearer_is_better() {
        let gains: Vec<f64> = (1..60).map(|mean| log_expected_improvement(f64::from(mean), 0.1, 0.0)).collect();
        assert!(gains.iter().all(|gain| gain.is_finite()));
        assert!(gains.windows(2).all(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn without_a_deviation_the_gain_is_certain() {
        assert_eq!(log_expected_improvement(1.0, 0.0, 3.0), 2.0_f64.ln());
        assert_eq!(log_expected_improvement(3.0, 0.0, 3.0), f64::NEG_INFINITY);
    }
}
