//! Kernels on a command queue of OpenCL. The driver is the one that the application has loaded.

use super::driver::{Argument, Compiled, Device, Shape};
use libloading::Library;
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Duration;

/// An object of OpenCL, by its address.
type Object = *mut c_void;

const SUCCESS: i32 = 0;
const QUEUE_CONTEXT: u32 = 0x1090;
const QUEUE_DEVICE: u32 = 0x1091;
const QUEUE_PROPERTIES: u32 = 0x1093;
const PROFILING: u64 = 1 << 1;
const BUILD_LOG: u32 = 0x1183;
const COMMAND_START: u32 = 0x1282;
const COMMAND_END: u32 = 0x1283;

type Info = unsafe extern "C" fn(Object, u32, usize, *mut c_void, *mut usize) -> i32;
type Release = unsafe extern "C" fn(Object) -> i32;

/// The functions of the driver that a launch needs.
struct Driver {
    queue_info: Info,
    event_profile: Info,
    create_program: unsafe extern "C" fn(Object, u32, *const *const c_char, *const usize, *mut i32) -> Object,
    build: unsafe extern "C" fn(Object, u32, *const Object, *const c_char, *const c_void, *mut c_void) -> i32,
    build_info: unsafe extern "C" fn(Object, Object, u32, usize, *mut c_void, *mut usize) -> i32,
    create_kernel: unsafe extern "C" fn(Object, *const c_char, *mut i32) -> Object,
    set_argument: unsafe extern "C" fn(Object, u32, usize, *const c_void) -> i32,
    enqueue: unsafe extern "C" fn(
        Object,
        Object,
        u32,
        *const usize,
        *const usize,
        *const usize,
        u32,
        *const Object,
        *mut Object,
    ) -> i32,
    wait: unsafe extern "C" fn(u32, *const Object) -> i32,
    release_event: Release,
    release_kernel: Release,
    release_program: Release,
    /// Keeps the functions loaded.
    _library: Library,
}

impl Driver {
    fn load() -> Result<Self, String> {
        let load = |error: libloading::Error| format!("OpenCL's driver cannot be used: {error}");
        unsafe {
            let library = Library::new("libOpenCL.so.1").or_else(|_| Library::new("libOpenCL.so")).map_err(load)?;
            macro_rules! function {
                ($name:literal) => {
                    *library.get($name).map_err(load)?
                };
            }
            Ok(Self {
                queue_info: function!(c"clGetCommandQueueInfo"),
                event_profile: function!(c"clGetEventProfilingInfo"),
                create_program: function!(c"clCreateProgramWithSource"),
                build: function!(c"clBuildProgram"),
                build_info: function!(c"clGetProgramBuildInfo"),
                create_kernel: function!(c"clCreateKernel"),
                set_argument: function!(c"clSetKernelArg"),
                enqueue: function!(c"clEnqueueNDRangeKernel"),
                wait: function!(c"clWaitForEvents"),
                release_event: function!(c"clReleaseEvent"),
                release_kernel: function!(c"clReleaseKernel"),
                release_program: function!(c"clReleaseProgram"),
                _library: library,
            })
        }
    }

    /// Gets a number or an address that `info` knows of `object`.
    unsafe fn ask<T: Copy>(info: Info, object: Object, what: u32, mut value: T) -> Result<T, String> {
        let status = unsafe { info(object, what, size_of::<T>(), (&raw mut value).cast(), null_mut()) };
        checked(status, "the queue or event cannot be asked").map(|()| value)
    }
}

fn checked(status: i32, what: &str) -> Result<(), String> {
    if status == SUCCESS { Ok(()) } else { Err(format!("{what}: OpenCL's error {status}")) }
}

/// The part of the application that kernels run in. Addresses are kept as numbers: OpenCL's objects
/// may be used by any thread.
struct Place {
    driver: Driver,
    queue: usize,
    context: usize,
    device: usize,
}

/// A queue with the source of a kernel.
pub(super) struct OpenCl {
    place: Arc<Place>,
    source: CString,
    name: CString,
    options: String,
}

