//! The measuring worker's side: buffers and launches.

use crate::backends::opencl::OpenClProgram;
use crate::backends::opencl::native::binding::{Binding, Value, has_begun, part, set_argument, wait};
use crate::backends::opencl::native::failure::failed;
use crate::backends::opencl::native::local_fill::LocalFill;
use crate::backends::opencl::native::mapped;
use crate::backends::opencl::recent::Recent;
use crate::backends::{BufferId, Fault, Launch, LaunchArgument, PIECE, Pixels, Program, Session};
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, Image};
use opencl3::program::Program as ClProgram;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};
use tunesmith_kernel::{Grid, Memory};

/// The interval between two looks at the state of a first launch.
const LOOK: Duration = Duration::from_micros(200);

/// The number of programs that stay loaded: the finalists of a run, its default, and some to spare.
/// The final re-measurement takes them in turn, and PoCL needs 30 ms to load one even from its
/// cache.
const KEPT: usize = 12;

/// A device with its buffers, the kernels of one configuration and those of the last ones.
struct OpenClSession {
    binding: Binding,
    buffers: Vec<Buffer<u8>>,
    /// The parts of buffers between their guard zones.
    parts: HashMap<(usize, usize, usize), Buffer<u8>>,
    /// The images whose pixels lie in a buffer at an offset.
    images: HashMap<(usize, usize, Pixels), Image>,
    loaded: Vec<LoadedKernel>,
    /// The kernels of earlier configurations.
    kept: Recent<OpenClProgram, LoadedKernel>,
    /// Memory that is filled to displace the contents of the caches. Allocated on first use.
    other_data: Option<(Buffer<u8>, usize)>,
    local_fill: LocalFill,
    clock: SystemClock,
}

struct LoadedKernel {
    source: OpenClProgram,
    kernel: Kernel,
    /// True if it was launched before in this configuration. The driver then has nothing left to
    /// compile.
    has_run: bool,
    /// The digest of the machine code that its first launch loaded, if it loaded any.
    code: Option<String>,
    _program: ClProgram,
}

/// Opens the device at position `device`.
pub(crate) fn open(device: usize) -> Result<Box<dyn Session>, String> {
    Ok(Box::new(OpenClSession::open(device)?))
}

impl OpenClSession {
    /// Opens the device at position `device`.
    fn open(device: usize) -> Result<Self, String> {
        let binding = Binding::open(device).map_err(|error| format!("cannot use the OpenCL device: {error}"))?;
        Ok(Self {
            binding,
            buffers: Vec::new(),
            parts: HashMap::new(),
            images: HashMap::new(),
            loaded: Vec::new(),
            kept: Recent::new(KEPT),
            other_data: None,
            local_fill: LocalFill::default(),
            clock: SystemClock::new(),
        })
    }

    /// Creates the images that a launch needs, and fills them with their pixels.
    fn fill_images(&mut self, arguments: &[&LaunchArgument]) -> Result<(), Fault> {
        for argument in arguments {
            let LaunchArgument::Image { id, offset, pixels } = argument else { continue };
            let key = (id.0, *offset, pixels.clone());
            let image = match self.images.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(self.binding.image(pixels)?),
            };
            self.binding.fill_image(&self.buffers[id.0], *offset, image, pixels)?;
        }
        Ok(())
    }

    /// Copies the pixels of written images back into their buffers.
    fn read_images(&mut self, arguments: &[&LaunchArgument]) -> Result<(), Fault> {
        for argument in arguments {
            let LaunchArgument::Image { id, offset, pixels } = argument else { continue };
            if let Some(image) = self.images.get(&(id.0, *offset, pixels.clone())).filter(|_| pixels.is_written) {
                self.binding.read_image(image, &mut self.buffers[id.0], *offset, pixels)?;
            }
        }
        Ok(())
    }

    /// Creates the parts of buffers that a launch needs.
    fn cut(&mut self, arguments: &[&LaunchArgument]) -> Result<(), Fault> {
        for argument in arguments {
            let LaunchArgument::Buffer { id, offset, bytes } = argument else { continue };
            let key = (id.0, *offset, *bytes);
            if !self.parts.contains_key(&key) {
                self.parts.insert(key, part(&self.buffers[id.0], *offset, *bytes)?);
            }
        }
        Ok(())
    }

    fn load_anew(&self, program: &OpenClProgram) -> Result<LoadedKernel, Fault> {
        let loaded = self.binding.load(program)?;
        let kernel = Kernel::create(&loaded, &program.function)
            .map_err(|error| failed(&format!("there is no kernel `{}`", program.function), error))?;
        Ok(LoadedKernel { source: program.clone(), kernel, has_run: false, code: None, _program: loaded })
    }

    fn set_arguments(&self, kernel: &Kernel, arguments: &[&LaunchArgument]) -> Result<(), Fault> {
        for (position, argument) in arguments.iter().enumerate() {
            let value = match argument {
                LaunchArgument::Buffer { id, offset, bytes } => Value::Memory(&self.parts[&(id.0, *offset, *bytes)]),
                LaunchArgument::Image { id, offset, pixels } => {
                    Value::Image(&self.images[&(id.0, *offset, pixels.clone())])
                }
                LaunchArgument::Local(bytes) => Value::Local(*bytes),
                LaunchArgument::Scalar(bytes) => Value::Bytes(bytes),
            };
            set_argument(kernel, position, &value)?;
        }
        Ok(())
    }

    /// Launches a program for the first time, and waits until it begins.
    fn first(&self, kernel: &Kernel, grid: &Grid, started: &mut dyn FnMut()) -> Result<Event, Fault> {
        let event = self.binding.enqueue(kernel, grid)?;
        while !has_begun(&event)? {
            std::thread::sleep(LOOK);
        }
        started();
        Ok(event)
    }
}

