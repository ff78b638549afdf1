//! The measuring worker's side: buffers and launches.

use crate::backends::gpu::GpuProgram;
use crate::backends::gpu::native::{
    Address, Attribute, DeviceImage, Driver, DriverError, Event, Function, FunctionAttribute, Graph, KernelLaunch,
    Module,
};
use crate::backends::{BufferId, Fault, Launch, LaunchArgument, Pixels, Profiler, Program, Resources, Session};
use crate::energy::Meter;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_kernel::{Grid, Memory};

/// The dynamic shared memory in bytes that a kernel may use without a request for more.
const DEFAULT_SHARED: usize = 48 << 10;

/// The size in bytes of the piece that is read at a time. It holds whole elements of every type, and is large enough
/// that the start of a copy takes less time than the copy.
const STAGING: usize = 1 << 20;

/// A device with its buffers and the kernels of one configuration.
pub(crate) struct GpuSession {
    driver: Box<dyn Driver>,
    /// The folder to search first for the library that counts.
    libraries: Option<PathBuf>,
    buffers: Vec<Address>,
    /// The images whose pixels lie in a buffer at an offset.
    images: HashMap<(usize, usize, Pixels), DeviceImage>,
    loaded: Vec<LoadedKernel>,
    /// The events before and after the timed launches.
    events: (Event, Event),
    /// Memory that is filled to displace the contents of the cache. Allocated on first use.
    other_data: Option<Address>,
    /// The host's memory through which buffers are read. Allocated on first use.
    staging: Option<&'static mut [u8]>,
    /// The size of the second-level cache in bytes.
    cache: usize,
    /// Maximum number of resident threads of a multiprocessor.
    most_threads: u32,
    /// The number of threads that are scheduled together: 32, or 64 on many of AMD's devices.
    warp: u32,
}

/// A loaded kernel.
struct LoadedKernel {
    module: Module,
    function: Function,
    /// The destinations of arguments that are variables in constant memory.
    symbols: Vec<Option<Symbol>>,
    /// True if it was launched before. Its shared memory is then allowed and its variables are
    /// written.
    has_run: bool,
    /// A number of its launches as a graph, once they were requested.
    graph: Option<(usize, Graph)>,
}

struct Symbol {
    name: String,
    address: Address,
    bytes: usize,
}

/// Equal launches.
enum Repeated {
    /// So many, one by one.
    Times(usize),
    /// Those of a graph.
    In(Graph),
}

/// A launch in the driver's terms.
struct DriverCall {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    parameters: Vec<Vec<u8>>,
    /// The addresses and sizes in bytes of the data for variables, by argument.
    constants: Vec<Option<(Address, usize)>>,
}

impl GpuSession {
    /// Opens the device at position `index`.
    pub(crate) fn new(
        mut driver: Box<dyn Driver>,
        libraries: Option<PathBuf>,
        index: usize,
    ) -> Result<Self, DriverError> {
        driver.open(index)?;
        let events = (driver.event()?, driver.event()?);
        let number = |attribute| driver.attribute(index, attribute).map(i32::unsigned_abs);
        let cache = number(Attribute::L2CacheSize)? as usize;
        let most_threads = number(Attribute::MaxThreadsPerMultiprocessor)?;
        let warp = number(Attribute::WarpSize).unwrap_or(32).max(1);
        Ok(Self {
            driver,
            libraries,
            buffers: Vec::new(),
            images: HashMap::new(),
            loaded: Vec::new(),
            events,
            other_data: None,
            staging: None,
            cache,
            most_threads,
            warp,
        })
    }

    fn load_one(&mut self, program: &GpuProgram) -> Result<LoadedKernel, Fault> {
        let image = tunesmith_files::read(&program.binary, tunesmith_files::DATA)
            .map_err(|error| Fault::Machine(format!("`{}` cannot be read: {error}", program.binary.display())))?;
        let driver = &mut self.driver;
        let module = driver.load(&image).map_err(|error| error.fault("the kernel cannot be loaded"))?;
        let function = driver
            .function(module, &program.function)
            .map_err(|error| error.fault(&format!("there is no kernel `{}`", program.function)))?;
        let symbol = |name: &Option<String>| {
            let Some(name) = name.clone() else { return Ok(None) };
            let found = driver.symbol(module, &name);
            let (address, bytes) = found.map_err(|error| error.fault(&format!("there is no variable `{name}`")))?;
            Ok(Some(Symbol { name, address, bytes }))
        };
        let symbols = program.symbols.iter().map(symbol).collect::<Result<_, Fault>>()?;
        Ok(LoadedKernel { module, function, symbols, has_run: false, graph: None })
    }

