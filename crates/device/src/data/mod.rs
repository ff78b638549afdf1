//! The data of a problem. They are made once and kept as files, from which workers restore their
//! buffers.
//!
//! A kernel with stray writes can spoil all memory of its process, but not the files.

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