impl Session for OpenClSession {
    fn allocate(&mut self, bytes: usize, memory: Memory) -> Result<BufferId, Fault> {
        let most = self.binding.device.max_constant_buffer_size().unwrap_or(u64::MAX);
        if memory == Memory::Constant && bytes as u64 > most {
            return Err(Fault::Refused(format!("the device has {most} bytes of constant memory")));
        }
        self.buffers.push(self.binding.allocate(bytes)?);
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn write(&mut self, buffer: BufferId, offset: usize, data: &[u8]) -> Result<(), Fault> {
        self.binding.write(&mut self.buffers[buffer.0], offset, data)
    }

    fn read(&mut self, buffer: BufferId, offset: usize, into: &mut [u8]) -> Result<(), Fault> {
        self.binding.read(&self.buffers[buffer.0], offset, into)
    }

    fn view(&mut self, buffer: BufferId, range: Range<usize>, see: &mut dyn FnMut(&[u8])) -> Result<(), Fault> {
        // Each command wakes a thread of the driver, which may take longer than reading a piece.
        match self.binding.is_unified {
            true => self.binding.view(&self.buffers[buffer.0], range, see),
            false => self.view_through(&mut vec![0; PIECE.min(range.len())], buffer, range, see),
        }
    }

    fn can_copy(&self) -> bool {
        true
    }

    fn copy(&mut self, from: BufferId, to: BufferId, offset: usize, bytes: usize) -> Result<(), Fault> {
        match self.buffers.get_disjoint_mut([from.0, to.0]) {
            Ok([from, to]) => self.binding.copy(from, to, offset, bytes),
            Err(_) => Err(Fault::Failed("a buffer cannot be copied onto itself".to_owned())),
        }
    }

    fn has_local_memory(&self) -> bool {
        true
    }

    fn fill_local(&mut self, word: Option<u32>) {
        self.local_fill.word = word;
    }

    fn unfilled(&self) -> Option<&str> {
        self.local_fill.unfilled()
    }

    fn load(&mut self, programs: &[&Program]) -> Result<(), Fault> {
        self.unload();
        for program in programs {
            let Some(program) = OpenClProgram::of(program) else {
                return Err(Fault::Failed("the program is not an OpenCL program".to_owned()));
            };
            let loaded = match self.kept.take(&program) {
                Some(loaded) => loaded,
                None => self.load_anew(&program)?,
            };
            self.loaded.push(loaded);
        }
        Ok(())
    }

    fn launch(&mut self, program: usize, launch: &Launch<'_>, started: &mut dyn FnMut()) -> Result<Duration, Fault> {
        let missing = |what: &str| Fault::Failed(format!("{what} is missing"));
        self.cut(&launch.arguments)?;
        self.fill_images(&launch.arguments)?;
        let loaded = self.loaded.get(program).ok_or_else(|| missing("the program"))?;
        let grid = launch.grid.ok_or_else(|| missing("the number of work-items"))?;
        self.set_arguments(&loaded.kernel, &launch.arguments)?;
        let function = &loaded.source.function;
        let libraries = (!loaded.has_run && loaded.code.is_none()).then(|| mapped::libraries(function));
        let start = self.clock.now();
        let mut events = Vec::with_capacity(launch.times);
        for _ in 0..launch.times {
            self.local_fill.fill(&self.binding, &loaded.kernel, &launch.arguments);
            let first = events.is_empty() && !loaded.has_run;
            events.push(match first {
                true => self.first(&loaded.kernel, grid, started)?,
                false => self.binding.enqueue(&loaded.kernel, grid)?,
            });
        }
        events.iter().try_for_each(wait)?;
        let wall = self.clock.now() - start;
        let code = libraries.and_then(|before| mapped::digest_of_new(&before, function));
        let loaded = &mut self.loaded[program];
        loaded.has_run = true;
        loaded.code = loaded.code.take().or(code);
        self.read_images(&launch.arguments)?;
        Ok(measured(&events).unwrap_or(wall))
    }

    fn flush_caches(&mut self) -> Result<(), Fault> {
        let (mut buffer, bytes) = match self.other_data.take() {
            Some(other_data) => other_data,
            None => {
                let bytes = 2 * self.cache();
                (self.binding.allocate(bytes)?, bytes)
            }
        };
        self.binding.fill(&mut buffer, 0x5A, bytes)?;
        self.other_data = Some((buffer, bytes));
        Ok(())
    }

    fn code(&self, program: usize) -> Option<String> {
        self.loaded.get(program)?.code.clone()
    }

    fn unload(&mut self) {
        for loaded in self.loaded.drain(..) {
            self.kept.keep(loaded.source.clone(), LoadedKernel { has_run: false, ..loaded });
        }
    }
}

impl OpenClSession {
    /// Returns a size in bytes that surely fills all caches. Drivers report only one level of
    /// cache, and on processors it is not the last level.
    fn cache(&self) -> usize {
        const LEAST: u64 = 64 << 20;
        const MOST: u64 = 512 << 20;
        let told = self.binding.device.global_mem_cache_size().unwrap_or_default();
        told.clamp(LEAST, MOST) as usize
    }
}

/// Returns the time of the launches by the driver's clock. Returns `None` if that clock is too
/// coarse.
fn measured(events: &[Event]) -> Option<Duration> {
    let time = |event: &Event| {
        let (start, end) = (event.profiling_command_start().ok()?, event.profiling_command_end().ok()?);
        end.checked_sub(start).filter(|time| *time > 0)
    };
    let total = events.iter().map(time).sum::<Option<u64>>()?;
    Some(Duration::from_nanos(total))
}
