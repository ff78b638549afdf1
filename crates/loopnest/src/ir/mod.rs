//! The representation of a kernel.

mod affine;
mod builder;
mod expr;
mod nest;
mod types;

pub use affine::{Affine, LookupId, LoopId, SizeId, Var};
pub use builder::NestBuilder;
pub use expr::{Access, ArrayId, Expr, Function, Operator, Type};
pub use nest::{
    Array, Assumptions, AxisOrder, Bound, Congruence, Direction, Instruction, Layout, Lookup, Loop, Memory, Nest, Tag,
};