    /// Creates the images that a launch needs, and fills them with their pixels.
    fn fill_images(&mut self, arguments: &[&LaunchArgument]) -> Result<(), Fault> {
        for argument in arguments {
            let LaunchArgument::Image { id, offset, pixels } = argument else { continue };
            let key = (id.0, *offset, pixels.clone());
            let image = match self.images.get(&key) {
                Some(image) => *image,
                None => {
                    let image = self.driver.image(pixels);
                    let image = image.map_err(|error| error.fault("the device has no such image"))?;
                    self.images.insert(key, image);
                    image
                }
            };
            let from = self.address(*id, *offset)?;
            let filled = self.driver.fill_image(from, image, pixels);
            filled.map_err(|error| broken("an image cannot be written", error))?;
        }
        Ok(())
    }

    /// Copies the pixels of written images back into their buffers.
    fn read_images(&mut self, arguments: &[&LaunchArgument]) -> Result<(), Fault> {
        for argument in arguments {
            let LaunchArgument::Image { id, offset, pixels } = argument else { continue };
            let known = self.images.get(&(id.0, *offset, pixels.clone())).copied();
            if let Some(image) = known.filter(|_| pixels.is_written) {
                let to = self.address(*id, *offset)?;
                let read = self.driver.read_image(image, to, pixels);
                read.map_err(|error| broken("an image cannot be read", error))?;
            }
        }
        Ok(())
    }

    fn call(&self, loaded: &LoadedKernel, launch: &Launch<'_>) -> Result<DriverCall, Fault> {
        let grid = launch.grid.ok_or_else(|| missing("the number of blocks"))?;
        let mut call = DriverCall {
            grid: blocks(grid)?,
            block: three(grid.local.as_deref().unwrap_or_default())?,
            shared: 0,
            parameters: Vec::with_capacity(launch.arguments.len()),
            constants: Vec::new(),
        };
        let mut shared = 0_usize;
        for (position, argument) in launch.arguments.iter().enumerate() {
            let is_variable = matches!(loaded.symbols.get(position), Some(Some(_)));
            call.constants.push(None);
            match argument {
                LaunchArgument::Buffer { id, offset, bytes } => {
                    let address = self.address(*id, *offset)?;
                    if is_variable {
                        call.constants[position] = Some((address, *bytes));
                    } else {
                        call.parameters.push(address.0.to_ne_bytes().to_vec());
                    }
                }
                LaunchArgument::Image { id, offset, pixels } => {
                    let known = self.images.get(&(id.0, *offset, pixels.clone()));
                    let image = known.ok_or_else(|| missing("an image"))?;
                    call.parameters.push(image.object.to_ne_bytes().to_vec());
                }
                LaunchArgument::Local(bytes) => shared = shared.saturating_add(*bytes),
                LaunchArgument::Scalar(bytes) => call.parameters.push(bytes.clone()),
            }
        }
        call.shared = u32::try_from(shared).map_err(|_| too_large("shared memory", shared))?;
        Ok(call)
    }

    /// Prepares the first launch of a kernel: allows its shared memory.
    fn prepare(&mut self, program: usize, call: &DriverCall) -> Result<(), Fault> {
        let loaded = &self.loaded[program];
        if call.shared as usize > DEFAULT_SHARED.saturating_sub(self.number(loaded.function, SHARED)? as usize) {
            let allowed = self.driver.allow_shared(loaded.function, call.shared);
            allowed.map_err(|error| error.fault(&format!("{} bytes of shared memory", call.shared)))?;
        }
        Ok(())
    }

    /// Writes a kernel's variables in constant memory. Their buffers may hold other data than at the last
    /// launch.
    fn write_constants(&mut self, program: usize, call: &DriverCall) -> Result<(), Fault> {
        let loaded = &self.loaded[program];
        for (symbol, constant) in loaded.symbols.iter().zip(&call.constants) {
            let (Some(symbol), Some((from, bytes))) = (symbol, constant) else { continue };
            if symbol.bytes < *bytes {
                let Symbol { name, bytes: has, .. } = symbol;
                return Err(Fault::Failed(format!(
                    "the variable `{name}` has {has} bytes, but its argument has {bytes}"
                )));
            }
            let copied = self.driver.copy(*from, symbol.address, *bytes);
            copied.map_err(|error| error.fault("constant memory cannot be written"))?;
        }
        Ok(())
    }

