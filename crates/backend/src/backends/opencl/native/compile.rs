//! The work of a compile worker: from a source to a binary that needs no more compiling, or to the
//! same in the driver's cache.
//!
//! # PoCL
//!
//! PoCL compiles a kernel again at its first launch, for the shape of its work-group. A compile
//! worker therefore launches one work-group. Event states show when it runs. The launch itself may
//! never end. A crash after that point is left to the measuring worker, which has the real data.
//!
//! PoCL keeps its output where the measuring worker finds it. Its binaries are not requested,
//! because it would compile every kernel once more for them.

use crate::backends::Fault;
use crate::backends::compiling::{Compiled, Made};
use crate::backends::opencl::native::binding::{Binding, Value, has_begun, set_argument};
use crate::backends::opencl::native::describe::kind;
use crate::backends::opencl::signature::{FoundArgument, Place};
use crate::backends::opencl::{OpenClKind, OpenClMade, OpenClTask, TaskArgument};
use opencl3::device::Device;
use opencl3::kernel::{
    CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL, Kernel,
};
use opencl3::memory::Buffer;
use opencl3::platform::Platform;
use opencl3::program::Program;
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};
use tunesmith_kernel::Grid;

/// Time limit for a launch that has begun. After it, the worker is abandoned.
const PATIENCE: Duration = Duration::from_millis(50);

/// The interval between two looks at the state of a launch.
const LOOK: Duration = Duration::from_micros(500);

/// Compiles one configuration after the other. The device stays open in between.
#[derive(Default)]
pub(crate) struct Compiler {
    opened: Option<DeviceInUse>,
}

impl Compiler {
    /// Compiles one configuration. Calls `launching` before a work-group runs, because a later
    /// crash need not be the compiler's fault.
    pub(crate) fn compile(&mut self, task: &OpenClTask, launching: &mut dyn FnMut()) -> Compiled {
        match DeviceInUse::take(&mut self.opened, task.device) {
            Ok(binding) => compile_on(binding, task, launching),
            Err(reason) => Compiled::Unusable(reason),
        }
    }
}

fn compile_on(binding: &Binding, task: &OpenClTask, launching: &mut dyn FnMut()) -> Compiled {
    let source = match tunesmith_files::read_text(&task.source, tunesmith_files::TEXT) {
        Ok(source) => source,
        Err(error) => return Compiled::Unusable(format!("the source cannot be read: {error}")),
    };
    let clock = SystemClock::new();
    let start = clock.now();
    let program = match binding.build(&source, &task.options) {
        Ok(program) => program,
        Err(log) => return Compiled::Failed(log),
    };
    let Ok(kernel) = Kernel::create(&program, &task.function) else {
        let names = program.get_kernel_names().unwrap_or_default();
        return Compiled::NoFunction(names.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect());
    };
    let arguments = arguments(&kernel);
    match try_out(binding, &kernel, task, launching) {
        Err(reason) => Compiled::Refused(reason),
        Ok(retire) => {
            if !keeps_what_it_compiles(&binding.device) {
                save_binary(&program, task);
            }
            Compiled::Built(Made::new(&OpenClMade { arguments, took: clock.now() - start }, retire))
        }
    }
}

/// Returns all arguments of a kernel.
fn arguments(kernel: &Kernel) -> Vec<FoundArgument> {
    let count = kernel.num_args().unwrap_or_default();
    let found = |position| FoundArgument {
        place: kernel.get_arg_address_qualifier(position).ok().map(|place| match place {
            CL_KERNEL_ARG_ADDRESS_GLOBAL => Place::Global,
            CL_KERNEL_ARG_ADDRESS_CONSTANT => Place::Constant,
            CL_KERNEL_ARG_ADDRESS_LOCAL => Place::Local,
            _ => Place::Private,
        }),
        type_name: kernel.get_arg_type_name(position).unwrap_or_default(),
    };
    (0..count).map(found).collect()
}

/// Lets the driver do its work before a first launch. Returns true if a kernel still runs. The
/// error is the reason why the device does not accept the configuration.
fn try_out(binding: &Binding, kernel: &Kernel, task: &OpenClTask, launching: &mut dyn FnMut()) -> Result<bool, String> {
    // A kernel with images is compiled to its end at its first launch.
    if task.arguments.contains(&TaskArgument::Image) {
        return refusal(binding, kernel, &task.grid).map_or(Ok(false), Err);
    }
    // The tuner explains arguments that do not fit, because it knows the user's names of them.
    let Ok(buffers) = prepare(binding, kernel, task) else { return Ok(false) };
    if let Some(reason) = refusal(binding, kernel, &task.grid) {
        return Err(reason);
    }
    match finish_compiling(binding, kernel, &task.grid, launching) {
        Ok(still_runs) => {
            if still_runs {
                // The kernel uses its buffers until the process ends.
                std::mem::forget(buffers);
            }
            Ok(still_runs)
        }
        Err(Fault::Refused(reason)) => Err(reason),
        // The measuring worker will see the same failure with the real data.
        Err(Fault::Failed(_) | Fault::Machine(_) | Fault::Device(_)) => Ok(false),
    }
}

