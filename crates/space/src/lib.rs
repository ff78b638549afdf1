//! Search spaces of compute kernels: tuning parameters, constraints, and their decision diagram.
//!
//! A kernel's tuning parameters depend on each other: a work-group must divide the global size, a
//! tile must fit into local memory. The valid configurations are a small and irregular part of all
//! combinations of values. This crate stores them as a reduced decision diagram with counts. A
//! space of 10^30 configurations is built in milliseconds, counted exactly, sampled uniformly and
//! walked from neighbour to neighbour. It is never listed.
//!
//! ```
//! use tunesmith_space::{Constraint, Parameter, Space, Value, Values};
//!
//! let space = Space::builder()
//!     .parameter(Parameter::new("TILE", Values::pow2(16, 128)?)?)
//!     .parameter(Parameter::new("THREADS", Values::pow2(8, 32)?)?)
//!     .parameter(Parameter::new("VECTOR", Values::list([1, 2, 4]))?)
//!     .constant("N", Value::Int(96))
//!     .constraint(Constraint::parse("TILE % (THREADS * VECTOR) == 0 and N % TILE == 0")?)
//!     .build()?;
//!
//! assert_eq!(space.size(), 9_u32.into());
//! assert_eq!(space.cartesian_size(), 36_u32.into());
//!
//! // Every configuration has a rank, and every rank a configuration.
//! let configuration = space.configuration(&[("TILE", 32.into()), ("THREADS", 8.into())], None)?;
//! let id = space.rank(&configuration).expect("no constraint excludes it");
//! assert_eq!(space.unrank(id), configuration);
//!
//! // A configuration that a constraint excludes has no rank.
//! let excluded = space.configuration(&[("TILE", 64.into())], None)?;
//! assert_eq!(space.rank(&excluded), None);
//! assert_eq!(space.violated(&excluded).len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The search space itself is behind the default feature `spaces`. Without it, the crate provides
//! values, tuning parameters, expressions and constraints. This is enough for an application that
//! only chooses among known configurations.

pub mod alias;
#[cfg(feature = "spaces")]
mod bits;
#[cfg(feature = "spaces")]
mod compile;
mod constraint;
#[cfg(feature = "spaces")]
mod diagram;
mod error;
// Without `spaces`, parts of the expression code are unused: only compiling a space needs them.
#[cfg_attr(not(feature = "spaces"), allow(dead_code, unused_imports))]
mod expr;
#[cfg(feature = "spaces")]
mod hash;
mod hex;
#[cfg(feature = "spaces")]
mod limits;
mod named;
mod parameter;
#[cfg(feature = "spaces")]
mod space;
mod suggest;
mod user_error;
mod value;
mod values;

pub use constraint::Constraint;
#[cfg(feature = "spaces")]
pub use diagram::Blocks;
pub use error::SpaceError;
pub use expr::{Change, Course, Expr, ExprError, Name, Sign, Trend, parse_values};
pub use hex::hex;
#[cfg(feature = "spaces")]
pub use limits::Limits;
pub use named::lookup;
pub use parameter::{Parameter, of_one_kind};
#[cfg(feature = "spaces")]
pub use space::{
    Analysis, Ball, ConfigId, Configuration, ConstraintEffect, Neighbour, Neighbourhood, Neighbours, Space,
    SpaceBuilder,
};
pub use suggest::{closest, did_you_mean};
pub use user_error::{ErrorClass, UserError};
pub use value::{Value, ValueKind};
pub use values::Values;
