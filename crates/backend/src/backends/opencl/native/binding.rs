//! A device in use and its kernels: the calls into drivers that measuring and compiling share.

#![allow(unsafe_code)]

use crate::backends::Fault;
use crate::backends::opencl::OpenClProgram;
use crate::backends::opencl::native::describe;
use crate::backends::opencl::native::failure::{before_launch, failed};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::error_codes::CL_INVALID_ARG_SIZE;
use opencl3::event::Event;
use opencl3::kernel::{Kernel, set_kernel_arg};
use opencl3::memory::{Buffer, CL_MAP_READ, CL_MEM_READ_WRITE, ClMem, Image};
use opencl3::program::Program;
use opencl3::types::{cl_event, cl_uint};
use std::ffi::c_void;
use std::ops::Range;
use std::{ptr, slice};
use tunesmith_kernel::Grid;

/// A device in use.
pub(super) struct Binding {
    pub(super) device: Device,
    pub(super) context: Context,
    pub(super) queue: CommandQueue,
    /// True if the host reads the device's memory in place.
    pub(super) is_unified: bool,
}

/// The value of an argument.
pub(super) enum Value<'a> {
    /// A buffer.
    Memory(&'a Buffer<u8>),
    /// An image.
    Image(&'a Image),
    /// The bytes of a value.
    Bytes(&'a [u8]),
    /// This many bytes of local memory.
    Local(usize),
}

impl Binding {
    /// Opens the device at position `index`.
    pub(super) fn open(index: usize) -> Result<Self, String> {
        let device = describe::open(index)?;
        let context = Context::from_device(&device).map_err(|error| format!("no context: {error}"))?;
        // SAFETY: the device belongs to the context, and the properties are the API's own.
        let queue = unsafe { CommandQueue::create(&context, device.id(), CL_QUEUE_PROFILING_ENABLE) };
        let queue = queue.map_err(|error| format!("no command queue: {error}"))?;
        let is_unified = device.host_unified_memory().unwrap_or(false);
        Ok(Self { device, context, queue, is_unified })
    }

    /// Allocates memory.
    pub(super) fn allocate(&self, bytes: usize) -> Result<Buffer<u8>, Fault> {
        // SAFETY: no host memory is handed over.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, bytes.max(1), ptr::null_mut()) }
            .map_err(|error| before_launch("no memory", error))
    }

    /// Compiles a source. The error is the driver's log.
    pub(super) fn build(&self, source: &str, options: &str) -> Result<Program, String> {
        let program = Program::create_from_source(&self.context, source).map_err(|error| error.to_string())?;
        self.finish(program, options)
    }

    /// Loads a program: from its binary if the driver accepts it, else from its source.
    pub(super) fn load(&self, program: &OpenClProgram) -> Result<Program, Fault> {
        if let Ok(binary) = tunesmith_files::read(&program.binary, tunesmith_files::DATA) {
            // SAFETY: the device is the context's, and the binary was made by this driver for this
            // device.
            let loaded = unsafe { Program::create_from_binary(&self.context, &[self.device.id()], &[&binary]) };
            if let Ok(loaded) = loaded.map_err(|error| error.to_string()).and_then(|loaded| self.finish(loaded, "")) {
                return Ok(loaded);
            }
        }
        let source = tunesmith_files::read_text(&program.source, tunesmith_files::TEXT);
        let source = source.map_err(|error| Fault::Machine(format!("the source cannot be read: {error}")))?;
        self.build(&source, &program.options).map_err(|log| Fault::Failed(format!("it does not compile:\n{log}")))
    }

    fn finish(&self, mut program: Program, options: &str) -> Result<Program, String> {
        match program.build(&[self.device.id()], options) {
            Ok(()) => Ok(program),
            Err(error) => {
                let log = program.get_build_log(self.device.id()).unwrap_or_default();
                Err(if log.trim().is_empty() { error.to_string() } else { log })
            }
        }
    }

    /// Starts `kernel`, whose arguments are already set.
    pub(super) fn enqueue(&self, kernel: &Kernel, grid: &Grid) -> Result<Event, Fault> {
        let local = grid.local.as_ref().map_or(ptr::null(), Vec::as_ptr);
        let dimensions = grid.global.len() as cl_uint;
        // SAFETY: both arrays have as many elements as there are dimensions. All arguments are set,
        // and the driver has checked their sizes. The effect of the user's kernel on them is not
        // known, and therefore this process does nothing else.
        let event = unsafe {
            self.queue.enqueue_nd_range_kernel(kernel.get(), dimensions, ptr::null(), grid.global.as_ptr(), local, &[])
        };
        let event = event.map_err(|error| before_launch("the device refuses the launch", error))?;
        self.queue.flush().map_err(|error| failed("the command queue fails", error))?;
        Ok(event)
    }
}

/// Sets an argument. An error means that the kernel's argument has another type.
pub(super) fn set_argument(kernel: &Kernel, position: usize, value: &Value<'_>) -> Result<(), Fault> {
    let memory;
    let (size, address): (usize, *const c_void) = match value {
        Value::Memory(buffer) => {
            memory = buffer.get();
            (size_of_val(&memory), ptr::from_ref(&memory).cast())
        }
        Value::Image(image) => {
            memory = image.get();
            (size_of_val(&memory), ptr::from_ref(&memory).cast())
        }
        Value::Bytes(bytes) => (bytes.len(), bytes.as_ptr().cast()),
        Value::Local(bytes) => (*bytes, ptr::null()),
    };
    // SAFETY: `size` bytes at the address live until the call returns, and the driver copies them;
    // it compares the size with the argument's.
    let set = unsafe { set_kernel_arg(kernel.get(), position as cl_uint, size, address) };
    set.map_err(|code| match value {
        Value::Bytes(bytes) if code == CL_INVALID_ARG_SIZE => Fault::Failed(format!(
            "argument {} has {} bytes, and its type in the kernel has not; a struct has the padding of the kernel's type",
            position + 1,
            bytes.len()
        )),
        _ => failed(&format!("argument {} cannot be set", position + 1), code.into()),
    })
}

/// Returns a part of a buffer.
pub(super) fn part(buffer: &Buffer<u8>, offset: usize, bytes: usize) -> Result<Buffer<u8>, Fault> {
    // SAFETY: the part lies within the buffer, by the worker's layout of buffers, and keeps it
    // alive.
    unsafe { buffer.create_sub_buffer(CL_MEM_READ_WRITE, offset, bytes.max(1)) }
        .map_err(|error| failed("a buffer cannot be divided", error))
}

/// Returns true if a command has begun or ended. Returns the error of a command that failed.
pub(super) fn has_begun(event: &Event) -> Result<bool, Fault> {
    use opencl3::event::{CL_QUEUED, CL_SUBMITTED};
    let status = event.command_execution_status().map_err(|error| failed("the launch cannot be watched", error))?;
    match status.0 {
        CL_QUEUED | CL_SUBMITTED => Ok(false),
        code if code < 0 => Err(failed("the launch failed", code.into())),
        _ => Ok(true),
    }
}

/// Waits for a command. The error is the command's own.
pub(super) fn wait(event: &Event) -> Result<(), Fault> {
    event.wait().map_err(|error| failed("the launch failed", error))?;
    has_begun(event).map(drop)
}

/// Commands on buffers that end before they return.
impl Binding {
    pub(super) fn write(&self, buffer: &mut Buffer<u8>, offset: usize, data: &[u8]) -> Result<(), Fault> {
        // SAFETY: the call blocks until the data has been read, and the driver checks the range.
        let written = unsafe { self.queue.enqueue_write_buffer(buffer, BLOCKING, offset, data, NO_EVENTS) };
        written.map(drop).map_err(|error| failed("a buffer cannot be written", error))
    }

    pub(super) fn read(&self, buffer: &Buffer<u8>, offset: usize, into: &mut [u8]) -> Result<(), Fault> {
        // SAFETY: the call blocks until the data has been written, and the driver checks the range.
        let read = unsafe { self.queue.enqueue_read_buffer(buffer, BLOCKING, offset, into, NO_EVENTS) };
        read.map(drop).map_err(|error| failed("a buffer cannot be read", error))
    }

    /// Shows a range of a buffer in place.
    pub(super) fn view(
        &self,
        buffer: &Buffer<u8>,
        range: Range<usize>,
        see: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Fault> {
        if range.is_empty() {
            return Ok(());
        }
        let fault = |error| failed("a buffer cannot be mapped", error);
        let mut mapped: *mut c_void = ptr::null_mut();
        // SAFETY: the call blocks until the range is mapped, and the driver checks the range.
        unsafe {
            let map = &mut mapped;
            self.queue.enqueue_map_buffer(buffer, BLOCKING, CL_MAP_READ, range.start, range.len(), map, NO_EVENTS)
        }
        .map_err(fault)?;
        // SAFETY: the driver has mapped so many bytes, and no command that writes them is in the queue.
        see(unsafe { slice::from_raw_parts(mapped.cast::<u8>(), range.len()) });
        // SAFETY: the bytes were mapped above, and nothing refers to them any more.
        unsafe { self.queue.enqueue_unmap_mem_object(buffer.get(), mapped, NO_EVENTS) }.map(drop).map_err(fault)
    }

    /// Copies `bytes` from `offset` on to the same place of another buffer, and waits for the end.
    pub(super) fn copy(
        &self,
        from: &Buffer<u8>,
        to: &mut Buffer<u8>,
        offset: usize,
        bytes: usize,
    ) -> Result<(), Fault> {
        let fault = |error| failed("a buffer cannot be copied", error);
        // SAFETY: the buffers are not the same one, and the driver checks the ranges.
        let copied = unsafe { self.queue.enqueue_copy_buffer(from, to, offset, offset, bytes, NO_EVENTS) };
        copied.map_err(fault)?.wait().map_err(fault)
    }

    /// Fills a whole buffer with a byte.
    pub(super) fn fill(&self, buffer: &mut Buffer<u8>, byte: u8, bytes: usize) -> Result<(), Fault> {
        // SAFETY: the pattern is copied by the call, and the driver checks the range.
        let filled = unsafe { self.queue.enqueue_fill_buffer(buffer, &[byte], 0, bytes, NO_EVENTS) };
        let filled = filled.map_err(|error| failed("a buffer cannot be filled", error))?;
        wait(&filled)
    }
}

const BLOCKING: opencl3::types::cl_bool = opencl3::types::CL_TRUE;
const NO_EVENTS: &[cl_event] = &[];
