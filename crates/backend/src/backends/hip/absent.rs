//! Replaces the worker's side in builds without the Cargo feature `hip`.

use crate::backends::compiling::Compiled;
use crate::backends::gpu::{GpuDevice, GpuTask};
use crate::backends::{Absent, Session};
use crate::host::HipSetup;

fn absent() -> Absent {
    Absent::feature("HIP", "hip")
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
pub(crate) fn describe_all(_: &HipSetup) -> Result<Vec<GpuDevice>, Absent> {
    Err(absent())
}

/// Answers that the backend is absent.
pub(crate) fn describe_architecture(_: &HipSetup, _: &str) -> Result<GpuDevice, Absent> {
    Err(absent())
}

/// Answers that the backend is absent.
pub(crate) fn open(_: &HipSetup, _: usize) -> Result<Box<dyn Session>, String> {
    Err(absent().reason)
}
