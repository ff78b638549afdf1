//! The sandbox around user code: rules of the kernel's Landlock for files, connections and signals,
//! and a filter of seccomp for system calls that no kernel needs.
//!
//! A process enters its [`Cage`] before it runs the first user code, and can never leave it. All
//! processes that it starts are in the same cage. docs/trust.md says what the cage stops.

// Without the sandbox, nobody asks for the rules.
#[cfg_attr(not(feature = "sandbox"), allow(dead_code))]
mod confinement;
#[cfg_attr(not(feature = "sandbox"), allow(dead_code))]
mod files;
mod support;

#[cfg(feature = "sandbox")]
mod calls;
#[cfg(feature = "sandbox")]
mod landlock;
#[cfg(feature = "sandbox")]
mod targets;

#[cfg(not(feature = "sandbox"))]
mod absent;
#[cfg(not(feature = "sandbox"))]
use absent as cage;
#[cfg(not(feature = "sandbox"))]
use absent as scope;
#[cfg(feature = "sandbox")]
mod cage;
#[cfg(feature = "sandbox")]
mod scope;

pub use cage::Cage;
pub use confinement::{Confinement, Role, Sandbox};
pub use scope::Scope;
