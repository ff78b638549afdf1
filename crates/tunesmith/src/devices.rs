//! Devices by name: the edge where `--device` becomes a typed choice.

use crate::Error;
use crate::suggest::did_you_mean;
use tunesmith_device::{Compilers, DeviceInfo, Missing};
use tunesmith_space::{Expr, Value};

/// What a problem is tuned on.
#[derive(Clone, Debug)]
pub enum DeviceChoice {
    /// The processor of this machine, through its C or C++ compiler.
    C,
    /// An expression over the parameters that gives the time in milliseconds.
    Synthetic(Expr),
}

/// The forms of `--device`, with their names as users write them.
const FORMS: [&str; 2] = ["c", "synthetic:EXPR"];

impl DeviceChoice {
    /// Reads the text of `--device`.
    ///
    /// # Errors
    /// An unknown device, or an expression that is none.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text == "c" {
            return Ok(Self::C);
        }
        if let Some(expression) = text.strip_prefix("synthetic:") {
            return Expr::parse(expression)
                .map(Self::Synthetic)
                .map_err(|error| Error::request(format!("in `{expression}`: {error}"), error.remedy));
        }
        let name = text.split(':').next().unwrap_or_default();
        let known = format!("devices are {}", FORMS.join(", "));
        let remedy = did_you_mean(name, ["c", "synthetic"]).unwrap_or(known);
        Err(Error::request(format!("there is no device `{text}`"), Some(remedy)))
    }
}

/// Every device this machine offers, and why others are missing.
pub fn devices(compilers: &Compilers) -> (Vec<DeviceInfo>, Vec<Missing>) {
    tunesmith_device::devices(compilers)
}

/// The limits of this processor, which constraints know as `device.NAME`. None where its compiler is missing.
pub fn limits(compilers: &Compilers) -> Vec<(String, Value)> {
    let (devices, _) = devices(compilers);
    let processor = devices.into_iter().find(|device| device.id == "c");
    let limits = processor.map(|device| device.limits).unwrap_or_default();
    limits.into_iter().map(|(name, limit)| (name, number(limit))).collect()
}

/// An integer where the number is one: sizes and counts divide as integers do.
fn number(limit: f64) -> Value {
    if limit.fract() == 0.0 && limit.abs() < 2f64.powi(53) { Value::Int(limit as i64) } else { Value::Float(limit) }
}

impl DeviceChoice {
    /// The limits that constraints know as `device.NAME`.
    pub(crate) fn limits(&self, compilers: &Compilers) -> Vec<(String, Value)> {
        match self {
            Self::Synthetic(_) => Vec::new(),
            Self::C => limits(compilers),
        }
    }
}
