//! The integration tests of this crate, in one program: a module for each subject.

mod codegen;
mod common;
mod count_vectors;
mod counting;
mod data_bounds;
mod formulas;
#[path = "common/items.rs"]
mod items;
#[path = "common/limits.rs"]
mod limits;
mod lookups;
mod meaning;
mod modern;
#[path = "common/named.rs"]
mod named;
#[path = "common/outcome.rs"]
mod outcome;
mod precompute;
#[path = "common/program.rs"]
mod program;
#[path = "common/steps.rs"]
mod steps;
#[path = "common/sums.rs"]
mod sums;
mod text;
mod transformations;
#[path = "common/transformed.rs"]
mod transformed;
#[path = "common/values.rs"]
mod values;
mod waiting;
