//! The HIP runtime. Its library is searched for on first use. Called only in workers.
//!
//! The numbers of attributes and errors are those of ROCm 5, 6 and 7. Since 5.0, releases have
//! only renamed attributes in place and added new ones behind the old.

#![allow(unsafe_code)]

use crate::backends::gpu::GpuApi;
use crate::backends::gpu::native::{
    Address, Architecture, Attribute, Driver, DriverError, ErrorKind, Event, Function, FunctionAttribute, Graph,
    KernelLaunch, Module, lasting, libraries,
};
use crate::backends::hip::native::error::ERRORS;
use crate::backends::{Absent, Profiler};
use crate::energy::Meter;
use libloading::os::unix::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::Path;
use std::ptr;
use std::time::Duration;
use tunesmith_power::Library as ManagementLibrary;

/// The versions to search for by name, newest first.
const VERSIONS: [&str; 3] = ["7", "6", "5"];

/// Zero, or the number of an error.
type Status = c_uint;

/// A module, a function, a stream or an event.
type Handle = *mut c_void;

/// Declares the functions of the runtime that are called here, and a function that finds them.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Finds all functions. The error is the name of a missing one.
            fn find(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: the HIP runtime documents the function with this signature.
                    $($field: *unsafe { library.get($symbol.as_bytes()) }.map_err(|_| $symbol)?,)*
                })
            }
        }
    };
}

functions! {
    init = "hipInit": fn(c_uint) -> Status;
    error_name = "hipGetErrorName": fn(Status) -> *const c_char;
    version = "hipRuntimeGetVersion": fn(*mut c_int) -> Status;
    count = "hipGetDeviceCount": fn(*mut c_int) -> Status;
    name = "hipDeviceGetName": fn(*mut c_char, c_int, c_int) -> Status;
    memory = "hipDeviceTotalMem": fn(*mut usize, c_int) -> Status;
    attribute = "hipDeviceGetAttribute": fn(*mut c_int, c_uint, c_int) -> Status;
    set_device = "hipSetDevice": fn(c_int) -> Status;
    create_stream = "hipStreamCreateWithFlags": fn(*mut Handle, c_uint) -> Status;
    load = "hipModuleLoadData": fn(*mut Handle, *const c_void) -> Status;
    unload = "hipModuleUnload": fn(Handle) -> Status;
    function = "hipModuleGetFunction": fn(*mut Handle, Handle, *const c_char) -> Status;
    global = "hipModuleGetGlobal": fn(*mut *mut c_void, *mut usize, Handle, *const c_char) -> Status;
    function_attribute = "hipFuncGetAttribute": fn(*mut c_int, c_uint, Handle) -> Status;
    resident_blocks = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor":
        fn(*mut c_int, Handle, c_int, usize) -> Status;
    allocate = "hipMalloc": fn(*mut *mut c_void, usize) -> Status;
    page_locked = "hipHostMalloc": fn(*mut *mut c_void, usize, c_uint) -> Status;
    write = "hipMemcpyHtoD": fn(*mut c_void, *const c_void, usize) -> Status;
    read = "hipMemcpyDtoH": fn(*mut c_void, *mut c_void, usize) -> Status;
    copy = "hipMemcpyDtoDAsync": fn(*mut c_void, *mut c_void, usize, Handle) -> Status;
    fill = "hipMemsetD8Async": fn(*mut c_void, u8, usize, Handle) -> Status;
    launch = "hipModuleLaunchKernel": fn(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    ) -> Status;
    create_event = "hipEventCreate": fn(*mut Handle) -> Status;
    record = "hipEventRecord": fn(Handle, Handle) -> Status;
    wait = "hipEventSynchronize": fn(Handle) -> Status;
    elapsed = "hipEventElapsedTime": fn(*mut f32, Handle, Handle) -> Status;
    begin_capture = "hipStreamBeginCapture": fn(Handle, c_uint) -> Status;
    end_capture = "hipStreamEndCapture": fn(Handle, *mut Handle) -> Status;
    instantiate = "hipGraphInstantiateWithFlags": fn(*mut Handle, Handle, c_ulonglong) -> Status;
    launch_graph = "hipGraphLaunch": fn(Handle, Handle) -> Status;
    destroy_graph = "hipGraphDestroy": fn(Handle) -> Status;
    destroy_executable = "hipGraphExecDestroy": fn(Handle) -> Status;
}

