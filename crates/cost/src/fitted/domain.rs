//! The domain of a model: estimates with their interval, and what lies outside of what was
//! measured.

use super::case::Case;
use super::hull::{Distance, Hull};
use super::model::{CostModel, Estimate};
use super::own::{OwnProperty, with_own};
use super::property::{Cache, CostProperty, PropertyCounts, Resource};
use serde::Serialize;
use std::fmt;

/// Minimum distance of a far mixture of properties: the share of its time by which it differs from
/// every mixture of measured kernels.
const FAR: f64 = 0.1;
/// Maximum factor between a time or size and the measured ones.
const BEYOND: f64 = 4.0;
/// Minimum share of the time at which an unmeasured property matters, if one of it costs as much as
/// the dearest measured property of the same resource.
const MATTERS: f64 = 0.02;
/// Minimum sum of the parts above 0, as a multiple of the time, at which others cancel them.
const CANCELLED: f64 = 2.0;

/// A way in which a kernel lies outside of the kernels to which the model was fitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outside {
    /// No measured kernel has the property, so its cost is not known.
    Unmeasured {
        /// The property.
        property: CostProperty,
        /// Its count in the kernel.
        count: f64,
    },
    /// The formula of a property of the user gives no count for the kernel.
    Undefined {
        /// The property.
        property: CostProperty,
        /// The reason.
        reason: String,
    },
    /// No mixture of measured kernels spends its time like this kernel.
    Mixture {
        /// The part of the time that differs, between 0 and 1.
        share: f64,
        /// The property that differs most.
        property: CostProperty,
    },
    /// Parts of the time that are less than 0 cancel others. Only plain least squares gives such weights,
    /// where the measured kernels do not tell two properties apart.
    Cancelling {
        /// The sum of the parts above 0, as a multiple of the time.
        times: f64,
        /// The property with the largest part.
        largest: CostProperty,
        /// The property with the least part.
        least: CostProperty,
    },
    /// The time is far from those measured.
    Time {
        /// The estimate.
        seconds: f64,
        /// The shortest and the longest time measured.
        measured: (f64, f64),
    },
    /// The arrays are far larger than those measured.
    Size {
        /// Bytes of all arrays.
        bytes: f64,
        /// The most bytes of a measured kernel.
        measured: f64,
    },
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmeasured { property, count } => {
                write!(f, "no measured kernel has `{property}`, but this one has {count}: its cost is not known")
            }
            Self::Undefined { property, reason } => {
                write!(f, "`{property}` has no count here, so its cost is not known: {reason}")
            }
            Self::Mixture { share, property } => {
                let percent = share * 100.0;
                write!(
                    f,
                    "{percent:.0} % of the time is outside of all mixtures of measured kernels, mostly for `{property}`"
                )
            }
            Self::Cancelling { times, largest, least } => write!(
                f,
                "the parts of `{largest}` and `{least}` cancel, and those above 0 add up to {times:.1} times the estimate: \
                 this form of the model is degenerate here, so use another (--form)"
            ),
            Self::Time { seconds, measured: (shortest, longest) } => {
                let (seconds, shortest, longest) = (seconds * 1e3, shortest * 1e3, longest * 1e3);
                write!(f, "{seconds:.3} ms is far from the times measured, {shortest:.3} to {longest:.3} ms")
            }
            Self::Size { bytes, measured } => {
                let (bytes, measured) = (bytes / 1e6, measured / 1e6);
                write!(f, "its arrays take {bytes:.0} MB, and those of the measured kernels at most {measured:.0} MB")
            }
        }
    }
}

impl Outside {
    /// Returns true if the kernel has something whose cost is not known.
    fn is_unknown_cost(&self) -> bool {
        matches!(self, Self::Unmeasured { .. } | Self::Undefined { .. })
    }
}

/// An estimate with the limits of what the model knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounded {
    /// The time and its shares. Unmeasured properties add nothing to it.
    pub estimate: Estimate,
    /// The interval of the time. `None` if the calibration measured too few kernels to give one.
    pub interval: Option<Interval>,
    /// The ways in which the kernel lies outside of what was measured. Best if empty.
    pub outside: Vec<Outside>,
}

