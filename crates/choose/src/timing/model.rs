//! The model.

use super::columns::Frame;
use super::device::KnownDevice;
use super::error::TimingModelError;
use super::judged::{HeldOut, Unseen};
use super::reference_time::ReferenceTime;
use crate::Judgement;
use crate::wisdom::Config;
use std::collections::BTreeMap;
use std::path::Path;
use tunesmith_model::{BoostedTrees, Column, ModelError, Regressor as _, Shortlist};
use tunesmith_space::{Parameter, Value};

/// Predicts the speed of a configuration relative to a reference configuration, for inputs and
/// devices that were never tuned. `tunesmith train timing` makes one and keeps it as JSON.
#[derive(Clone, Debug)]
pub struct TimingModel {
    parts: TimingParts,
}

/// The parts of a [`TimingModel`], the result of a training.
#[derive(Clone, Debug)]
pub struct TimingParts {
    /// The problem's name.
    pub problem: String,
    /// The columns of the trees, with the origin of their numbers.
    pub frame: Frame,
    /// The constraints by name, as expressions.
    pub constraints: Vec<(String, String)>,
    /// The reference configuration: a value for every parameter.
    pub reference: Vec<Value>,
    /// Configurations worth choosing among, at most 32. Each has a value for every parameter.
    pub candidates: Vec<Vec<Value>>,
    /// The devices of the training set.
    pub devices: Vec<KnownDevice>,
    /// The smallest and largest number in the training set, by feature of the input or the device.
    pub ranges: BTreeMap<String, (f64, f64)>,
    /// The logarithm of the speed that a failed configuration counts as.
    pub zeta: f64,
    /// Predicts the mean logarithm of the speed relative to the reference.
    pub mean: BoostedTrees,
    /// Predicts the quantile below which a tenth of the training set lies.
    pub low: BoostedTrees,
    /// Predicts the quantile below which nine tenths of the training set lie.
    pub high: BoostedTrees,
    /// The time of the reference configuration, if enough inputs were measured to fit it.
    pub reference_time: Option<ReferenceTime>,
    /// The quality of the model on inputs held out of training.
    pub held_out: HeldOut,
    /// The quality of the choice for a device left out, if there were several devices.
    pub unseen: Option<Unseen>,
    /// The first of the robust configurations, if it is to answer for unknown devices.
    pub best_single: Option<Vec<Value>>,
    /// The configurations to try where nothing was measured, in this order. Empty in files of
    /// earlier versions.
    pub robust: Vec<Vec<Value>>,
    /// The judgement of the choices among the candidates at fresh sizes; `None` if nobody measured any.
    pub judgement: Option<Judgement>,
}

impl TimingModel {
    /// Joins the parts of a model.
    ///
    /// # Errors
    /// The parts do not belong together: trees of other columns, configurations that lack a
    /// parameter, or more than 32 candidates.
    pub fn new(parts: TimingParts) -> Result<Self, ModelError> {
        match parts.flaw() {
            None => Ok(Self { parts }),
            Some(what) => Err(ModelError::Damaged { what }),
        }
    }

    /// Reads a timing model.
    ///
    /// # Errors
    /// The file cannot be read or holds no timing model.
    pub fn read(file: &Path) -> Result<Self, TimingModelError> {
        let text = tunesmith_files::read_text(file, tunesmith_files::DATA)
            .map_err(|error| TimingModelError::io(file, error))?;
        Self::from_json(&text).map_err(|error| TimingModelError::model(file, error))
    }

    /// Returns the parts.
    pub fn parts(&self) -> &TimingParts {
        &self.parts
    }

    /// Returns the problem's name.
    pub fn problem(&self) -> &str {
        &self.parts.problem
    }

    /// Returns the tuning parameters with all values of the training set.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parts.frame.parameters
    }

    /// Returns the sizes of an input with their default values.
    pub fn sizes(&self) -> &[(String, Value)] {
        &self.parts.frame.sizes
    }

    /// Returns the configuration that speeds are relative to.
    pub fn reference(&self) -> Config {
        self.config(&self.parts.reference)
    }

    /// Returns the single configuration for devices that the model does not know, if it does better
    /// on them than the model's own choice.
    pub fn best_single(&self) -> Option<Config> {
        self.parts.best_single.as_deref().map(|values| self.config(values))
    }

    /// Returns the first configuration to try where nothing was measured: the most robust one, or
    /// the reference if the file has none.
    pub fn robust(&self) -> Config {
        self.config(self.parts.robust.first().unwrap_or(&self.parts.reference))
    }

    /// Returns the configurations, at most 32, that together serve the inputs of the training set
    /// well. The reference is one of them. Empty for files of earlier versions, which chose none.
    pub fn candidates(&self) -> Vec<Config> {
        self.parts.candidates.iter().map(|values| self.config(values)).collect()
    }

    fn config(&self, values: &[Value]) -> Config {
        let names = self.parameters().iter().map(|parameter| parameter.name().to_string());
        names.zip(values.iter().cloned()).collect()
    }

    /// Returns the devices of the training set.
    pub fn devices(&self) -> &[KnownDevice] {
        &self.parts.devices
    }

    /// Returns the quality of the model on inputs held out of training.
    pub fn held_out(&self) -> &HeldOut {
        &self.parts.held_out
    }

    /// Returns the quality of the choice for a device left out of the fit, if there were several.
    pub fn unseen_device(&self) -> Option<&Unseen> {
        self.parts.unseen.as_ref()
    }

    /// Returns the judgement of the choices at fresh sizes; `None` if nobody measured any.
    pub fn judgement(&self) -> Option<&Judgement> {
        self.parts.judgement.as_ref()
    }

    /// Returns true if the choices were judged on the device of this name, and are not faster than the
    /// reference. The reference then answers there.
    pub fn is_refused_on(&self, device: &str) -> bool {
        self.judgement().is_some_and(|judged| judged.device == device && !judged.is_faster())
    }

    /// Returns the model with the judgement of its choices.
    #[must_use]
    pub fn with_judgement(mut self, judgement: Judgement) -> Self {
        self.parts.judgement = Some(judgement);
        self
    }

    /// Returns each feature with its share of the gain of all splits, from 0 to 1.
    pub fn importance(&self) -> Vec<(String, f64)> {
        let shares = self.parts.mean.importance();
        self.parts.frame.features.iter().map(|feature| feature.column.name.clone()).zip(shares).collect()
    }
}

impl TimingParts {
    /// Returns the reason for which the parts do not belong together.
    fn flaw(&self) -> Option<String> {
        let candidates = self.candidates.len();
        if candidates > Shortlist::MOST_ROWS {
            return Some(format!("it has {candidates} candidates, but at most {} are supported", Shortlist::MOST_ROWS));
        }
        let of_others = self.best_single.iter().chain(&self.robust).chain([&self.reference]);
        let mut configs = self.candidates.iter().chain(of_others);
        if configs.any(|values| values.len() != self.frame.parameters.len()) {
            return Some("a configuration does not have one value for every parameter".to_string());
        }
        let columns: Vec<&Column> = self.frame.features.iter().map(|feature| &feature.column).collect();
        if [&self.mean, &self.low, &self.high].iter().any(|trees| !trees.columns().iter().eq(columns.iter().copied())) {
            return Some("the columns of its trees are not those of its features".to_string());
        }
        if self.reference_time.as_ref().is_some_and(|time| !time.fits(columns.len())) {
            return Some("`reference_time` uses a column that does not exist".to_string());
        }
        None
    }
}
