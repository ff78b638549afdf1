//! C and C++ on this machine's processors.
//!
//! [`backend`] compiles each configuration to a shared library. The library consists of the user's
//! files and a shim ([`shim`]) that calls the user's function. [`diagnose`] judges the compiler's
//! messages by the place that they point to. The worker loads and calls the library ([`session`]).
//! The user's function gets pointers and values of these types:
//!
//! | problem | C and C++ |
//! |---|---|
//! | `i8 u8` to `i64 u64` | `signed char`, `unsigned char` to `int64_t`, `uint64_t` |
//! | `f16 f32 f64` | `_Float16 float double` |
//! | `f32x4` and other vectors | `float` with `__attribute__((vector_size(16)))`, under any name; three lanes take the room of four |
//! | `bytes` | a pointer to anything |

mod backend;
mod counters;
mod devices;
mod diagnose;
mod elements;
mod float_environment;
mod fork;
mod guards;
mod memory;
mod openmp;
mod poison;
mod session;
mod shim;
mod signals;

pub use float_environment::float_controls;
pub use fork::{fork, leave};
pub use openmp::openmp_settings;
pub use signals::{interval_timers, signal_handlers};

pub(crate) use devices::Processors;
