//! Local memory that holds something else at each launch. A kernel that reads it before it writes it finds there
//! what other kernels left, which may be right by luck: often zeros.

use crate::backends::opencl::OpenClKind;
use crate::backends::opencl::native::binding::{Binding, Value, set_argument, wait};
use crate::backends::opencl::native::describe::kind;
use crate::backends::{Fault, LaunchArgument};
use opencl3::kernel::Kernel;
use opencl3::memory::Buffer;
use opencl3::program::Program;
use tunesmith_kernel::Grid;

/// Fills local memory on every compute unit. A work-group waits until there are as many as compute units, because one
/// unit could otherwise run them all; it does not wait for long, because no driver promises to run them at once.
const SOURCE: &str = "\
kernel void tunesmith_fill_local(local volatile uint *memory, uint words, uint word, uint units,
                                 volatile global uint *begun) {
    if (get_local_id(0) == 0) {
        uint known = atomic_inc(begun) + 1;
        for (uint look = 0; look < (1u << 20) && known < units; look++)
            known = atomic_add(begun, 0u);
    }
    for (uint at = get_local_id(0); at < words; at += get_local_size(0))
        memory[at] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
}
";

/// The number of work-groups for each compute unit. Some units hold the local memory of several at a time.
const GROUPS_PER_UNIT: usize = 4;

/// The largest number of work-items of a work-group.
const ITEMS: usize = 64;

/// The bytes that are filled on a processor beyond those that a kernel uses. They cover gaps between its arrays.
const MARGIN: u64 = 64 << 10;

/// The contents of local memory at the start of each launch.
#[derive(Default)]
pub(super) struct LocalFill {
    /// The word that fills it. `None` leaves it as it is.
    pub(super) word: Option<u32>,
    /// Opened at the first launch of a kernel that uses local memory. The error is the reason why there is none.
    filler: Option<Result<Filler, String>>,
}

/// The kernel that fills local memory.
struct Filler {
    kernel: Kernel,
    /// The number of work-groups that have begun.
    begun: Buffer<u8>,
    items: usize,
    units: u32,
    /// The most bytes that a work-group can have.
    most: u64,
    _program: Program,
}

impl LocalFill {
    /// Fills the local memory that the next launch of `kernel` may find.
    pub(super) fn fill(&mut self, binding: &Binding, kernel: &Kernel, arguments: &[&LaunchArgument]) {
        let Some(word) = self.word else { return };
        let used = used(binding, kernel, arguments);
        if used == 0 {
            return;
        }
        let filler = self.filler.get_or_insert_with(|| Filler::new(binding).map_err(Fault::into_text));
        let filled = filler.as_mut().map(|filler| filler.fill(binding, word, used));
        if let Ok(Err(fault)) = filled {
            self.filler = Some(Err(fault.into_text()));
        }
    }

    /// Returns the reason why local memory was not filled.
    pub(super) fn unfilled(&self) -> Option<&str> {
        self.filler.as_ref()?.as_ref().err().map(String::as_str)
    }
}

/// Returns the bytes of local memory that a launch uses. Drivers do not count all arguments among the kernel's own.
fn used(binding: &Binding, kernel: &Kernel, arguments: &[&LaunchArgument]) -> u64 {
    let own = kernel.get_local_mem_size(binding.device.id()).unwrap_or_default();
    let passed = arguments.iter().map(|argument| match argument {
        LaunchArgument::Local(bytes) => *bytes as u64,
        _ => 0,
    });
    passed.fold(own, u64::saturating_add)
}

impl Filler {
    fn new(binding: &Binding) -> Result<Self, Fault> {
        let (device, id) = (&binding.device, binding.device.id());
        let program = binding.build(SOURCE, "").map_err(Fault::Failed)?;
        let kernel =
            Kernel::create(&program, "tunesmith_fill_local").map_err(|error| Fault::Failed(error.to_string()))?;
        // The driver may need some of it itself.
        let own = kernel.get_local_mem_size(id).unwrap_or_default();
        Ok(Self {
            begun: binding.allocate(size_of::<u32>())?,
            items: kernel.get_work_group_size(id).unwrap_or(1).clamp(1, ITEMS),
            units: device.max_compute_units().unwrap_or(1).max(1),
            most: device.local_mem_size().unwrap_or_default().saturating_sub(own),
            kernel,
            _program: program,
        })
    }

    /// Fills the memory with `word` for a kernel that uses `used` bytes.
    fn fill(&mut self, binding: &Binding, word: u32, used: u64) -> Result<(), Fault> {
        // Drivers of processors place it at the start of a thread's memory; other devices anywhere in a unit's.
        let bytes = match kind(&binding.device) {
            OpenClKind::Cpu => used.saturating_add(MARGIN).min(self.most),
            OpenClKind::Gpu | OpenClKind::Other => self.most,
        };
        let words = u32::try_from(bytes / 4).unwrap_or(u32::MAX);
        binding.fill(&mut self.begun, 0, size_of::<u32>())?;
        let values = [
            Value::Local(words as usize * 4),
            Value::Bytes(&words.to_ne_bytes()),
            Value::Bytes(&word.to_ne_bytes()),
            Value::Bytes(&self.units.to_ne_bytes()),
            Value::Memory(&self.begun),
        ];
        for (position, value) in values.iter().enumerate() {
            set_argument(&self.kernel, position, value)?;
        }
        let global = self.units as usize * GROUPS_PER_UNIT * self.items;
        let grid = Grid { global: vec![global], local: Some(vec![self.items]) };
        wait(&binding.enqueue(&self.kernel, &grid)?)
    }
}
