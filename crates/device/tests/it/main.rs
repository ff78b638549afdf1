//! The integration tests of this crate, in one program: a module for each subject.

mod again;
mod apart;
#[cfg(feature = "cuda")]
mod clocks;
mod command;
mod common;
mod compilers;
mod conformance;
#[cfg(feature = "cuda")]
mod cuda;
mod data;
mod equal_code;
mod failures;
mod file_names;
mod generated;
#[cfg(all(feature = "cuda", feature = "hip"))]
mod gpu;
#[cfg(feature = "hip")]
mod hiprtc;
mod local_memory;
mod nvcc;
mod nvidia;
#[cfg(feature = "cuda")]
mod nvrtc;
mod opencl;
mod repetition;
mod running;
mod signature;
mod verification;
