//! Kernels on a stream of CUDA. The driver is the one that the application has loaded.

use super::driver::{Argument, Compiled, Device, Shape};
use super::nvrtc::{Image, Nvrtc};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Duration;

/// An object of CUDA, by its address.
type Object = *mut c_void;
type Status = c_int;

const SUCCESS: Status = 0;
const CAPABILITY_MAJOR: c_int = 75;
const CAPABILITY_MINOR: c_int = 76;
const MOST_DYNAMIC_SHARED: c_int = 8;
/// The dynamic shared memory that every kernel may have without asking.
const USUAL_SHARED: usize = 48 * 1024;

type OfObject = unsafe extern "C" fn(Object) -> Status;

/// The functions of the driver that a launch needs.
struct Driver {
    current_context: unsafe extern "C" fn(*mut Object) -> Status,
    stream_context: unsafe extern "C" fn(Object, *mut Object) -> Status,
    push_context: OfObject,
    pop_context: unsafe extern "C" fn(*mut Object) -> Status,
    context_device: unsafe extern "C" fn(*mut c_int) -> Status,
    attribute: unsafe extern "C" fn(*mut c_int, c_int, c_int) -> Status,
    load_module: unsafe extern "C" fn(*mut Object, *const c_void) -> Status,
    unload_module: OfObject,
    function: unsafe extern "C" fn(*mut Object, Object, *const c_char) -> Status,
    set_attribute: unsafe extern "C" fn(Object, c_int, c_int) -> Status,
    /// Drivers from CUDA 12.4 on have it.
    parameter: Option<unsafe extern "C" fn(Object, usize, *mut usize, *mut usize) -> Status>,
    #[allow(clippy::type_complexity)]
    launch: unsafe extern "C" fn(
        Object,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        Object,
        *mut *mut c_void,
        *mut *mut c_void,
    ) -> Status,
    create_event: unsafe extern "C" fn(*mut Object, c_uint) -> Status,
    destroy_event: OfObject,
    record: unsafe extern "C" fn(Object, Object) -> Status,
    wait: OfObject,
    elapsed: unsafe extern "C" fn(*mut f32, Object, Object) -> Status,
    error: unsafe extern "C" fn(Status, *mut *const c_char) -> Status,
    /// Keeps the functions loaded.
    _library: Library,
}

impl Driver {
    fn load() -> Result<Self, String> {
        let load = |error: libloading::Error| format!("CUDA's driver cannot be used: {error}");
        unsafe {
            let library = Library::new("libcuda.so.1").map_err(load)?;
            macro_rules! function {
                ($name:literal) => {
                    *library.get($name).map_err(load)?
                };
            }
            Ok(Self {
                current_context: function!(c"cuCtxGetCurrent"),
                stream_context: function!(c"cuStreamGetCtx"),
                push_context: function!(c"cuCtxPushCurrent_v2"),
                pop_context: function!(c"cuCtxPopCurrent_v2"),
                context_device: function!(c"cuCtxGetDevice"),
                attribute: function!(c"cuDeviceGetAttribute"),
                load_module: function!(c"cuModuleLoadData"),
                unload_module: function!(c"cuModuleUnload"),
                function: function!(c"cuModuleGetFunction"),
                set_attribute: function!(c"cuFuncSetAttribute"),
                parameter: library.get(c"cuFuncGetParamInfo").ok().map(|function| *function),
                launch: function!(c"cuLaunchKernel"),
                create_event: function!(c"cuEventCreate"),
                destroy_event: function!(c"cuEventDestroy_v2"),
                record: function!(c"cuEventRecord"),
                wait: function!(c"cuEventSynchronize"),
                elapsed: function!(c"cuEventElapsedTime"),
                error: function!(c"cuGetErrorName"),
                _library: library,
            })
        }
    }

    fn checked(&self, status: Status, what: &str) -> Result<(), String> {
        if status == SUCCESS {
            return Ok(());
        }
        let mut name = null();
        unsafe { (self.error)(status, &mut name) };
        let name =
            if name.is_null() { "an unknown error".into() } else { unsafe { CStr::from_ptr(name) }.to_string_lossy() };
        Err(format!("{what}: {name} ({status})"))
    }

