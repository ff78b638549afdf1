//! Finds the ways in which a kernel differs from all measured kernels.

use super::case::Case;
use super::model::CostModel;
use super::property::{CostProperty, PropertyCounts};
use std::fmt;
use tunesmith_model::nonnegative_least_squares;

/// Minimum distance of a far mixture of properties: the share of its time by which it differs from
/// every mixture of measured kernels.
const FAR: f64 = 0.1;
/// Maximum factor between a time and the measured times.
const BEYOND: f64 = 4.0;
/// Keeps the mixture of measured kernels unique.
const RIDGE: f64 = 1e-6;

/// A way in which a kernel lies outside the hull of the kernels to which the model was fitted. The
/// estimate of such a kernel is a guess.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outside {
    /// No measured kernel has the property: its cost is taken as 0.
    Unseen {
        /// The property.
        property: CostProperty,
        /// Its count in the kernel.
        count: f64,
    },
    /// No mixture of measured kernels spends its time like this kernel.
    Mixture {
        /// The part of the time that differs, between 0 and 1.
        share: f64,
        /// The property that differs most.
        property: CostProperty,
    },
    /// The time is far from those measured.
    Time {
        /// The estimate.
        seconds: f64,
        /// The shortest and the longest time measured.
        measured: (f64, f64),
    },
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unseen { property, count } => {
                write!(f, "no measured kernel has `{property}`, but this one has {count}: its cost is taken as 0")
            }
            Self::Mixture { share, property } => {
                let percent = share * 100.0;
                write!(
                    f,
                    "{percent:.0} % of the time is outside of all mixtures of measured kernels, mostly for `{property}`"
                )
            }
            Self::Time { seconds, measured: (shortest, longest) } => {
                let (seconds, shortest, longest) = (seconds * 1e3, shortest * 1e3, longest * 1e3);
                write!(f, "{seconds:.3} ms is far from the times measured, {shortest:.3} to {longest:.3} ms")
            }
        }
    }
}

/// Returns the ways in which a kernel with these counts lies outside. An empty list is good. Each
/// property's time is that of the property alone. Costs cases^2 x properties.
pub(super) fn outside(model: &CostModel, cases: &[Case], counts: &PropertyCounts) -> Vec<Outside> {
    let is_unseen = |property: &CostProperty| model.terms.iter().all(|term| term.property != *property);
    let counted = counts.iter().filter(|(property, count)| *count > 0.0 && model.takes(*property));
    let unseen = CostProperty::sorted(counted.map(|(property, _)| property).filter(is_unseen)).into_iter();
    let mut found: Vec<Outside> =
        unseen.map(|property| Outside::Unseen { property, count: counts.of(property) }).collect();
    found.extend(mixture(model, cases, counts));
    let times = || cases.iter().map(|case| case.seconds);
    let measured = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let seconds = model.seconds(counts);
    if seconds * BEYOND < measured.0 || seconds > measured.1 * BEYOND {
        found.push(Outside::Time { seconds, measured });
    }
    found
}

/// Returns the distance from the cone of the measured kernels, as a share of the kernel's own
/// length.
fn mixture(model: &CostModel, cases: &[Case], counts: &PropertyCounts) -> Option<Outside> {
    let kernel = direction(model, counts)?;
    let measured: Vec<Vec<f64>> = cases.iter().filter_map(|case| direction(model, &case.counts)).collect();
    let rows: Vec<Vec<f64>> = (0..kernel.len()).map(|at| measured.iter().map(|case| case[at]).collect()).collect();
    let parts = nonnegative_least_squares(&rows, &kernel, &vec![0.0; measured.len()], RIDGE);
    let miss = |(row, own): (&Vec<f64>, &f64)| own - row.iter().zip(&parts).map(|(a, part)| a * part).sum::<f64>();
    let misses: Vec<f64> = rows.iter().zip(&kernel).map(miss).collect();
    let share = misses.iter().map(|miss| miss * miss).sum::<f64>().sqrt();
    let most = (0..misses.len()).max_by(|&a, &b| misses[a].abs().total_cmp(&misses[b].abs()))?;
    (share > FAR).then(|| Outside::Mixture { share: share.min(1.0), property: model.terms[most].property })
}

/// Returns the times of the properties as a vector of length 1. The constant is not part of a
/// mixture. Returns `None` for a kernel without any property.
fn direction(model: &CostModel, counts: &PropertyCounts) -> Option<Vec<f64>> {
    let times: Vec<f64> = model.terms.iter().map(|term| term.weight.abs() * counts.counted(term.property)).collect();
    let length = times.iter().map(|time| time * time).sum::<f64>().sqrt();
    (length > 0.0).then(|| times.iter().map(|time| time / length).collect())
}

#[cfg(test)]
mod tests {
    use super::super::property::counts_of;
    use super::super::{Form, fit};
    use super::*;
    use std::collections::BTreeMap;

    fn counts(loads: f64, adds: f64) -> PropertyCounts {
        counts_of(&[("g:32:load:s1", loads), ("op:f32:add", adds)])
    }

    #[test]
    fn mixtures_between_measured_kernels_are_inside_and_others_are_named() {
        let case = |kernel: &str, loads: f64, adds: f64| Case {
            kernel: kernel.into(),
            class: "c".into(),
            sizes: BTreeMap::new(),
            counts: counts(loads, adds),
            seconds: 1e-5 + 1e-9 * (loads + adds),
        };
        let cases = [case("copy", 1e6, 0.0), case("copy", 5e6, 0.0), case("sum", 1e6, 1e6), case("sum", 9e6, 9e6)];
        let model = fit(&cases, Form::Nnls).unwrap();
        assert_eq!(outside(&model, &cases, &counts(4e6, 1e6)), []);
        assert_eq!(outside(&model, &cases, &counts(1e6, 1.1e6)), []);
        let found = outside(&model, &cases, &counts(1e6, 9e6));
        assert!(
            matches!(&found[..], [Outside::Mixture { share, property }] if *share > 0.3 && property.to_string() == "g:32:load:s1")
        );
        let mut other = counts(1e6, 0.0);
        other.set("op:f32:div".parse().unwrap(), 5.0);
        assert!(
            matches!(&outside(&model, &cases, &other)[..], [Outside::Unseen { property, .. }] if property.to_string() == "op:f32:div")
        );
        let long = outside(&model, &cases, &counts(1e9, 0.0));
        assert!(matches!(&long[..], [Outside::Time { .. }]), "{long:?}");
        assert!(long[0].to_string().contains("far from the times measured, 1.010 to 18.010 ms"), "{}", long[0]);
    }
}
