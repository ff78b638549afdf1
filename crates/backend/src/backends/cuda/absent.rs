//! Replaces the worker's side in builds without the Cargo feature `cuda`.

use crate::backends::compiling::Compiled;
use crate::backends::cuda::{ChipCounters, CountersTask, NoCounters};
use crate::backends::gpu::{GpuDevice, GpuTask};
use crate::backends::{Absent, Session};
use crate::host::CudaSetup;

fn absent() -> Absent {
    Absent::feature("CUDA", "cuda")
}

/// A compiler that compiles nothing.
#[derive(Default)]
pub(crate) struct Compiler;

impl Compiler {
    /// Answers that the backend is absent.
    pub(crate) fn compile(&mut self, _: &GpuTask) -> Compiled {
        Compiled::Unusable(absent().reason)
    }
}

/// Answers that the backend is absent.
pub(crate) fn describe_all(_: &CudaSetup) -> Result<Vec<GpuDevice>, Absent> {
    Err(absent())
}

/// Answers that the backend is absent.
pub(crate) fn describe_architecture(_: &CudaSetup, _: &str) -> Result<GpuDevice, Absent> {
    Err(absent())
}

/// Answers that the backend is absent.
pub(crate) fn open(_: &CudaSetup, _: usize) -> Result<Box<dyn Session>, String> {
    Err(absent().reason)
}

/// Answers that the backend is absent.
pub(crate) fn resolve(_: &CountersTask) -> Result<Vec<ChipCounters>, NoCounters> {
    Err(NoCounters::Absent(absent()))
}