/// Moves an executable graph to the device: `hipGraphUpload`, since ROCm 5.3.
type Upload = unsafe extern "C" fn(Handle, Handle) -> Status;

/// `hipStreamCaptureModeThreadLocal`.
const CAPTURE_OF_THREAD: c_uint = 1;

/// A function that fills a structure of device properties.
type GetProperties = unsafe extern "C" fn(*mut u8, c_int) -> Status;

/// A layout of the device properties. Only the name of the architecture is read.
#[derive(Clone, Copy)]
struct PropertyLayout {
    get: GetProperties,
    /// The size of the structure in bytes.
    size: usize,
    /// The place of `gcnArchName`.
    architecture: usize,
}

/// The layouts, newest first: the function, the size and the place of the name. Since ROCm 6 the
/// plain name means the old layout.
const LAYOUTS: [(&str, usize, usize); 2] =
    [("hipGetDevicePropertiesR0600", 1472, 1160), ("hipGetDeviceProperties", 792, 396)];

/// The bytes of the name of an architecture.
const ARCHITECTURE_BYTES: usize = 256;

/// This machine's runtime.
pub(super) struct HipDriver {
    functions: Functions,
    /// `None` if the runtime is too old. The first launch of a graph then moves it.
    upload: Option<Upload>,
    properties: PropertyLayout,
    /// The stream of all work. It and the default stream, which reads and writes memory, wait for
    /// each other.
    stream: Handle,
    /// The open device.
    device: usize,
    /// Keeps the functions valid.
    _library: Library,
}

impl HipDriver {
    /// Opens the runtime's library in `folder`, or else in the system's places.
    ///
    /// # Errors
    /// The library is missing, lacks a function, or finds no device.
    pub(super) fn new(folder: Option<&Path>) -> Result<Self, Absent> {
        let missing = |reason: &str| GpuApi::Hip.missing_driver(reason);
        let library = open(folder).ok_or_else(|| missing("there is no HIP runtime (libamdhip64.so.7, .6 or .5)"))?;
        let old = |symbol: &str| missing(&format!("the HIP runtime has no `{symbol}`: it is too old"));
        let functions = Functions::find(&library).map_err(old)?;
        let layout = |(symbol, size, architecture): (&str, usize, usize)| {
            // SAFETY: the HIP runtime documents the function with this signature.
            let get = *unsafe { library.get::<GetProperties>(symbol.as_bytes()) }.ok()?;
            Some(PropertyLayout { get, size, architecture })
        };
        let properties = LAYOUTS.into_iter().find_map(layout).ok_or_else(|| old("hipGetDeviceProperties"))?;
        // SAFETY: the HIP runtime documents the function with this signature.
        let upload = unsafe { library.get::<Upload>(b"hipGraphUpload") }.ok().map(|upload| *upload);
        let driver = Self { functions, upload, properties, stream: ptr::null_mut(), device: 0, _library: library };
        // SAFETY: the function exists, and so do all others, on which every call below relies.
        driver.done(unsafe { (driver.functions.init)(0) }).map_err(|error| match error.kind() {
            ErrorKind::NoDevice | ErrorKind::InvalidDevice => missing(&no_device()),
            _ => missing(&format!("the HIP runtime does not start: {error}")),
        })?;
        Ok(driver)
    }

    fn done(&self, status: Status) -> Result<(), DriverError> {
        if status == 0 { Ok(()) } else { Err(self.error(status)) }
    }

    fn error(&self, status: Status) -> DriverError {
        ERRORS.of_code(status, || {
            // SAFETY: the function returns a text of the library's own for every number.
            let name = unsafe { (self.functions.error_name)(status) };
            // SAFETY: as above. It ends with a zero and is never freed.
            let text = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
            text.unwrap_or_else(|| format!("error {status}"))
        })
    }

    /// Returns the value that `call` writes through its pointer.
    fn given<T>(&self, initial: T, call: impl FnOnce(*mut T) -> Status) -> Result<T, DriverError> {
        let mut value = initial;
        self.done(call(&mut value))?;
        Ok(value)
    }

    fn text(name: &str) -> Result<CString, DriverError> {
        CString::new(name).map_err(|_| ERRORS.of_kind(ErrorKind::NotFound))
    }
}

