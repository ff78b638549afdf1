//! Defines problems: kernels to tune, with all that tuning needs.
//!
//! A [`Problem`] holds kernels, their tuning parameters and constraints, their arguments, a
//! reference and the settings of its tuning. [`Problem::load`] reads one from a file: TOML, Kernel
//! Tuner's T1, or a kernel source with ATF's directives. [`Problem::builder`] makes one in code.
//! [`Problem::space`] builds the search space. [`Problem::kernel_spec`] returns the form that a
//! device compiles and runs.

mod builder;
mod configuration;
mod constraint_report;
mod device_settings;
mod failure;
mod grid;
mod identity;
mod input_sizes;
mod kernel_spec;
mod load;
mod metric;
mod problem;
mod space;
pub mod starter;
mod tuned_source;

pub use builder::{Alternative, Arg, Code, Contents, ProblemBuilder};
pub use configuration::configuration;
pub use constraint_report::ConstraintReport;
pub use device_settings::{Settled, settle};
pub use metric::{Limits, Metric, MetricObjective, SearchObjective};
pub use problem::Problem;
pub use space::ProblemSpace;
pub use tuned_source::TunedSource;
pub use tunesmith_core::AnyError as Error;
pub use tunesmith_spec::{
    Definitions, Diagnostic, GridTable, Input, InputRun, Inputs, Key, Level, Limit, NestKernel, ProblemError,
    ProblemSpec, SourceFile, Tuning, Yielded, nests,
};
