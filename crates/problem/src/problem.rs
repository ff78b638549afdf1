//! The problem to tune, with its kernels, tuning parameters, arguments and settings.

use crate::command::CommandPlaces;
use crate::diagnostic::{Diagnostic, Level, ProblemError, SourceFile};
use crate::inputs::Inputs;
use crate::kernel::KernelPlaces;
use crate::limit::Limit;
use crate::nest::NestKernel;
use crate::setting::DeviceSetting;
use crate::tuning::Tuning;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tunesmith_core::Judging;
use tunesmith_device::{Argument, CommandSpec, Kernel, Policy, Verify};
use tunesmith_space::{Constraint, Expr, Parameter, Space, Value, lookup};

/// A problem: kernels, their tuning parameters, their arguments, and the settings for tuning them.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its name.
    pub name: String,
    /// Named numbers for every expression, after overrides on the command line.
    pub sizes: Vec<(String, Value)>,
    /// Floating-point operations of one launch, as an expression over sizes and parameters.
    pub flops: Option<Expr>,
    /// Bytes that one launch moves, as an expression over sizes and parameters.
    pub bytes: Option<Expr>,
    /// Metrics that users define: names and expressions over measured values.
    pub metrics: Vec<(String, String)>,
    /// The limits, in the user's order. A correct configuration that breaks one is infeasible.
    pub limits: Vec<Limit>,
    /// The tuning parameters, in the user's order.
    pub parameters: Vec<Parameter>,
    /// The tuning parameters that set the device.
    pub(crate) settings: Vec<DeviceSetting>,
    /// The constraints, in the user's order.
    pub constraints: Vec<Constraint>,
    /// The parameter that chooses among alternative kernels, if there are any.
    pub choice: Option<String>,
    /// The kernels, in the order in which they run. A problem without kernels can be tuned on
    /// synthetic devices only.
    pub kernels: Vec<Kernel>,
    /// For each kernel, the same one in the further languages of its list. Empty for a problem that
    /// is not read from a document.
    pub(crate) other_kernels: Vec<Vec<Kernel>>,
    /// The loop nest that the kernel is generated from, if any.
    pub nest: Option<NestKernel>,
    /// The command to tune in place of kernels.
    pub command: Option<CommandSpec>,
    /// The arguments of all kernels.
    pub arguments: Vec<Argument>,
    /// The rules for verifying outputs.
    pub verify: Verify,
    /// The problem at the further sizes at which a winner is verified, each with its text for
    /// messages.
    pub(crate) verified_at: Vec<(String, Problem)>,
    /// The default settings for tuning the problem.
    pub tuning: Tuning,
    /// The inputs that `tune --inputs` tunes it for.
    pub inputs: Option<Inputs>,
    /// The rules for measuring configurations.
    pub policy: Policy,
    /// The rules for comparing configurations.
    pub judging: Judging,
    /// Warnings about the file.
    pub warnings: Vec<Diagnostic>,
    /// The reasons for which the kernels of a T1 file cannot be run, each also among the warnings.
    /// Without kernels, the space can still be tuned on synthetic devices.
    pub(crate) obstacles: Vec<Diagnostic>,
    /// The file.
    pub source_file: SourceFile,
    pub(crate) places: Places,
    /// The folder with the sources and data of a problem made in code.
    pub(crate) texts: Option<Arc<TempDir>>,
    /// The space, if it was built before the problem.
    pub(crate) built: Option<Space>,
}

/// The places of a problem's parts in its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) constraints: Vec<Range<usize>>,
    pub(crate) limits: Vec<Range<usize>>,
    /// The names of metrics.
    pub(crate) metrics: Vec<Range<usize>>,
    pub(crate) parameters: Vec<Range<usize>>,
    pub(crate) default: Range<usize>,
    pub(crate) grid: Range<usize>,
    pub(crate) kernels: Vec<KernelPlaces>,
    pub(crate) reference: Range<usize>,
    pub(crate) arguments: Vec<Range<usize>>,
    pub(crate) command: CommandPlaces,
}

impl Problem {
    /// Returns an empty problem, called by the name of its file.
    pub(crate) fn of(source_file: SourceFile) -> Self {
        let stem = source_file.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Self {
            name: stem.unwrap_or_default(),
            sizes: Vec::new(),
            flops: None,
            bytes: None,
            metrics: Vec::new(),
            limits: Vec::new(),
            parameters: Vec::new(),
            settings: Vec::new(),
            constraints: Vec::new(),
            choice: None,
            kernels: Vec::new(),
            other_kernels: Vec::new(),
            nest: None,
            command: None,
            arguments: Vec::new(),
            verify: Verify::default(),
            verified_at: Vec::new(),
            tuning: Tuning::default(),
            inputs: None,
            policy: Policy::default(),
            judging: Judging::default(),
            warnings: Vec::new(),
            obstacles: Vec::new(),
            source_file,
            places: Places::default(),
            texts: None,
            built: None,
        }
    }

    /// Returns the problem of searching `space`, called `name`. It has no kernels, so that only a
    /// device that needs none tunes it: a function, a formula or a recording. `sizes` are named
    /// numbers that the journal keeps.
    ///
    /// ```
    /// use tunesmith_problem::Problem;
    /// use tunesmith_space::{Parameter, Space, Value};
    ///
    /// let space = Space::builder().parameter(Parameter::new("TILE", [8, 16].map(Value::Int))?).build()?;
    /// let problem = Problem::of_space("tiles", &space, Vec::new());
    /// assert_eq!(problem.space(&[])?.space.digest(), space.digest());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_space(name: impl Into<String>, space: &Space, sizes: Vec<(String, Value)>) -> Self {
        let name = name.into();
        Self {
            parameters: space.parameters().to_vec(),
            constraints: space.constraints().to_vec(),
            sizes,
            places: Places {
                constraints: vec![0..0; space.constraints().len()],
                parameters: vec![0..0; space.parameters().len()],
                ..Places::default()
            },
            built: Some(space.clone()),
            ..Self::of(SourceFile::new(name, ""))
        }
    }

    /// Adds a constraint, such as a function of the program, which no file can have.
    #[must_use]
    pub fn with_constraint(mut self, constraint: Constraint) -> Self {
        self.constraints.push(constraint);
        self.places.constraints.push(0..0);
        self
    }

    /// Returns the folder that relative paths in the file start from.
    pub(crate) fn folder(&self) -> &Path {
        self.source_file.folder()
    }

    /// Returns the default path of results: beside the problem's file, with `suffix` in place of
    /// its own. A problem made in code has them in its temporary folder and removes them with it.
    pub fn beside(&self, suffix: &str) -> PathBuf {
        match &self.texts {
            Some(texts) => texts.path().join(format!("{}.{suffix}", self.name)),
            None => self.source_file.path.with_extension(suffix),
        }
    }

    /// Returns the value of a size.
    pub fn size(&self, name: &str) -> Option<Value> {
        lookup(&self.sizes, name)
    }

    /// Returns an error about `span` of the file.
    pub fn error(&self, span: Range<usize>, text: String, remedy: Option<String>) -> ProblemError {
        let message = self.source_file.diagnostic(Level::Error, span, text, remedy);
        ProblemError { messages: vec![message], source_file: self.source_file.clone() }
    }
}
