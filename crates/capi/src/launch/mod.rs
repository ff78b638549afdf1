//! Running the kernel of an application on its own device queue, with the configurations of online
//! tuning.

mod cuda;
mod driver;
mod nvrtc;
mod opencl;

use crate::handle::{close, find, object, open, ts_launcher, ts_online};
use crate::memory::{check, items, optional_text, put, put_if, text};
use crate::selector::{sizes, ts_size};
use crate::status::{Fault, fault, guard, refused, ts_status};
use driver::{Argument, Compiled, Device, Shape};
use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tunesmith_choose::wisdom::Config;
use tunesmith_choose::{Ending, Next, Online};
use tunesmith_space::{Expr, Value};
use tunesmith_time::{Clock, SystemClock};

/// Maximum number of compiled configurations that are kept. Those that are used come back.
const MOST_COMPILED: usize = 64;

/// A kernel that is compiled for the configuration of each call and launched on the application's
/// device.
pub struct Launcher {
    online: Arc<Online>,
    device: Box<dyn Device>,
    clock: SystemClock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Work-items in all, and in a group, along x, y and z.
    items: [Option<Expr>; 3],
    group: [Option<Expr>; 3],
    arguments: Vec<Option<Argument>>,
    compiled: HashMap<Arc<Config>, Result<Arc<dyn Compiled>, String>>,
}

object!(Launcher, 8);

impl Launcher {
    fn new(online: Arc<Online>, device: Box<dyn Device>) -> Self {
        Self { online, device, clock: SystemClock::new(), state: Mutex::default() }
    }

    /// Runs one call. Returns its time by the device's clock.
    fn run(&self, sizes: &[(&str, f64)]) -> Result<Duration, Fault> {
        loop {
            let ticket = self.online.begin(sizes);
            let start = self.clock.now();
            let launched = self.launch(ticket.config(), sizes);
            match launched {
                Ok(took) => {
                    self.online.end(ticket, Ending::Took(took));
                    return Ok(took);
                }
                Err(message) => {
                    let took = self.clock.now().saturating_sub(start);
                    if self.online.end(ticket, Ending::Failed(took)) == Next::Done {
                        return Err(fault(ts_status::TS_DEVICE, message));
                    }
                }
            }
        }
    }

    fn launch(&self, config: &Arc<Config>, sizes: &[(&str, f64)]) -> Result<Duration, String> {
        let compiled = self.compiled(config)?;
        // Arguments belong to the kernel, so that launches take turns.
        let state = self.state();
        let scope = |name: &str| {
            let size = sizes.iter().find(|(own, _)| *own == name).map(|(_, size)| Value::of_number(*size));
            size.or_else(|| config.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone()))
        };
        let [items, group] = [&state.items, &state.group].map(|axes| extent(axes, &scope));
        let shape = Shape::new(items?, group?)?;
        let missing = |at| format!("argument {at} of the kernel was never set; call ts_launcher_argument");
        let arguments = state.arguments.iter().enumerate();
        let arguments: Vec<&Argument> =
            arguments.map(|(at, argument)| argument.as_ref().ok_or_else(|| missing(at))).collect::<Result<_, _>>()?;
        compiled.launch(&shape, &arguments)
    }

    /// Returns the kernel compiled for `config`. The time of the compiler is part of the budget.
    fn compiled(&self, config: &Arc<Config>) -> Result<Arc<dyn Compiled>, String> {
        if let Some(known) = self.state().compiled.get(config) {
            return known.clone();
        }
        let start = self.clock.now();
        let defines: Vec<String> = config.iter().map(|(name, value)| format!("-D{name}={}", value.define())).collect();
        let compiled = self.device.compile(&defines);
        self.online.prepared(self.clock.now().saturating_sub(start));
        let mut state = self.state();
        if state.compiled.len() >= MOST_COMPILED {
            state.compiled.clear();
        }
        state.compiled.insert(Arc::clone(config), compiled.clone());
        compiled
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Evaluates the numbers of work-items along each axis.
fn extent(axes: &[Option<Expr>; 3], scope: &dyn Fn(&str) -> Option<Value>) -> Result<[usize; 3], String> {
    let mut extent = [1; 3];
    for (number, axis) in extent.iter_mut().zip(axes) {
        let Some(axis) = axis else { continue };
        let value = axis.evaluate_int(scope).map_err(|error| format!("`{}`: {}", axis.text(), error.message))?;
        let positive = usize::try_from(value).ok().filter(|value| *value > 0);
        *number = positive.ok_or_else(|| format!("`{}` is {value}; there is at least 1 work-item", axis.text()))?;
    }
    Ok(extent)
}

unsafe fn axes(pointers: [*const c_char; 3]) -> Result<[Option<Expr>; 3], Fault> {
    let mut axes = [None, None, None];
    for (axis, pointer) in axes.iter_mut().zip(pointers) {
        if let Some(text) = unsafe { optional_text(pointer, "x, y or z") }? {
            let parsed = Expr::parse(text).map_err(|error| refused(format!("`{text}`: {}", error.message)));
            *axis = Some(parsed?);
        }
    }
    Ok(axes)
}

/// Opens a launcher on the device that `device` makes of the source, the kernel's name and the options.
unsafe fn prepare<D: Device + 'static>(
    online: ts_online,
    [source, name, options]: [*const c_char; 3],
    device: impl FnOnce(&str, &str, &str) -> Result<D, String>,
    launcher: *mut ts_launcher,
) -> Result<(), Fault> {
    unsafe {
        check(launcher, "launcher")?;
        let online = find::<Online>(online.id)?;
        let options = optional_text(options, "options")?.unwrap_or_default();
        let device = device(text(source, "source")?, text(name, "name")?, options);
        let device = device.map_err(|message| fault(ts_status::TS_DEVICE, message))?;
        put(launcher, ts_launcher { id: open(Launcher::new(online, Box::new(device))) }, "launcher")
    }
}

