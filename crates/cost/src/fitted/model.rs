//! A fitted cost model and what it says of a kernel.

use super::dependence::Dependence;
use super::overlap::Parts;
use super::property::{CostProperty, PropertyCounts, Resource};
use super::waves::factor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Relative errors below this are counted as this much: a mean of logarithms would be ruled by
/// lucky hits.
const LEAST_ERROR: f64 = 0.01;

/// The form of a model: its rule from properties to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The paper's: a sum over its own properties, by plain least squares; weights may be negative.
    Paper,
    /// A sum over all properties with weights that are not negative.
    Nnls,
    /// As `Nnls`, but memory, arithmetic and waiting for results overlap: `overhead + (memory^e +
    /// arithmetic^e + latency^e)^(1/e)` with a fitted exponent `e`; what is done
    /// [apart](super::PropertyCounts::apart) is among the overhead. Fitted to the least sum of
    /// relative errors, not of their squares: a few kernels that the compiler treats unlike the
    /// others count for less.
    Overlap,
}

impl Form {
    /// Every form by its name, the one to use unless told otherwise last.
    pub const ALL: [(&'static str, Self); 3] =
        [("paper", Self::Paper), ("nnls", Self::Nnls), ("overlap", Self::Overlap)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }

    /// Returns true if models of this form have the property.
    pub fn takes(self, property: CostProperty) -> bool {
        self != Self::Paper || property.is_published()
    }

    /// Returns the same where it is known whether lanes are counted, which the paper's form leaves
    /// aside and the others prefer.
    pub(super) fn takes_beside(self, property: CostProperty, has_lanes: bool) -> bool {
        self.takes(property) && (self == Self::Paper || !(has_lanes && property.is_superseded()))
    }
}

/// The cost of one unit of a property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The property.
    pub property: CostProperty,
    /// Seconds for each operation.
    pub weight: f64,
    /// Standard error of the weight, by leaving out one kernel after the other (the jackknife).
    /// Nothing where fewer than two kernels have the property.
    pub spread: Option<f64>,
    /// The number of measured kernels that have the property.
    pub kernels: usize,
}

/// The errors of a model on the kernels that it was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Residual {
    /// Their number.
    pub cases: usize,
    /// Geometric mean of the relative errors, each at least 1 %.
    pub mean: f64,
    /// The largest relative error.
    pub largest: f64,
}

/// Predicts the time of a kernel on the device that it was [fitted](super::fit) to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostModel {
    /// Its form.
    pub form: Form,
    /// The overlap of memory and arithmetic: 1 is none; the larger, the more.
    pub exponent: f64,
    /// Compute units that share the work-groups of a launch, each running one after the other: few
    /// work-groups leave some idle. 1 to count work as if it were spread evenly.
    #[serde(default = "one")]
    pub units: f64,
    /// The terms, by name.
    pub terms: Vec<Term>,
    /// The number of terms that the measured kernels determine independently of each other.
    pub rank: usize,
    /// Properties that were multiples of each other in all measured kernels: each takes the same
    /// share of their time.
    pub merged: Vec<Vec<CostProperty>>,
    /// Properties that were sums of others.
    pub dependent: Vec<Dependence>,
    /// By class of measured kernels how far they are missed.
    pub residuals: BTreeMap<String, Residual>,
}

/// The predicted time of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The time.
    pub seconds: f64,
    /// Its parts, the largest first; they add up to it.
    pub shares: Vec<Share>,
}

/// The part of a time that one property takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The property.
    pub property: CostProperty,
    /// The number of times that the kernel has it.
    pub count: f64,
    /// Seconds for each operation, if it were done alone.
    pub weight: f64,
    /// Its part of the time: less than count times weight where it is hidden behind another
    /// resource, more where work-groups are too few for all compute units.
    pub seconds: f64,
}

impl CostModel {
    /// Returns the time of a kernel with these counts. Counts of properties that the model has no
    /// term for say nothing; the [hull](super::DeviceFile::outside) tells.
    pub fn seconds(&self, counts: &PropertyCounts) -> f64 {
        self.parts(counts).seconds(self.exponent)
    }

    /// Returns the time and the share of every term that the kernel has.
    pub fn estimate(&self, counts: &PropertyCounts) -> Estimate {
        let parts = self.parts(counts);
        let share = |term: &Term| {
            let (property, weight) = (term.property, term.weight);
            let slope = parts.slope(property.resource(), self.exponent);
            let factor = factor(counts, property, self.units);
            let (count, apart) = (counts.of(property), counts.apart(property));
            Share { property, count, weight, seconds: (apart + (count - apart) * slope) * weight * factor }
        };
        let mut shares: Vec<Share> = self.terms.iter().map(share).filter(|share| share.count > 0.0).collect();
        shares.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        Estimate { seconds: parts.seconds(self.exponent), shares }
    }

    /// Returns the relative error of the time of a kernel that took `seconds`.
    pub fn error(&self, counts: &PropertyCounts, seconds: f64) -> f64 {
        (self.seconds(counts) - seconds).abs() / seconds
    }

    /// Returns true if the model has a part for the property where measured kernels have it.
    pub(super) fn takes(&self, property: CostProperty) -> bool {
        let has_lanes = self.terms.iter().any(|term| term.property.is_of_lanes());
        self.form.takes_beside(property, has_lanes)
    }

    fn parts(&self, counts: &PropertyCounts) -> Parts {
        let mut parts = Parts::default();
        for term in &self.terms {
            let factor = factor(counts, term.property, self.units);
            let (count, apart) = (counts.of(term.property), counts.apart(term.property));
            parts.add(term.property.resource(), (count - apart) * term.weight * factor);
            parts.add(Resource::Overhead, apart * term.weight * factor);
        }
        parts
    }
}

fn one() -> f64 {
    1.0
}

/// Returns the geometric mean of relative errors, each taken for at least 1 %; 0 of none.
pub fn error_mean(errors: &[f64]) -> f64 {
    let sum: f64 = errors.iter().map(|error| error.max(LEAST_ERROR).ln()).sum();
    if errors.is_empty() { 0.0 } else { (sum / errors.len() as f64).exp() }
}
