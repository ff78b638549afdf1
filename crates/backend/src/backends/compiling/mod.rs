//! The shared parts of backends that compile kernels: the text to compile, the processes in which
//! drivers compile, and the interpretation of their answers.

mod alias;
mod directive;
mod functions;
mod parameter;
mod raw;
mod source_files;
mod task;
mod text;
mod verdict;
mod workshop;

pub use directive::{IncludedFile, line_directive};
pub use functions::{FunctionDefinition, functions};
pub use task::{CompileOutcome, CompileService, Compiled};

pub(crate) use alias::{Aliases, NamePlace};
pub(crate) use parameter::pointee;
pub(crate) use source_files::SourceFiles;
pub(crate) use task::Made;
pub(crate) use text::{SourceText, defines, include_folders};
pub(crate) use verdict::CompileVerdict;
pub(crate) use workshop::{Workshop, launchable};
