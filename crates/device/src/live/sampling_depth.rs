//! The depth at which a configuration is measured.

use tunesmith_kernel::measure::Sampling;
use tunesmith_power::Setting;

/// The depth at which a configuration is measured.
#[derive(Clone, Copy)]
pub(super) struct SamplingDepth {
    pub(super) sampling: Sampling,
    /// True if the configuration's counters are read.
    pub(super) profile: bool,
    /// The clock and power limit at which it runs.
    pub(super) setting: Setting,
}
