//! The guard: a process that sets a device's clock and power limit for a tuner, and resets them when
//! the tuner is gone.
//!
//! It is the tuner's own executable, in a session of its own, so that neither Ctrl-C nor the end of
//! the tuner's process group reaches it. It alone calls the makers' libraries. The tuner talks to it
//! over a socket on its standard input. When the socket closes, the tuner has ended: the guard resets
//! the device, removes its note and ends. A guard that is told to end (SIGTERM) does the same.

mod leftovers;
mod messages;
mod serve;
mod steering;

pub use leftovers::Leftovers;
pub use messages::{Applied, LeftOver};
pub use serve::serve;
pub use steering::{StartGuard, Steering, SteeringError};