/// Opens the runtime's library in `folder`, or else in the system's places.
fn open(folder: Option<&Path>) -> Option<Library> {
    libraries::open(folder, "libamdhip64", &VERSIONS, &[]).map(|(library, _)| library)
}

/// Returns the version of the runtime in `folder`, or else in the system's places. Needs no GPU.
pub(super) fn runtime_version(folder: Option<&Path>) -> Option<String> {
    let library = open(folder)?;
    let functions = Functions::find(&library).ok()?;
    let mut version = 0;
    // SAFETY: the function exists, its library is open, and the pointer is of a live integer.
    let status = unsafe { (functions.version)(&mut version) };
    (status == 0).then(|| version_text(version.unsigned_abs()))
}

/// Explains why the runtime finds no GPU: it has no device file, or this user may not open it.
fn no_device() -> String {
    const DEVICE: &str = "/dev/kfd";
    match std::fs::OpenOptions::new().read(true).write(true).open(DEVICE) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            format!("the HIP runtime finds no GPU: this user may not open {DEVICE}")
        }
        Err(_) => format!("the HIP runtime finds no GPU: there is no {DEVICE}"),
        Ok(_) => "the HIP runtime finds no GPU".to_owned(),
    }
}

/// Returns the number of a device as the runtime takes it.
fn ordinal(device: usize) -> Result<c_int, DriverError> {
    c_int::try_from(device).map_err(|_| ERRORS.of_kind(ErrorKind::InvalidDevice))
}

// SAFETY of the calls below: each function exists, as `new` has checked. Pointers to results are of
// live variables of the right type. Modules, functions and events come only from this driver. The
// runtime checks ranges of device memory. The effect of a user's kernel on them is not known, and
// therefore this process does nothing else.
impl Driver for HipDriver {
    fn version(&self) -> Result<String, DriverError> {
        let version = self.given(0, |version| unsafe { (self.functions.version)(version) })?;
        Ok(version_text(version.unsigned_abs()))
    }

    fn count(&self) -> Result<usize, DriverError> {
        match self.given(0, |count| unsafe { (self.functions.count)(count) }) {
            Err(error) if error.kind() == ErrorKind::NoDevice => Ok(0),
            count => Ok(usize::try_from(count?).unwrap_or_default()),
        }
    }

    fn name(&self, device: usize) -> Result<String, DriverError> {
        const LENGTH: usize = 256;
        let device = ordinal(device)?;
        let mut name: [c_char; LENGTH] = [0; LENGTH];
        self.done(unsafe { (self.functions.name)(name.as_mut_ptr(), LENGTH as c_int - 1, device) })?;
        // SAFETY: the last byte stays zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        Ok(name.to_string_lossy().trim().to_owned())
    }

    fn memory(&self, device: usize) -> Result<usize, DriverError> {
        let device = ordinal(device)?;
        self.given(0, |bytes| unsafe { (self.functions.memory)(bytes, device) })
    }

    fn attribute(&self, device: usize, attribute: Attribute) -> Result<i32, DriverError> {
        let (device, attribute) = (ordinal(device)?, device_attribute(attribute));
        self.given(0, |value| unsafe { (self.functions.attribute)(value, attribute, device) })
    }

    fn architecture(&self, device: usize) -> Result<Architecture, DriverError> {
        let device = ordinal(device)?;
        let PropertyLayout { get, size, architecture } = self.properties;
        // Later releases may append to the structure. They write no more than its size as of the
        // function's name, and there is room for more.
        let mut bytes = vec![0_u64; size.div_ceil(8) * 2];
        self.done(unsafe { get(bytes.as_mut_ptr().cast(), device) })?;
        let bytes: Vec<u8> = bytes.into_iter().flat_map(u64::to_ne_bytes).collect();
        let name = bytes[architecture..architecture + ARCHITECTURE_BYTES].split(|byte| *byte == 0).next();
        Ok(Architecture::Named(String::from_utf8_lossy(name.unwrap_or_default()).into_owned()))
    }

    fn management(&self, _: usize) -> Option<ManagementLibrary> {
        Some(ManagementLibrary::AmdSmi)
    }

    fn open(&mut self, device: usize) -> Result<(), DriverError> {
        let ordinal = ordinal(device)?;
        self.done(unsafe { (self.functions.set_device)(ordinal) })?;
        self.device = device;
        self.stream = self.given(ptr::null_mut(), |stream| unsafe { (self.functions.create_stream)(stream, 0) })?;
        Ok(())
    }

