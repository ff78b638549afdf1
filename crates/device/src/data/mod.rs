//! The data of a problem. Inputs are made once and kept as files, from which workers restore their
//! buffers. Correct outputs are kept in the tuner's memory, because no process that runs a user's
//! code may find them.
//!
//! A kernel with stray writes can spoil all memory of its process, but not the files.

mod dataset;
mod expected;
pub(crate) mod layout;
mod similar;

pub(crate) use dataset::DataSet;
pub(crate) use expected::{Compared, Expected};
