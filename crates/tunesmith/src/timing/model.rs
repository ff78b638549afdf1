//! The model.

use super::columns::Frame;
use super::held_out::HeldOut;
use super::reference_time::ReferenceTime;
use super::unseen::Unseen;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tunesmith_core::wisdom::Config;
use tunesmith_model::{BoostedTrees, Regressor as _};
use tunesmith_space::{Parameter, Value};

/// Predicts how many times as fast as a reference configuration another one is, for inputs and devices that were never
/// tuned. Made by [`train_timing`](crate::train_timing), kept as JSON.
#[derive(Clone, Debug)]
pub struct TimingModel {
    pub(super) problem: String,
    pub(super) frame: Frame,
    /// The constraints by name, as expressions.
    pub(super) constraints: Vec<(String, String)>,
    /// The reference configuration: a value for every parameter.
    pub(super) reference: Vec<Value>,
    /// Configurations that are worth choosing among, each with a value for every parameter.
    pub(super) candidates: Vec<Vec<Value>>,
    pub(super) devices: Vec<KnownDevice>,
    /// By feature of the input or the device the least and largest number of the training set.
    pub(super) ranges: BTreeMap<String, (f64, f64)>,
    /// What failed configurations count as.
    pub(super) zeta: f64,
    /// The logarithm of the speed relative to the reference: its mean, and the quantiles below which a tenth and nine tenths
    /// of the training set lie.
    pub(super) mean: BoostedTrees,
    pub(super) low: BoostedTrees,
    pub(super) high: BoostedTrees,
    pub(super) reference_time: Option<ReferenceTime>,
    pub(super) held_out: HeldOut,
    /// With several devices: how good the choice for one left out is.
    pub(super) unseen: Option<Unseen>,
    /// The single configuration that is best over the training set, where unknown devices are to be answered with it.
    pub(super) best_single: Option<Vec<Value>>,
}

/// A device of the training set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownDevice {
    /// Its name.
    pub name: String,
    /// What is known of it as numbers.
    pub features: BTreeMap<String, f64>,
}

impl TimingModel {
    /// The problem's name.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The tuning parameters with all values of the training set.
    pub fn parameters(&self) -> &[Parameter] {
        &self.frame.parameters
    }

    /// The sizes of an input, each with the value that it has unless another is given.
    pub fn sizes(&self) -> &[(String, Value)] {
        &self.frame.sizes
    }

    /// The configuration that speeds are relative to.
    pub fn reference(&self) -> Config {
        self.config(&self.reference)
    }

    /// The configuration to answer devices with that the model does not know, where it does better on such than the model's own choice.
    pub fn best_single(&self) -> Option<Config> {
        self.best_single.as_deref().map(|values| self.config(values))
    }

    /// The configurations, at most 32, that serve the inputs of the training set well together, the reference among them; none in
    /// files of versions that did not choose any.
    pub fn candidates(&self) -> Vec<Config> {
        self.candidates.iter().map(|values| self.config(values)).collect()
    }

    fn config(&self, values: &[Value]) -> Config {
        let names = self.frame.parameters.iter().map(|parameter| parameter.name().to_string());
        names.zip(values.iter().cloned()).collect()
    }

    /// The devices of the training set.
    pub fn devices(&self) -> &[KnownDevice] {
        &self.devices
    }

    /// How good the model was on inputs that it was not fitted to.
    pub fn held_out(&self) -> &HeldOut {
        &self.held_out
    }

    /// With several devices how good the choice for one of them is that was left out of the fit.
    pub fn unseen_device(&self) -> Option<&Unseen> {
        self.unseen.as_ref()
    }

    /// By feature its share of what all splits gained, from 0 to 1.
    pub fn importance(&self) -> Vec<(String, f64)> {
        let shares = self.mean.importance();
        self.frame.features.iter().map(|feature| feature.column.name.clone()).zip(shares).collect()
    }
}
