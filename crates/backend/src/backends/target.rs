//! Devices that run compiled kernels.

use crate::backends::kind::Means;
use crate::backends::{Backend, BackendMessage, DeviceInfo, KernelSource, Missing, Opening, OutsideProfiler};
use crate::host::{Compilers, WorkerCommand};
use crate::power::PowerSetup;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use tunesmith_core::counters::Hardware;
use tunesmith_kernel::{DeviceError, Language};
use tunesmith_power::{Abilities, Knob, ManagedDevice, Powercap, Steering};

/// A device that runs compiled kernels: the processor of this machine ([`Target::processor`]), or one that a driver
/// lists, such as an [`OpenClDevice`](crate::opencl::OpenClDevice) or a [`GpuDevice`](crate::gpu::GpuDevice).
#[derive(Clone, Debug)]
pub struct Target(Arc<dyn KernelDevice>);

/// A device of a backend: the tuner's side.
pub(crate) trait KernelDevice: Any + Debug + Send + Sync {
    /// Returns the device in words, for messages.
    fn title(&self) -> String;

    /// Returns the position among the devices of its driver.
    fn index(&self) -> usize;

    /// Returns the language of generated kernels for this device.
    fn language(&self) -> Language;

    /// Returns true if the device runs kernels in `language`.
    fn runs(&self, language: Language) -> bool {
        self.language() == language
    }

    /// Returns the device's entry in lists. Returns `None` if it cannot be used.
    fn info(&self, compilers: &Compilers, worker: &WorkerCommand) -> Option<DeviceInfo>;

    /// Returns true if kernels run on the processors of this machine.
    fn is_processor(&self) -> bool;

    /// Returns true if the runtimes of a processor read this variable of the environment.
    fn reads_variable(&self, _name: &str) -> bool {
        false
    }

    /// Returns true if the device tells its energy, and its counters to `tune --profile`.
    fn is_instrumented(&self) -> bool {
        false
    }

    /// Returns the device as the library knows it that sets its clock and its power limit.
    fn managed(&self) -> Option<&ManagedDevice> {
        None
    }

    /// Finds the profiler that a worker can run under, if its own session cannot read counters.
    fn outside_profiler(&self) -> Option<Box<dyn OutsideProfiler>> {
        None
    }

    /// Returns the size of the device, if the device counts operations while kernels run.
    fn counted_hardware(&self) -> Option<Hardware> {
        None
    }

    /// Returns the part of the device's own counters that is missing, with the reason.
    fn missing_counters(&self) -> Option<Missing> {
        None
    }

    /// Opens the backend that compiles `source`, which is in a language that the device runs.
    ///
    /// # Errors
    /// A source cannot be read, or a compiler is missing.
    fn open(&self, source: KernelSource, opening: Opening<'_>) -> Result<Box<dyn Backend>, DeviceError>;

    /// Returns this device of another machine with the compilers of this one.
    ///
    /// # Errors
    /// The compiler is missing here, or does not compile for the device.
    fn compiled_here(&self, means: Means<'_>) -> Result<Target, DeviceError>;

    /// Returns the device as its backend describes it to another machine. Returns `None` if each machine has its own,
    /// as the processor.
    fn description(&self) -> Option<BackendMessage> {
        None
    }

    /// Returns true if `other` is the same device.
    fn equals(&self, other: &dyn Any) -> bool;
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.as_ref())
    }
}

impl Target {
    /// Creates the target of a backend's device.
    pub(crate) fn of(device: impl KernelDevice) -> Self {
        Self(Arc::new(device))
    }

    /// Returns the device as its backend describes it, if it has this type.
    pub fn device<D: Any>(&self) -> Option<&D> {
        let device: &dyn Any = self.0.as_ref();
        device.downcast_ref()
    }

    /// Returns the device as its backend describes it to another machine. Returns `None` for the processor, which
    /// every machine has itself.
    pub fn description(&self) -> Option<BackendMessage> {
        self.0.description()
    }

    /// Returns the device in words, for messages.
    pub fn title(&self) -> String {
        self.0.title()
    }

    /// Returns the device's position among those of its driver.
    pub fn index(&self) -> usize {
        self.0.index()
    }

    /// Returns true if the device runs kernels in `language`.
    pub fn runs(&self, language: Language) -> bool {
        self.0.runs(language)
    }

