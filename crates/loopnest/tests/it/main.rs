//! The integration tests of this crate, in one program: a module for each subject.

mod atomics;
mod codegen;
mod common;
mod conversions;
mod count_vectors;
mod counting;
mod data_bounds;
mod formulas;
mod half;
#[path = "common/items.rs"]
mod items;
#[path = "common/limits.rs"]
mod limits;
mod lookups;
mod meaning;
mod modern;
#[path = "common/named.rs"]
mod named;
#[path = "common/order.rs"]
mod order;
#[path = "common/outcome.rs"]
mod outcome;
#[path = "common/pipelines.rs"]
mod pipelined_tiles;
mod pipelines;
mod precompute;
#[path = "common/program.rs"]
mod program;
mod reductions;
#[path = "common/reductions.rs"]
mod reductions_of_rows;
#[path = "common/rewritten.rs"]
mod rewritten;
mod rows;
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
