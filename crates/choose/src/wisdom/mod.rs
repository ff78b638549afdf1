//! Wisdom: configurations known to be fast for inputs of kernels on devices, and rules that choose
//! among a few of them.
//!
//! An [`Entry`] is one configuration that was measured for one input. A [`Portfolio`] is a handful
//! of configurations with a [`Rule`] that chooses one of them, even for inputs that were never
//! measured. Both are plain data: [`read_wisdom`](crate::read_wisdom) and
//! [`write_wisdom`](crate::write_wisdom) keep them in files, and [`Selector`](crate::Selector)
//! answers from them at run time.

mod coverage;
mod measure;
mod measured;
mod members;
mod near;
mod portfolio;
mod rule;
mod selection;
mod tree;

pub(crate) use coverage::apart;
pub use coverage::{Coverage, FAR, widened};
pub use measure::Measure;
pub use measured::Measured;
pub use members::{Costs, choose_members};
pub use near::{Axes, Neighbours, logarithm};
pub(crate) use portfolio::in_order;
pub use portfolio::{HeldOutRegret, Portfolio, PortfolioError, PortfolioOptions, Regret};
pub use rule::{Chooser, Rule};
pub use selection::{Candidate, Rules, Tried};
pub use tree::{DecisionTree, Node, TreeError, TreeOptions};

use std::collections::BTreeMap;
use tunesmith_space::Value;

/// An input of a kernel: its sizes by name. Only sizes that are numbers tell inputs apart; texts do
/// not.
pub type Input = BTreeMap<String, f64>;

/// A configuration without its space: parameters and values, in the user's order.
pub type Config = Vec<(String, Value)>;

/// One configuration that was measured for one input on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The kernel or problem.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// The input.
    pub input: Input,
    /// The configuration.
    pub config: Config,
    /// Its median time in milliseconds.
    pub time_ms: f64,
    /// The origin of the entry.
    pub provenance: Provenance,
}

/// An attempt to measure a configuration for one input on one device that gave no time.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The kernel or problem.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// The input.
    pub input: Input,
    /// The configuration.
    pub config: Config,
    /// The time of the attempt, in seconds since the Unix epoch.
    pub date: Option<f64>,
    /// Its end.
    pub end: AttemptEnd,
}

/// The end of an [`Attempt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// It began. If no other line follows, the process ended meanwhile.
    None,
    /// The configuration failed.
    Failed,
}

/// The origin of an [`Entry`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The program that measured it, with its version.
    pub tool: Option<String>,
    /// The time of the measurement, in seconds since the Unix epoch.
    pub date: Option<f64>,
    /// The number of samples behind the time.
    pub samples: Option<usize>,
    /// The speed-up over the default configuration when both were measured in turn, if the choice
    /// was guarded.
    pub guarded_speedup: Option<f64>,
}

/// All known entries, portfolios, defaults and attempts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wisdom {
    /// The measured configurations.
    pub entries: Vec<Entry>,
    /// Choices among few configurations, at most one for each kernel and device.
    pub portfolios: Vec<Portfolio>,
    /// The default configuration by the kernel's name, for questions that nothing else answers.
    pub defaults: BTreeMap<String, Config>,
    /// The attempts of applications that tune while they run, in their order.
    pub attempts: Vec<Attempt>,
}

impl Wisdom {
    /// Adds all of `other`. If both have a portfolio or default for the same kernel and device, the
    /// one in `other` counts.
    pub fn merge(&mut self, other: Wisdom) {
        self.entries.extend(other.entries);
        for portfolio in other.portfolios {
            self.portfolios.retain(|own| (&own.kernel, &own.device) != (&portfolio.kernel, &portfolio.device));
            self.portfolios.push(portfolio);
        }
        self.defaults.extend(other.defaults);
        self.attempts.extend(other.attempts);
    }

    /// Keeps the `most` fastest entries of every kernel, device and input, the fastest first, and
    /// each configuration once. Sorts the rest by kernel, device and input. Costs a sort.
    pub fn keep_fastest(&mut self, most: usize) {
        let key = |entry: &Entry| (entry.kernel.clone(), entry.device.clone(), bits(&entry.input));
        let mut kept: Vec<Entry> = Vec::new();
        let mut groups: BTreeMap<_, Vec<Entry>> = BTreeMap::new();
        for entry in self.entries.drain(..) {
            groups.entry(key(&entry)).or_default().push(entry);
        }
        for mut group in groups.into_values() {
            group.sort_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
            let start = kept.len();
            for entry in group {
                let is_new = kept[start..].iter().all(|earlier| earlier.config != entry.config);
                if is_new && kept.len() - start < most {
                    kept.push(entry);
                }
            }
        }
        self.entries = kept;
    }
}

/// Returns an input as a key that sorts by the values of its numbers.
fn bits(input: &Input) -> Vec<(String, i64)> {
    // Orders floats as integers, as `f64::total_cmp` does: flips all bits of negative ones but the
    // sign.
    let ordered = |value: f64| {
        let bits = value.to_bits() as i64;
        bits ^ (((bits >> 63) as u64) >> 1) as i64
    };
    input.iter().map(|(name, value)| (name.clone(), ordered(*value))).collect()
}

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

    fn entry(device: &str, size: f64, tile: i64, time_ms: f64) -> Entry {
        Entry {
            kernel: "k".into(),
            device: device.into(),
            input: input(&[("N", size)]),
            config: vec![("TILE".into(), Value::Int(tile))],
            time_ms,
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn distance_counts_doublings() {
        let near = input(&[("M", 128.0), ("N", 128.0)]);
        assert_eq!(distance(&near, &near), 0.0);
        assert!((distance(&near, &input(&[("M", 256.0), ("N", 256.0)])) - 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(distance(&near, &input(&[("M", 128.0)])), MISSING);
        assert_eq!(distance(&input(&[("M", 0.0)]), &input(&[("M", 4.0)])), MISSING);
    }

    #[test]
    fn the_fastest_of_every_input_are_kept_each_configuration_once() {
        let entries = vec![
            entry("d", 64.0, 1, 3.0),
            entry("d", -8.0, 1, 9.0),
            entry("d", 64.0, 2, 1.0),
            entry("d", 64.0, 2, 2.0),
            entry("d", 64.0, 4, 4.0),
        ];
        let mut wisdom = Wisdom { entries, ..Wisdom::default() };
        wisdom.keep_fastest(2);
        let kept: Vec<(f64, f64)> = wisdom.entries.iter().map(|entry| (entry.input["N"], entry.time_ms)).collect();
        assert_eq!(kept, [(-8.0, 9.0), (64.0, 1.0), (64.0, 3.0)]);
    }
}
