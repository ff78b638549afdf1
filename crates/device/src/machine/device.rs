//! The devices that this machine has.

use super::{Machine, Replay};
use std::collections::BTreeMap;
use tunesmith_backend::{DeviceChoice, OwnFunction, Target, command};
use tunesmith_core::counters::Hardware;
use tunesmith_core::{DeviceClass, Source};
use tunesmith_kernel::{DeviceError, Language};
use tunesmith_space::{Expr, Value};

/// A device that exists, on which a problem can be tuned.
#[derive(Clone, Debug)]
pub enum Device {
    /// A device that runs compiled kernels.
    Kernels(Target),
    /// Any program, for problems that tune a command.
    Command,
    /// A recording.
    Replay(Replay),
    /// An expression over the parameters. Its value is the time in milliseconds.
    Synthetic(Expr),
    /// A function of the program.
    Function(OwnFunction),
}

impl Device {
    /// Returns the origin of the numbers that its runs yield, if the problem does not say more of them.
    pub fn number_source(&self) -> Source {
        match self {
            Self::Replay(_) => Source::Recorded,
            Self::Function(_) => Source::Printed,
            Self::Kernels(_) | Self::Command | Self::Synthetic(_) => Source::Metric,
        }
    }

    /// Returns the class of the device that runs kernels, or `None` if it is unknown.
    pub fn class(&self) -> Option<DeviceClass> {
        match self {
            Self::Kernels(target) if target.is_processor() => Some(DeviceClass::Processor),
            Self::Kernels(_) => Some(DeviceClass::Gpu),
            Self::Command | Self::Replay(_) | Self::Synthetic(_) | Self::Function(_) => None,
        }
    }

    /// Finds the device that `choice` names. Starts a worker to ask the driver for an OpenCL,
    /// CUDA or HIP device.
    ///
    /// # Errors
    /// The machine has no such device.
    pub(super) fn find(choice: DeviceChoice, machine: &Machine) -> Result<Self, DeviceError> {
        Ok(match choice {
            DeviceChoice::Kernels(backend, which) => Self::Kernels(backend.kind().find(&which, machine.means())?),
            DeviceChoice::Command => Self::Command,
            DeviceChoice::Replay { file, noise } => Self::Replay(Replay::new(file, noise)),
            DeviceChoice::Synthetic(expression) => Self::Synthetic(expression),
            DeviceChoice::Function(function) => Self::Function(function),
        })
    }

    /// Returns the language of the device's kernels and the device's name. Returns `None` if the
    /// device runs no kernels, or if no compiler is usable.
    pub fn of_kernels(&self, machine: &Machine) -> Option<(Language, String)> {
        match self {
            Self::Kernels(target) => Some((target.language(), target.info(&machine.compilers, &machine.worker)?.name)),
            Self::Command | Self::Replay(_) | Self::Synthetic(_) | Self::Function(_) => None,
        }
    }

    /// Returns the size of the device, if the device counts operations while kernels run. Returns
    /// `None` for other devices.
    pub fn counted_hardware(&self) -> Option<Hardware> {
        match self {
            Self::Kernels(target) => target.counted_hardware(),
            Self::Command | Self::Replay(_) | Self::Synthetic(_) | Self::Function(_) => None,
        }
    }

    /// Returns true if the device runs something: it is neither a recording nor a formula.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Kernels(_) | Self::Command | Self::Function(_))
    }

    /// Returns the limits that constraints refer to as `device.NAME`.
    pub fn limits(&self, machine: &Machine) -> Vec<(String, Value)> {
        let info = match self {
            Self::Kernels(target) => target.info(&machine.compilers, &machine.worker),
            Self::Command => Some(command::device()),
            Self::Replay(_) | Self::Synthetic(_) | Self::Function(_) => None,
        };
        info.map(|info| values(&info.limits)).unwrap_or_default()
    }
}

/// Returns the limits as values: whole ones as integers, so that sizes and counts divide as such.
fn values(limits: &BTreeMap<String, f64>) -> Vec<(String, Value)> {
    limits.iter().map(|(name, limit)| (name.clone(), Value::of_number(*limit))).collect()
}
