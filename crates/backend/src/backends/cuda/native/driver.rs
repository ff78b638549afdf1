//! The system's driver. Its library is searched for on first use. Called only in workers.

#![allow(unsafe_code)]

use crate::backends::cuda::native::cupti::{CuptiCounting, Gpu};
use crate::backends::cuda::native::start::{device_files, unusable};
use crate::backends::cuda::native::{image, nvml};
use crate::backends::gpu::GpuApi;
use crate::backends::gpu::native::{
    Address, Architecture, Attribute, DeviceImage, Driver, DriverError, ErrorKind, ErrorTable, Event, Function,
    FunctionAttribute, Graph, KernelLaunch, Module, bus_address, capability, lasting,
};
use crate::backends::{Absent, Pixels, Profiler};
use crate::energy::Meter;
use cudarc::driver::sys::{
    self, CUcontext, CUdevice_attribute, CUevent, CUfunction_attribute, CUgraphExec, CUresult, CUstream,
    CUstream_flags, CUstreamCaptureMode,
};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::rc::Rc;
use std::time::Duration;
use tunesmith_power::Library as ManagementLibrary;

/// The functions of the driver's library that are called here. They are checked because `cudarc`
/// panics if one is missing.
const FUNCTIONS: [&str; 39] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent",
    "cuStreamCreate",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuModuleGetGlobal_v2",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuMemAlloc_v2",
    "cuMemAllocHost_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemsetD8Async",
    "cuLaunchKernel",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuGraphInstantiateWithFlags",
    "cuGraphUpload",
    "cuGraphLaunch",
    "cuGraphExecDestroy",
    "cuGraphDestroy",
    "cuArray3DCreate_v2",
    "cuMemcpy3DAsync_v2",
    "cuTexObjectCreate",
    "cuSurfObjectCreate",
];

type ElapsedTime = unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult;

/// This machine's driver.
pub(crate) struct SystemDriver {
    /// The stream of all work. It and the default stream, which reads and writes memory, wait for
    /// each other.
    stream: CUstream,
    /// The form of the function that drivers of every version have. `cudarc` calls one that came
    /// with CUDA 12.8.
    elapsed_time: ElapsedTime,
    /// The open device and its context, which lives as long as the process.
    device: (usize, CUcontext),
    /// The reader of its counters, once they were requested.
    counters: Option<Rc<Gpu>>,
}

impl SystemDriver {
    /// Opens the driver's library.
    ///
    /// # Errors
    /// The library is missing, lacks a function, or finds no device.
    pub(crate) fn new() -> Result<Self, Absent> {
        // SAFETY: loading the driver's library has no effect but its initialisers', as in every
        // CUDA program.
        if !unsafe { sys::is_culib_present() } {
            return Err(GpuApi::Cuda.missing_driver("there is no NVIDIA driver (libcuda.so.1)"));
        }
        // SAFETY: it is present, and stays loaded.
        let library = unsafe { sys::culib() };
        for name in FUNCTIONS {
            // SAFETY: the symbol is only searched for, not used.
            if unsafe { library.get::<*const c_void>(name) }.is_err() {
                return Err(GpuApi::Cuda.missing_driver(&format!("the NVIDIA driver has no `{name}`: it is too old")));
            }
        }
        // SAFETY: every driver exports the function with this signature.
        let elapsed_time = *unsafe { library.get::<ElapsedTime>("cuEventElapsedTime") }
            .map_err(|error| GpuApi::Cuda.missing_driver(&format!("the NVIDIA driver cannot be used: {error}")))?;
        let driver = Self { stream: ptr::null_mut(), elapsed_time, device: (0, ptr::null_mut()), counters: None };
        // SAFETY: the function exists. So do all of `FUNCTIONS`, on which every call below relies.
        done(unsafe { sys::cuInit(0) }).map_err(|error| unusable(&error, device_files()))?;
        Ok(driver)
    }
}

fn done(result: CUresult) -> Result<(), DriverError> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(error(result)) }
}

fn error(result: CUresult) -> DriverError {
    ERRORS.of_code(result as u32, || format!("{result:?}"))
}

