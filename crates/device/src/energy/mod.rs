//! The energy of samples, and the state of the device in which they were taken.

mod processors;
mod reading;
mod watch;

pub(crate) use processors::ProcessorMeter;
pub(crate) use reading::{EnergyReading, Look, Next};
pub(crate) use watch::{MOST_RETAKES, Watch};

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Time limit for a reading of the energy. It is several times the duration of a reading on a
/// device whose counter is updated ten times a second.
pub(crate) const READING_LIMIT: Duration = Duration::from_secs(3);

/// A meter of the energy of samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EnergySource {
    /// The device that runs the kernels.
    Device,
    /// The processors of this machine, whose counters are in this folder.
    Processors(PathBuf),
}
