//! Corrects estimates by measurements of the same kernel.

use super::domain::{Bounded, Interval};
use super::property::{CostProperty, PropertyCounts};
use super::reach::{COVERAGE, quantile};
use serde::Serialize;
use std::collections::BTreeSet;
use tunesmith_model::nonnegative_least_squares;

/// Minimum number of measurements to which the dependence on counts is fitted.
const FITTED: usize = 5;
/// Weight of the squares of the slopes against those of the errors. Counts are standardised.
const RIDGE: f64 = 1.0;

/// A measured variant of the kernel that is estimated.
#[derive(Clone, Debug)]
pub struct MeasuredVariant {
    /// Its counts.
    pub counts: PropertyCounts,
    /// Its time.
    pub seconds: f64,
    /// Its time by the model.
    pub estimate: f64,
    /// True if it is the very configuration that is estimated, at other sizes.
    pub is_same: bool,
}

/// The way in which measurements correct an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionKind {
    /// One factor for all estimates.
    Factor,
    /// A factor that depends on the counts.
    Fit,
}

/// A correction of estimates by measurements of variants of the same kernel.
///
/// Measurements of the same configuration at other sizes scale the estimate by the geometric mean of
/// `time / estimate`. Those of other variants say less about it: `n` of them scale it by this mean to
/// the power of `n / (n + 1)`. Five or more fit `ln(time / estimate)` as a linear function of the
/// logarithms of the counts, by least squares with a penalty on the slopes (ridge regression).
#[derive(Clone, Debug)]
pub struct Correction {
    /// The number of measurements.
    pub measurements: usize,
    /// Its kind.
    pub kind: CorrectionKind,
    /// The logarithm of the factor at the mean of the measured features.
    mean: f64,
    features: Vec<Feature>,
    /// Logarithm of the factor between an estimate and the ends of its interval. `None` if the model's
    /// own interval stays.
    reach: Option<f64>,
}

/// The logarithm of a count, standardised.
#[derive(Clone, Debug)]
struct Feature {
    property: CostProperty,
    /// The mean over the measured variants.
    centre: f64,
    /// The standard deviation over all variants.
    scale: f64,
    slope: f64,
}

impl Feature {
    fn of(&self, counts: &PropertyCounts) -> f64 {
        (log_count(counts, self.property) - self.centre) / self.scale
    }
}