/// The device that a compile worker uses.
struct DeviceInUse {
    index: usize,
    binding: Binding,
}

impl DeviceInUse {
    fn take(opened: &mut Option<Self>, index: usize) -> Result<&Binding, String> {
        if opened.as_ref().is_none_or(|device| device.index != index) {
            *opened = Some(Self { index, binding: Binding::open(index)? });
        }
        opened.as_ref().map(|device| &device.binding).ok_or_else(String::new)
    }
}

/// Sets all arguments. The contents of the buffers are arbitrary.
fn prepare(binding: &Binding, kernel: &Kernel, task: &OpenClTask) -> Result<Vec<Buffer<u8>>, Fault> {
    let mut buffers = Vec::new();
    for (position, argument) in task.arguments.iter().enumerate() {
        match argument {
            TaskArgument::Scalar(bytes) => set_argument(kernel, position, &Value::Bytes(bytes))?,
            // Its kernels are not tried out.
            TaskArgument::Image => {}
            TaskArgument::Local(bytes) => set_argument(kernel, position, &Value::Local(*bytes))?,
            TaskArgument::Buffer(bytes) => {
                let buffer = binding.allocate(*bytes)?;
                set_argument(kernel, position, &Value::Memory(&buffer))?;
                buffers.push(buffer);
            }
        }
    }
    Ok(buffers)
}

/// Returns the reason why the device cannot run the compiled kernel. Without this check, drivers
/// may abort.
fn refusal(binding: &Binding, kernel: &Kernel, grid: &Grid) -> Option<String> {
    let device = &binding.device;
    let used = kernel.get_local_mem_size(device.id()).unwrap_or_default();
    let local_memory = device.local_mem_size().unwrap_or(u64::MAX);
    if used > local_memory {
        return Some(format!("the kernel needs {used} bytes of local memory, but the device has {local_memory}"));
    }
    let items: usize = grid.local.iter().flatten().product();
    let most = kernel.get_work_group_size(device.id()).unwrap_or(usize::MAX);
    (grid.local.is_some() && items > most)
        .then(|| format!("the work-group has {items} work-items, but the device takes at most {most} for this kernel"))
}

/// Launches one work-group, so that the driver finishes its compilation. Does so only on
/// processors: other drivers have finished already, and their devices may be measuring. Returns
/// true if the kernel still runs.
fn finish_compiling(
    binding: &Binding,
    kernel: &Kernel,
    grid: &Grid,
    launching: &mut dyn FnMut(),
) -> Result<bool, Fault> {
    if kind(&binding.device) != OpenClKind::Cpu {
        return Ok(false);
    }
    let one_group =
        Grid { global: grid.local.clone().unwrap_or_else(|| grid.global.clone()), local: grid.local.clone() };
    launching();
    let event = binding.enqueue(kernel, &one_group)?;
    while !has_begun(&event)? {
        std::thread::sleep(LOOK);
    }
    let clock = SystemClock::new();
    let started = clock.now();
    while clock.now() - started < PATIENCE {
        match event.command_execution_status() {
            Ok(status) if status.0 > 0 => std::thread::sleep(LOOK),
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Returns true if the driver itself caches a compiled source and everything made from it. PoCL
/// does. If asked for a binary, it would compile the kernel once more for work-groups of any shape,
/// which takes as long as everything else.
fn keeps_what_it_compiles(device: &Device) -> bool {
    let platform = device.platform().map(Platform::new);
    platform.and_then(|platform| platform.name()).is_ok_and(|name| name.contains("Portable Computing Language"))
}

/// Writes the binary if the driver returns one. Otherwise the program is compiled from its source
/// again.
fn save_binary(program: &Program, task: &OpenClTask) {
    let binary = program.get_binaries().ok().and_then(|binaries| binaries.into_iter().next());
    if let Some(binary) = binary.filter(|binary| !binary.is_empty()) {
        let written = tunesmith_files::write(&task.binary, binary);
        if written.is_err() {
            // Half a file is worse than none.
            let _ = std::fs::remove_file(&task.binary);
        }
    }
}
