//! The driver that follows a script.

use super::host::HostLaunch;
use super::memory::DeviceMemory;
use super::meter::{Health, ScriptedMeter, SteeredMeter};
use super::profiler::{Counted, ScriptedProfiler};
use super::{Origin, Script, ScriptedCode, ScriptedKernel, error};
use crate::backends::cuda::cubin;
use crate::backends::gpu::native::{
    Address, Architecture, Attribute, DeviceImage, Driver, DriverError, ErrorKind, ErrorTable, Event, Function,
    FunctionAttribute, Graph, KernelLaunch, Module, capability,
};
use crate::backends::{Pixels, Profiler};
use crate::energy::Meter;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tunesmith_core::SystemClock;
use tunesmith_power::{Library as ManagementLibrary, PowerScript};

/// The dynamic shared memory in bytes that a kernel may use without permission.
const DEFAULT_SHARED: u32 = 48 << 10;

/// The number of threads that a multiprocessor schedules together, unless the script says another.
const WARP: i32 = 32;

/// The maximum number of a multiprocessor's resident blocks.
const MOST_BLOCKS: u32 = 32;

/// The attributes of a kernel that a cubin tells, with their names as resources.
const OF_CUBINS: [(FunctionAttribute, &str); 3] = [
    (FunctionAttribute::NumRegs, "registers"),
    (FunctionAttribute::LocalSizeBytes, "local_bytes"),
    (FunctionAttribute::SharedSizeBytes, "shared_bytes"),
];

/// The size in bytes of every variable of a scripted module.
const SYMBOL_BYTES: usize = 64 << 10;

/// A driver that follows its script.
pub(crate) struct ScriptedDriver {
    script: Script,
    /// The errors of the API that it speaks.
    errors: &'static ErrorTable,
    memory: DeviceMemory,
    /// Loaded code by number. Its only kernel has the same number.
    modules: HashMap<u64, LoadedModule>,
    events: HashMap<u64, Option<Duration>>,
    graphs: HashMap<u64, ScriptedGraph>,
    /// The launches for the processor that have not run yet.
    queued: Vec<HostLaunch>,
    /// The number of launches of each configuration's kernel.
    launches: BTreeMap<String, usize>,
    /// The current time on the device.
    now: Duration,
    numbers: u64,
    /// The error of an earlier launch that no call has returned yet. A sticky error stays.
    pending: Option<DriverError>,
    hangs: bool,
    counted: Rc<RefCell<Counted>>,
    /// The current time on the device, for its meter.
    device_time: Rc<Cell<Duration>>,
    health: Rc<RefCell<Health>>,
    /// The reason why there are no counters, if the script has some that nobody may read.
    no_counters: Option<String>,
}

/// Equal launches of a kernel.
struct ScriptedGraph {
    function: Function,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    parameters: Vec<Vec<u8>>,
    count: usize,
}

struct LoadedModule {
    code: ScriptedCode,
    behaviour: ScriptedKernel,
    symbols: HashMap<String, Address>,
    allowed: u32,
    /// The resources of its kernels, if NVRTC made the code.
    cubin: Vec<u8>,
}

impl ScriptedDriver {
    /// Creates a driver without any state.
    pub(crate) fn new(script: Script, errors: &'static ErrorTable) -> Self {
        Self {
            script,
            errors,
            memory: DeviceMemory::new(0),
            modules: HashMap::new(),
            events: HashMap::new(),
            graphs: HashMap::new(),
            queued: Vec::new(),
            launches: BTreeMap::new(),
            now: Duration::ZERO,
            numbers: 0,
            pending: None,
            hangs: false,
            counted: Rc::default(),
            device_time: Rc::default(),
            health: Rc::default(),
            no_counters: None,
        }
    }

