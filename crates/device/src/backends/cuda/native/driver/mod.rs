//! The backend's interface to a CUDA driver. It is implemented by the system's driver ([`system`])
//! and by a script ([`script`]).

mod script;
mod system;

pub(crate) use script::{Script, ScriptedCode, ScriptedDriver};
pub(crate) use system::SystemDriver;

use crate::backends::{Fault, Profiler};
use crate::energy::Meter;
use cudarc::driver::sys::{CUdevice_attribute, CUfunction_attribute, CUresult};
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// A property of a device, in the driver API's terms.
pub(crate) type Attribute = CUdevice_attribute;

/// A property of a kernel, in the driver API's terms.
pub(crate) type FunctionAttribute = CUfunction_attribute;

/// The address of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Address(pub(crate) u64);

impl Address {
    /// Returns the address `bytes` further on.
    pub(crate) fn add(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes as u64))
    }
}

/// Loaded code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Module(pub(crate) u64);

/// A kernel of loaded code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function(pub(crate) u64);

/// A point in time on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Event(pub(crate) u64);

/// The launch of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct KernelLaunch<'a> {
    pub(crate) function: Function,
    /// The number of blocks in each dimension.
    pub(crate) grid: [u32; 3],
    /// The number of threads of a block in each dimension.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub(crate) shared: u32,
    /// The bytes of each parameter. There is one for each of the kernel's parameters, of the length
    /// of its type.
    pub(crate) parameters: &'a [Vec<u8>],
}

/// An error of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DriverError(pub(crate) CUresult);

/// A CUDA driver as the backend uses it once a device is open. All work goes to one stream, in
/// order.
///
/// Every call may also return the error of a kernel that was launched before it.
pub(crate) trait Driver {
    /// Returns the CUDA version that the driver supports, such as 13000.
    fn version(&self) -> Result<u32, DriverError>;

    /// Returns the number of devices.
    fn count(&self) -> Result<usize, DriverError>;

    /// Returns a device's name.
    fn name(&self, device: usize) -> Result<String, DriverError>;

    /// Returns the size of a device's memory in bytes.
    fn memory(&self, device: usize) -> Result<usize, DriverError>;

    /// Returns a property of a device.
    fn attribute(&self, device: usize, attribute: Attribute) -> Result<i32, DriverError>;

    /// Opens a device for all calls below.
    fn open(&mut self, device: usize) -> Result<(), DriverError>;

    /// Loads a cubin, or PTX that the driver compiles.
    fn load(&mut self, image: &[u8]) -> Result<Module, DriverError>;

    /// Unloads code.
    fn unload(&mut self, module: Module) -> Result<(), DriverError>;

    /// Returns the kernel with a mangled name.
    fn function(&mut self, module: Module, name: &str) -> Result<Function, DriverError>;

    /// Returns the address of the variable with a mangled name, and its size in bytes.
    fn symbol(&mut self, module: Module, name: &str) -> Result<(Address, usize), DriverError>;

    /// Returns a property of a kernel.
    fn function_attribute(&self, function: Function, attribute: FunctionAttribute) -> Result<i32, DriverError>;

    /// Allows a kernel to use `bytes` bytes of dynamic shared memory. Without this call, the limit
    /// is 48 KiB less its static shared memory.
    fn allow_shared(&mut self, function: Function, bytes: u32) -> Result<(), DriverError>;

    /// Returns the number of blocks that run on a multiprocessor at a time, if each has `threads`
    /// threads and `shared` bytes of dynamic shared memory.
    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, DriverError>;

    /// Allocates memory until the process ends.
    fn allocate(&mut self, bytes: usize) -> Result<Address, DriverError>;

    /// Writes to device memory. Returns when the data has been read.
    fn write(&mut self, to: Address, data: &[u8]) -> Result<(), DriverError>;

    /// Reads device memory.
    fn read(&mut self, from: Address, into: &mut [u8]) -> Result<(), DriverError>;

    /// Copies within device memory, in the order of the stream.
    fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), DriverError>;

    /// Fills device memory with one byte, in the order of the stream.
    fn fill(&mut self, to: Address, byte: u8, bytes: usize) -> Result<(), DriverError>;

    /// Launches a kernel, in the order of the stream.
    fn launch(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError>;

    /// Creates an event.
    fn event(&mut self) -> Result<Event, DriverError>;

    /// Records an event, in the order of the stream.
    fn record(&mut self, event: Event) -> Result<(), DriverError>;

    /// Waits for an event and thus for all work before it.
    fn wait(&mut self, event: Event) -> Result<(), DriverError>;

    /// Returns the time between two recorded events, with a resolution of about half a microsecond.
    fn elapsed(&mut self, start: Event, end: Event) -> Result<Duration, DriverError>;

    /// Returns the meter of the open device.
    ///
    /// # Errors
    /// The device has no meter. The text gives the reason.
    fn meter(&mut self) -> Result<Box<dyn Meter>, String>;

    /// Begins to count all later launches. CUPTI is searched for in the folder `libraries` first.
    ///
    /// # Errors
    /// There are no counters. The text gives the reason and the remedy.
    fn profiler(&mut self, libraries: Option<&Path>) -> Result<Box<dyn Profiler>, String>;
}

impl DriverError {
    /// Returns true if the device merely does not accept the configuration: too many threads,
    /// registers or bytes.
    fn is_refusal(self) -> bool {
        matches!(
            self.0,
            CUresult::CUDA_ERROR_INVALID_VALUE
                | CUresult::CUDA_ERROR_OUT_OF_MEMORY
                | CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
                | CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
        )
    }

    /// Returns true if every call fails from now on, until another process starts.
    pub(crate) fn is_sticky(self) -> bool {
        matches!(
            self.0,
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
                | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
                | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
                | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
                | CUresult::CUDA_ERROR_ASSERT
                | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
                | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
                | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
                | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
                | CUresult::CUDA_ERROR_INVALID_PC
                | CUresult::CUDA_ERROR_LAUNCH_FAILED
        )
    }

    /// Returns an explanation beyond the error's name.
    fn meaning(self) -> &'static str {
        match self.0 {
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS => " (it read or wrote memory that is not its own)",
            CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => {
                " (it read or wrote a vector at an address that is not a multiple of its size)"
            }
            CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => " (too many registers or threads for a block)",
            CUresult::CUDA_ERROR_ASSERT => " (an assertion of the kernel does not hold)",
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => " (it is compiled for another architecture)",
            CUresult::CUDA_ERROR_INVALID_VALUE => " (a size or address that the device does not take)",
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => " (the device has no memory left)",
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => " (NVRTC is newer than the driver)",
            _ => "",
        }
    }

    /// Returns the fault of the configuration. `what` names the failed operation.
    pub(crate) fn fault(self, what: &str) -> Fault {
        let text = format!("{what}: {self}");
        if self.is_refusal() { Fault::Refused(text) } else { Fault::Failed(text) }
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.0, self.meaning())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart_by_what_they_cost() {
        let fault = |code| DriverError(code).fault("the kernel failed");
        assert!(matches!(fault(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES), Fault::Refused(_)));
        let Fault::Failed(text) = fault(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS) else { panic!("not a failure") };
        let wanted = "the kernel failed: CUDA_ERROR_ILLEGAL_ADDRESS (it read or wrote memory that is not its own)";
        assert_eq!(text, wanted);
        assert!(DriverError(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS).is_sticky());
        assert!(!DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY).is_sticky());
    }
}
