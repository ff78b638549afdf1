//! The worker's side of a backend: buffers, loaded programs and launches.

// Only drivers read work-items and local memory.
#![cfg_attr(not(any(feature = "opencl", feature = "cuda", feature = "hip")), allow(dead_code))]

use crate::backends::Program;
use crate::energy::{Meter, Trouble};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use tunesmith_kernel::{ElementType, Grid, Image, Memory};

/// The size in bytes of the piece that is copied at a time. A piece and its counterpart fit into the
/// second-level cache. A piece holds whole elements of every type.
pub const PIECE: usize = 128 << 10;

/// A buffer of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferId(pub usize);

/// The places of a buffer whose memory is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// At its alignment, as for the launches that count.
    Aligned,
    /// At the end of the accessible memory, so that an access behind it ends the process.
    AtEnd,
}

/// An argument of a launch.
#[derive(Clone, Debug)]
pub enum LaunchArgument {
    /// A buffer's data: `bytes` of memory from `offset` on. The memory before and behind the data
    /// guards against stray writes.
    Buffer {
        /// The buffer.
        id: BufferId,
        /// The place of the data in the buffer's memory.
        offset: usize,
        /// The size of the data.
        bytes: usize,
    },
    /// An image. Its pixels lie in memory from `offset` on, which sessions without images pass.
    Image {
        /// The image.
        id: BufferId,
        /// The place of the pixels in memory.
        offset: usize,
        /// The layout of the pixels.
        pixels: Pixels,
    },
    /// This many bytes of local memory.
    Local(usize),
    /// The bytes of a value.
    Scalar(Vec<u8>),
}

/// The pixels of an image, row by row without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pixels {
    /// The image as the problem declares it.
    pub image: Image,
    /// The type of an element.
    pub element: ElementType,
    /// The width.
    pub width: usize,
    /// The height, if the image has one.
    pub height: Option<usize>,
    /// The depth, if the image has one.
    pub depth: Option<usize>,
    /// True if the kernel writes the image.
    pub is_written: bool,
}

impl Pixels {
    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.region().iter().fold(self.element.size(), |bytes, extent| bytes.saturating_mul(*extent))
    }

    /// Returns the extents, 1 for those that the image does not have.
    pub(crate) fn region(&self) -> [usize; 3] {
        [self.width, self.height.unwrap_or(1), self.depth.unwrap_or(1)]
    }
}

/// The launch of a program.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The arguments, in the order of the kernel's signature.
    pub arguments: Vec<&'a LaunchArgument>,
    /// The work-items, in languages that have them.
    pub grid: Option<&'a Grid>,
    /// The number of consecutive launches.
    pub times: usize,
    /// The number of repetitions of these launches, without a gap between them: 1 unless the
    /// session [can group](Session::can_group) launches.
    pub group: usize,
}

/// The failure of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device does not accept this configuration: too large a work-group, too much memory.
    Refused(String),
    /// The launch failed.
    Failed(String),
    /// The machine has lost something that the run needs, before any code of the configuration ran.
    Machine(String),
    /// The device failed, and no configuration is to blame.
    Device(Trouble),
}

impl Fault {
    /// Returns the fault in words.
    pub fn into_text(self) -> String {
        match self {
            Self::Refused(text) | Self::Failed(text) | Self::Machine(text) => text,
            Self::Device(trouble) => trouble.line("the device"),
        }
    }
}

/// A kernel's use of its device, by name: registers of a thread, bytes of memories, occupancy.
pub type Resources = BTreeMap<String, f64>;

/// Reads counters while the launches of a configuration are repeated, once for every pass. Dropping
/// it ends profiling.
pub trait Profiler {
    /// Begins a pass. All later launches are counted.
    fn begin(&mut self) -> Result<(), String>;

    /// Ends the pass. Returns true if another pass is needed.
    fn end(&mut self) -> Result<bool, String>;

    /// Returns the counters of all passes, by the names of [`tunesmith_core::counters`].
    fn readings(&mut self) -> Result<BTreeMap<String, f64>, String>;
}

/// A program that reads the counters of a worker which runs under it.
pub trait OutsideProfiler: Send {
    /// Returns the program's name, for messages.
    fn name(&self) -> &'static str;

    /// Returns the command line up to the worker. The program writes its log to `log`.
    fn command(&self, log: &Path) -> Vec<String>;

    /// Returns the counters in the text of a log.
    ///
    /// # Errors
    /// The reason why there are no counters.
    fn read(&self, log: &str) -> Result<BTreeMap<String, f64>, String>;
}

/// The worker's side of a backend: one device, and the programs of one configuration at a time.
pub trait Session {
    /// Allocates `bytes` of memory, aligned to 4096 bytes, for the life of the session.
    fn allocate(&mut self, bytes: usize, memory: Memory) -> Result<BufferId, Fault>;

    /// Describes a buffer: the name of its argument, its alignment in bytes, and whether it keeps
    /// its contents when buffers are [placed](Self::place). Its present contents are lost.
    fn describe(&mut self, _buffer: BufferId, _name: &str, _align: usize, _keeps: bool) -> Result<(), Fault> {
        Ok(())
    }