/// Prepares the kernel `name` of an OpenCL source for calls on the application's command queue.
///
/// `queue` is a `cl_command_queue` with profiling, whose context and device are used. Parameters reach
/// the source as `-DNAME=VALUE`, beside `options` (NULL for none). The queue and all buffers must
/// outlive the launcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_launcher_opencl(
    online: ts_online,
    queue: *mut c_void,
    source: *const c_char,
    name: *const c_char,
    options: *const c_char,
    launcher: *mut ts_launcher,
) -> ts_status {
    guard(|| unsafe {
        check(queue, "queue")?;
        let device = |source: &str, name: &str, options: &str| opencl::OpenCl::open(queue, source, name, options);
        prepare(online, [source, name, options], device, launcher)
    })
}

/// Prepares the kernel `name` of a CUDA source for calls on the application's stream.
///
/// `stream` is a `CUstream` or `cudaStream_t`; NULL is the default stream of the calling thread's
/// context. NVRTC compiles `source` for the stream's device; `name` may have template arguments.
/// Parameters reach the source as `-DNAME=VALUE`, beside `options` (NULL for none). The context, the
/// stream and all memory must outlive the launcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_launcher_cuda(
    online: ts_online,
    stream: *mut c_void,
    source: *const c_char,
    name: *const c_char,
    options: *const c_char,
    launcher: *mut ts_launcher,
) -> ts_status {
    guard(|| unsafe {
        let device = |source: &str, name: &str, options: &str| cuda::Cuda::open(stream, source, name, options);
        prepare(online, [source, name, options], device, launcher)
    })
}

/// Sets the work-items (threads) of a launch along x, y and z: expressions over sizes and parameters,
/// such as `N // TILE`. NULL is 1. They are rounded up to whole groups.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_launcher_items(
    launcher: ts_launcher,
    x: *const c_char,
    y: *const c_char,
    z: *const c_char,
) -> ts_status {
    guard(|| unsafe {
        let axes = axes([x, y, z])?;
        find::<Launcher>(launcher.id)?.state().items = axes;
        Ok(())
    })
}

/// Sets the work-items of a group along x, y and z, as `ts_launcher_items` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_launcher_group(
    launcher: ts_launcher,
    x: *const c_char,
    y: *const c_char,
    z: *const c_char,
) -> ts_status {
    guard(|| unsafe {
        let axes = axes([x, y, z])?;
        find::<Launcher>(launcher.id)?.state().group = axes;
        Ok(())
    })
}

/// Sets the argument `index` of the kernel, counted from 0, to a copy of the `size` bytes at `value`,
/// as `clSetKernelArg` takes it: a `cl_mem`, a pointer to the device's memory, or a number. NULL is local
/// memory of `size` bytes, which is an argument in OpenCL and dynamic shared memory in CUDA, after all
/// arguments. It holds until it is set again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_launcher_argument(
    launcher: ts_launcher,
    index: u32,
    size: usize,
    value: *const c_void,
) -> ts_status {
    /// Kernels have at most this many arguments.
    const MOST: u32 = 1024;
    guard(|| unsafe {
        let launcher = find::<Launcher>(launcher.id)?;
        if index >= MOST {
            return Err(refused(format!("argument {index}; kernels have at most {MOST}")));
        }
        let argument = if value.is_null() {
            Argument::Local(size)
        } else {
            Argument::Bytes(items(value.cast::<u8>(), size, "value")?.to_vec())
        };
        let mut state = launcher.state();
        let needed = state.arguments.len().max(index as usize + 1);
        state.arguments.resize(needed, None);
        state.arguments[index as usize] = Some(argument);
        Ok(())
    })
}

/// Runs the kernel once for an input, with the best known configuration or with a candidate, and waits
/// for it. `seconds` (NULL if unwanted) is its time by the device's clock. A candidate that does not
/// compile or run is replaced by another configuration; `TS_DEVICE` means that the initial one failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_launcher_run(
    launcher: ts_launcher,
    sizes: *const ts_size,
    count: usize,
    seconds: *mut f64,
) -> ts_status {
    guard(|| unsafe {
        let took = find::<Launcher>(launcher.id)?.run(&self::sizes(sizes, count)?)?;
        put_if(seconds, took.as_secs_f64());
        Ok(())
    })
}

/// Closes a launcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_launcher_close(launcher: ts_launcher) -> ts_status {
    guard(|| close::<Launcher>(launcher.id).map(drop))
}
