//! The data of a problem. Inputs are made once and kept as files, from which workers restore their
//! buffers. Correct outputs are kept in the tuner's memory, because no process that runs a user's
//! code may find them.
//!
//! A kernel with stray writes can spoil all memory of its process, but not the files.

mod dataset;
mod digest;
mod expected;
mod file;
mod fill;
pub(crate) mod layout;
pub(crate) mod npy;
mod scratch;
mod similar;

pub use dataset::contents;
pub use fill::Given;

pub(crate) use dataset::{DataSet, pass, passed};
pub(crate) use digest::Fields;
pub(crate) use expected::{Compared, Expected};
pub use scratch::Scratch;
pub(crate) use scratch::{Places, is_scratch};
