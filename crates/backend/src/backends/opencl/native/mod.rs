//! The worker's side: the calls into the system's drivers.

mod binding;
mod compile;
mod describe;
mod failure;
mod image;
mod local_fill;
mod mapped;
mod session;

pub(crate) use compile::Compiler;
pub(crate) use describe::describe_all;
pub(crate) use session::open;
