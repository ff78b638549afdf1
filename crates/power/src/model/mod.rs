//! Time and power over the clock, and the clocks worth trying.
//!
//! The model is that of Schoonhoven, Veenboer, van Werkhoven and Batenburg ("Going green: optimizing
//! GPUs for energy efficiency through model-steered auto-tuning", PMBS 2022). Up to a ridge, a device
//! raises its clock at a constant voltage; above it, the voltage grows linearly with the clock:
//!
//! `P(f) = min(P_max, P_idle + alpha * f * v(f)^2)`, `v(f) = 1` up to the ridge, and
//! `v(f) = 1 + beta * (f - ridge)` above it.
//!
//! The authors measure a kernel of multiplications, and search 10 % around the ridge. Here the
//! problem's own kernel is measured in its default configuration. A part of its time may not depend
//! on the clock, `t(f) = a + b / f`, and the optimum is that of the objective: of time, energy
//! `P(f) * t(f)`, or energy times time.
//!
//! ```
//! use tunesmith_power::model::{Goal, Sample, pick};
//!
//! // A kernel bound by its clock: the power grows faster than the clock above 1200 MHz.
//! let sample = |mhz: f64| {
//!     let volt = 1.0 + (mhz - 1200.0).max(0.0) * 1e-3;
//!     Sample { mhz, time_ms: 1e4 / mhz, watts: Some(60.0 + 0.1 * mhz * volt * volt) }
//! };
//! let samples = [400.0, 700.0, 1000.0, 1300.0, 1600.0, 1900.0].map(sample);
//! let clocks: Vec<u32> = (400..=1900).step_by(50).collect();
//! let picked = pick(&samples, Goal::Energy, &clocks).unwrap();
//! assert!(picked.clocks_mhz.len() <= 7 && picked.clocks_mhz.contains(&1200));
//! ```

mod fit;
mod law;
mod pick;

pub use law::{PowerLaw, TimeLaw};
pub use pick::{Distrust, Goal, Picked, pick};

/// A measurement of one kernel at one clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The clock in MHz.
    pub mhz: f64,
    /// The time of a run in milliseconds.
    pub time_ms: f64,
    /// The power in watts while it runs, if it was measured.
    pub watts: Option<f64>,
}
