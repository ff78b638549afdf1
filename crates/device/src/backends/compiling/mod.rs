//! What backends share whose kernels are compiled: the text that is compiled, the processes in
//! which drivers do it, and what their answers mean.

mod functions;
mod task;
mod text;
mod verdict;
mod workshop;

pub(crate) use functions::{FunctionDefinition, functions};
pub(crate) use task::{CompileOutcome, CompileService, Compiled};
pub(crate) use text::{SourceText, defines, include_folders};
pub(crate) use verdict::CompileVerdict;
pub(crate) use workshop::{Workshop, launchable};
