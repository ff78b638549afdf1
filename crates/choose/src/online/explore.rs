//! The interface through which online tuning gets its candidates.

use crate::wisdom::{Config, Input};
use std::collections::VecDeque;

/// A source of candidates for the inputs of a kernel: a list, or a space with a strategy.
///
/// This crate has the list. `tunesmith-explore` has the space.
pub trait Explore: Send + Sync {
    /// Begins the exploration for one input.
    fn begin(&self, input: &Input) -> Box<dyn Explorer>;

    /// Returns `config` as this source writes it, with its parameters in their order, or `None` if
    /// it is no candidate. Files of wisdom may hold configurations that the application no longer
    /// has.
    fn recognise(&self, config: &Config) -> Option<Config>;
}

/// The exploration for one input. It decides what is tried next, not when.
pub trait Explorer: Send {
    /// Returns the next candidate, or `None` if there is none left.
    fn propose(&mut self) -> Option<Config>;

    /// Receives the median time of a configuration in milliseconds, or `None` if it failed. It need
    /// not have been proposed: other processes and similar inputs teach as well.
    fn learn(&mut self, config: &Config, time_ms: Option<f64>);
}

/// Candidates in the order of a list.
#[derive(Clone, Debug)]
pub(super) struct List(Vec<Config>);

impl List {
    pub(super) fn new(configs: Vec<Config>) -> Self {
        Self(configs)
    }
}

impl Explore for List {
    fn begin(&self, _: &Input) -> Box<dyn Explorer> {
        Box::new(Rest(self.0.iter().cloned().collect()))
    }

    fn recognise(&self, config: &Config) -> Option<Config> {
        self.0.iter().find(|own| are_equal(own, config)).cloned()
    }
}

/// Returns true if two configurations give the same values to the same parameters, in any order.
fn are_equal(a: &Config, b: &Config) -> bool {
    a.len() == b.len() && a.iter().all(|parameter| b.contains(parameter))
}

/// The candidates of a list about which nothing is known yet.
struct Rest(VecDeque<Config>);

impl Explorer for Rest {
    fn propose(&mut self) -> Option<Config> {
        self.0.pop_front()
    }

    fn learn(&mut self, config: &Config, _: Option<f64>) {
        self.0.retain(|other| other != config);
    }
}
