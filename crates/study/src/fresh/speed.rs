//! Averages speeds over sizes.

/// The 97.5 % quantiles of Student's distribution with 1, 2, 3, ... degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Returns the geometric mean of `speeds` with its 95 % interval, that of Student (Biometrika 6, 1908) for the mean of
/// their logarithms. The sizes are a sample, so that the interval has the spread between sizes and the noise of the
/// measurements. One speed has no interval. Returns `None` without speeds.
pub(super) fn mean_speed(speeds: &[f64]) -> Option<(f64, Option<(f64, f64)>)> {
    let count = speeds.len() as f64;
    let logarithms: Vec<f64> = speeds.iter().map(|speed| speed.ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / count;
    let freedom = speeds.len().checked_sub(1)?;
    // With more than the table has, the last one is too wide by 4 % at most.
    let quantile = freedom.checked_sub(1).map(|at| STUDENT[at.min(STUDENT.len() - 1)]);
    let interval = quantile.map(|quantile| {
        let squares: f64 = logarithms.iter().map(|logarithm| (logarithm - mean).powi(2)).sum();
        let half = quantile * (squares / freedom as f64 / count).sqrt();
        ((mean - half).exp(), (mean + half).exp())
    });
    Some((mean.exp(), interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_geometric_and_its_interval_is_students() {
        assert_eq!(mean_speed(&[]), None);
        assert_eq!(mean_speed(&[1.5]).map(|(_, interval)| interval), Some(None));
        let (mean, interval) = mean_speed(&[1.0, 4.0]).unwrap();
        let (low, high) = interval.unwrap();
        // The logarithms are 0 and 2 ln 2: their mean is ln 2, and its standard error, too.
        let half = 12.706 * 2f64.ln();
        assert!((mean - 2.0).abs() < 1e-12 && (low.ln() - 2f64.ln() + half).abs() < 1e-9);
        assert!((high.ln() - 2f64.ln() - half).abs() < 1e-9);
        let (mean, interval) = mean_speed(&[1.0; 20]).unwrap();
        assert_eq!((mean, interval), (1.0, Some((1.0, 1.0))));
    }
}
