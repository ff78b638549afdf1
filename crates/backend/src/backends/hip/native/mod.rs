//! The worker's side: the calls into AMD's libraries.

mod architecture;
mod describe;
mod driver;
mod error;
mod hiprtc;

pub(crate) use architecture::describe_architecture;
pub(crate) use describe::{describe_all, open};

/// hiprtc in a compile worker.
pub(crate) type Compiler = crate::backends::gpu::native::Compiler<hiprtc::Hiprtc>;
