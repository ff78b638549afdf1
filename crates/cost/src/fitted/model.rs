//! A fitted cost model and its estimates.

use super::dependence::Dependence;
use super::overlap::Parts;
use super::property::{CostProperty, PropertyCounts, Resource};
use super::reach::Reach;
use super::waves::factor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tunesmith_loopnest::Property;

/// Minimum relative error in a mean of logarithms. Without it, lucky hits would rule the mean.
const LEAST_ERROR: f64 = 0.01;

/// The form of a model: its rule from counts to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The paper's form: a sum over its own properties, by plain least squares. Weights may be
    /// negative.
    Paper,
    /// A sum over all properties with weights of at least 0.
    Nnls,
    /// Like `Nnls`, but memory, arithmetic and waiting for results overlap: `overhead + (memory^e +
    /// arithmetic^e + latency^e)^(1/e)` with a fitted exponent `e`. Work that is done
    /// [apart](super::PropertyCounts::apart) belongs to the overhead.
    ///
    /// The fit minimises the sum of the errors of logarithms, not of their squares. A few kernels that the
    /// compiler treats unlike the others then count for less. Weights are drawn towards those of their kin.
    Overlap,
}

impl Form {
    /// Every form by its name. The default comes last.
    pub const ALL: [(&'static str, Self); 3] =
        [("paper", Self::Paper), ("nnls", Self::Nnls), ("overlap", Self::Overlap)];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }

    /// Returns true if models of this form have the property. Touched bytes only tell
    /// [peak rates](super::LowerBound).
    pub fn takes(self, property: CostProperty) -> bool {
        match self {
            Self::Paper => property.is_published(),
            Self::Nnls | Self::Overlap => property != CostProperty::Items(Property::TouchedBytes),
        }
    }

    /// Returns true if models of this form have the property, given whether lanes are counted. The
    /// paper's form ignores lanes, and the others prefer them.
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
    /// Seconds per count.
    pub weight: f64,
    /// Standard error of the weight, by leaving out one nest at a time (the jackknife). `None` if
    /// fewer than two nests have the property.
    pub spread: Option<f64>,
    /// The number of measured kernels that have the property.
    pub kernels: usize,
}

/// The errors of a model on the kernels to which it was fitted.
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

/// A model that predicts the time of a kernel on the device to which it was [fitted](super::fit).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostModel {
    /// Its form.
    pub form: Form,
    /// The overlap of memory and arithmetic. At 1 nothing overlaps. A larger exponent means more
    /// overlap.
    pub exponent: f64,
    /// Compute units that share the work-groups of a launch. Each runs one work-group after the
    /// other, so a few work-groups leave some units idle. 1 counts work as if it were spread
    /// evenly.
    #[serde(default = "one")]
    pub units: f64,
    /// The terms, by name.
    pub terms: Vec<Term>,
    /// The number of terms that the measured kernels determine independently of each other.
    pub rank: usize,
    /// Properties that were multiples of each other in all measured kernels. Each takes the same
    /// share of their time.
    pub merged: Vec<Vec<CostProperty>>,
    /// Properties that were sums of others in all measured kernels.
    pub dependent: Vec<Dependence>,
    /// The errors by class of measured kernels.
    pub residuals: BTreeMap<String, Residual>,
    /// Its errors on nests that it was not fitted to. `None` if too few nests were measured.
    pub reach: Option<Reach>,
}

/// The predicted time of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The time.
    pub seconds: f64,
    /// Its parts, largest first. They add up to the time.
    pub shares: Vec<Share>,
}

/// The part of a time that one property takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The property.
    pub property: CostProperty,
    /// The count of the property in the kernel.
    pub count: f64,
    /// Seconds per count, if the property were done alone.
    pub weight: f64,
    /// Its part of the time. It is less than count times weight if it is hidden behind another
    /// resource, and more if there are too few work-groups for all compute units.
    pub seconds: f64,
}

impl CostModel {
    /// Returns the time of a kernel with these counts. Counts of properties without a term are
    /// ignored. See the [domain](super::Domain) for such properties.
    pub fn seconds(&self, counts: &PropertyCounts) -> f64 {
        self.parts(counts).seconds(self.exponent)
    }

    /// Returns the time and the share of every term in it.
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

    /// Returns the relative error of the predicted time of a kernel that took `seconds`.
    pub fn error(&self, counts: &PropertyCounts, seconds: f64) -> f64 {
        (self.seconds(counts) - seconds).abs() / seconds
    }

    /// Returns true if the model has a term for the property, provided that measured kernels have
    /// it.
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

/// Returns the geometric mean of relative errors, each at least 1 %, or 0 without errors.
pub fn error_mean(errors: &[f64]) -> f64 {
    let sum: f64 = errors.iter().map(|error| error.max(LEAST_ERROR).ln()).sum();
    if errors.is_empty() { 0.0 } else { (sum / errors.len() as f64).exp() }
}