    /// Returns the context of `stream`. The default stream belongs to the calling thread's context.
    unsafe fn context(&self, stream: Object) -> Result<Object, String> {
        let mut context = null_mut();
        if stream.is_null() {
            unsafe { self.checked((self.current_context)(&mut context), "there is no context")? };
        } else {
            unsafe { self.checked((self.stream_context)(stream, &mut context), "the stream is refused")? };
        }
        if context.is_null() {
            return Err("the calling thread has no context of CUDA; create one, or call cudaFree(0)".to_string());
        }
        Ok(context)
    }
}

/// The part of the application that kernels run in. Addresses are kept as numbers: CUDA's objects may
/// be used by any thread.
struct Place {
    driver: Driver,
    context: usize,
    stream: usize,
}

impl Place {
    /// Calls `work` with the application's context as the thread's current one.
    fn within<T>(&self, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let pushed = unsafe { (self.driver.push_context)(self.context as Object) };
        self.driver.checked(pushed, "the context cannot be used; was it destroyed?")?;
        let result = work();
        let mut popped = null_mut();
        unsafe { (self.driver.pop_context)(&mut popped) };
        result
    }
}

/// A stream with the source of a kernel.
pub(super) struct Cuda {
    place: Arc<Place>,
    nvrtc: Nvrtc,
    /// The compute capability of the device, as in 90.
    capability: i32,
    source: CString,
    name: CString,
    options: Vec<String>,
}

impl Cuda {
    /// Uses `stream`, a `CUstream` or `cudaStream_t`.
    pub(super) unsafe fn open(stream: Object, source: &str, name: &str, options: &str) -> Result<Self, String> {
        let driver = Driver::load()?;
        let context = unsafe { driver.context(stream)? };
        let place = Place { driver, context: context as usize, stream: stream as usize };
        let capability = place.within(|| {
            let driver = &place.driver;
            let mut device = 0;
            let asked = unsafe { (driver.context_device)(&mut device) };
            driver.checked(asked, "the context has no device")?;
            let [mut major, mut minor] = [0, 0];
            for (number, which) in [(&mut major, CAPABILITY_MAJOR), (&mut minor, CAPABILITY_MINOR)] {
                let asked = unsafe { (driver.attribute)(number, which, device) };
                driver.checked(asked, "the compute capability is unknown")?;
            }
            Ok(10 * major + minor)
        })?;
        let text = |text: &str| CString::new(text).map_err(|_| "a text has a zero in it".to_string());
        let options = options.split_whitespace().map(str::to_string).collect();
        let nvrtc = Nvrtc::load()?;
        Ok(Self { place: Arc::new(place), nvrtc, capability, source: text(source)?, name: text(name)?, options })
    }
}

impl Device for Cuda {
    fn compile(&self, defines: &[String]) -> Result<Arc<dyn Compiled>, String> {
        let options: Vec<String> = self.options.iter().chain(defines).cloned().collect();
        let Image { code, name } = self.nvrtc.compile(&self.source, &self.name, &options, self.capability)?;
        let driver = &self.place.driver;
        let kernel = self.place.within(|| unsafe {
            let (mut module, mut function) = (null_mut(), null_mut());
            let loaded = (driver.load_module)(&mut module, code.as_ptr().cast());
            driver.checked(loaded, "the compiled kernel cannot be loaded")?;
            let mut kernel = Kernel { place: Arc::clone(&self.place), module: module as usize, function: 0 };
            let found = (driver.function)(&mut function, module, name.as_ptr());
            driver.checked(found, "the compiled kernel is not found")?;
            kernel.function = function as usize;
            Ok(kernel)
        })?;
        Ok(Arc::new(kernel))
    }
}

/// A compiled kernel, whose module is unloaded with it.
struct Kernel {
    place: Arc<Place>,
    module: usize,
    function: usize,
}

