//! What NVIDIA GPUs tell of a kernel besides its time. All libraries are opened when they are first needed.

mod cupti;

pub use cupti::{ChipCounters, ResolvedCounter, counters};

pub(crate) use cupti::{CountersTask, NoCounters, resolve};