/// An interval that contains the time of a kernel with a stated probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The stated probability.
    pub coverage: f64,
    /// The lower end in seconds.
    pub low: f64,
    /// The upper end in seconds, or `None` if an unmeasured property may cost any time.
    pub high: Option<f64>,
}

impl Bounded {
    /// Returns the properties that matter and whose cost is not known. With any of them, the
    /// estimate is at most a lower bound.
    pub fn unmeasured(&self) -> impl Iterator<Item = &Outside> {
        self.outside.iter().filter(|outside| outside.is_unknown_cost())
    }

    /// Returns true if every operation of the kernel has a cost, as far as it matters.
    pub fn is_measured(&self) -> bool {
        self.unmeasured().next().is_none()
    }
}

/// A model with the cases to which it was fitted, ready for many estimates.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    model: CostModel,
    hull: Hull,
    /// The shortest and the longest time.
    times: (f64, f64),
    /// The most bytes of all arrays of a kernel.
    bytes: f64,
    /// The user's properties.
    own: Vec<OwnProperty>,
}

impl Domain {
    /// Creates the domain of a model that was fitted to `cases`, which have the counts of the user's
    /// properties `own`. Costs cases^2 x properties.
    pub(super) fn new(model: &CostModel, cases: &[Case], own: &[OwnProperty]) -> Self {
        let times = || cases.iter().map(|case| case.seconds);
        let times = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let bytes = cases.iter().map(|case| bytes(&case.counts)).fold(0.0, f64::max);
        Self { hull: Hull::new(model, cases.iter()), model: model.clone(), times, bytes, own: own.to_vec() }
    }

    /// Returns the model.
    pub fn model(&self) -> &CostModel {
        &self.model
    }

    /// Estimates a kernel with these counts, to which it adds those of the user's properties. Costs
    /// measured kernels x properties, and thus some tenths of a millisecond.
    pub fn estimate(&self, counts: &PropertyCounts) -> Bounded {
        let (counts, undefined) = with_own(&self.own, counts);
        let mut bounded = self.estimate_counted(&counts);
        if let Some(interval) = bounded.interval.as_mut().filter(|_| !undefined.is_empty()) {
            interval.high = None;
        }
        let undefined = undefined.into_iter().map(|(property, reason)| Outside::Undefined { property, reason });
        bounded.outside.extend(undefined);
        bounded
    }

    /// Estimates a kernel with these counts alone.
    fn estimate_counted(&self, counts: &PropertyCounts) -> Bounded {
        let estimate = self.model.estimate(counts);
        let distance = self.hull.distance(&self.model, counts);
        let mut outside = self.outside(counts, estimate.seconds, distance);
        outside.extend(cancelling(&estimate));
        let interval = self.model.reach.map(|reach| {
            let share = distance.map_or(0.0, |distance| distance.share);
            let factor = reach.factor(share + self.decades_beyond(counts, estimate.seconds));
            let is_open = outside.iter().any(Outside::is_unknown_cost);
            let high = (!is_open).then_some(estimate.seconds * factor);
            Interval { coverage: reach.coverage, low: estimate.seconds / factor, high }
        });
        Bounded { estimate, interval, outside }
    }

    fn outside(&self, counts: &PropertyCounts, seconds: f64, distance: Option<Distance>) -> Vec<Outside> {
        let unmeasured = self.unmeasured(counts, seconds).into_iter();
        let mut found: Vec<Outside> =
            unmeasured.map(|property| Outside::Unmeasured { property, count: counts.of(property) }).collect();
        if let Some(Distance { share, term }) = distance.filter(|distance| distance.share > FAR) {
            found.push(Outside::Mixture { share, property: self.model.terms[term].property });
        }
        if seconds * BEYOND < self.times.0 || seconds > self.times.1 * BEYOND {
            found.push(Outside::Time { seconds, measured: self.times });
        }
        let own = bytes(counts);
        if self.bytes > 0.0 && own > self.bytes * BEYOND {
            found.push(Outside::Size { bytes: own, measured: self.bytes });
        }
        found
    }