/// Returns the value that `call` writes through its pointer.
fn given<T>(initial: T, call: impl FnOnce(*mut T) -> CUresult) -> Result<T, DriverError> {
    let mut value = initial;
    done(call(&mut value))?;
    Ok(value)
}

fn text(name: &str) -> Result<CString, DriverError> {
    CString::new(name).map_err(|_| error(CUresult::CUDA_ERROR_NOT_FOUND))
}

// SAFETY of the calls below: each function exists, as `new` has checked. Pointers to results are of
// live variables of the right type. Modules, functions and events come only from this driver. The
// driver checks addresses and ranges of device memory. The effect of a user's kernel on them is not
// known, and therefore this process does nothing else.
impl Driver for SystemDriver {
    fn version(&self) -> Result<String, DriverError> {
        let version = given(0, |version| unsafe { sys::cuDriverGetVersion(version) })?;
        Ok(version_text(version.unsigned_abs()))
    }

    fn count(&self) -> Result<usize, DriverError> {
        let count = given(0, |count| unsafe { sys::cuDeviceGetCount(count) })?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    fn name(&self, device: usize) -> Result<String, DriverError> {
        const LENGTH: usize = 256;
        let handle = handle(device)?;
        let mut name: [c_char; LENGTH] = [0; LENGTH];
        done(unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), LENGTH as c_int - 1, handle) })?;
        // SAFETY: the last byte stays zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        Ok(name.to_string_lossy().trim().to_owned())
    }

    fn memory(&self, device: usize) -> Result<usize, DriverError> {
        let handle = handle(device)?;
        given(0, |bytes| unsafe { sys::cuDeviceTotalMem_v2(bytes, handle) })
    }

    fn attribute(&self, device: usize, attribute: Attribute) -> Result<i32, DriverError> {
        let (handle, attribute) = (handle(device)?, device_attribute(attribute));
        given(0, |value| unsafe { sys::cuDeviceGetAttribute(value, attribute, handle) })
    }

    fn architecture(&self, device: usize) -> Result<Architecture, DriverError> {
        capability(self, device)
    }

    fn management(&self, _: usize) -> Option<ManagementLibrary> {
        Some(ManagementLibrary::Nvml)
    }

    fn open(&mut self, device: usize) -> Result<(), DriverError> {
        let handle = handle(device)?;
        let null: CUcontext = ptr::null_mut();
        let context = given(null, |context| unsafe { sys::cuDevicePrimaryCtxRetain(context, handle) })?;
        done(unsafe { sys::cuCtxSetCurrent(context) })?;
        self.device = (device, context);
        let null: CUstream = ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_DEFAULT as u32;
        self.stream = given(null, |stream| unsafe { sys::cuStreamCreate(stream, flags) })?;
        Ok(())
    }

    fn load(&mut self, image: &[u8]) -> Result<Module, DriverError> {
        // PTX is read as a text that ends with a zero.
        let mut terminated = image.to_vec();
        terminated.push(0);
        let address = terminated.as_ptr().cast();
        given(ptr::null_mut(), |module| unsafe { sys::cuModuleLoadData(module, address) })
            .map(|module| Module(module as u64))
    }

    fn unload(&mut self, module: Module) -> Result<(), DriverError> {
        done(unsafe { sys::cuModuleUnload(module.0 as sys::CUmodule) })
    }

    fn function(&mut self, module: Module, name: &str) -> Result<Function, DriverError> {
        let (module, name) = (module.0 as sys::CUmodule, text(name)?);
        given(ptr::null_mut(), |function| unsafe { sys::cuModuleGetFunction(function, module, name.as_ptr()) })
            .map(|function| Function(function as u64))
    }

    fn symbol(&mut self, module: Module, name: &str) -> Result<(Address, usize), DriverError> {
        let (module, name) = (module.0 as sys::CUmodule, text(name)?);
        let mut bytes = 0;
        let address =
            given(0, |address| unsafe { sys::cuModuleGetGlobal_v2(address, &mut bytes, module, name.as_ptr()) })?;
        Ok((Address(address), bytes))
    }

    fn function_attribute(&self, function: Function, attribute: FunctionAttribute) -> Result<i32, DriverError> {
        let (function, attribute) = (function.0 as sys::CUfunction, function_attribute(attribute));
        given(0, |value| unsafe { sys::cuFuncGetAttribute(value, attribute, function) })
    }

    fn allow_shared(&mut self, function: Function, bytes: u32) -> Result<(), DriverError> {
        const ATTRIBUTE: CUfunction_attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = c_int::try_from(bytes).map_err(|_| error(CUresult::CUDA_ERROR_INVALID_VALUE))?;
        done(unsafe { sys::cuFuncSetAttribute(function.0 as sys::CUfunction, ATTRIBUTE, bytes) })
    }

    fn resident_blocks(&self, function: Function, threads: u32, shared: u32) -> Result<u32, DriverError> {
        let function = function.0 as sys::CUfunction;
        let threads = c_int::try_from(threads).map_err(|_| error(CUresult::CUDA_ERROR_INVALID_VALUE))?;
        let blocks = given(0, |blocks| unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared as usize)
        })?;
        Ok(blocks.unsigned_abs())
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address, DriverError> {
        given(0, |address| unsafe { sys::cuMemAlloc_v2(address, bytes.max(1)) }).map(Address)
    }

    fn page_locked(&mut self, bytes: usize) -> Option<&'static mut [u8]> {
        let memory = given(ptr::null_mut(), |memory| unsafe { sys::cuMemAllocHost_v2(memory, bytes) }).ok()?;
        // SAFETY: the driver gave `bytes` bytes, which nobody else holds and nobody frees.
        Some(unsafe { lasting(memory.cast(), bytes) })
    }

    fn write(&mut self, to: Address, data: &[u8]) -> Result<(), DriverError> {
        done(unsafe { sys::cuMemcpyHtoD_v2(to.0, data.as_ptr().cast(), data.len()) })
    }

    fn read(&mut self, from: Address, into: &mut [u8]) -> Result<(), DriverError> {
        done(unsafe { sys::cuMemcpyDtoH_v2(into.as_mut_ptr().cast(), from.0, into.len()) })
    }

    fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), DriverError> {
        done(unsafe { sys::cuMemcpyDtoDAsync_v2(to.0, from.0, bytes, self.stream) })
    }

    fn fill(&mut self, to: Address, byte: u8, bytes: usize) -> Result<(), DriverError> {
        done(unsafe { sys::cuMemsetD8Async(to.0, byte, bytes, self.stream) })
    }

    fn image(&mut self, pixels: &Pixels) -> Result<DeviceImage, DriverError> {
        let description = image::array(pixels).ok_or_else(|| error(CUresult::CUDA_ERROR_INVALID_VALUE))?;
        let array = given(ptr::null_mut(), |array| unsafe { sys::cuArray3DCreate_v2(array, &description) })?;
        let resource = image::resource(array);
        let object = match pixels.is_written {
            true => given(0, |object| unsafe { sys::cuSurfObjectCreate(object, &resource) })?,
            false => {
                let texture = image::texture(pixels);
                given(0, |object| unsafe { sys::cuTexObjectCreate(object, &resource, &texture, ptr::null()) })?
            }
        };
        Ok(DeviceImage { array: array as u64, object })
    }

    fn fill_image(&mut self, from: Address, to: DeviceImage, pixels: &Pixels) -> Result<(), DriverError> {
        let copy = image::filling(from, to, pixels);
        done(unsafe { sys::cuMemcpy3DAsync_v2(&copy, self.stream) })
    }

    fn read_image(&mut self, from: DeviceImage, to: Address, pixels: &Pixels) -> Result<(), DriverError> {
        let copy = image::reading(from, to, pixels);
        done(unsafe { sys::cuMemcpy3DAsync_v2(&copy, self.stream) })
    }

    fn launch(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError> {
        // The driver copies each parameter during the call. It reads as many bytes as the kernel's
        // own parameter has.
        let mut parameters: Vec<*mut c_void> =
            launch.parameters.iter().map(|parameter| parameter.as_ptr().cast_mut().cast()).collect();
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (launch.grid, launch.block);
        // SAFETY: the kernel's parameters were checked against these when it was compiled.
        done(unsafe {
            sys::cuLaunchKernel(
                launch.function.0 as sys::CUfunction,
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
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        done(unsafe { sys::cuStreamBeginCapture_v2(self.stream, mode) })?;
        let launched = (0..count).try_for_each(|_| self.launch(launch));
        // A capture must end, even if a launch failed.
        let graph = given(ptr::null_mut(), |graph| unsafe { sys::cuStreamEndCapture(self.stream, graph) });
        launched?;
        let graph = graph?;
        let made = given(ptr::null_mut(), |made| unsafe { sys::cuGraphInstantiateWithFlags(made, graph, 0) });
        // The executable graph does not need the other any more.
        done(unsafe { sys::cuGraphDestroy(graph) })?;
        let made = made?;
        // Otherwise the first launch would move it to the device.
        done(unsafe { sys::cuGraphUpload(made, self.stream) })?;
        Ok(Graph(made as u64))
    }

    fn launch_graph(&mut self, graph: Graph) -> Result<(), DriverError> {
        done(unsafe { sys::cuGraphLaunch(graph.0 as CUgraphExec, self.stream) })
    }

    fn remove_graph(&mut self, graph: Graph) -> Result<(), DriverError> {
        done(unsafe { sys::cuGraphExecDestroy(graph.0 as CUgraphExec) })
    }

    fn event(&mut self) -> Result<Event, DriverError> {
        given(ptr::null_mut(), |event| unsafe { sys::cuEventCreate(event, 0) }).map(|event| Event(event as u64))
    }

    fn record(&mut self, event: Event) -> Result<(), DriverError> {
        done(unsafe { sys::cuEventRecord(event.0 as CUevent, self.stream) })
    }

    fn wait(&mut self, event: Event) -> Result<(), DriverError> {
        done(unsafe { sys::cuEventSynchronize(event.0 as CUevent) })
    }

    fn elapsed(&mut self, start: Event, end: Event) -> Result<Duration, DriverError> {
        let (start, end) = (start.0 as CUevent, end.0 as CUevent);
        let milliseconds = given(0.0, |time| unsafe { (self.elapsed_time)(time, start, end) })?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }

    fn meter(&mut self) -> Result<Box<dyn Meter>, String> {
        let address = bus_address(self, self.device.0).map_err(|error| error.to_string())?;
        Ok(Box::new(nvml::open(&address)?))
    }

    fn profiler(&mut self, libraries: Option<&Path>) -> Result<Box<dyn Profiler>, String> {
        let gpu = match &self.counters {
            Some(gpu) => Rc::clone(gpu),
            None => {
                let (device, context) = self.device;
                // SAFETY: the context is the device's primary one, which is never released.
                let gpu = unsafe { Gpu::open(libraries, device, context.cast()) };
                Rc::new(gpu.map_err(|refusal| refusal.explained())?)
            }
        };
        self.counters = Some(Rc::clone(&gpu));
        Ok(Box::new(CuptiCounting::begin(gpu).map_err(|refusal| refusal.explained())?))
    }
}

/// Returns the driver's handle of a device.
fn handle(device: usize) -> Result<sys::CUdevice, DriverError> {
    let ordinal = c_int::try_from(device).map_err(|_| error(CUresult::CUDA_ERROR_INVALID_DEVICE))?;
    given(0, |handle| unsafe { sys::cuDeviceGet(handle, ordinal) })
}

/// Formats 13000 as 13.0.
fn version_text(number: u32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

/// Declares the errors whose meaning is known.
macro_rules! errors {
    ($($name:ident = $kind:ident,)*) => {
        ErrorTable(&[$((CUresult::$name as u32, stringify!($name), ErrorKind::$kind),)*])
    };
}

/// The errors of the driver API.
pub(super) static ERRORS: ErrorTable = errors! {
    CUDA_ERROR_INVALID_VALUE = InvalidValue,
    CUDA_ERROR_OUT_OF_MEMORY = OutOfMemory,
    CUDA_ERROR_NO_DEVICE = NoDevice,
    CUDA_ERROR_DEVICE_UNAVAILABLE = DeviceUnavailable,
    CUDA_ERROR_SYSTEM_NOT_READY = SystemNotReady,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = DriverMismatch,
    CUDA_ERROR_INVALID_DEVICE = InvalidDevice,
    CUDA_ERROR_INVALID_IMAGE = InvalidImage,
    CUDA_ERROR_NO_BINARY_FOR_GPU = NoBinaryForDevice,
    CUDA_ERROR_ECC_UNCORRECTABLE = EccUncorrectable,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = UnsupportedPtx,
    CUDA_ERROR_INVALID_HANDLE = InvalidHandle,
    CUDA_ERROR_NOT_FOUND = NotFound,
    CUDA_ERROR_NOT_READY = NotReady,
    CUDA_ERROR_ILLEGAL_ADDRESS = IllegalAddress,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = OutOfResources,
    CUDA_ERROR_LAUNCH_TIMEOUT = Timeout,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = ContextDestroyed,
    CUDA_ERROR_ASSERT = Assert,
    CUDA_ERROR_HARDWARE_STACK_ERROR = StackError,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = IllegalInstruction,
    CUDA_ERROR_MISALIGNED_ADDRESS = MisalignedAddress,
    CUDA_ERROR_INVALID_ADDRESS_SPACE = InvalidAddressSpace,
    CUDA_ERROR_INVALID_PC = InvalidProgramCounter,
    CUDA_ERROR_LAUNCH_FAILED = LaunchFailed,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = CooperativeTooLarge,
    CUDA_ERROR_NOT_SUPPORTED = NotSupported,
    CUDA_ERROR_UNKNOWN = Other,
};

fn device_attribute(attribute: Attribute) -> CUdevice_attribute {
    match attribute {
        Attribute::ComputeCapabilityMajor => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        Attribute::ComputeCapabilityMinor => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        Attribute::MultiprocessorCount => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        Attribute::ClockRate => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
        Attribute::MemoryClockRate => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE,
        Attribute::GlobalMemoryBusWidth => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH,
        Attribute::L2CacheSize => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
        Attribute::WarpSize => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        Attribute::MaxThreadsPerBlock => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        Attribute::MaxBlockDimX => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        Attribute::MaxBlockDimY => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
        Attribute::MaxBlockDimZ => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        Attribute::MaxSharedMemoryPerBlockOptin => {
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        }
        Attribute::MaxSharedMemoryPerBlock => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        Attribute::MaxSharedMemoryPerMultiprocessor => {
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
        }
        Attribute::TotalConstantMemory => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY,
        Attribute::MaxRegistersPerBlock => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
        Attribute::MaxRegistersPerMultiprocessor => {
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR
        }
        Attribute::MaxThreadsPerMultiprocessor => {
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR
        }
        Attribute::MaxBlocksPerMultiprocessor => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
        Attribute::MaxGridDimX => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        Attribute::PciDomainId => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
        Attribute::PciBusId => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
        Attribute::PciDeviceId => CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
    }
}

fn function_attribute(attribute: FunctionAttribute) -> CUfunction_attribute {
    match attribute {
        FunctionAttribute::MaxThreadsPerBlock => CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        FunctionAttribute::SharedSizeBytes => CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        FunctionAttribute::ConstSizeBytes => CUfunction_attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        FunctionAttribute::LocalSizeBytes => CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        FunctionAttribute::NumRegs => CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_with_a_point() {
        assert_eq!([13000, 12080, 11020].map(version_text), ["13.0", "12.8", "11.2"]);
    }

    #[test]
    fn errors_have_the_names_of_the_api() {
        assert_eq!(error(CUresult::CUDA_ERROR_NOT_READY).kind(), ErrorKind::NotReady);
        assert_eq!(error(CUresult::CUDA_ERROR_PROFILER_DISABLED).to_string(), "CUDA_ERROR_PROFILER_DISABLED");
    }
}
