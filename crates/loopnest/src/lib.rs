//! Kernels as loop nests: loops with affine bounds, arrays and instructions.
//!
//! A nest states what a kernel computes. It leaves open how a device runs it. A [`Recipe`]
//! transforms a nest without changing its meaning. Only a reduction may round differently. Three
//! modules use the result:
//! - [`codegen`] writes OpenCL, CUDA and C.
//! - [`count`] counts the operations as functions of the sizes.
//! - [`interpret`] runs the nest naively and so defines its meaning.
//!
//! ```
//! use tunesmith_loopnest::{Data, Dialect, LaneOrder, Recipe, codegen, count, interpret};
//!
//! // Sums of the rows of a triangle; the transformations give each work-group 64 rows.
//! let recipe: Recipe = "
//!     nest rows
//!     sizes n
//!     assume n > 0
//!     array a[n, n]: f32
//!     array sums[n]: f32
//!     temporary acc: f32
//!     {[i, j]: 0 <= i < n and 0 <= j <= i}
//!     acc = 0.0            @ i
//!     acc = acc + a[i, j]  @ i, j
//!     sums[i] = acc        @ i
//!     parameter width = 64
//!     split i width -> block, lane
//!     tag block group.0
//!     tag lane local.0
//! ".parse()?;
//! let nest = recipe.apply(&[("width", 32)])?;
//! assert_eq!(nest.group_counts(&[100]), [4, 1, 1]);
//!
//! // The counts are polynomials in the sizes: evaluating them costs the same for any size.
//! let counts = count::count(&nest)?;
//! let add = counts.properties().iter().position(|property| property.to_string() == "op:f32:add");
//! assert_eq!(counts.evaluate(&[1000])?[add.unwrap()], 500_500);
//!
//! // The interpreter agrees, one operation after the other.
//! let mut data = Data::filled(&nest, &[8], 1)?;
//! let tally = interpret::run(&nest, &[8], &mut data, LaneOrder::Ascending)?;
//! assert_eq!(tally.runs, [8, 36, 8]);
//!
//! let code = codegen::source(&nest, Dialect::OpenCl)?;
//! assert!(code.text.contains("__kernel"));
//! # Ok::<(), tunesmith_loopnest::NestError>(())
//! ```
//!
//! A program builds nests with handles instead of text: see [`NestBuilder`]. [`Schedule`] shows the
//! order of execution and the barriers that it needs. [`kernels`] holds the measurement kernels of
//! the cost model.

pub mod blocks;
pub mod codegen;
pub mod count;
mod error;
pub mod interpret;
mod ir;
pub mod kernels;
mod lookups;
mod number;
mod polyhedra;
mod print;
pub mod schedule;
mod text;
mod transform;

pub use codegen::{Code, CodeParameter, Dialect};
pub use count::{Counts, Issue, Lanes, Modern, Outside, Property, Stride};
pub use error::{NestError, Place};
pub use interpret::{Data, LaneOrder, Tally, Value};
pub use ir::{
    AXES, Access, Affine, Array, ArrayId, Assumptions, AxisOrder, Bound, Comparison, Congruence, Direction, Expr,
    Function, Instruction, Layout, Lookup, LookupId, Loop, LoopId, Memory, Nest, NestBuilder, Operation, Operator,
    Residency, SizeId, Tag, Type, Var,
};
pub use schedule::{Schedule, Step};
pub use transform::{Amount, Parameter, Recipe, RecipeStep, Transformation, When};