    /// Returns the properties without a cost. A property is left out if it would not matter at the
    /// cost of the dearest measured one that uses the same resource.
    fn unmeasured(&self, counts: &PropertyCounts, seconds: f64) -> Vec<CostProperty> {
        let is_known = |property: CostProperty| self.model.terms.iter().any(|term| term.property == property);
        let dearest = |resource: Resource| {
            let others = self.model.terms.iter().filter(|term| term.property != CostProperty::Constant);
            others.filter(|term| term.property.resource() == resource).map(|term| term.weight).fold(0.0, f64::max)
        };
        let matters = |property: CostProperty, count: f64| {
            let dearest = dearest(property.resource());
            dearest <= 0.0 || dearest * count > MATTERS * seconds
        };
        let counted = counts.iter().filter(|(own, count)| *count > 0.0 && self.model.takes(*own) && own.is_operation());
        let unknown = counted.filter(|(own, count)| !is_known(*own) && matters(*own, *count));
        CostProperty::sorted(unknown.map(|(property, _)| property))
    }

    /// Returns the number of powers of ten by which the time and the arrays are beyond what was
    /// measured.
    fn decades_beyond(&self, counts: &PropertyCounts, seconds: f64) -> f64 {
        let decades = |ratio: f64| if ratio.is_finite() && ratio > 1.0 { ratio.log10() } else { 0.0 };
        decades(self.times.0 / seconds) + decades(seconds / self.times.1) + decades(bytes(counts) / self.bytes)
    }
}

/// Returns the bytes of all arrays if they do not fit into the first cache, and 0 otherwise.
fn bytes(counts: &PropertyCounts) -> f64 {
    counts.counted(CostProperty::Beyond(Cache::First))
}