    /// Refuses to read counters for this reason.
    pub(crate) fn without_counters(self, reason: String) -> Self {
        Self { no_counters: Some(reason), ..self }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Fails every call after a sticky error, and one call after any other error.
    fn ready(&mut self) -> Result<(), DriverError> {
        let pending = self.pending.clone();
        if pending.as_ref().is_some_and(|error| !error.is_sticky()) {
            self.pending = None;
        }
        pending.map_or(Ok(()), Err)
    }

    fn log(&self, line: &str) {
        let Some(path) = &self.script.log else { return };
        // An error is ignored: a reader of the log will notice that it is missing.
        if let Ok(mut file) = tunesmith_files::open_with(OpenOptions::new().create(true).append(true), path) {
            let _ = writeln!(file, "{line}");
        }
    }

    fn loaded(&self, number: u64) -> Result<&LoadedModule, DriverError> {
        self.modules.get(&number).ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidHandle))
    }

    /// Refuses the same launches as a real driver.
    fn check(&self, launch: &KernelLaunch<'_>) -> Result<(), DriverError> {
        let loaded = self.loaded(launch.function.0)?;
        let threads: u32 = launch.block.iter().product();
        let most = loaded.behaviour.attribute(FunctionAttribute::MaxThreadsPerBlock);
        let fits = threads > 0 && threads <= most.unsigned_abs() && launch.grid.iter().all(|blocks| *blocks > 0);
        if !fits || launch.shared > loaded.allowed {
            return Err(self.errors.of_kind(ErrorKind::InvalidValue));
        }
        Ok(())
    }

    /// Runs a kernel once, as the script says.
    fn run(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError> {
        let LoadedModule { code, behaviour, .. } = self.loaded(launch.function.0)?;
        let (key, behaviour) = (format!("{code:?}"), behaviour.clone());
        if behaviour.crashes {
            std::process::abort();
        }
        if let Some(name) = &behaviour.launch {
            return Err(error(self.errors, name));
        }
        let number = self.launches.entry(key).or_insert(0);
        let time = behaviour.time_us(*number);
        *number += 1;
        let slowdown = self.power()?.map_or(1.0, |power| power.slowdown());
        self.now += Duration::from_secs_f64(time * slowdown / 1e6);
        self.device_time.set(self.now);
        self.hangs = behaviour.hangs;
        self.ail(&behaviour);
        self.counted.borrow_mut().launched(&behaviour.counters);
        self.pending = behaviour.end.as_deref().map(|name| error(self.errors, name));
        self.queue(launch)?;
        self.write_all(launch)
    }

    /// Keeps a launch of a kernel that the processor runs until somebody waits for its end.
    fn queue(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError> {
        let LoadedModule { code, symbols, .. } = self.loaded(launch.function.0)?;
        if let Some(program) = code.program.clone() {
            let (symbols, parameters) = (symbols.clone(), launch.parameters.to_vec());
            self.queued.push(HostLaunch { program, grid: launch.grid, block: launch.block, parameters, symbols });
        }
        Ok(())
    }

    /// Runs the launches that are queued for the processor. Their errors stay, as those of devices do.
    fn run_queued(&mut self) {
        for launch in std::mem::take(&mut self.queued) {
            if let Err(kind) = launch.run(&mut self.memory) {
                self.pending = Some(self.errors.of_kind(kind));
                return;
            }
        }
    }

    /// Performs the kernel's writes.
    fn write_all(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError> {
        let loaded = self.loaded(launch.function.0)?;
        let (writes, symbols) = (loaded.behaviour.writes.clone(), loaded.symbols.clone());
        let address = |position: usize| {
            let bytes: Option<[u8; 8]> = launch.parameters.get(position)?.as_slice().try_into().ok();
            bytes.map(|bytes| Address(u64::from_le_bytes(bytes)))
        };
        let errors = self.errors;
        let (missing, wrong) = (|| errors.of_kind(ErrorKind::IllegalAddress), |kind| errors.of_kind(kind));
        for write in writes {
            let to = address(write.to).ok_or_else(missing)?;
            let from = match &write.from {
                Origin::Byte(byte) => {
                    self.memory.at(to, write.bytes).map_err(wrong)?.fill(*byte);
                    continue;
                }
                Origin::Parameter(position) => address(*position),
                Origin::Symbol(name) => symbols.get(name).copied(),
            };
            self.memory.copy(from.ok_or_else(missing)?, to, write.bytes).map_err(wrong)?;
        }
        Ok(())
    }
}

impl Driver for ScriptedDriver {
    fn version(&self) -> Result<String, DriverError> {
        Ok(self.script.version.clone())
    }

    fn count(&self) -> Result<usize, DriverError> {
        Ok(self.script.devices.len())
    }

    fn name(&self, device: usize) -> Result<String, DriverError> {
        Ok(self.device(device)?.name.clone())
    }

    fn memory(&self, device: usize) -> Result<usize, DriverError> {
        Ok(self.device(device)?.memory)
    }

    fn attribute(&self, device: usize, attribute: Attribute) -> Result<i32, DriverError> {
        self.device(device)?
            .attributes
            .get(&attribute)
            .copied()
            .ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidValue))
    }

    fn architecture(&self, device: usize) -> Result<Architecture, DriverError> {
        match &self.device(device)?.architecture {
            Some(name) => Ok(Architecture::Named(name.clone())),
            None => capability(self, device),
        }
    }

    fn management(&self, device: usize) -> Option<ManagementLibrary> {
        self.script.power.clone().filter(|_| device == 0).map(ManagementLibrary::Script)
    }

    fn open(&mut self, device: usize) -> Result<(), DriverError> {
        self.memory = DeviceMemory::new(self.device(device)?.memory);
        self.log(&format!("open {device}"));
        Ok(())
    }

    fn load(&mut self, image: &[u8]) -> Result<Module, DriverError> {
        self.ready()?;
        // The output of a real compiler holds no macros. The names of its kernels are looked up later.
        let code = match image.starts_with(b"\x7fELF") {
            true => ScriptedCode { function: String::new(), defines: BTreeMap::new(), program: None },
            false => serde_json::from_slice(image).map_err(|_| self.errors.of_kind(ErrorKind::InvalidImage))?,
        };
        let behaviour = self.script.behaviour(&code);
        if let Some(name) = &behaviour.load {
            return Err(error(self.errors, name));
        }
        self.log(&format!("load {}", code.function));
        let number = self.number();
        let (symbols, cubin) = (HashMap::new(), image.to_vec());
        self.modules.insert(number, LoadedModule { code, behaviour, symbols, allowed: DEFAULT_SHARED, cubin });
        Ok(Module(number))
    }

    fn unload(&mut self, module: Module) -> Result<(), DriverError> {
        self.ready()?;
        self.modules.remove(&module.0).map(drop).ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidHandle))
    }

    fn function(&mut self, module: Module, name: &str) -> Result<Function, DriverError> {
        self.ready()?;
        let loaded = self.modules.get_mut(&module.0).ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidHandle))?;
        let resources = cubin::resources(&loaded.cubin, name);
        for (attribute, resource) in OF_CUBINS {
            if let Some(value) = resources.get(resource) {
                loaded.behaviour.attributes.entry(attribute).or_insert(*value as i32);
            }
        }
        Ok(Function(module.0))
    }

    fn symbol(&mut self, module: Module, name: &str) -> Result<(Address, usize), DriverError> {
        self.ready()?;
        let address = self.memory.allocate(SYMBOL_BYTES).map_err(|kind| self.errors.of_kind(kind))?;
        let loaded = self.modules.get_mut(&module.0).ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidHandle))?;
        loaded.symbols.insert(name.to_owned(), address);
        Ok((address, SYMBOL_BYTES))
    }

    fn function_attribute(&self, function: Function, attribute: FunctionAttribute) -> Result<i32, DriverError> {
        Ok(self.loaded(function.0)?.behaviour.attribute(attribute))
    }

    fn allow_shared(&mut self, function: Function, bytes: u32) -> Result<(), DriverError> {
        self.ready()?;
        let most = self.attribute(0, Attribute::MaxSharedMemoryPerBlockOptin)?;
        if bytes > most.unsigned_abs() {
            return Err(self.errors.of_kind(ErrorKind::InvalidValue));
        }
        self.log(&format!("allow_shared {bytes}"));
        let loaded = self.modules.get_mut(&function.0).ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidHandle))?;
        loaded.allowed = bytes;
        Ok(())
    }

    fn resident_blocks(&self, _: Function, threads: u32, _: u32) -> Result<u32, DriverError> {
        let most = self.attribute(0, Attribute::MaxThreadsPerMultiprocessor)?;
        let warp = self.attribute(0, Attribute::WarpSize).unwrap_or(WARP).unsigned_abs().max(1);
        Ok((most.unsigned_abs() / threads.max(1).next_multiple_of(warp)).min(MOST_BLOCKS))
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address, DriverError> {
        self.ready()?;
        self.memory.allocate(bytes).map_err(|kind| self.errors.of_kind(kind))
    }

    fn write(&mut self, to: Address, data: &[u8]) -> Result<(), DriverError> {
        self.ready()?;
        self.bytes(to, data.len())?.copy_from_slice(data);
        Ok(())
    }

    fn read(&mut self, from: Address, into: &mut [u8]) -> Result<(), DriverError> {
        self.ready()?;
        into.copy_from_slice(self.bytes(from, into.len())?);
        Ok(())
    }

    fn copy(&mut self, from: Address, to: Address, bytes: usize) -> Result<(), DriverError> {
        self.ready()?;
        self.memory.copy(from, to, bytes).map_err(|kind| self.errors.of_kind(kind))
    }

    fn fill(&mut self, to: Address, byte: u8, bytes: usize) -> Result<(), DriverError> {
        self.ready()?;
        self.log(&format!("fill {bytes}"));
        self.bytes(to, bytes)?.fill(byte);
        Ok(())
    }

    fn image(&mut self, pixels: &Pixels) -> Result<DeviceImage, DriverError> {
        self.ready()?;
        let Pixels { element, is_written, .. } = pixels;
        let kind = if *is_written { "surface" } else { "texture" };
        self.log(&format!("{kind} {element} {:?}", pixels.region()));
        let address = self.memory.allocate(pixels.bytes()).map_err(|kind| self.errors.of_kind(kind))?;
        Ok(DeviceImage { array: address.0, object: address.0 })
    }

    fn fill_image(&mut self, from: Address, to: DeviceImage, pixels: &Pixels) -> Result<(), DriverError> {
        self.copy(from, Address(to.array), pixels.bytes())
    }

    fn read_image(&mut self, from: DeviceImage, to: Address, pixels: &Pixels) -> Result<(), DriverError> {
        self.copy(Address(from.array), to, pixels.bytes())
    }

    fn launch(&mut self, launch: &KernelLaunch<'_>) -> Result<(), DriverError> {
        self.ready()?;
        self.check(launch)?;
        let function = &self.loaded(launch.function.0)?.code.function;
        self.log(&format!("launch {function} {:?} {:?} {}", launch.grid, launch.block, launch.shared));
        self.now += Duration::from_secs_f64(self.script.launch_us / 1e6);
        self.run(launch)
    }

    fn has_graphs(&self) -> bool {
        self.script.graphs
    }

    fn graph(&mut self, launch: &KernelLaunch<'_>, count: usize) -> Result<Graph, DriverError> {
        self.ready()?;
        self.check(launch)?;
        self.log(&format!("graph {count}"));
        let KernelLaunch { function, grid, block, shared, parameters } = launch.clone();
        let number = self.number();
        let parameters = parameters.to_vec();
        self.graphs.insert(number, ScriptedGraph { function, grid, block, shared, parameters, count });
        Ok(Graph(number))
    }

    fn launch_graph(&mut self, graph: Graph) -> Result<(), DriverError> {
        self.ready()?;
        let known = self.graphs.remove(&graph.0).ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidHandle))?;
        let ScriptedGraph { function, grid, block, shared, ref parameters, count } = known;
        self.log(&format!("launch_graph {count}"));
        self.now += Duration::from_secs_f64(self.script.launch_us / 1e6);
        let launch = KernelLaunch { function, grid, block, shared, parameters };
        let ran = (0..count).try_for_each(|_| self.run(&launch));
        self.graphs.insert(graph.0, known);
        ran
    }

    fn remove_graph(&mut self, graph: Graph) -> Result<(), DriverError> {
        self.ready()?;
        self.graphs.remove(&graph.0).map(drop).ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidHandle))
    }

    fn event(&mut self) -> Result<Event, DriverError> {
        self.ready()?;
        let number = self.number();
        self.events.insert(number, None);
        Ok(Event(number))
    }

    fn record(&mut self, event: Event) -> Result<(), DriverError> {
        // As in a real driver, the error of a kernel that still runs is not known yet.
        self.events.insert(event.0, Some(self.now));
        Ok(())
    }

    fn wait(&mut self, _: Event) -> Result<(), DriverError> {
        if self.hangs {
            loop {
                std::thread::park();
            }
        }
        self.run_queued();
        self.ready()
    }

    fn elapsed(&mut self, start: Event, end: Event) -> Result<Duration, DriverError> {
        self.ready()?;
        let time = |event: Event| self.events.get(&event.0).copied().flatten();
        let pair = time(start).zip(time(end)).ok_or_else(|| self.errors.of_kind(ErrorKind::NotReady))?;
        Ok(pair.1.saturating_sub(pair.0))
    }

    fn meter(&mut self) -> Result<Box<dyn Meter>, String> {
        if let Some(power) = &self.script.power {
            return Ok(Box::new(SteeredMeter {
                script: PowerScript::read(power)?,
                time: Rc::clone(&self.device_time),
            }));
        }
        let watts = self.script.watts.ok_or("the script has no power; write `watts`")?;
        let (others, health) = (self.script.others.clone(), Rc::clone(&self.health));
        Ok(Box::new(ScriptedMeter { watts, clock: SystemClock::new(), others, health }))
    }

    fn profiler(&mut self, _: Option<&Path>) -> Result<Box<dyn Profiler>, String> {
        if let Some(reason) = &self.no_counters {
            return Err(reason.clone());
        }
        let passes = self.script.passes.ok_or("the script has no counters; write `passes`")?;
        Ok(Box::new(ScriptedProfiler { passes, counted: Rc::clone(&self.counted) }))
    }
}