impl OpenCl {
    /// Uses `queue`, a `cl_command_queue`.
    pub(super) unsafe fn open(queue: Object, source: &str, name: &str, options: &str) -> Result<Self, String> {
        let driver = Driver::load()?;
        let (context, device, properties) = unsafe {
            let context: Object = Driver::ask(driver.queue_info, queue, QUEUE_CONTEXT, null_mut())?;
            let device: Object = Driver::ask(driver.queue_info, queue, QUEUE_DEVICE, null_mut())?;
            (context as usize, device as usize, Driver::ask(driver.queue_info, queue, QUEUE_PROPERTIES, 0_u64)?)
        };
        if properties & PROFILING == 0 {
            return Err("the queue cannot time kernels; create it with CL_QUEUE_PROFILING_ENABLE".to_string());
        }
        let text = |text: &str| CString::new(text).map_err(|_| "a text has a zero in it".to_string());
        let place = Arc::new(Place { driver, queue: queue as usize, context, device });
        Ok(Self { place, source: text(source)?, name: text(name)?, options: options.to_string() })
    }
}

impl Device for OpenCl {
    fn compile(&self, defines: &[String]) -> Result<Arc<dyn Compiled>, String> {
        let Place { driver, context, device, .. } = &*self.place;
        let options = CString::new(format!("{} {}", self.options, defines.join(" ")));
        let options = options.map_err(|_| "an option has a zero in it".to_string())?;
        let device = *device as Object;
        unsafe {
            let (text, mut status) = (self.source.as_ptr(), SUCCESS);
            let program = (driver.create_program)(*context as Object, 1, &text, null(), &mut status);
            checked(status, "the source is refused")?;
            let mut kernel = Kernel { place: Arc::clone(&self.place), program: program as usize, kernel: 0 };
            let built = (driver.build)(program, 1, &device, options.as_ptr(), null(), null_mut());
            checked(built, "the kernel does not compile")
                .map_err(|error| format!("{error}\n{}", log(driver, program, device)))?;
            let created = (driver.create_kernel)(program, self.name.as_ptr(), &mut status);
            checked(status, &format!("the source has no kernel `{}`", self.name.to_string_lossy()))?;
            kernel.kernel = created as usize;
            Ok(Arc::new(kernel))
        }
    }
}

/// Returns the log of the compiler.
unsafe fn log(driver: &Driver, program: Object, device: Object) -> String {
    let mut length = 0;
    unsafe { (driver.build_info)(program, device, BUILD_LOG, 0, null_mut(), &mut length) };
    let mut bytes = vec![0_u8; length];
    unsafe { (driver.build_info)(program, device, BUILD_LOG, length, bytes.as_mut_ptr().cast(), null_mut()) };
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_string()
}

/// A compiled kernel, which is released with its program.
struct Kernel {
    place: Arc<Place>,
    program: usize,
    kernel: usize,
}

impl Compiled for Kernel {
    fn launch(&self, shape: &Shape, arguments: &[&Argument]) -> Result<Duration, String> {
        let Place { driver, queue, .. } = &*self.place;
        let kernel = self.kernel as Object;
        for (at, argument) in arguments.iter().enumerate() {
            let (size, value) = match argument {
                Argument::Bytes(bytes) => (bytes.len(), bytes.as_ptr().cast()),
                Argument::Local(size) => (*size, null()),
            };
            let set = unsafe { (driver.set_argument)(kernel, at as u32, size, value) };
            checked(set, &format!("argument {at} is refused"))?;
        }
        let (items, mut event) = (shape.items(), null_mut());
        unsafe {
            let queue = *queue as Object;
            let enqueued =
                (driver.enqueue)(queue, kernel, 3, null(), items.as_ptr(), shape.group.as_ptr(), 0, null(), &mut event);
            checked(enqueued, &format!("a launch of {items:?} work-items in groups of {:?} is refused", shape.group))?;
            let time = self.time_of(event);
            (driver.release_event)(event);
            time
        }
    }
}

impl Kernel {
    /// Waits for `event` and returns its time.
    unsafe fn time_of(&self, event: Object) -> Result<Duration, String> {
        let driver = &self.place.driver;
        unsafe {
            checked((driver.wait)(1, &event), "the kernel failed")?;
            let start = Driver::ask(driver.event_profile, event, COMMAND_START, 0_u64)?;
            let end = Driver::ask(driver.event_profile, event, COMMAND_END, 0_u64)?;
            Ok(Duration::from_nanos(end.saturating_sub(start)))
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let driver = &self.place.driver;
        unsafe {
            if self.kernel != 0 {
                (driver.release_kernel)(self.kernel as Object);
            }
            (driver.release_program)(self.program as Object);
        }
    }
}