    /// Returns the language of generated kernels for this device.
    pub fn language(&self) -> Language {
        self.0.language()
    }

    /// Returns the device's entry in lists. Returns `None` for the processor if no compiler is
    /// usable.
    pub fn info(&self, compilers: &Compilers, worker: &WorkerCommand) -> Option<DeviceInfo> {
        self.0.info(compilers, worker)
    }

    /// Returns true if kernels run on the processors of this machine.
    pub fn is_processor(&self) -> bool {
        self.0.is_processor()
    }

    /// Returns true if the runtimes of a processor read this variable of the environment.
    pub fn reads_variable(&self, name: &str) -> bool {
        self.0.reads_variable(name)
    }

    /// Returns true if the device tells its energy, and its counters to `tune --profile`.
    pub fn is_instrumented(&self) -> bool {
        self.0.is_instrumented()
    }

    /// Returns the device as the library knows it that sets its clock and its power limit.
    ///
    /// # Errors
    /// No library does, on this device.
    pub fn managed(&self) -> Result<&ManagedDevice, DeviceError> {
        self.0.managed().ok_or_else(|| DeviceError::Settings {
            problem: "the clock and power of this device cannot be set".to_owned(),
            remedy: "remove [device_settings], or choose a device of CUDA or HIP".to_owned(),
        })
    }

    /// Returns the values that the device's knobs take, once it is known that the user may turn them.
    ///
    /// # Errors
    /// The device has no such knob, the user may not turn it, or another run turns it.
    pub fn abilities(
        &self,
        worker: &WorkerCommand,
        power: &PowerSetup,
        knobs: &[Knob],
    ) -> Result<Abilities, DeviceError> {
        let device = self.managed()?.clone();
        let steering = Steering::open(worker.guard(), device, power.notes.clone(), knobs.to_vec())?;
        Ok(steering.abilities().clone())
    }

    /// Checks that the energy of runs on the device can be measured. `power` has the processors'
    /// counters.
    ///
    /// # Errors
    /// The device tells no energy, or the user may not read it.
    pub fn check_energy(&self, power: &PowerSetup) -> Result<(), DeviceError> {
        if self.is_processor() {
            Powercap::open(&power.counters)?;
        } else if !self.is_instrumented() {
            return Err(DeviceError::NoEnergy {
                problem: "this device does not report its energy".to_owned(),
                remedy: "CUDA devices do (--device cuda, for problems in CUDA), and processors (--device c)".to_owned(),
            });
        }
        Ok(())
    }

    /// Finds the profiler that a worker can run under, if its own session cannot read counters.
    pub fn outside_profiler(&self) -> Option<Box<dyn OutsideProfiler>> {
        self.0.outside_profiler()
    }

    /// Returns the size of the device, if the device counts operations while kernels run. Returns
    /// `None` for other devices.
    pub fn counted_hardware(&self) -> Option<Hardware> {
        self.0.counted_hardware()
    }

    /// Returns the part of the device's own counters that is missing, with the reason. Returns
    /// `None` if they can be read, and for devices without counters of their own.
    pub fn missing_counters(&self) -> Option<Missing> {
        self.0.missing_counters()
    }

    /// Opens the backend that compiles `source` for the device.
    ///
    /// # Errors
    /// The device does not run the language, a source cannot be read, or a compiler is missing.
    pub(crate) fn open(&self, source: KernelSource, opening: Opening<'_>) -> Result<Box<dyn Backend>, DeviceError> {
        match self.runs(source.kernel.language) {
            true => self.0.open(source, opening),
            false => Err(self.wrong_language(&source)),
        }
    }

    /// Returns this device of another machine with the compilers of this one.
    ///
    /// # Errors
    /// The compiler is missing here, or does not compile for the device.
    pub fn compiled_here(&self, means: Means<'_>) -> Result<Self, DeviceError> {
        self.0.compiled_here(means)
    }

    /// Returns the error for a `source` that is for other devices.
    pub fn wrong_language(&self, source: &KernelSource) -> DeviceError {
        let language = source.kernel.language;
        DeviceError::Language {
            what: source.what,
            name: source.kernel.function.to_string(),
            language,
            device: self.0.title(),
            remedy: format!("choose `--device {}`", language.device()),
        }
    }
}
