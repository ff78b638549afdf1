//! Functions of shared libraries, called in the worker's own process.

#![allow(unsafe_code)]

use crate::backends::c::counters::{Counters, ProcessorCounting, missing_counters};
use crate::backends::c::float_environment::FloatEnvironment;
use crate::backends::c::guards::watch;
use crate::backends::c::memory::{Block, ZONE};
use crate::backends::c::poison;
use crate::backends::c::shim::ENTRY;
use crate::backends::{
    BackendMessage, BufferId, Fault, Launch, LaunchArgument, Placement, Profiler, Program, Session, SessionKind,
};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};
use tunesmith_kernel::Memory;

/// The name of the backend.
pub(super) const NAME: &str = "c";

/// Returns the kind of sessions of the processor. They run functions in processes that the worker forks.
pub(super) fn session() -> SessionKind {
    SessionKind::forking(BackendMessage::new(NAME, &()))
}

/// The function that the shim exports. It gets the address of each argument's value; for a buffer,
/// the buffer's address.
type Entry = unsafe extern "C" fn(*mut *mut c_void);

/// The worker's side of the C backend.
pub(crate) struct CSession {
    blocks: Vec<Block>,
    placement: Placement,
    /// True if the handler of faults knows where the buffers are.
    is_watched: bool,
    loaded: Vec<LoadedLibrary>,
    /// Data that is written to displace the contents of the caches. Allocated on first use.
    other_data: Vec<u8>,
    /// The worker's floating-point settings.
    environment: FloatEnvironment,
    /// Opened before kernels start threads, so that their threads are counted. `None` if they are
    /// not wanted, or if the processor does not count.
    counters: Option<Rc<RefCell<Counters>>>,
    /// The reason why wanted counters could not be opened. It is asked for before the sandbox, which
    /// would be the reason afterwards.
    no_counters: Option<String>,
    clock: SystemClock,
}

/// A loaded library. It is never unloaded: its threads, and those of a runtime that it brought, would
/// go on in memory that is gone. The process that loaded it ends with its job.
struct LoadedLibrary {
    entry: Entry,
    /// The floating-point settings after loading. Loading may change them.
    environment: FloatEnvironment,
}

/// A part of an argument passed by value, aligned for the largest vector (`f64x16`).
#[derive(Clone)]
#[repr(align(128))]
struct ValuePart([u8; 128]);

impl CSession {
    pub(crate) fn new() -> Self {
        let environment = FloatEnvironment::current();
        Self {
            blocks: Vec::new(),
            placement: Placement::Aligned,
            is_watched: false,
            loaded: Vec::new(),
            other_data: Vec::new(),
            environment,
            counters: None,
            no_counters: None,
            clock: SystemClock::new(),
        }
    }

    fn block(&mut self, id: BufferId) -> &mut Block {
        &mut self.blocks[id.0]
    }
}

impl Session for CSession {
    fn allocate(&mut self, bytes: usize, _: Memory) -> Result<BufferId, Fault> {
        let block = Block::new(bytes).ok_or_else(|| Fault::Refused("out of memory".to_owned()))?;
        self.blocks.push(block);
        self.is_watched = false;
        Ok(BufferId(self.blocks.len() - 1))
    }

    fn describe(&mut self, buffer: BufferId, name: &str, align: usize, keeps: bool) -> Result<(), Fault> {
        self.is_watched = false;
        let placement = self.placement;
        let block = self.block(buffer);
        block.describe(name, align, keeps).ok_or_else(|| Fault::Refused("out of memory".to_owned()))?;
        block.place(placement);
        Ok(())
    }

    fn place(&mut self, placement: Placement) {
        (self.placement, self.is_watched) = (placement, false);
        for block in &mut self.blocks {
            block.place(placement);
            // The launches that count find the caches as the first launch left them.
            if placement == Placement::Aligned {
                block.warm();
            }
        }
    }

    fn write(&mut self, buffer: BufferId, offset: usize, data: &[u8]) -> Result<(), Fault> {
        self.block(buffer).write(offset, data);
        Ok(())
    }

    fn read(&mut self, buffer: BufferId, offset: usize, into: &mut [u8]) -> Result<(), Fault> {
        self.block(buffer).read(offset, into);
        Ok(())
    }

    fn view(&mut self, buffer: BufferId, range: Range<usize>, see: &mut dyn FnMut(&[u8])) -> Result<(), Fault> {
        self.block(buffer).view(range, see);
        Ok(())
    }

    fn guard_zone(&self) -> usize {
        ZONE
    }

    fn has_local_memory(&self) -> bool {
        false
    }

    fn begin(&mut self, profile: bool) {
        self.counters = profile.then(Counters::open).flatten().map(|counters| Rc::new(RefCell::new(counters)));
        let missing = (profile && self.counters.is_none()).then(missing_counters).flatten();
        self.no_counters = missing.map(|missing| format!("{}; {}", missing.reason, missing.remedy));
    }

