//! What a recording was made for and on, besides the configurations.

use crate::counters::Hardware;
use std::collections::BTreeMap;
use tunesmith_space::Value;

/// The context that models of several recordings tell apart: the input, the device, and what
/// speed-ups refer to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The problem's sizes.
    pub sizes: Vec<(String, Value)>,
    /// The features of the problem's inputs besides their sizes: names and expressions over sizes.
    pub features: Vec<(String, String)>,
    /// The constraints of the problem by name; they may use sizes and `device.NAME`.
    pub constraints: Vec<(String, String)>,
    /// The device as numbers: its limits by name, and what was measured of it.
    pub device: BTreeMap<String, f64>,
    /// The configuration that speed-ups refer to: a value for every parameter, in the recording's
    /// order.
    pub reference: Option<Vec<Value>>,
}

impl Context {
    /// Returns what a size of a GPU says of the device.
    pub fn of_hardware(hardware: &Hardware) -> Self {
        let known = [
            ("compute_capability", hardware.compute_capability),
            ("compute_units", hardware.multiprocessors),
            ("cores", hardware.cores()),
        ];
        let device = known.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
        Self { device: device.collect(), ..Self::default() }
    }
}