    /// Launches, waits for the end, and returns the time on the device.
    fn run(
        &mut self,
        launch: &KernelLaunch<'_>,
        launches: Repeated,
        started: &mut dyn FnMut(),
    ) -> Result<Duration, DriverError> {
        let (start, end) = self.events;
        self.driver.record(start)?;
        match launches {
            Repeated::Times(times) => (0..times).try_for_each(|_| self.driver.launch(launch))?,
            Repeated::In(graph) => self.driver.launch_graph(graph)?,
        }
        self.driver.record(end)?;
        started();
        self.driver.wait(end)?;
        self.driver.elapsed(start, end)
    }

    /// Returns the graph of `count` launches of a program, whose launches are all alike.
    fn graph(&mut self, program: usize, launch: &KernelLaunch<'_>, count: usize) -> Result<Graph, DriverError> {
        match self.loaded[program].graph {
            Some((known, graph)) if known == count => Ok(graph),
            other => {
                if let Some((_, graph)) = other {
                    self.driver.remove_graph(graph)?;
                }
                let graph = self.driver.graph(launch, count)?;
                self.loaded[program].graph = Some((count, graph));
                Ok(graph)
            }
        }
    }

    /// Returns the reason why the device cannot run a block of the kernel, if it can be given more
    /// exactly than by the driver.
    fn refusal(&self, function: Function, call: &DriverCall) -> Result<Option<String>, Fault> {
        let threads = threads(call.block);
        let most = self.number(function, FunctionAttribute::MaxThreadsPerBlock)?;
        let registers = self.number(function, FunctionAttribute::NumRegs)?;
        Ok((threads > most).then(|| {
            format!(
                "a block has {threads} threads, but the device takes at most {most} for this kernel ({registers} \
                 registers a thread)"
            )
        }))
    }

    fn number(&self, function: Function, attribute: FunctionAttribute) -> Result<u32, Fault> {
        let number = self.driver.function_attribute(function, attribute);
        number.map(i32::unsigned_abs).map_err(|error| error.fault("the attributes of the kernel cannot be read"))
    }

    fn address(&self, id: BufferId, offset: usize) -> Result<Address, Fault> {
        self.buffers.get(id.0).map(|start| start.add(offset)).ok_or_else(|| missing("a buffer"))
    }
}

const SHARED: FunctionAttribute = FunctionAttribute::SharedSizeBytes;

