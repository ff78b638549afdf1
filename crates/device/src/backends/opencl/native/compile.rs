//! What a compile worker does: from a source to a binary, or to what the driver keeps, that needs
//! no more compiling.
//!
//! # PoCL
//!
//! PoCL compiles a kernel again at its first launch, for the shape of its work-group. A compile
//! worker therefore launches one work-group. Event states tell when it runs; the launch itself may
//! never end. A crash after that point is left to the measuring worker, whose data are the true
//! ones.
//!
//! PoCL keeps what it compiled where the measuring worker finds it. Its binaries are not asked for,
//! since it would compile every kernel once more for them.

use crate::backends::Fault;
use crate::backends::Made;
use crate::backends::compiling::Compiled;
use crate::backends::opencl::native::binding::{Binding, Value, has_begun, set_argument};
use crate::backends::opencl::native::describe::kind;
use crate::backends::opencl::signature::{FoundArgument, Place};
use crate::backends::opencl::{OpenClKind, OpenClTask, TaskArgument};
use crate::problem::Grid;
use opencl3::device::Device;
use opencl3::kernel::{
    CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL, Kernel,
};
use opencl3::memory::Buffer;
use opencl3::platform::Platform;
use opencl3::program::Program;
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};

/// How long a launch that has begun may go on before its worker is given up.
const PATIENCE: Duration = Duration::from_millis(50);

/// How often it is looked whether it has begun.
const LOOK: Duration = Duration::from_micros(500);

/// Compiles one configuration after the other, and keeps the device open from one to the next.
#[derive(Default)]
pub(crate) struct Compiler {
    opened: Option<DeviceInUse>,
}

impl Compiler {
    /// Compiles one configuration. Calls `launching` when a work-group is about to run: a crash
    /// after that need not be the compiler's fault.
    pub(crate) fn compile(&mut self, task: &OpenClTask, launching: &mut dyn FnMut()) -> Compiled {
        match DeviceInUse::take(&mut self.opened, task.device) {
            Ok(binding) => compile_on(binding, task, launching),
            Err(reason) => Compiled::Unusable(reason),
        }
    }
}

fn compile_on(binding: &Binding, task: &OpenClTask, launching: &mut dyn FnMut()) -> Compiled {
    let source = match std::fs::read_to_string(&task.source) {
        Ok(source) => source,
        Err(error) => return Compiled::Unusable(format!("the source cannot be read: {error}")),
    };
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
            Compiled::Built(Made::OpenCl { arguments, retire })
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

/// Lets the driver do what it does before a first launch. Tells whether a kernel still runs; the
/// error is why the device does not take the configuration.
fn try_out(binding: &Binding, kernel: &Kernel, task: &OpenClTask, launching: &mut dyn FnMut()) -> Result<bool, String> {
    // Arguments that do not fit are for the tuner to explain: it knows what the user calls them.
    let Ok(buffers) = prepare(binding, kernel, task) else { return Ok(false) };
    if let Some(reason) = refusal(binding, kernel, &task.grid) {
        return Err(reason);
    }
    match finish_compiling(binding, kernel, &task.grid, launching) {
        Ok(still_runs) => {
            if still_runs {
                // It uses its buffers until the process ends.
                std::mem::forget(buffers);
            }
            Ok(still_runs)
        }
        Err(Fault::Refused(reason)) => Err(reason),
        // The measuring worker will see the same, with the true data.
        Err(Fault::Failed(_)) => Ok(false),
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

/// Sets all arguments. The buffers hold nothing in particular.
fn prepare(binding: &Binding, kernel: &Kernel, task: &OpenClTask) -> Result<Vec<Buffer<u8>>, Fault> {
    let mut buffers = Vec::new();
    for (position, argument) in task.arguments.iter().enumerate() {
        match argument {
            TaskArgument::Scalar(bytes) => set_argument(kernel, position, &Value::Bytes(bytes))?,
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

/// Returns why the device cannot take the compiled kernel: drivers that are asked all the same may
/// abort.
fn refusal(binding: &Binding, kernel: &Kernel, grid: &Grid) -> Option<String> {
    let device = &binding.device;
    let used = kernel.get_local_mem_size(device.id()).unwrap_or_default();
    let local_memory = device.local_mem_size().unwrap_or(u64::MAX);
    if used > local_memory {
        return Some(format!("the kernel needs {used} bytes of local memory, and the device has {local_memory}"));
    }
    let items: usize = grid.local.iter().flatten().product();
    let most = kernel.get_work_group_size(device.id()).unwrap_or(usize::MAX);
    (grid.local.is_some() && items > most)
        .then(|| format!("the work-group has {items} work-items, and the device takes {most} of this kernel"))
}

/// Launches one work-group, so that the driver compiles what it compiles then. Only on processors:
/// other drivers are done by now, and their devices may be measuring. Tells whether the kernel
/// still runs.
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

/// Returns whether the driver finds a source again that it has compiled, and all that it has made
/// of it since. PoCL does; asked for a binary it would compile the kernel once more, for
/// work-groups of any shape, which takes as long as all the rest.
fn keeps_what_it_compiles(device: &Device) -> bool {
    let platform = device.platform().map(Platform::new);
    platform.and_then(|platform| platform.name()).is_ok_and(|name| name.contains("Portable Computing Language"))
}

/// Writes the binary, where the driver gives one; without it the program is made of its source
/// again.
fn save_binary(program: &Program, task: &OpenClTask) {
    let binary = program.get_binaries().ok().and_then(|binaries| binaries.into_iter().next());
    if let Some(binary) = binary.filter(|binary| !binary.is_empty()) {
        let written = std::fs::write(&task.binary, binary);
        if written.is_err() {
            // Half a file is worse than none.
            let _ = std::fs::remove_file(&task.binary);
        }
    }
}
