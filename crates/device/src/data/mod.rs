//! The data of a problem: made once, kept as files, from which workers restore their buffers.
//!
//! Files, because a kernel that writes where it should not can spoil all memory of its process but
//! not these.

mod dataset;
mod digest;
mod file;
mod fill;
pub(crate) mod layout;
mod npy;
mod scratch;

pub use dataset::contents;
pub use fill::Given;

pub(crate) use dataset::{DataSet, passed};
pub(crate) use digest::{Fields, hex};
pub(crate) use scratch::Scratch;