impl Session for GpuSession {
    fn allocate(&mut self, bytes: usize, _: Memory) -> Result<BufferId, Fault> {
        let address = self.driver.allocate(bytes).map_err(|error| error.fault("no memory"))?;
        self.buffers.push(address);
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn write(&mut self, buffer: BufferId, offset: usize, data: &[u8]) -> Result<(), Fault> {
        let address = self.address(buffer, offset)?;
        self.driver.write(address, data).map_err(|error| broken("a buffer cannot be written", error))
    }

    fn read(&mut self, buffer: BufferId, offset: usize, into: &mut [u8]) -> Result<(), Fault> {
        let address = self.address(buffer, offset)?;
        self.driver.read(address, into).map_err(|error| broken("a buffer cannot be read", error))
    }

    fn view(&mut self, buffer: BufferId, range: Range<usize>, see: &mut dyn FnMut(&[u8])) -> Result<(), Fault> {
        let staging = match self.staging.take() {
            Some(staging) => staging,
            None => self.driver.page_locked(STAGING).unwrap_or_else(|| vec![0; STAGING].leak()),
        };
        let seen = self.view_through(staging, buffer, range, see);
        self.staging = Some(staging);
        seen
    }

    fn can_copy(&self) -> bool {
        true
    }

    fn copy(&mut self, from: BufferId, to: BufferId, offset: usize, bytes: usize) -> Result<(), Fault> {
        let (from, to) = (self.address(from, offset)?, self.address(to, offset)?);
        self.driver.copy(from, to, bytes).map_err(|error| broken("a buffer cannot be copied", error))
    }

    fn has_local_memory(&self) -> bool {
        true
    }

    fn load(&mut self, programs: &[&Program]) -> Result<(), Fault> {
        self.unload();
        for program in programs {
            let Some(program) = GpuProgram::of(program) else {
                return Err(Fault::Failed("the program is not for a GPU".to_owned()));
            };
            let loaded = self.load_one(&program)?;
            self.loaded.push(loaded);
        }
        Ok(())
    }

    fn resources(&mut self, program: usize, launch: &Launch<'_>) -> Result<Resources, Fault> {
        // The images are part of the call.
        self.fill_images(&launch.arguments)?;
        let loaded = self.loaded.get(program).ok_or_else(|| missing("the program"))?;
        let call = self.call(loaded, launch)?;
        let function = loaded.function;
        let number = |attribute| self.number(function, attribute).map(f64::from);
        let mut resources = Resources::from([
            ("registers".to_owned(), number(FunctionAttribute::NumRegs)?),
            ("local_bytes".to_owned(), number(FunctionAttribute::LocalSizeBytes)?),
            ("constant_bytes".to_owned(), number(FunctionAttribute::ConstSizeBytes)?),
            ("shared_bytes".to_owned(), number(SHARED)? + f64::from(call.shared)),
        ]);
        let threads = threads(call.block);
        // A block that does not fit has no occupancy. The launch will report the reason.
        if let Ok(blocks) = self.driver.resident_blocks(function, threads, call.shared) {
            resources.insert("blocks_per_multiprocessor".to_owned(), f64::from(blocks));
            let resident = f64::from(blocks) * f64::from(threads.next_multiple_of(self.warp));
            resources.insert("occupancy".to_owned(), resident / f64::from(self.most_threads.max(1)));
        }
        Ok(resources)
    }

    fn launch(&mut self, program: usize, launch: &Launch<'_>, started: &mut dyn FnMut()) -> Result<Duration, Fault> {
        let loaded = self.loaded.get(program).ok_or_else(|| missing("the program"))?;
        let (function, has_run) = (loaded.function, loaded.has_run);
        self.fill_images(&launch.arguments)?;
        let call = self.call(&self.loaded[program], launch)?;
        if !has_run {
            if let Some(reason) = self.refusal(function, &call)? {
                return Err(Fault::Refused(reason));
            }
            self.prepare(program, &call)?;
        }
        self.write_constants(program, &call)?;
        let DriverCall { grid, block, shared, parameters, .. } = &call;
        let kernel = KernelLaunch { function, grid: *grid, block: *block, shared: *shared, parameters };
        let failed = |error: DriverError| error.fault("the launch failed");
        let launches = match launch.group {
            1 => Repeated::Times(launch.times),
            group => Repeated::In(self.graph(program, &kernel, launch.times * group).map_err(failed)?),
        };
        let time = self.run(&kernel, launches, started).map_err(failed)?;
        self.loaded[program].has_run = true;
        self.read_images(&launch.arguments)?;
        Ok(time)
    }

    fn can_group(&self) -> bool {
        self.driver.has_graphs()
    }

    fn meter(&mut self) -> Result<Box<dyn Meter>, String> {
        self.driver.meter()
    }

    fn profiler(&mut self) -> Result<Box<dyn Profiler>, String> {
        self.driver.profiler(self.libraries.as_deref())
    }

    fn flush_caches(&mut self) -> Result<(), Fault> {
        let bytes = 2 * self.cache.max(1 << 20);
        let address = match self.other_data {
            Some(address) => address,
            None => self.driver.allocate(bytes).map_err(|error| error.fault("no memory to flush the cache with"))?,
        };
        self.other_data = Some(address);
        self.driver.fill(address, 0x5A, bytes).map_err(|error| broken("the cache cannot be flushed", error))
    }

    fn unload(&mut self) {
        for loaded in self.loaded.drain(..) {
            // After a sticky error no module can be unloaded. The process ends soon anyway.
            let _ = loaded.graph.map(|(_, graph)| self.driver.remove_graph(graph));
            let _ = self.driver.unload(loaded.module);
        }
    }
}

fn missing(what: &str) -> Fault {
    Fault::Failed(format!("{what} is missing"))
}

/// Returns the fault for an error that an earlier launch caused, or the device.
fn broken(what: &str, error: DriverError) -> Fault {
    match error.fault(what) {
        Fault::Refused(text) => Fault::Failed(text),
        fault => fault,
    }
}

fn too_large(what: &str, number: usize) -> Fault {
    Fault::Refused(format!("{what} is {number}, more than the device accepts"))
}

/// Extends one to three extents to three.
fn three(extents: &[usize]) -> Result<[u32; 3], Fault> {
    let mut all = [1; 3];
    for (to, extent) in all.iter_mut().zip(extents) {
        *to = u32::try_from(*extent).map_err(|_| too_large("an extent", *extent))?;
    }
    Ok(all)
}

/// Returns the number of blocks of a grid that is given in threads.
fn blocks(grid: &Grid) -> Result<[u32; 3], Fault> {
    let local = grid.local.as_deref().unwrap_or_default();
    let blocks = grid.global.iter().enumerate();
    let blocks = blocks.map(|(dimension, items)| items / local.get(dimension).copied().unwrap_or(1).max(1));
    three(&blocks.collect::<Vec<_>>())
}

fn threads(block: [u32; 3]) -> u32 {
    block.iter().fold(1, |product: u32, extent| product.saturating_mul(*extent))
}
