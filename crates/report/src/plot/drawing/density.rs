//! Estimates the density of values.

/// Number of places at which a density is given.
const PLACES: usize = 64;

/// The narrowest kernel, on a scale of shares. It keeps a violin of equal values visible.
const NARROWEST: f64 = 0.004;

/// Returns the density of the ascending `values`, which are in 0..1, from the least to the
/// greatest: places, with the density there up to a factor. Empty without values.
///
/// Uses a Gaussian kernel with the width of B. W. Silverman, Density Estimation, 1986, equation
/// 3.31. The density is cut off at the extremes, so that no share above 1 is shown. Cost: the
/// number of values times 64.
pub(super) fn density(values: &[f64]) -> Vec<(f64, f64)> {
    let (Some(least), Some(greatest)) = (values.first(), values.last()) else { return Vec::new() };
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let quartile = |share: f64| values[((share * count) as usize).min(values.len() - 1)];
    let between = (quartile(0.75) - quartile(0.25)) / 1.34;
    let spread = if between > 0.0 { deviation.min(between) } else { deviation };
    let width = (0.9 * spread * count.powf(-0.2)).max(NARROWEST);
    let (low, high) = ((least - NARROWEST / 2.0).max(0.0), (greatest + NARROWEST / 2.0).min(1.0));
    let place = |number: usize| low + (high - low) * number as f64 / (PLACES - 1) as f64;
    let at = |place: f64| values.iter().map(|value| (-0.5 * ((place - value) / width).powi(2)).exp()).sum::<f64>();
    (0..PLACES).map(place).map(|place| (place, at(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_is_high_where_values_lie_and_does_not_leave_their_range() {
        let mut values: Vec<f64> = (0..90).map(|at| 0.9 + f64::from(at) * 1e-3).chain((0..10).map(|_| 0.5)).collect();
        values.sort_by(f64::total_cmp);
        let density = density(&values);
        assert!(density.iter().all(|(place, density)| (0.49..=1.0).contains(place) && density.is_finite()));
        let near =
            |share: f64| density.iter().min_by(|a, b| (a.0 - share).abs().total_cmp(&(b.0 - share).abs())).unwrap().1;
        assert!(near(0.94) > 3.0 * near(0.5) && near(0.5) > 3.0 * near(0.7), "{density:?}");
    }

    #[test]
    fn one_value_and_none_have_a_density_too() {
        assert!(density(&[]).is_empty());
        let one = density(&[1.0, 1.0]);
        assert_eq!(one.last().unwrap().0, 1.0);
        assert!(one.iter().all(|(place, density)| (0.99..=1.0).contains(place) && *density > 0.0));
    }
}
