//! What backends share whose kernels are compiled: the text that is compiled, the processes in which drivers do it, and
//! what their answers mean.

mod functions;
mod task;
mod text;
mod verdict;
mod workers;
mod workshop;

pub(crate) use functions::{Function, functions};
pub(crate) use task::{CompileTask, Compiled, Made};
pub(crate) use text::{Fields, SourceText, defines, include_folders};
pub(crate) use verdict::Verdict;
pub(crate) use workers::{CompileWorkers, Outcome};
pub(crate) use workshop::{Workshop, launchable};
