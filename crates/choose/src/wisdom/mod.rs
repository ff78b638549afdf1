//! Wisdom: configurations known to be fast for inputs of kernels on devices, and rules that choose
//! among a few of them.
//!
//! An [`Entry`] is one configuration that was measured for one input. A [`Portfolio`] is a handful
//! of configurations with a [`Rule`] that chooses one of them, even for inputs that were never
//! measured. Both are plain data: [`read_wisdom`](crate::read_wisdom) and
//! [`write_wisdom`](crate::write_wisdom) keep them in files, and [`Selector`](crate::Selector)
//! answers from them at run time.

mod coverage;
mod distance;
mod entry;
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
pub use distance::{MISSING, distance, doublings, outside};
pub use entry::{Attempt, AttemptEnd, Config, Entry, Input, Provenance};
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

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::Value;

    fn entry(device: &str, size: f64, tile: i64, time_ms: f64) -> Entry {
        Entry {
            kernel: "k".into(),
            device: device.into(),
            input: [("N".to_string(), size)].into(),
            config: vec![("TILE".into(), Value::Int(tile))],
            time_ms,
            provenance: Provenance::default(),
        }
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
