//! The quality of a timing model on data that it was not fitted to.

use serde::{Deserialize, Serialize};

/// The quality of a model on inputs held out of training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The inputs.
    pub inputs: Vec<String>,
    /// Number of their configurations, counted once for each recording.
    pub rows: usize,
    /// Root mean square error of the logarithm of the speed relative to the reference. Failures
    /// count as zeta.
    pub log_speedup: Option<f64>,
    /// The speed of the configuration predicted best among those measured, relative to the fastest
    /// of them: the mean over recordings. If it failed, the next one counts.
    pub chosen_over_best: Option<f64>,
    /// The same speed relative to the reference.
    pub chosen_over_reference: Option<f64>,
}

/// Compares choices for devices left out of the fit: the model's, the single configuration that is
/// best over the other devices, and the most robust ones, which are chosen to transfer.
///
/// Each number is the speed relative to the fastest configuration measured on the device, as the
/// mean over its recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unseen {
    /// The speed of the configuration that the model predicts best: the mean over the devices.
    pub model: f64,
    /// The speed of the single configuration; 0 where it failed.
    pub best_single: f64,
    /// The speed of the first of the robust configurations that runs. Absent, as are the next two,
    /// in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robust: Option<f64>,
    /// The speed of the best of the first three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robust_of_3: Option<f64>,
    /// The speed of the best of the first five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robust_of_5: Option<f64>,
    /// The same speeds for each device.
    pub devices: Vec<UnseenDevice>,
}

/// A device left out of the fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnseenDevice {
    /// The name.
    pub name: String,
    /// As in [`Unseen`].
    pub model: f64,
    /// As in [`Unseen`].
    pub best_single: f64,
}

impl Unseen {
    /// Returns true if the first robust configuration did better than the model.
    pub fn prefers_single(&self) -> bool {
        self.robust.unwrap_or(self.best_single) > self.model
    }
}