    fn load(&mut self, image: &[u8]) -> Result<Module, DriverError> {
        let address = image.as_ptr().cast();
        self.given(ptr::null_mut(), |module| unsafe { (self.functions.load)(module, address) })
            .map(|module| Module(module as u64))
    }

    fn unload(&mut self, module: Module) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.unload)(module.0 as Handle) })
    }

    fn function(&mut self, module: Module, name: &str) -> Result<Function, DriverError> {
        let (module, name) = (module.0 as Handle, Self::text(name)?);
        self.given(ptr::null_mut(), |function| unsafe { (self.functions.function)(function, module, name.as_ptr()) })
            .map(|function| Function(function as u64))
    }

    fn symbol(&mut self, module: Module, name: &str) -> Result<(Address, usize), DriverError> {
        let (module, name) = (module.0 as Handle, Self::text(name)?);
        let mut bytes = 0;
        let address = self.given(ptr::null_mut(), |address| unsafe {
            (self.functions.global)(address, &mut bytes, module, name.as_ptr())
        })?;
        Ok((Address(address as u64), bytes))
    }

    fn function_attribute(&self, function: Function, attribute: FunctionAttribute) -> Result<i32, DriverError> {
        let (function, attribute) = (function.0 as Handle, function_attribute(attribute));
        self.given(0, |value| unsafe { (self.functions.function_attribute)(value, attribute, function) })
    }

    fn allow_shared(&mut self, _: Function, bytes: u32) -> Result<(), DriverError> {
        // Every kernel may use what a block can have.
        let most = self.attribute(self.device, Attribute::MaxSharedMemoryPerBlock)?;
        if bytes > most.unsigned_abs() { Err(ERRORS.of_kind(ErrorKind::InvalidValue)) } else { Ok(()) }
    }

    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, DriverError> {
        let function = function.0 as Handle;
        let threads = c_int::try_from(threads).map_err(|_| ERRORS.of_kind(ErrorKind::InvalidValue))?;
        let blocks = self.given(0, |blocks| unsafe {
            (self.functions.resident_blocks)(blocks, function, threads, shared as usize)
        })?;
        Ok(blocks.unsigned_abs())
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address, DriverError> {
        self.given(ptr::null_mut(), |address| unsafe { (self.functions.allocate)(address, bytes.max(1)) })
            .map(|address| Address(address as u64))
    }

    fn page_locked(&mut self, bytes: usize) -> Option<&'static mut [u8]> {
        let memory =
            self.given(ptr::null_mut(), |memory| unsafe { (self.functions.page_locked)(memory, bytes, 0) }).ok()?;
        // SAFETY: the driver gave `bytes` bytes, which nobody else holds and nobody frees.
        Some(unsafe { lasting(memory.cast(), bytes) })
    }

    fn write(&mut self, to: Address, data: &[u8]) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.write)(to.0 as Handle, data.as_ptr().cast(), data.len()) })
    }

    fn read(&mut self, from: Address, into: &mut [u8]) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.read)(into.as_mut_ptr().cast(), from.0 as Handle, into.len()) })
    }

    fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.copy)(to.0 as Handle, from.0 as Handle, bytes, self.stream) })
    }

    fn fill(&mut self, to: Address, byte: u8, bytes: usize) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.fill)(to.0 as Handle, byte, bytes, self.stream) })
    }

    fn launch(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError> {
        // The runtime copies each parameter during the call. It reads as many bytes as the kernel's
        // own parameter has.
        let mut parameters: Vec<*mut c_void> =
            launch.parameters.iter().map(|parameter| parameter.as_ptr().cast_mut().cast()).collect();
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (launch.grid, launch.block);
        // SAFETY: the kernel's parameters were checked against these when it was compiled.
        self.done(unsafe {
            (self.functions.launch)(
                launch.function.0 as Handle,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                launch.shared,
                self.stream,
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        })
    }

    fn has_graphs(&self) -> bool {
        true
    }

    fn graph(&mut self, launch: &KernelLaunch<'_>, count: usize) -> Result<Graph, DriverError> {
        self.done(unsafe { (self.functions.begin_capture)(self.stream, CAPTURE_OF_THREAD) })?;
        let launched = (0..count).try_for_each(|_| self.launch(launch));
        // A capture must end, even if a launch failed.
        let graph = self.given(ptr::null_mut(), |graph| unsafe { (self.functions.end_capture)(self.stream, graph) });
        launched?;
        let graph = graph?;
        let made = self.given(ptr::null_mut(), |made| unsafe { (self.functions.instantiate)(made, graph, 0) });
        // The executable graph does not need the other any more.
        self.done(unsafe { (self.functions.destroy_graph)(graph) })?;
        let made = made?;
        if let Some(upload) = self.upload {
            self.done(unsafe { upload(made, self.stream) })?;
        }
        Ok(Graph(made as u64))
    }

    fn launch_graph(&mut self, graph: Graph) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.launch_graph)(graph.0 as Handle, self.stream) })
    }

    fn remove_graph(&mut self, graph: Graph) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.destroy_executable)(graph.0 as Handle) })
    }

    fn event(&mut self) -> Result<Event, DriverError> {
        self.given(ptr::null_mut(), |event| unsafe { (self.functions.create_event)(event) })
            .map(|event| Event(event as u64))
    }

    fn record(&mut self, event: Event) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.record)(event.0 as Handle, self.stream) })
    }

    fn wait(&mut self, event: Event) -> Result<(), DriverError> {
        self.done(unsafe { (self.functions.wait)(event.0 as Handle) })
    }

    fn elapsed(&mut self, start: Event, end: Event) -> Result<Duration, DriverError> {
        let (start, end) = (start.0 as Handle, end.0 as Handle);
        let milliseconds = self.given(0.0, |time| unsafe { (self.functions.elapsed)(time, start, end) })?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }

    fn meter(&mut self) -> Result<Box<dyn Meter>, String> {
        Err("the energy of HIP devices is not read yet".to_owned())
    }

    fn profiler(&mut self, _: Option<&Path>) -> Result<Box<dyn Profiler>, String> {
        Err("the counters of HIP devices are not read yet; recordings may have them".to_owned())
    }
}

