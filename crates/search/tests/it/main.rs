//! The integration tests of this crate, in one program: a module for each subject.

mod bottleneck_vectors;
mod common;
mod conformance;
mod gaussian_process;
mod history;
mod large_space;
mod launch;
mod limits;
mod profile_guided;
mod trees;