fn log_count(counts: &PropertyCounts, property: CostProperty) -> f64 {
    counts.counted(property).max(0.0).ln_1p()
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let numbers: Vec<f64> = numbers.collect();
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

impl MeasuredVariant {
    /// Returns the logarithm of time over estimate.
    fn residual(&self) -> f64 {
        (self.seconds / self.estimate).ln()
    }
}

impl Correction {
    /// Returns the correction by `measured` for variants with these counts. Returns `None` without a
    /// measurement. Costs properties x measurements^2, again for each measurement left out.
    pub fn new<'a>(
        measured: &'a [MeasuredVariant],
        variants: impl Iterator<Item = &'a PropertyCounts>,
    ) -> Option<Self> {
        let usable = |own: &&MeasuredVariant| own.residual().is_finite();
        let measured: Vec<&MeasuredVariant> = measured.iter().filter(usable).collect();
        let same: Vec<&MeasuredVariant> = measured.iter().copied().filter(|own| own.is_same).collect();
        let used = if same.is_empty() { measured } else { same };
        let is_same = used.first()?.is_same;
        let spreads = if used.len() < FITTED || is_same { Vec::new() } else { spreads(&used, variants) };
        let mut correction = Self::fitted(&used, &spreads, is_same);
        correction.reach = reach(&used, &spreads, is_same);
        Some(correction)
    }

    fn fitted(measured: &[&MeasuredVariant], spreads: &[(CostProperty, f64)], is_same: bool) -> Self {
        let measurements = measured.len();
        let whole = mean(measured.iter().map(|own| own.residual()));
        if spreads.is_empty() {
            let share = if is_same { 1.0 } else { measurements as f64 / (measurements as f64 + 1.0) };
            let kind = CorrectionKind::Factor;
            return Self { measurements, kind, mean: whole * share, features: Vec::new(), reach: None };
        }
        let feature = |(property, scale): &(CostProperty, f64)| {
            let centre = mean(measured.iter().map(|own| log_count(&own.counts, *property)));
            Feature { property: *property, centre, scale: *scale * (spreads.len() as f64).sqrt(), slope: 0.0 }
        };
        let mut features: Vec<Feature> = spreads.iter().map(feature).collect();
        let rows: Vec<Vec<f64>> =
            measured.iter().map(|own| features.iter().map(|feature| feature.of(&own.counts)).collect()).collect();
        let misses: Vec<f64> = measured.iter().map(|own| own.residual() - whole).collect();
        for (feature, slope) in features.iter_mut().zip(ridge(&rows, &misses)) {
            feature.slope = slope;
        }
        Self { measurements, kind: CorrectionKind::Fit, mean: whole, features, reach: None }
    }

    /// Returns the factor for the estimate of a variant with these counts.
    pub fn factor(&self, counts: &PropertyCounts) -> f64 {
        let slopes: f64 = self.features.iter().map(|feature| feature.slope * feature.of(counts)).sum();
        (self.mean + slopes).exp()
    }

    /// Applies the correction to the estimate of a variant with these counts.
    pub fn apply(&self, bounded: &mut Bounded, counts: &PropertyCounts) {
        let factor = self.factor(counts);
        bounded.estimate.seconds *= factor;
        bounded.estimate.shares.iter_mut().for_each(|share| share.seconds *= factor);
        let seconds = bounded.estimate.seconds;
        bounded.interval = bounded.interval.map(|own| match self.reach {
            None => Interval { low: own.low * factor, high: own.high.map(|high| high * factor), ..own },
            Some(reach) => Interval {
                coverage: COVERAGE,
                low: seconds / reach.exp(),
                high: own.high.map(|_| seconds * reach.exp()),
            },
        });
    }
}

/// Returns the properties whose counts differ among the variants, with the standard deviation of their
/// logarithms.
fn spreads<'a>(
    measured: &[&'a MeasuredVariant],
    variants: impl Iterator<Item = &'a PropertyCounts>,
) -> Vec<(CostProperty, f64)> {
    let all: Vec<&PropertyCounts> = measured.iter().map(|own| &own.counts).chain(variants).collect();
    let properties: BTreeSet<CostProperty> =
        all.iter().flat_map(|counts| counts.iter().map(|(property, _)| property)).collect();
    let spread = |property: CostProperty| {
        let logs = || all.iter().map(|counts| log_count(counts, property));
        let centre = mean(logs());
        let deviation = mean(logs().map(|log| (log - centre).powi(2))).sqrt();
        (deviation > 1e-9).then_some((property, deviation))
    };
    properties.into_iter().filter_map(spread).collect()
}

/// Returns the logarithm of the factor within which 90 % of the measured times lie, each estimated by
/// the others (leave-one-out, as in split conformal prediction). Returns `None` for fewer than nine, which
/// say nothing at 90 %.
fn reach(measured: &[&MeasuredVariant], spreads: &[(CostProperty, f64)], is_same: bool) -> Option<f64> {
    let missed = |at: usize| {
        let others: Vec<&MeasuredVariant> =
            measured.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, own)| *own).collect();
        let without = Correction::fitted(&others, spreads, is_same);
        ((measured[at].residual() - without.factor(&measured[at].counts).ln()).abs(), 1.0)
    };
    quantile((0..measured.len()).map(missed).collect(), COVERAGE * (measured.len() + 1) as f64)
}

