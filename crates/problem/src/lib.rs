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
mod diagnostic;
mod directives;
mod document;
mod element_type;
mod failure;
mod grid;
mod identity;
mod input_sizes;
mod inputs;
mod kernel_spec;
mod limit;
mod load;
mod metric;
pub mod nests;
mod options;
mod places;
mod problem;
mod space;
mod spec;
pub mod starter;
mod t1;
mod tuned_source;
mod tuning;

pub use builder::{Alternative, Arg, Code, Contents, ProblemBuilder};
pub use configuration::configuration;
pub use constraint_report::ConstraintReport;
pub use device_settings::{Settled, settle};
pub use diagnostic::{Diagnostic, Level, ProblemError, SourceFile};
pub use inputs::{Input, InputRun, Inputs};
pub use limit::Limit;
pub use metric::{Limits, Metric, MetricObjective, SearchObjective};
pub use problem::Problem;
pub use space::ProblemSpace;
pub use spec::definitions::{Definitions, Yielded};
pub use spec::{Key, NestKernel, ProblemSpec};
pub use tuned_source::TunedSource;
pub use tunesmith_core::AnyError as Error;
pub use tuning::{GridTable, Tuning};
