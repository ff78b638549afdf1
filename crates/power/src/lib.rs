//! Clocks, power limits and energy of devices.
//!
//! - [`Steering`] sets the clock and the power limit of a device for one measurement after another.
//!   It talks to a guard, a process of its own ([`guard::serve`]), which alone calls the maker's
//!   library. The guard resets the device when the tuner ends, however it ends. A note on disk
//!   survives the guard, so that the next start can reset the device ([`guard::Leftovers`]).
//! - [`Manager`] is the interface to the makers' libraries: NVML, AMD SMI, and a script for tests.
//! - [`model`] predicts time and power from a few clocks, and picks the clocks worth trying.
//! - [`NvmlGpu`] reads energy, power, clock and troubles of NVIDIA's GPUs.
//! - [`Powercap`] counts the energy of processors (RAPL).
//!
//! The crate knows neither problems nor kernels.

mod device;
pub mod guard;
mod libraries;
mod manager;
pub mod model;
mod note;
mod powercap;
mod script;

pub use device::{Library, ManagedDevice};
pub use guard::{Applied, Steering, SteeringError};
pub use libraries::{NvmlGpu, Slowing};
pub use manager::{Abilities, Clocks, Fault, Knob, Manager, PowerRange, Setting};
pub use note::default_folder;
pub use powercap::{POWERCAP, Powercap, PowercapError};
pub use script::{PowerScript, ScriptedState};
