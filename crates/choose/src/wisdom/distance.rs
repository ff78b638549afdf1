//! Distances of inputs in doublings.

use super::entry::Input;

/// Returns the distance of `a` and `b`: the Euclidean distance in doublings, over all sizes that
/// either has. A size that only one has, or that is not above 0 in one of them, counts as `MISSING`
/// doublings if the two differ.
///
/// From 128 x 128 to 256 x 256 the distance is √2.
pub fn distance(a: &Input, b: &Input) -> f64 {
    let of_a = a.iter().map(|(name, value)| doublings(Some(*value), b.get(name).copied()));
    let of_b = b.keys().filter(|name| !a.contains_key(*name)).map(|_| MISSING);
    of_a.chain(of_b).map(|difference| difference * difference).sum::<f64>().sqrt()
}

/// Number of doublings between sizes that cannot be compared. Sizes that can be compared are never
/// as far apart.
pub const MISSING: f64 = 64.0;

/// Returns the doublings between two sizes, either of which may be missing.
pub fn doublings(a: Option<f64>, b: Option<f64>) -> f64 {
    match (a, b) {
        (None, None) => 0.0,
        (Some(a), Some(b)) if a == b => 0.0,
        (Some(a), Some(b)) if a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() => (a / b).log2().abs().min(MISSING),
        _ => MISSING,
    }
}

/// Returns the distance of a point from a box, in doublings: the Euclidean distance, 0 inside. Each
/// item is a number of the point and the range of the box there. A missing number (NaN) is
/// `MISSING` doublings away.
pub fn outside(numbers: impl Iterator<Item = (f64, (f64, f64))>) -> f64 {
    let beyond = |(value, (low, high)): (f64, (f64, f64))| match value {
        value if value < low => doublings(Some(value), Some(low)),
        value if value > high => doublings(Some(value), Some(high)),
        value if value.is_nan() => MISSING,
        _ => 0.0,
    };
    numbers.map(beyond).map(|distance| distance * distance).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(pairs: &[(&str, f64)]) -> Input {
        pairs.iter().map(|(name, value)| ((*name).to_string(), *value)).collect()
    }

    #[test]
    fn distance_counts_doublings() {
        let near = input(&[("M", 128.0), ("N", 128.0)]);
        assert_eq!(distance(&near, &near), 0.0);
        assert!((distance(&near, &input(&[("M", 256.0), ("N", 256.0)])) - 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(distance(&near, &input(&[("M", 128.0)])), MISSING);
        assert_eq!(distance(&input(&[("M", 0.0)]), &input(&[("M", 4.0)])), MISSING);
    }
}
