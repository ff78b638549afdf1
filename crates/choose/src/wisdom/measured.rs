//! The times that a portfolio is made from.

use super::entry::{Config, Entry, Input};
use std::collections::HashMap;

/// The times that a portfolio is made from, of one kernel on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The names of the sizes in the order of the problem file. Other sizes follow in the order of
    /// their names.
    pub sizes: Vec<String>,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The configurations.
    pub configs: Vec<Config>,
    /// The time in milliseconds of each configuration for each input, with a row for each input;
    /// `None` if it failed or was not measured.
    pub times_ms: Vec<Vec<Option<f64>>>,
    /// Number of the default configuration.
    pub default: Option<usize>,
}

impl Measured {
    /// Gathers the times of `entries`, which are all of one kernel on one device. If a configuration has
    /// several for one input, the last and newest one counts.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>, sizes: Vec<String>, default: Option<&Config>) -> Self {
        let mut table = Table::default();
        entries.into_iter().for_each(|entry| table.add(entry));
        table.measured(sizes, default)
    }
}

/// Measurements by the numbers of their input and configuration.
#[derive(Default)]
struct Table {
    inputs: Vec<Input>,
    input_numbers: HashMap<Vec<(String, u64)>, usize>,
    configs: Vec<Config>,
    config_numbers: HashMap<Config, usize>,
    times: HashMap<(usize, usize), f64>,
}

impl Table {
    fn add(&mut self, entry: &Entry) {
        let key = entry.input.iter().map(|(name, size)| (name.clone(), size.to_bits())).collect();
        let input = *self.input_numbers.entry(key).or_insert_with(|| {
            self.inputs.push(entry.input.clone());
            self.inputs.len() - 1
        });
        let config = *self.config_numbers.entry(entry.config.clone()).or_insert_with(|| {
            self.configs.push(entry.config.clone());
            self.configs.len() - 1
        });
        self.times.insert((input, config), entry.time_ms);
    }

    fn measured(self, sizes: Vec<String>, default: Option<&Config>) -> Measured {
        let row = |input| (0..self.configs.len()).map(|config| self.times.get(&(input, config)).copied()).collect();
        Measured {
            sizes,
            times_ms: (0..self.inputs.len()).map(row).collect(),
            default: default.and_then(|default| self.config_numbers.get(default).copied()),
            inputs: self.inputs,
            configs: self.configs,
        }
    }
}
