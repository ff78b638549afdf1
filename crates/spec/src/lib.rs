//! Defines what a problem is: its parts as values, checked against each other.
//!
//! A front door (a file of some format, or calls of a program) makes a [`Draft`]: the parts, each of its own type.
//! [`ProblemSpec::new`] checks them against each other, and evaluates what depends on the sizes alone. Its faults name
//! parts ([`Key`]); the front door knows where they stand ([`Places`]) and makes [`Diagnostic`]s of them.

mod arguments;
mod checks;
mod construction;
mod definitions;
mod diagnostic;
mod draft;
mod fault;
mod input_checks;
mod inputs;
mod kernel_spec;
mod kernels;
mod limit;
mod measure;
mod metrics;
mod nest;
mod nest_data;
pub mod nests;
mod options;
mod parameters;
mod places;
mod problem_spec;
mod setting;
mod subject;
mod tuning;
mod values;
mod verify;

pub use definitions::{Definitions, EFFICIENCY, Known, MEAN, TIME, Yielded, measured, printed, yielded};
pub use diagnostic::{Diagnostic, Level, Located, Messages, ProblemError, SourceFile};
pub use draft::{
    AlternativeDraft, AlternativesDraft, ArgumentDraft, ArgumentKindDraft, Bounds, CompareDraft, Draft, FurtherDraft,
    InputSizeDraft, InputsDraft, KernelDraft, NestDraft, ParameterDraft, RangeDraft, SettingDraft, SpaceDraft,
    SubjectDraft, ValuesDraft, VerifyDraft, WorkDraft, number_for_truth,
};
pub use fault::{Fault, Faults, Key};
pub use inputs::{Input, InputRun, Inputs, MOST_INPUTS};
pub use kernels::Versions;
pub use limit::Limit;
pub use measure::Measure;
pub use metrics::check_metrics;
pub use nest::NestKernel;
pub use options::{LANGUAGES, NO_LANGUAGE, Options};
pub use parameters::remedy;
pub use places::{Place, Places};
pub use problem_spec::{Further, Keys, ProblemSpec};
pub use setting::{DeviceSetting, SettingValues};
pub use subject::Subject;
pub use tuning::{GridTable, MOST_SAMPLES, MOST_WARMUPS, Tuning};
