//! Options of `tunesmith suite`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

pub(super) const SUITE_HELP: &str = "Examples:
  tunesmith suite list
  tunesmith suite check gemm coulomb3d
  tunesmith suite verify --samples 200 --device opencl
  tunesmith suite verify --compile-only sm_80,sm_90 --samples 50
  tunesmith suite tune --device c --stop \"evaluations 200\" --against openblas --out table

A suite is a folder of problems, each with an about.toml (docs/suite.md).
Exit codes of verify: 1 a configuration is wrong; of check: 2 a file is wrong.";

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// List the problems: title, paper, backends, parameters, size of the space
    List(SuiteListArgs),
    /// Check every problem file, and that its space has the stated size
    Check(SuiteCheckArgs),
    /// Sample configurations of every problem, run them, and compare with the reference
    Verify(SuiteVerifyArgs),
    /// Tune every problem: a table that a later call completes
    Tune(SuiteTuneArgs),
}

/// The problems of a suite.
#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// The problems, by name [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// The folder of the suite
    #[arg(long, value_name = "FOLDER", default_value = "suite")]
    pub(crate) suite: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteListArgs {
    #[command(flatten)]
    pub(crate) suite: SuiteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteCheckArgs {
    #[command(flatten)]
    pub(crate) suite: SuiteArgs,
    /// The device to check for: c, opencl, opencl:N, opencl:NAME, cuda, cuda:N, hip, hip:N
    /// [default: for each file one that runs it]
    #[arg(long)]
    pub(crate) device: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteVerifyArgs {
    #[command(flatten)]
    pub(crate) suite: SuiteArgs,
    /// Number of configurations of each problem, drawn uniformly
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) samples: usize,
    /// The device: c, opencl, opencl:N, opencl:NAME, cuda, cuda:N, hip, hip:N [default: one of
    /// each backend]
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// The seed of the draw
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Architectures to compile for, such as sm_90 and gfx90a, without running anything; needs no
    /// GPU
    #[arg(long, value_name = "ARCH,...", value_delimiter = ',', conflicts_with = "device")]
    pub(crate) compile_only: Vec<String>,
    /// Run the user's code without the sandbox (docs/trust.md)
    #[arg(long)]
    pub(crate) no_sandbox: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteTuneArgs {
    #[command(flatten)]
    pub(crate) suite: SuiteArgs,
    /// A device, as `tune` names it; repeat the option for more [default: one of each backend]
    #[arg(long)]
    pub(crate) device: Vec<String>,
    /// The folder of the journals and of the table; a table that is there is completed
    #[arg(long, value_name = "FOLDER", default_value = "suite-table")]
    pub(crate) out: PathBuf,
    /// The strategy of every search [default: the problem's]
    #[arg(long)]
    pub(crate) strategy: Option<String>,
    /// The stop condition of every search [default: the problem's]
    #[arg(long, value_name = "CONDITION")]
    pub(crate) stop: Option<String>,
    /// The seed of every search [default: the problem's]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Compare products of matrices and convolutions with what one would use instead: openblas (on
    /// one thread), clblast (OpenCL), cublas and cudnn (CUDA)
    #[arg(long, value_name = "LIBRARY,...", value_delimiter = ',')]
    pub(crate) against: Vec<String>,
    /// Make a row for each of a problem's inputs, where it lists them
    #[arg(long)]
    pub(crate) inputs: bool,
    /// Run the user's code without the sandbox (docs/trust.md)
    #[arg(long)]
    pub(crate) no_sandbox: bool,
}