/// Returns the cancelling of an estimate's parts, if it is large.
fn cancelling(estimate: &Estimate) -> Option<Outside> {
    let (largest, least) = (estimate.shares.first()?, estimate.shares.last()?);
    let above: f64 = estimate.shares.iter().map(|share| share.seconds.max(0.0)).sum();
    let times = above / estimate.seconds.max(f64::MIN_POSITIVE);
    let is_large = least.seconds < 0.0 && times >= CANCELLED;
    is_large.then_some(Outside::Cancelling { times, largest: largest.property, least: least.property })
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

    fn case(kernel: &str, loads: f64, adds: f64, wrong_by: f64) -> Case {
        let seconds = (1e-5 + 1e-9 * (loads + adds)) * wrong_by;
        Case { kernel: kernel.into(), class: "c".into(), sizes: BTreeMap::new(), counts: counts(loads, adds), seconds }
    }

    fn domain(cases: &[Case]) -> Domain {
        Domain::new(&fit(cases, Form::Nnls).unwrap(), cases, &[])
    }

    #[test]
    fn what_lies_outside_is_named() {
        let cases = [
            case("copy", 1e6, 0.0, 1.0),
            case("copy", 5e6, 0.0, 1.0),
            case("sum", 1e6, 1e6, 1.0),
            case("sum", 9e6, 9e6, 1.0),
        ];
        let domain = domain(&cases);
        let outside = |counts: &PropertyCounts| domain.estimate(counts).outside;
        assert_eq!(outside(&counts(4e6, 1e6)), []);
        assert_eq!(outside(&counts(1e6, 1.1e6)), []);
        let found = outside(&counts(1e6, 9e6));
        assert!(
            matches!(&found[..], [Outside::Mixture { share, property }] if *share > 0.3 && property.to_string() == "g:32:load:s1"),
            "{found:?}"
        );
        let long = outside(&counts(1e9, 0.0));
        assert!(matches!(&long[..], [Outside::Time { .. }]), "{long:?}");
        assert!(long[0].to_string().contains("far from the times measured, 1.010 to 18.010 ms"), "{}", long[0]);
    }

    #[test]
    fn weights_that_cancel_are_named() {
        let mut model = fit(&many(1.1), Form::Paper).unwrap();
        for (term, weight) in
            model.terms.iter_mut().filter(|term| term.property != CostProperty::Constant).zip([8e-8, -7.9e-8])
        {
            term.weight = weight;
        }
        let domain = Domain::new(&model, &many(1.1), &[]);
        let found = domain.estimate(&counts(1e6, 1e6)).outside;
        let named = found.iter().find(|own| matches!(own, Outside::Cancelling { times, .. } if *times > 50.0));
        let text = named.unwrap().to_string();
        assert!(
            text.contains("parts of `g:32:load:s1` and `op:f32:add` cancel") && text.contains("degenerate"),
            "{text}"
        );
        assert!(
            domain.estimate(&counts(1e6, 0.0)).outside.iter().all(|own| !matches!(own, Outside::Cancelling { .. }))
        );
    }

    #[test]
    fn an_unmeasured_property_opens_the_interval_unless_it_is_too_rare_to_matter() {
        let (cases, divisions) = (many(1.1), |count: f64| {
            let mut counts = counts(1e6, 1e6);
            counts.set("op:f64:div".parse().unwrap(), count);
            counts
        });
        let domain = domain(&cases);
        let often = domain.estimate(&divisions(1e6));
        assert!(!often.is_measured() && often.interval.unwrap().high.is_none(), "{often:?}");
        assert!(
            often.outside[0].to_string().contains("`op:f64:div`, but this one has 1000000"),
            "{}",
            often.outside[0]
        );
        let rarely = domain.estimate(&divisions(1e3));
        assert!(rarely.is_measured() && rarely.interval.unwrap().high.is_some(), "{rarely:?}");
        // The lesser of loads and stores corrects the two; it is no operation.
        let mut both = counts(1e6, 1e6);
        both.set("g:64:min(load,store):s1".parse().unwrap(), 1e6);
        assert!(domain.estimate(&both).is_measured());
    }

    /// Returns the cases of twelve nests, whose times are by turns too long and too short.
    fn many(wrong_by: f64) -> Vec<Case> {
        let nest = |at: usize| {
            let loads = 1e6 * (1 + at % 4) as f64;
            let factor = if at.is_multiple_of(2) { wrong_by } else { 1.0 / wrong_by };
            case(&format!("nest{at} 16x16"), loads, loads * (at % 3) as f64, factor)
        };
        (0..12).map(nest).collect()
    }

    #[test]
    fn the_interval_grows_with_the_errors_on_nests_left_out_and_with_the_distance() {
        let width = |cases: &[Case], counts: &PropertyCounts| {
            let interval = domain(cases).estimate(counts).interval.unwrap();
            assert_eq!(interval.coverage, 0.9);
            interval.high.unwrap() / interval.low
        };
        let (near, far) = (counts(2e6, 2e6), counts(1e3, 9e6));
        assert!(width(&many(1.02), &near) < 1.2);
        assert!(width(&many(1.3), &near) > 1.5);
        assert!(width(&many(1.3), &far) > 1.5 * width(&many(1.3), &near), "far from all mixtures");
        let longer = counts(2e9, 2e9);
        assert!(width(&many(1.3), &longer) > 1.5 * width(&many(1.3), &near), "far from all times");
        let few = domain(&many(1.3)[..6]).estimate(&near);
        assert_eq!(few.interval, None, "six nests say nothing at 90 %");
    }

    #[test]
    fn nine_of_ten_new_kernels_lie_in_their_interval() {
        // Factors spread evenly between 1/1.5 and 1.5, by a fixed sequence without pattern.
        let factor = |at: usize| 1.5_f64.powf((at as f64 * 0.618_033_988_75).fract() * 2.0 - 1.0);
        let nest = |at: usize| {
            let loads = 1e6 * (1 + at % 5) as f64;
            case(&format!("nest{at}"), loads, loads * (at % 4) as f64 / 2.0, factor(at))
        };
        let domain = domain(&(0..60).map(nest).collect::<Vec<_>>());
        let inside = (60..260).map(nest).filter(|case| {
            let interval = domain.estimate(&case.counts).interval.unwrap();
            interval.low <= case.seconds && case.seconds <= interval.high.unwrap()
        });
        let share = inside.count() as f64 / 200.0;
        assert!((0.84..=0.99).contains(&share), "{share}");
    }
}