    /// Places all buffers for the next launches. Contents are lost, except of buffers that keep
    /// them. Sessions whose memory is not guarded do nothing.
    fn place(&mut self, _placement: Placement) {}

    /// Writes `data` into a buffer, from byte `offset` on.
    fn write(&mut self, buffer: BufferId, offset: usize, data: &[u8]) -> Result<(), Fault>;

    /// Reads a buffer, from byte `offset` on.
    fn read(&mut self, buffer: BufferId, offset: usize, into: &mut [u8]) -> Result<(), Fault>;

    /// Shows a range of a buffer's bytes, piece by piece, in order.
    fn view(&mut self, buffer: BufferId, range: Range<usize>, see: &mut dyn FnMut(&[u8])) -> Result<(), Fault> {
        self.view_through(&mut vec![0; PIECE.min(range.len())], buffer, range, see)
    }

    /// Shows a range of a buffer's bytes, for which it reads them into `staging`, as much at a time as fits. `staging`
    /// may be empty only if the range is.
    fn view_through(
        &mut self,
        staging: &mut [u8],
        buffer: BufferId,
        range: Range<usize>,
        see: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Fault> {
        let seen = range.clone().step_by(staging.len().max(1)).try_for_each(|offset| {
            let length = staging.len().min(range.end - offset);
            let piece = &mut staging[..length];
            self.read(buffer, offset, piece)?;
            see(piece);
            Ok(())
        });
        // Kernels of some drivers share this process. They must not find the results of others.
        let used = staging.len().min(range.len());
        std::hint::black_box(&mut staging[..used]).fill(0);
        seen
    }

    /// Returns the size in bytes of the guard zones around a buffer, in which stray writes are
    /// found. Where memory is scarce, zones may be smaller.
    fn guard_zone(&self) -> usize {
        1 << 20
    }

    /// Returns true if [`copy`](Self::copy) can be called.
    fn can_copy(&self) -> bool {
        false
    }

    /// Copies `bytes` from `offset` on from one buffer to the same place of another. Later launches
    /// see the copy.
    fn copy(&mut self, _from: BufferId, _to: BufferId, _offset: usize, _bytes: usize) -> Result<(), Fault> {
        Err(Fault::Failed("this device does not copy buffers".to_owned()))
    }

    /// Returns true if the device has local memory of its own. Otherwise local memory is an
    /// ordinary buffer.
    fn has_local_memory(&self) -> bool;

    /// Has the device's local memory hold repetitions of `word` at the start of every launch from now on, as far as
    /// launches can find it. `None` leaves it as it is. Sessions that cannot do so, or whose local memory is an
    /// ordinary buffer, do nothing.
    fn fill_local(&mut self, _word: Option<u32>) {}

    /// Returns the reason why local memory was not filled for a launch that uses it.
    fn unfilled(&self) -> Option<&str> {
        None
    }

    /// Begins a job. If its counters will be read (`profile`), they are opened before user code can
    /// start threads.
    fn begin(&mut self, _profile: bool) {}

    /// Loads the programs of a configuration. Replaces those loaded before.
    fn load(&mut self, programs: &[&Program]) -> Result<(), Fault>;

    /// Returns a loaded program's use of the device. Empty if the driver does not report it.
    fn resources(&mut self, _program: usize, _launch: &Launch<'_>) -> Result<Resources, Fault> {
        Ok(Resources::new())
    }

    /// Runs the loaded program at position `program` as often as `launch` says, and waits for the
    /// end. Returns the duration of the launches alone. Calls `started` as close as possible to the
    /// start of the kernel itself, because the driver's work before that has a limit of its own.
    fn launch(&mut self, program: usize, launch: &Launch<'_>, started: &mut dyn FnMut()) -> Result<Duration, Fault>;

    /// Returns a digest of the machine code that the loaded program at position `program` ran, if only the driver knows
    /// where it is.
    fn code(&self, _program: usize) -> Option<String> {
        None
    }

    /// Returns true if [`launch`](Self::launch) can repeat launches in a group, whose time has no
    /// cost of starting each of them.
    fn can_group(&self) -> bool {
        false
    }

    /// Begins to profile. Until the profiler is dropped, only the profiled launches run.
    ///
    /// # Errors
    /// The counters cannot be read. The text gives the reason and the remedy.
    fn profiler(&mut self) -> Result<Box<dyn Profiler>, String> {
        Err("the device gave no counters; those of CUDA devices can be read, and recordings may have them".to_owned())
    }

    /// Returns the meter that watches the device at work.
    ///
    /// # Errors
    /// The device has no meter. The text gives the reason.
    fn meter(&mut self) -> Result<Box<dyn Meter>, String> {
        Err("this device does not report its energy; CUDA devices do, through NVML".to_owned())
    }

    /// Fills the caches with other data.
    fn flush_caches(&mut self) -> Result<(), Fault>;

    /// Ends the use of the programs. A session may keep them loaded for a later configuration.
    fn unload(&mut self);
}
