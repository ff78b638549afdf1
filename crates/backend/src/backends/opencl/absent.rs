//! Replaces the worker's side in builds without the Cargo feature `opencl`.

use crate::backends::compiling::Compiled;
use crate::backends::opencl::{OpenClDevice, OpenClTask};
use crate::backends::{Absent, Session};

fn absent() -> Absent {
    Absent::feature("OpenCL", "opencl")
}

/// A compiler that compiles nothing.
#[derive(Default)]
pub(crate) struct Compiler;

impl Compiler {
    /// Answers that the backend is absent.
    pub(crate) fn compile(&mut self, _: &OpenClTask, _: &mut dyn FnMut()) -> Compiled {
        Compiled::Unusable(absent().reason)
    }
}

/// Answers that the backend is absent.
pub(crate) fn describe_all() -> Result<Vec<OpenClDevice>, Absent> {
    Err(absent())
}

/// Answers that the backend is absent.
pub(crate) fn open(_: usize) -> Result<Box<dyn Session>, String> {
    Err(absent().reason)
}
