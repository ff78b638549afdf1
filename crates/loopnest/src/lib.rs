//! Kernels as loop nests: loops with affine bounds, arrays, instructions.
//!
//! A nest says what a kernel computes apart from how a device runs it. It is read from text (`text.parse::<Nest>()`) or built
//! with handles ([`NestBuilder`]), transformed without a change of meaning ([`Recipe`]), scheduled with the barriers it
//! needs ([`Schedule`]), run naively to know its meaning ([`interpret`]), and its operations are counted as functions of
//! its sizes ([`count`]).
//!
//! ```
//! use tunesmith_loopnest::{Data, LaneOrder, Nest, interpret};
//!
//! let nest = "
//!     nest rows
//!     sizes n
//!     array a[n, n]: f32
//!     array sums[n]: f32
//!     temporary acc: f32
//!     {[i, j]: 0 <= i < n and 0 <= j <= i}
//!     acc = 0.0            @ i
//!     acc = acc + a[i, j]  @ i, j
//!     sums[i] = acc        @ i
//! ".parse::<Nest>()?;
//! let mut data = Data::filled(&nest, &[8], 1)?;
//! let tally = interpret::run(&nest, &[8], &mut data, LaneOrder::Ascending)?;
//! assert_eq!(tally.runs, [8, 36, 8]);
//! # Ok::<(), tunesmith_loopnest::NestError>(())
//! ```

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
    AXES, Access, Affine, Array, ArrayId, Assumptions, AxisOrder, Bound, Congruence, Direction, Expr, Function,
    Instruction, Layout, Lookup, LookupId, Loop, LoopId, Memory, Nest, NestBuilder, Operation, Operator, Residency,
    SizeId, Tag, Type, Var,
};
pub use schedule::{Schedule, Step};
pub use transform::{Amount, Parameter, Recipe, RecipeStep, Transformation, When};
