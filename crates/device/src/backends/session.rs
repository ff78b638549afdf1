//! The worker's side of a backend: buffers, loaded programs, launches.

// Drivers alone read work-items and local memory.
#![cfg_attr(not(any(feature = "opencl", feature = "cuda")), allow(dead_code))]

use crate::backends::Program;
use crate::energy::Meter;
use crate::problem::{Grid, Memory};
use std::collections::BTreeMap;
use std::time::Duration;

/// A buffer of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferId(pub(crate) usize);

/// An argument of a launch.
#[derive(Clone, Debug)]
pub(crate) enum LaunchArgument {
    /// `bytes` of memory from `offset` on; what lies before and behind them guards against stray
    /// writes.
    Buffer { id: BufferId, offset: usize, bytes: usize },
    /// So many bytes of local memory.
    Local(usize),
    /// The bytes of a value.
    Scalar(Vec<u8>),
}

/// How a program is run.
#[derive(Clone, Debug)]
pub(crate) struct Launch<'a> {
    /// In the order of the kernel's signature.
    pub(crate) arguments: Vec<&'a LaunchArgument>,
    /// The work-items, where there are any.
    pub(crate) grid: Option<&'a Grid>,
    /// The number of launches in a row.
    pub(crate) times: usize,
}

/// Why a session cannot do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The device does not take this configuration: too large a work-group, too much memory.
    Refused(String),
    /// The launch failed.
    Failed(String),
}

/// What a kernel uses of its device, by name: registers of a thread, bytes of its memories,
/// occupancy.
pub(crate) type Resources = BTreeMap<String, f64>;

/// What reads counters while the launches of a configuration are repeated, once for every pass.
/// Dropping it ends profiling.
pub(crate) trait Profiler {
    /// Begins a pass: what is launched from now on is counted.
    fn begin(&mut self) -> Result<(), String>;

    /// Ends the pass. Tells whether another one is needed.
    fn end(&mut self) -> Result<bool, String>;

    /// Returns what was counted in all passes, by the names of [`tunesmith_core::counters`].
    fn readings(&mut self) -> Result<BTreeMap<String, f64>, String>;
}

/// The worker's side of a backend: one device, the programs of one configuration at a time.
pub(crate) trait Session {
    /// Reserves `bytes` of memory, aligned to 4096 bytes, for the life of the session.
    fn allocate(&mut self, bytes: usize, memory: Memory) -> Result<BufferId, Fault>;

    /// Writes `data` into a buffer from byte `offset` on.
    fn write(&mut self, buffer: BufferId, offset: usize, data: &[u8]) -> Result<(), Fault>;

    /// Reads a buffer from byte `offset` on.
    fn read(&mut self, buffer: BufferId, offset: usize, into: &mut [u8]) -> Result<(), Fault>;

    /// Returns whether [`copy`](Self::copy) can be called.
    fn can_copy(&self) -> bool {
        false
    }

    /// Copies `bytes` from `offset` on from one buffer to the same place of another; launches come
    /// after it.
    fn copy(&mut self, _from: BufferId, _to: BufferId, _offset: usize, _bytes: usize) -> Result<(), Fault> {
        Err(Fault::Failed("this device does not copy buffers".to_owned()))
    }

    /// Returns whether local memory is the device's own; otherwise it is a buffer like any other.
    fn has_local_memory(&self) -> bool;

    /// Loads the programs of a configuration in place of those loaded before.
    fn load(&mut self, programs: &[&Program]) -> Result<(), Fault>;

    /// Returns what a loaded program will use of the device; nothing where the driver does not
    /// tell.
    fn resources(&mut self, _program: usize, _launch: &Launch<'_>) -> Result<Resources, Fault> {
        Ok(Resources::new())
    }

    /// Runs a loaded program, by its position, as often as `launch` says, waits for the end and
    /// tells how long it took, nothing else included. `started` is called once the kernel itself
    /// begins, as closely as can be told: what the driver does before that has a limit of its own.
    fn launch(&mut self, program: usize, launch: &Launch<'_>, started: &mut dyn FnMut()) -> Result<Duration, Fault>;

    /// Begins to profile. Nothing but the profiled launches runs until it is dropped.
    ///
    /// # Errors
    /// No counters can be read; the text says why, and what to do about it.
    fn profiler(&mut self) -> Result<Box<dyn Profiler>, String> {
        Err("the device gave no counters; those of CUDA devices can be read, and recordings may have them".to_owned())
    }

    /// Returns what watches the device while it works.
    ///
    /// # Errors
    /// Nothing watches the device; the text says why.
    fn meter(&mut self) -> Result<Box<dyn Meter>, String> {
        Err("this device does not tell its energy; CUDA devices do, through NVML".to_owned())
    }

    /// Fills the caches with other data.
    fn flush_caches(&mut self) -> Result<(), Fault>;

    /// Gives the loaded programs up.
    fn unload(&mut self);
}
