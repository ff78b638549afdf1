//! The machine that kernels run on: the device that the user chose, and the means to use it.

mod device;
mod jobs;
mod replay;
mod room;
mod setting;

pub use device::Device;
pub use replay::Replay;
pub use room::compiling_room;
pub use setting::SETTING;

use crate::live::Parcels;
use crate::worker::drivers;
use std::collections::BTreeMap;
use std::sync::Arc;
use tunesmith_backend::host::{Compilers, WorkerCommand, threads};
use tunesmith_backend::kind::Means;
use tunesmith_backend::sandbox::Sandbox;
use tunesmith_backend::{DeviceChoice, PowerSetup, Target};
use tunesmith_core::Interrupt;
use tunesmith_kernel::DeviceError;
use tunesmith_power::guard::{LeftOver, Leftovers};

/// A device, and the means to build and run kernels on it.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The chosen device. `None` selects the device that the kernels are written for.
    pub device: Option<DeviceChoice>,
    /// The compilers and their settings.
    pub compilers: Compilers,
    /// The executable that runs kernels. Defaults to this executable.
    pub worker: WorkerCommand,
    /// Maximum number of concurrent compilations. Defaults to the number of processors.
    pub jobs: Option<usize>,
    /// The sandbox of user code, on systems that have one. `None`, the default, runs it without.
    pub sandbox: Option<Sandbox>,
    /// The places of notes about clocks, and of energy counters.
    pub power: PowerSetup,
    /// The environment of this process by name, as far as it is text: what runs on the processor inherits it. Empty by
    /// default; what it then contains belongs to no run's identity.
    pub environment: BTreeMap<String, String>,
    /// Programs that other machines compiled. `None` compiles all of them here.
    pub parcels: Option<Arc<Parcels>>,
}

impl Machine {
    /// Returns the number of concurrent builds, at least 1.
    pub fn jobs(&self) -> usize {
        self.jobs.unwrap_or_else(threads).max(1)
    }

    /// Returns the flag that ends work on this machine, such as building a space.
    pub fn interrupt(&self) -> &Interrupt {
        self.worker.interrupt()
    }

    /// Resets the devices that killed runs left with another clock or power limit. Returns what was
    /// found, for the user. Costs no more than listing a folder if there is nothing.
    pub fn reset_left_over(&self) -> Vec<LeftOver> {
        Leftovers::reset(&self.worker.guard(), &self.power.notes)
    }

    /// Finds the device that the user chose, or else `default`. Starts a worker to ask the driver
    /// for an OpenCL, CUDA or HIP device.
    ///
    /// # Errors
    /// The machine has no such device.
    pub fn device_or(&self, default: DeviceChoice) -> Result<Device, DeviceError> {
        Device::find(self.device.clone().unwrap_or(default), self)
    }

    /// Returns a device of another machine with the compilers of this one. For a GPU of CUDA or HIP,
    /// the compiler is enough. An OpenCL compiler is part of its driver, so that this machine must
    /// have the device, too.
    ///
    /// # Errors
    /// The compiler is missing here, or does not compile for the device.
    pub fn compiler_for(&self, target: &Target) -> Result<Target, DeviceError> {
        target.compiled_here(self.means())
    }

    /// Returns the means to find devices.
    fn means(&self) -> Means<'_> {
        Means { compilers: &self.compilers, worker: &self.worker, drivers: drivers(&self.worker) }
    }
}
