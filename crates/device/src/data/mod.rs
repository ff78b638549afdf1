//! The data of a problem: made once, kept as files, from which workers restore their buffers.
//!
//! Files, because a kernel that writes where it should not can spoil all memory of its process but not these.

mod dataset;
mod file;
mod fill;
mod npy;
mod scratch;

pub use file::DataError;
pub use scratch::ScratchError;

pub(crate) use dataset::{DataSet, scalars};
pub(crate) use scratch::Scratch;
