//! The backend's interface to a driver. It is implemented by the drivers of CUDA and HIP and by a
//! script ([`script`](super::script)).

use crate::backends::gpu::native::{Attribute, DriverError, FunctionAttribute};
use crate::backends::{Pixels, Profiler};
use crate::energy::Meter;
use std::path::Path;
use std::time::Duration;
use tunesmith_power::Library as ManagementLibrary;

/// The address of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Address(pub(crate) u64);

impl Address {
    /// Returns the address `bytes` further on.
    pub(crate) fn add(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes as u64))
    }
}

/// The architecture of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Architecture {
    /// A compute capability as a number: ten times the major version plus the minor version.
    Capability(u32),
    /// The name that the compiler knows it by.
    Named(String),
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

/// Launches of a kernel that the device runs one after the other, without the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Graph(pub(crate) u64);

/// An image of the device: its memory, and the object that kernels receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceImage {
    pub(crate) array: u64,
    /// A texture that kernels read, or a surface that they write.
    pub(crate) object: u64,
}

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

/// A driver as the backend uses it once a device is open. All work goes to one stream, in
/// order.
///
/// Every call may also return the error of a kernel that was launched before it.
pub(crate) trait Driver {
    /// Returns the version of the API that the driver supports, such as 13.0.
    fn version(&self) -> Result<String, DriverError>;

    /// Returns the number of devices.
    fn count(&self) -> Result<usize, DriverError>;

    /// Returns a device's name.
    fn name(&self, device: usize) -> Result<String, DriverError>;

    /// Returns the size of a device's memory in bytes.
    fn memory(&self, device: usize) -> Result<usize, DriverError>;

    /// Returns a property of a device.
    fn attribute(&self, device: usize, attribute: Attribute) -> Result<i32, DriverError>;

    /// Returns the architecture of a device. CUDA has it as two attributes.
    fn architecture(&self, device: usize) -> Result<Architecture, DriverError>;

    /// Returns the library that sets the clock and the power limit of a device, if there is one.
    fn management(&self, device: usize) -> Option<ManagementLibrary> {
        let _ = device;
        None
    }

    /// Opens a device for all calls below.
    fn open(&mut self, device: usize) -> Result<(), DriverError>;

    /// Loads machine code, or PTX that the driver compiles.
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

    /// Allocates page-locked memory of the host until the process ends. The device copies to it several times as
    /// fast as to other memory. Returns `None` if there is none.
    fn page_locked(&mut self, _bytes: usize) -> Option<&'static mut [u8]> {
        None
    }

    /// Writes to device memory. Returns when the data has been read.
    fn write(&mut self, to: Address, data: &[u8]) -> Result<(), DriverError>;

    /// Reads device memory.
    fn read(&mut self, from: Address, into: &mut [u8]) -> Result<(), DriverError>;

    /// Copies within device memory, in the order of the stream.
    fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), DriverError>;

    /// Fills device memory with one byte, in the order of the stream.
    fn fill(&mut self, to: Address, byte: u8, bytes: usize) -> Result<(), DriverError>;

    /// Makes an image, which lives until the process ends.
    fn image(&mut self, _pixels: &Pixels) -> Result<DeviceImage, DriverError> {
        Err(DriverError::not_supported())
    }

    /// Copies pixels from device memory to an image, in the order of the stream.
    fn fill_image(&mut self, _from: Address, _to: DeviceImage, _pixels: &Pixels) -> Result<(), DriverError> {
        Err(DriverError::not_supported())
    }

    /// Copies the pixels of an image to device memory, in the order of the stream.
    fn read_image(&mut self, _from: DeviceImage, _to: Address, _pixels: &Pixels) -> Result<(), DriverError> {
        Err(DriverError::not_supported())
    }

    /// Launches a kernel, in the order of the stream.
    fn launch(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError>;

    /// Returns true if there are graphs.
    fn has_graphs(&self) -> bool {
        false
    }

    /// Makes a graph of `count` equal launches.
    fn graph(&mut self, _launch: &KernelLaunch<'_>, _count: usize) -> Result<Graph, DriverError> {
        Err(DriverError::not_supported())
    }

    /// Launches a graph, in the order of the stream.
    fn launch_graph(&mut self, _graph: Graph) -> Result<(), DriverError> {
        Err(DriverError::not_supported())
    }

    /// Removes a graph that does not run.
    fn remove_graph(&mut self, _graph: Graph) -> Result<(), DriverError> {
        Err(DriverError::not_supported())
    }

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

    /// Begins to count all later launches. The library that counts is searched for in the folder
    /// `libraries` first.
    ///
    /// # Errors
    /// There are no counters. The text gives the reason and the remedy.
    fn profiler(&mut self, libraries: Option<&Path>) -> Result<Box<dyn Profiler>, String>;
}

/// Returns the address of a device on the PCI bus, by which management libraries know it.
pub(crate) fn bus_address(driver: &dyn Driver, device: usize) -> Result<String, DriverError> {
    let part = |attribute| driver.attribute(device, attribute);
    let (domain, bus) = (part(Attribute::PciDomainId)?, part(Attribute::PciBusId)?);
    let slot = part(Attribute::PciDeviceId)?;
    Ok(format!("{domain:08X}:{bus:02X}:{slot:02X}.0"))
}

/// Returns the architecture of a device that has it as two attributes.
pub(crate) fn capability(driver: &dyn Driver, device: usize) -> Result<Architecture, DriverError> {
    let number = |attribute| driver.attribute(device, attribute).map(i32::unsigned_abs);
    let major = number(Attribute::ComputeCapabilityMajor)?;
    Ok(Architecture::Capability(major * 10 + number(Attribute::ComputeCapabilityMinor)?))
}