/// Returns the slopes with the least sum of squares of the errors plus [`RIDGE`] times that of the slopes.
/// A slope of any sign is the difference of two that are not negative.
fn ridge(rows: &[Vec<f64>], targets: &[f64]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let both = |row: &Vec<f64>| row.iter().copied().chain(row.iter().map(|x| -x)).collect::<Vec<f64>>();
    let doubled: Vec<Vec<f64>> = rows.iter().map(both).collect();
    let parts = nonnegative_least_squares(&doubled, targets, &vec![0.0; 2 * width], RIDGE);
    (0..width).map(|at| parts[at] - parts[width + at]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::property::counts_of;
    use super::*;
    use proptest::prelude::*;

    fn variant(loads: f64, barriers: f64, ratio: f64, is_same: bool) -> MeasuredVariant {
        let counts = counts_of(&[("lane:g:32:load:s1", loads), ("barriers", barriers)]);
        MeasuredVariant { counts, seconds: 1e-3 * ratio, estimate: 1e-3, is_same }
    }

    fn factor(measured: &[MeasuredVariant], loads: f64, barriers: f64) -> f64 {
        let counts = variant(loads, barriers, 1.0, false).counts;
        Correction::new(measured, std::iter::once(&counts)).unwrap().factor(&counts)
    }

    #[test]
    fn the_same_configuration_scales_fully_and_few_others_in_part() {
        let others = [variant(1e6, 10.0, 4.0, false), variant(1e5, 90.0, 4.0, false)];
        assert!((factor(&others[..1], 1e4, 5.0) - 2.0).abs() < 1e-9, "half of the logarithm");
        assert!((factor(&others, 1e4, 5.0) - 4.0_f64.powf(2.0 / 3.0)).abs() < 1e-9);
        let same = [others[0].clone(), variant(1e6, 10.0, 3.0, true)];
        assert!((factor(&same, 1e4, 5.0) - 3.0).abs() < 1e-9);
        assert!(Correction::new(&[], std::iter::empty()).is_none());
        assert!(Correction::new(&[variant(1.0, 1.0, f64::NAN, true)], std::iter::empty()).is_none());
    }

    /// Returns variants whose barriers take twice as long as the model says, as far as they have any.
    fn barriers_cost_more(count: usize) -> Vec<MeasuredVariant> {
        let variant = |at: usize| {
            let barriers = 10_f64.powi((at * 7 % 5) as i32);
            variant(1e6, barriers, 1.5 * barriers.powf(0.2), false)
        };
        (0..count).map(variant).collect()
    }

    #[test]
    fn five_variants_tell_what_the_error_depends_on_and_nine_the_interval() {
        let measured = barriers_cost_more(5);
        let wrong_by =
            |measured: &[MeasuredVariant]| (factor(measured, 1e6, 1e4) / (1.5 * 1e4_f64.powf(0.2))).ln().abs();
        assert!(wrong_by(&measured) < 0.5 * wrong_by(&measured[..4]), "{}", wrong_by(&measured));
        let all = barriers_cost_more(40);
        assert!(wrong_by(&all) < 0.1, "{}", wrong_by(&all));
        let correction = Correction::new(&all, std::iter::empty()).unwrap();
        let mut inside = 0;
        for own in &all {
            let estimate = super::super::model::Estimate { seconds: own.estimate, shares: Vec::new() };
            let interval = Some(Interval { coverage: 0.5, low: 1e-9, high: Some(1e9) });
            let mut bounded = Bounded { estimate, interval, outside: Vec::new() };
            correction.apply(&mut bounded, &own.counts);
            let interval = bounded.interval.unwrap();
            assert_eq!(interval.coverage, COVERAGE);
            inside += usize::from(interval.low <= own.seconds && own.seconds <= interval.high.unwrap());
        }
        assert!(inside >= 36, "{inside} of 40");
    }

    proptest! {
        #[test]
        fn the_slopes_are_those_of_the_normal_equations(
            rows in prop::collection::vec(prop::collection::vec(-2.0..2.0f64, 3), 1..9), targets in prop::collection::vec(-2.0..2.0f64, 9),
        ) {
            let targets = &targets[..rows.len()];
            let slopes = ridge(&rows, targets);
            for at in 0..3 {
                let miss = |row: &Vec<f64>| row.iter().zip(&slopes).map(|(a, b)| a * b).sum::<f64>();
                let gradient: f64 = rows.iter().zip(targets).map(|(row, target)| row[at] * (miss(row) - target)).sum();
                prop_assert!((gradient + RIDGE * RIDGE * slopes[at]).abs() < 1e-6, "{:?}", slopes);
            }
        }
    }
}
