//! The context of a recording besides its configurations: input and device.

use crate::counters::Hardware;
use std::collections::BTreeMap;
use tunesmith_space::Value;

/// The input, the device and the reference of speed-ups. Models of several recordings use them to
/// tell the recordings apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The problem's sizes.
    pub sizes: Vec<(String, Value)>,
    /// The features of the problem's inputs besides their sizes, as names and expressions over
    /// sizes.
    pub features: Vec<(String, String)>,
    /// The constraints of the problem by name. They may use sizes and `device.NAME`.
    pub constraints: Vec<(String, String)>,
    /// The device as numbers: its limits by name, and the results of measuring it.
    pub device: BTreeMap<String, f64>,
    /// The reference configuration of speed-ups: a value for every parameter, in the recording's
    /// order.
    pub reference: Option<Vec<Value>>,
}

impl Context {
    /// Returns the context of a GPU of this size.
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
