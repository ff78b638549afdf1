//! The representation of a kernel.

mod affine;
mod array;
mod builder;
pub(crate) mod check;
mod expr;
mod hardware;
mod instruction;
mod loops;
mod nest;
mod operation;
mod types;

pub use affine::{Affine, LookupId, LoopId, SizeId, Var};
pub use array::{Array, AxisOrder, Layout, Memory};
pub use builder::NestBuilder;
pub use expr::{Access, ArrayId, Comparison, Expr, Function, Operator, Type};
pub use hardware::{AXES, Residency};
pub use instruction::{Direction, Instruction};
pub use loops::{Bound, Loop, Tag};
pub use nest::{Assumptions, Congruence, Lookup, Nest};
pub use operation::Operation;
