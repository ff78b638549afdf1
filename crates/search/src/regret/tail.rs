//! The tail of Student's distribution.

/// Degrees of freedom of the tails: see [`RegretModel`](super::RegretModel).
const FREEDOM: u32 = 20;

/// Returns the chance of a deviation of more than `x` standard deviations from the model's
/// prediction, to one side.
pub(super) fn upper_tail(x: f64) -> f64 {
    student(x, FREEDOM)
}

/// Returns the chance that a variable with Student's distribution exceeds `x`. The number of
/// degrees, `freedom`, must be even. Computes the finite sum of Abramowitz and Stegun, Handbook of
/// Mathematical Functions, equation 26.7.4.
fn student(x: f64, freedom: u32) -> f64 {
    let squares = x * x;
    let of_cosine = f64::from(freedom) / (f64::from(freedom) + squares);
    let sine = x / (f64::from(freedom) + squares).sqrt();
    let (mut term, mut sum) = (1.0, 1.0);
    for k in (2..freedom).step_by(2) {
        term *= of_cosine * f64::from(k - 1) / f64::from(k);
        sum += term;
    }
    (0.5 * (1.0 - sine * sum)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_tabulated_ones() {
        for (freedom, quantile, chance) in
            [(2, 2.920, 0.05), (2, 9.925, 0.005), (8, 1.860, 0.05), (8, 3.355, 0.005), (20, 2.528, 0.01)]
        {
            assert!((student(quantile, freedom) / chance - 1.0).abs() < 2e-3, "{freedom} {quantile}");
        }
    }

    #[test]
    fn both_tails_are_alike() {
        assert_eq!(student(0.0, 8), 0.5);
        assert!((student(-1.7, 8) + student(1.7, 8) - 1.0).abs() < 1e-12);
        assert!(student(50.0, 8) < 1e-9);
    }
}