/// Formats 60_032_831 as 6.0.32831.
fn version_text(number: u32) -> String {
    format!("{}.{}.{}", number / 10_000_000, number % 10_000_000 / 100_000, number % 100_000)
}

/// Returns the number of an attribute in `hipDeviceAttribute_t`.
fn device_attribute(attribute: Attribute) -> c_uint {
    match attribute {
        Attribute::ClockRate => 5,
        Attribute::L2CacheSize => 19,
        Attribute::ComputeCapabilityMajor => 23,
        Attribute::MaxBlocksPerMultiprocessor => 25,
        Attribute::MaxBlockDimX => 26,
        Attribute::MaxBlockDimY => 27,
        Attribute::MaxBlockDimZ => 28,
        Attribute::MaxGridDimX => 29,
        Attribute::MaxThreadsPerBlock => 56,
        Attribute::MaxThreadsPerMultiprocessor => 57,
        Attribute::GlobalMemoryBusWidth => 59,
        Attribute::MemoryClockRate => 60,
        Attribute::ComputeCapabilityMinor => 61,
        Attribute::MultiprocessorCount => 63,
        Attribute::PciBusId => 67,
        Attribute::PciDeviceId => 68,
        Attribute::PciDomainId => 69,
        Attribute::MaxRegistersPerBlock => 71,
        Attribute::MaxRegistersPerMultiprocessor => 72,
        // A block needs no permission to use all that it can have.
        Attribute::MaxSharedMemoryPerBlock | Attribute::MaxSharedMemoryPerBlockOptin => 74,
        Attribute::TotalConstantMemory => 83,
        Attribute::WarpSize => 87,
        Attribute::MaxSharedMemoryPerMultiprocessor => 10_002,
    }
}

/// Returns the number of an attribute in `hipFunction_attribute`.
fn function_attribute(attribute: FunctionAttribute) -> c_uint {
    match attribute {
        FunctionAttribute::MaxThreadsPerBlock => 0,
        FunctionAttribute::SharedSizeBytes => 1,
        FunctionAttribute::ConstSizeBytes => 2,
        FunctionAttribute::LocalSizeBytes => 3,
        FunctionAttribute::NumRegs => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_with_a_point() {
        assert_eq!([50_221_153, 60_032_831, 71_460_850].map(version_text), ["5.2.21153", "6.0.32831", "7.14.60850"]);
    }
}
