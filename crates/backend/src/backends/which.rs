//! The device of a backend that a user names.

use std::fmt;
use tunesmith_kernel::DeviceError;

/// Selects one of a driver's devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WhichDevice {
    /// The best device.
    #[default]
    Best,
    /// The device with this number.
    Number(usize),
    /// The first device whose name contains this text.
    Named(String),
    /// A device of one of OpenCL's platforms.
    OfPlatform {
        /// The platform: its number among those that have devices, or a part of its name and
        /// version. Empty for any.
        platform: String,
        /// The kind of the device.
        kind: Option<DeviceKind>,
        /// Its number among the platform's devices of that kind, or a part of its name. Empty for
        /// the best.
        device: String,
    },
}

/// A kind of OpenCL devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Processors.
    Cpu,
    /// Graphics processors.
    Gpu,
    /// All others.
    Accelerator,
}

/// The kinds of devices with their names.
const KINDS: [(&str, DeviceKind); 3] =
    [("cpu", DeviceKind::Cpu), ("gpu", DeviceKind::Gpu), ("accelerator", DeviceKind::Accelerator)];

impl WhichDevice {
    /// Reads what follows the name of the backend in `--device`.
    pub fn parse(text: Option<&str>) -> Self {
        match text {
            None => Self::Best,
            Some(text) => match text.split_once("::") {
                Some((platform, device)) => Self::of_platform(platform, device),
                None => text.parse().map_or_else(|_| Self::Named(text.to_string()), Self::Number),
            },
        }
    }

    /// Returns the error for a device that `driver` does not have. `known` are those that it has.
    pub(crate) fn absent(&self, driver: &'static str, known: &[String]) -> DeviceError {
        let which = self.to_string().trim_start_matches(':').to_string();
        DeviceError::Absent { driver, which, remedy: format!("there are {}", known.join(", ")) }
    }

    /// Returns the device that is left of `::` called `platform`, and right of it `device`, which
    /// may begin with a kind.
    fn of_platform(platform: &str, device: &str) -> Self {
        let (first, rest) = device.split_once(' ').unwrap_or((device, ""));
        let kind = KINDS.iter().find(|(name, _)| *name == first).map(|(_, kind)| *kind);
        let device = if kind.is_some() { rest } else { device };
        Self::OfPlatform { platform: platform.to_string(), kind, device: device.to_string() }
    }
}

impl fmt::Display for WhichDevice {
    /// Writes the suffix of the backend's name: nothing, `:1` or `:pocl`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => Ok(()),
            Self::Number(number) => write!(f, ":{number}"),
            Self::Named(part) => write!(f, ":{part}"),
            Self::OfPlatform { platform, kind, device } => {
                let name = kind.and_then(|kind| KINDS.iter().find(|(_, known)| *known == kind)).map(|(name, _)| *name);
                let parts: Vec<&str> =
                    name.into_iter().chain([device.as_str()]).filter(|part| !part.is_empty()).collect();
                write!(f, ":{platform}::{}", parts.join(" "))
            }
        }
    }
}
