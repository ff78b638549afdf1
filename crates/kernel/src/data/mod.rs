//! The contents of a kernel's buffers, the values of its other arguments, and the folder of a run.

mod contents;
mod digest;
mod file;
mod fill;
pub(crate) mod npy;
mod passed;
mod scratch;

pub use contents::{contents, write_contents};
pub use digest::Fields;
pub use fill::Given;
pub use passed::{Passed, pass, passed};
pub use scratch::{Places, SHARED_MEMORY, Scratch, is_scratch};
