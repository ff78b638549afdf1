//! What the backend asks of a CUDA driver, and who answers: the system's driver ([`system`]) or a
//! script ([`script`]).

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

/// A property of a device, as the driver API names it.
pub(crate) type Attribute = CUdevice_attribute;

/// A property of a kernel, as the driver API names it.
pub(crate) type FunctionAttribute = CUfunction_attribute;

/// The address of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Address(pub(crate) u64);

impl Address {
    /// Makes the address `bytes` further on.
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

/// A moment on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Event(pub(crate) u64);

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub(crate) struct KernelLaunch<'a> {
    pub(crate) function: Function,
    /// Blocks in each dimension.
    pub(crate) grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub(crate) shared: u32,
    /// The bytes of each parameter: as many as the kernel has, each as long as its type.
    pub(crate) parameters: &'a [Vec<u8>],
}

/// An error of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DriverError(pub(crate) CUresult);

/// What the backend asks of a driver once a device is open. All work goes to one stream, in order.
///
/// Every call may also return the error of a kernel that was launched before it.
pub(crate) trait Driver {
    /// Returns the CUDA version that the driver supports, such as 13000.
    fn version(&self) -> Result<u32, DriverError>;

    /// Returns how many devices there are.
    fn count(&self) -> Result<usize, DriverError>;

    /// Returns a device's name.
    fn name(&self, device: usize) -> Result<String, DriverError>;

    /// Returns the bytes of a device's memory.
    fn memory(&self, device: usize) -> Result<usize, DriverError>;

    /// Returns a property of a device.
    fn attribute(&self, device: usize, attribute: Attribute) -> Result<i32, DriverError>;

    /// Opens a device for all calls below.
    fn open(&mut self, device: usize) -> Result<(), DriverError>;

    /// Loads a cubin, or PTX that the driver compiles.
    fn load(&mut self, image: &[u8]) -> Result<Module, DriverError>;

    /// Gives loaded code up.
    fn unload(&mut self, module: Module) -> Result<(), DriverError>;

    /// Returns the kernel of a mangled name.
    fn function(&mut self, module: Module, name: &str) -> Result<Function, DriverError>;

    /// Returns where a variable of a mangled name lies, and its bytes.
    fn symbol(&mut self, module: Module, name: &str) -> Result<(Address, usize), DriverError>;

    /// Returns a property of a kernel.
    fn function_attribute(&self, function: Function, attribute: FunctionAttribute) -> Result<i32, DriverError>;

    /// Lets a kernel use so many bytes of dynamic shared memory; without it 48 KiB less its static
    /// ones are the most.
    fn allow_shared(&mut self, function: Function, bytes: u32) -> Result<(), DriverError>;

    /// Returns how many blocks of so many threads and bytes of dynamic shared memory run on a
    /// multiprocessor at a time.
    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, DriverError>;

    /// Reserves memory until the process ends.
    fn allocate(&mut self, bytes: usize) -> Result<Address, DriverError>;

    /// Writes to device memory and returns when the data has been read.
    fn write(&mut self, to: Address, data: &[u8]) -> Result<(), DriverError>;

    /// Reads device memory.
    fn read(&mut self, from: Address, into: &mut [u8]) -> Result<(), DriverError>;

    /// Copies within device memory, in the order of the stream.
    fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), DriverError>;

    /// Sets device memory to one byte, in the order of the stream.
    fn fill(&mut self, to: Address, byte: u8, bytes: usize) -> Result<(), DriverError>;

    /// Launches a kernel, in the order of the stream.
    fn launch(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError>;

    /// Makes an event.
    fn event(&mut self) -> Result<Event, DriverError>;

    /// Lets an event happen in the order of the stream.
    fn record(&mut self, event: Event) -> Result<(), DriverError>;

    /// Waits for an event, and so for all before it.
    fn wait(&mut self, event: Event) -> Result<(), DriverError>;

    /// Returns the time between two events that have happened; resolved to about half a
    /// microsecond.
    fn elapsed(&mut self, start: Event, end: Event) -> Result<Duration, DriverError>;

    /// Returns what watches the device that is open.
    ///
    /// # Errors
    /// Nothing watches the device; the text says why.
    fn meter(&mut self) -> Result<Box<dyn Meter>, String>;

    /// Begins to read counters of what is launched from now on; `libraries` is where CUPTI is
    /// looked for first.
    ///
    /// # Errors
    /// Why there are none, and what to do about it.
    fn profiler(&mut self, libraries: Option<&Path>) -> Result<Box<dyn Profiler>, String>;
}

impl DriverError {
    /// Returns whether the device merely does not take the configuration: too many threads,
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

    /// Returns whether every call fails from now on, until another process starts.
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

    /// Returns what the name does not say.
    fn meaning(self) -> &'static str {
        match self.0 {
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS => " (it read or wrote memory that is not its own)",
            CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => {
                " (it read or wrote a vector at an address that is no multiple of its size)"
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

    /// Returns what the error means for a configuration, `what` being what failed.
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
