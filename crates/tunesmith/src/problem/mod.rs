//! Problem files: what is tuned.

mod arguments;
mod command;
mod constraint_report;
mod diagnostic;
mod directives;
mod document;
mod grid;
mod inputs;
mod judging;
mod kernel;
mod kernel_spec;
mod nest;
mod nest_data;
mod parameters;
mod space;
mod t1;
mod tree;
mod tuning;

pub(crate) use nest::NestKernel;

pub use constraint_report::ConstraintReport;
pub use diagnostic::{Diagnostic, Level, ProblemError, SourceFile};
pub use inputs::{Input, InputRun, Inputs};
pub use space::ProblemSpace;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use tunesmith_core::Judging;
use tunesmith_device::{Argument, CommandSpec, Kernel, Policy, Verify};
use tunesmith_space::{Constraint, Expr, Parameter, Value};

/// A problem: kernels, their tuning parameters, their arguments and how to tune it.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its name.
    pub name: String,
    /// Sizes: named numbers for every expression, command-line overrides applied.
    pub sizes: Vec<(String, Value)>,
    /// Floating-point operations of one launch, as an expression over sizes and parameters.
    pub flops: Option<Expr>,
    /// Bytes that one launch moves, as an expression over sizes and parameters.
    pub bytes: Option<Expr>,
    /// Metrics that users define: names and expressions over what is measured.
    pub metrics: Vec<(String, String)>,
    /// The tuning parameters, in the user's order.
    pub parameters: Vec<Parameter>,
    /// The constraints, in the user's order.
    pub constraints: Vec<Constraint>,
    /// The kernels, in the order in which they run: a problem without can be tuned on synthetic devices only.
    pub kernels: Vec<Kernel>,
    /// The loop nest that the kernel is made of, if it is one.
    pub(crate) nest: Option<NestKernel>,
    /// The command that is tuned in place of kernels.
    pub command: Option<CommandSpec>,
    /// The arguments of all kernels.
    pub arguments: Vec<Argument>,
    /// How outputs are verified.
    pub verify: Verify,
    /// How the problem is tuned unless the user says otherwise.
    pub tuning: Tuning,
    /// The inputs that `tune --inputs` tunes it for.
    pub inputs: Option<Inputs>,
    /// How configurations are measured.
    pub policy: Policy,
    /// How configurations are compared.
    pub judging: Judging,
    /// What is odd about the file.
    pub warnings: Vec<Diagnostic>,
    /// What keeps the kernels of a T1 file from being run, each also among the warnings: without kernels the space is
    /// still good for synthetic devices.
    obstacles: Vec<Diagnostic>,
    /// The file.
    pub source_file: SourceFile,
    places: Places,
}

/// Where the parts of a problem stand in its file.
#[derive(Clone, Debug, Default)]
struct Places {
    constraints: Vec<Range<usize>>,
    parameters: Vec<Range<usize>>,
    default: Range<usize>,
    grid: Range<usize>,
    kernels: Vec<kernel::KernelPlaces>,
    reference: Range<usize>,
    arguments: Vec<Range<usize>>,
    command: command::CommandPlaces,
}

/// How a problem is tuned unless the user says otherwise.
#[derive(Clone, Debug, Default)]
pub struct Tuning {
    /// The strategy, as users write it.
    pub strategy: Option<String>,
    /// The stop condition, as users write it.
    pub stop: Option<String>,
    /// What is optimised, as users write it.
    pub objective: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// How many requests the strategy may have in flight.
    pub room: Option<usize>,
    /// The configuration that speed-ups refer to: parameters and values; unnamed ones take their first value.
    pub default: Option<Vec<(String, Value)>>,
    /// What the strategy `grid` evaluates: tables of parameters with the values they take, each all combinations; unnamed
    /// parameters as in the default configuration.
    pub grid: Vec<GridTable>,
}

/// A table of a grid: parameters with the values they take.
pub type GridTable = Vec<(String, Vec<Value>)>;

impl Problem {
    /// A problem that says nothing, called by the name of its file.
    fn of(source_file: SourceFile) -> Self {
        let stem = source_file.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Self {
            name: stem.unwrap_or_default(),
            sizes: Vec::new(),
            flops: None,
            bytes: None,
            metrics: Vec::new(),
            parameters: Vec::new(),
            constraints: Vec::new(),
            kernels: Vec::new(),
            nest: None,
            command: None,
            arguments: Vec::new(),
            verify: Verify::default(),
            tuning: Tuning::default(),
            inputs: None,
            policy: Policy::default(),
            judging: Judging::default(),
            warnings: Vec::new(),
            obstacles: Vec::new(),
            source_file,
            places: Places::default(),
        }
    }

    /// Reads the problem file at `path`, in TOML, in Kernel Tuner's T1 format (JSON), or a kernel source with ATF's
    /// directives, with the sizes in `sizes` in place of the file's own.
    ///
    /// Reads the file alone: neither kernel nor data files, no space is built. Of a T1 file's kernel it looks whether
    /// it is there.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each message with its place and remedy.
    pub fn load(path: &Path, sizes: &[(String, Value)]) -> Result<Self, ProblemError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let remedy = "`tunesmith init` makes a problem to start from".to_string();
            ProblemError::unreadable(path, format!("cannot read the problem file: {error}"), Some(remedy))
        })?;
        let source_file = SourceFile { path: path.to_path_buf(), text: Arc::from(text) };
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("toml") => document::read(source_file, sizes),
            Some("json") => t1::read(source_file, sizes),
            _ if directives::present(&source_file.text) => directives::read(source_file, sizes),
            _ => {
                let remedy =
                    "problem files are TOML (.toml), Kernel Tuner's T1 (.json), or kernels with ATF's directives"
                        .to_string();
                Err(ProblemError::unreadable(path, "this is not a problem file".to_string(), Some(remedy)))
            }
        }
    }

    /// The folder that relative paths in the file start from.
    pub(crate) fn folder(&self) -> &Path {
        folder_of(&self.source_file.path)
    }

    /// The value of a size.
    pub fn size(&self, name: &str) -> Option<Value> {
        lookup(&self.sizes, name)
    }

    /// An error about `span` of the file.
    pub(crate) fn error(&self, span: Range<usize>, text: String, remedy: Option<String>) -> ProblemError {
        let message = self.source_file.diagnostic(Level::Error, span, text, remedy);
        ProblemError { messages: vec![message], source_file: self.source_file.clone() }
    }
}

/// The folder of a file; the present one for a bare name.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => Path::new("."),
    }
}

/// The value of `name` in a list of pairs.
pub(crate) fn lookup(pairs: &[(String, Value)], name: &str) -> Option<Value> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}
