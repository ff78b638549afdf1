//! Fast passes over the bytes of buffers.
//!
//! A pass follows every launch of a kernel. Its loops are functions without type parameters of a crate
//! of their own, which is always optimised in full. `tunesmith-device`, which calls them, is optimised
//! less, for the sake of its build: there, every step of an iterator would be a call.

mod fingerprint;
pub mod half;
mod near;

pub use fingerprint::Fingerprint;
pub use near::{Bounds, f16s_are_near, f32s_are_near, f64s_are_near};