    fn load(&mut self, programs: &[&Program]) -> Result<(), Fault> {
        self.unload();
        let path = |program: &&Program| match program.is_of(NAME) {
            true => Ok(program.path().to_owned()),
            false => Err(Fault::Failed("the program is not a shared library".to_owned())),
        };
        let paths = programs.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        // No user code has run yet, so that a file that cannot be opened is nobody's fault.
        let gone = |path: &PathBuf| {
            let error = tunesmith_files::open(path).err()?;
            Some(Fault::Machine(format!("the kernel's library `{}` cannot be opened: {error}", path.display())))
        };
        if let Some(fault) = paths.iter().find_map(gone) {
            return Err(fault);
        }
        for path in &paths {
            let loaded = load(path).map_err(|error| Fault::Failed(format!("the kernel cannot be loaded: {error}")));
            self.environment.install();
            self.loaded.push(loaded?);
        }
        Ok(())
    }

    fn launch(&mut self, program: usize, launch: &Launch<'_>, started: &mut dyn FnMut()) -> Result<Duration, Fault> {
        let Some(loaded) = self.loaded.get(program) else {
            return Err(Fault::Failed("no program is loaded".to_owned()));
        };
        let (mut values, places) = values(&launch.arguments);
        let addresses = launch.arguments.iter().zip(places).map(|(argument, place)| match argument {
            LaunchArgument::Buffer { id, offset, .. } | LaunchArgument::Image { id, offset, .. } => {
                self.blocks[id.0].address(*offset)
            }
            LaunchArgument::Scalar(_) | LaunchArgument::Local(_) => values[place..].as_mut_ptr().cast(),
        });
        let mut addresses: Vec<*mut c_void> = addresses.collect();
        if !self.is_watched {
            watch(&self.blocks);
            self.is_watched = true;
        }
        started();
        loaded.environment.install();
        // SAFETY: the library is loaded, and the compiler has checked that the user's function
        // takes what the shim reads from these addresses. What that function does is not known: it
        // may well be undefined, which is why this process does nothing but run it, checks its
        // buffers afterwards, and is replaced when anything is odd.
        let mut call = || unsafe { (loaded.entry)(addresses.as_mut_ptr()) };
        let start = self.clock.now();
        for _ in 0..launch.times {
            match self.placement {
                Placement::Aligned => call(),
                Placement::AtEnd => poisoned(&mut call),
            }
        }
        let time = self.clock.now() - start;
        self.environment.install();
        Ok(time)
    }

    fn profiler(&mut self) -> Result<Box<dyn Profiler>, String> {
        match &self.counters {
            Some(counters) => Ok(Box::new(ProcessorCounting::new(Rc::clone(counters)))),
            None => {
                let unknown = || "the processor's counters cannot be opened".to_owned();
                Err(self.no_counters.clone().unwrap_or_else(unknown))
            }
        }
    }

    fn flush_caches(&mut self) -> Result<(), Fault> {
        if self.other_data.is_empty() {
            self.other_data = vec![0; last_level_cache() * 2];
        }
        // A write to every line, which the next call finds different, so that it cannot be left
        // out.
        self.other_data.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1));
        std::hint::black_box(&mut self.other_data);
        Ok(())
    }

    fn unload(&mut self) {
        self.loaded.clear();
    }
}

/// Calls a function that finds nothing of meaning in registers, on its stack and in new memory. The
/// call is not one that counts for the kernel's time.
fn poisoned(call: impl FnOnce()) {
    poison::fill_heap(true);
    poison::fill_stack();
    poison::fill_registers();
    call();
    poison::clear_upper_parts();
    poison::fill_heap(false);
}

/// Returns the values of all arguments in one piece of memory, and the place of each. Local memory has zeros, and a
/// buffer has no value.
fn values(arguments: &[&LaunchArgument]) -> (Vec<ValuePart>, Vec<usize>) {
    let (mut values, mut places) = (Vec::with_capacity(arguments.len()), Vec::with_capacity(arguments.len()));
    for argument in arguments {
        places.push(values.len());
        match argument {
            LaunchArgument::Scalar(bytes) => {
                values.extend(bytes.chunks(128).map(|bytes| {
                    let mut part = ValuePart([0; 128]);
                    part.0[..bytes.len()].copy_from_slice(bytes);
                    part
                }));
            }
            LaunchArgument::Local(_) => values.push(ValuePart([0; 128])),
            LaunchArgument::Buffer { .. } | LaunchArgument::Image { .. } => {}
        }
    }
    (values, places)
}

/// Returns the size in bytes of the largest cache that the system reports, limited to a part of the
/// free memory. Returns 32 MiB if the system reports none.
fn last_level_cache() -> usize {
    const UNKNOWN: usize = 32 << 20;
    const MOST: usize = 512 << 20;
    let sizes = (0..8).filter_map(|index| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = tunesmith_files::system_text(path)?;
        text.trim().strip_suffix('K')?.parse::<usize>().ok()
    });
    sizes.max().map_or(UNKNOWN, |kilobytes| (kilobytes << 10).min(MOST))
}

fn load(path: &Path) -> Result<LoadedLibrary, libloading::Error> {
    // SAFETY: loading runs the library's constructors, which the user wrote: see `launch`.
    let library = ManuallyDrop::new(unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL)? });
    // SAFETY: the shim defines the entry with this signature.
    let entry = *unsafe { library.get::<Entry>(ENTRY.as_bytes())? };
    Ok(LoadedLibrary { entry, environment: FloatEnvironment::current() })
}