impl ScriptedDriver {
    /// Returns the bytes at an address.
    fn bytes(&mut self, address: Address, bytes: usize) -> Result<&mut [u8], DriverError> {
        let errors = self.errors;
        self.memory.at(address, bytes).map_err(|kind| errors.of_kind(kind))
    }

    /// Returns the power of the device, if the script has one.
    fn power(&self) -> Result<Option<PowerScript>, DriverError> {
        let read = |path: &PathBuf| PowerScript::read(path).map_err(|_| self.errors.of_kind(ErrorKind::NotFound));
        self.script.power.as_ref().map(read).transpose()
    }

    /// Changes the device's health as a launch does.
    fn ail(&mut self, behaviour: &ScriptedKernel) {
        let mut health = self.health.borrow_mut();
        health.slowdown = behaviour.slows;
        health.memory_errors += behaviour.memory_errors;
        health.is_lost |= behaviour.loses_device;
        if let Some(file) = &behaviour.once {
            // An error is ignored: the rule then applies again, which a test notices.
            let _ = tunesmith_files::replace(file, "");
        }
    }

    fn device(&self, device: usize) -> Result<&super::ScriptedDevice, DriverError> {
        self.script.devices.get(device).ok_or_else(|| self.errors.of_kind(ErrorKind::InvalidDevice))
    }
}
