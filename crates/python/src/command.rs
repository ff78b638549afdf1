//! The command `tunesmith`, and the interpreter as a worker.

use crate::error::entry;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;
use tunesmith::device::worker::{WorkerCommand, enter_with};

/// The code that makes an interpreter a worker. Its arguments are the folder of this module, and the
/// arguments of a worker. Python's own handling of Ctrl-C and of files that grow too large would
/// reach the kernels.
const ENTER: &str = "import sys, _signal
for number in (_signal.SIGINT, _signal.SIGXFSZ): _signal.signal(number, _signal.SIG_DFL)
sys.path.insert(0, sys.argv[1])
import _native
_native.enter_worker(sys.argv[2:])";

/// Returns the command that starts `python` as a worker, with this module from `folder`.
///
/// The interpreter is isolated (`-I`) and imports no packages (`-S`): it starts faster, and no code of
/// the user's runs before the sandbox.
pub(crate) fn worker(python: PathBuf, folder: &str) -> WorkerCommand {
    WorkerCommand::program(python).arguments(["-I", "-S", "-c", ENTER, folder])
}

/// Serves as a worker and never returns, if `arguments` are those of a worker.
#[pyfunction]
pub(crate) fn enter_worker(arguments: Vec<String>) {
    enter_with(arguments);
}

/// Runs the command `tunesmith` with these arguments. Returns the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>, python: PathBuf, folder: &str) -> PyResult<u8> {
    entry(|| {
        let worker = worker(python, folder);
        let arguments = std::iter::once(OsString::from("tunesmith")).chain(arguments);
        Ok(py.detach(|| tunesmith_cli::run(arguments, worker)))
    })
}