impl Compiled for Kernel {
    fn launch(&self, shape: &Shape, arguments: &[&Argument]) -> Result<Duration, String> {
        self.check(arguments)?;
        let mut values = Vec::new();
        let mut shared = 0;
        for argument in arguments {
            match argument {
                // The driver copies values, and does not write them.
                Argument::Bytes(bytes) => values.push(bytes.as_ptr().cast::<c_void>().cast_mut()),
                Argument::Local(size) => shared += size,
            }
        }
        let number = |number: usize| c_uint::try_from(number).map_err(|_| format!("{number} is more than CUDA takes"));
        let groups = shape.groups.map(number);
        let group = shape.group.map(number);
        let [gx, gy, gz] = groups;
        let [bx, by, bz] = group;
        let extent = [gx?, gy?, gz?, bx?, by?, bz?];
        self.place.within(|| self.timed(extent, number(shared)?, &mut values))
    }
}

impl Kernel {
    /// Compares the arguments with the kernel's parameters: the driver reads as many bytes as those have.
    fn check(&self, arguments: &[&Argument]) -> Result<(), String> {
        let Some(parameter) = self.place.driver.parameter else { return Ok(()) };
        let of = |index| {
            let (mut offset, mut size) = (0, 0);
            let status = unsafe { parameter(self.function as Object, index, &mut offset, &mut size) };
            (status == SUCCESS).then_some(size)
        };
        let given: Vec<usize> = arguments.iter().filter_map(|argument| argument.size()).collect();
        for (at, size) in given.iter().enumerate() {
            match of(at) {
                None => return Err(format!("the kernel takes {at} arguments, but {} were set", given.len())),
                Some(wanted) if wanted != *size => {
                    return Err(format!("argument {at} of the kernel has {wanted} bytes, but {size} were set"));
                }
                Some(_) => {}
            }
        }
        of(given.len()).map_or(Ok(()), |_| Err(format!("argument {} of the kernel was never set", given.len())))
    }

    /// Launches the kernel between two events, waits, and returns the time between them.
    fn timed(&self, extent: [c_uint; 6], shared: c_uint, values: &mut [*mut c_void]) -> Result<Duration, String> {
        let Place { driver, stream, .. } = &*self.place;
        let (stream, function) = (*stream as Object, self.function as Object);
        let [start, end] = [Event::new(driver)?, Event::new(driver)?];
        let [gx, gy, gz, bx, by, bz] = extent;
        unsafe {
            if shared as usize > USUAL_SHARED {
                let set = (driver.set_attribute)(function, MOST_DYNAMIC_SHARED, shared as c_int);
                driver.checked(set, &format!("{shared} bytes of shared memory are refused"))?;
            }
            driver.checked((driver.record)(start.event, stream), "the stream cannot be timed")?;
            let launched =
                (driver.launch)(function, gx, gy, gz, bx, by, bz, shared, stream, values.as_mut_ptr(), null_mut());
            let what = || format!("a launch of {:?} blocks of {:?} threads is refused", &extent[..3], &extent[3..]);
            driver.checked(launched, &what())?;
            driver.checked((driver.record)(end.event, stream), "the stream cannot be timed")?;
            driver.checked((driver.wait)(end.event), "the kernel failed")?;
            let mut ms = 0.0;
            driver.checked((driver.elapsed)(&mut ms, start.event, end.event), "the events have no time")?;
            Duration::try_from_secs_f64(f64::from(ms) * 1e-3).map_err(|_| format!("the events say {ms} ms"))
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let driver = &self.place.driver;
        // A context that the application has destroyed took its modules along.
        let _ = self.place.within(|| {
            unsafe { (driver.unload_module)(self.module as Object) };
            Ok(())
        });
    }
}

/// An event, destroyed with its scope.
struct Event<'a> {
    driver: &'a Driver,
    event: Object,
}

impl<'a> Event<'a> {
    fn new(driver: &'a Driver) -> Result<Self, String> {
        let mut event = null_mut();
        driver.checked(unsafe { (driver.create_event)(&mut event, 0) }, "the driver has no event")?;
        Ok(Self { driver, event })
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        unsafe { (self.driver.destroy_event)(self.event) };
    }
}
