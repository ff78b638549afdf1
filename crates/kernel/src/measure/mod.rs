//! The rules of measuring. All backends share them.

pub mod limits;
mod repetition;
pub mod sampling;

pub use limits::Limits;
pub use repetition::Repetition;
pub use sampling::Sampling;

use serde::{Deserialize, Serialize};

/// The name of a sample's energy in [`Measurement::values`](tunesmith_core::Measurement::values).
/// The unit is millijoules.
pub const ENERGY_MJ: &str = "energy_mj";

/// The rules of measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// The rule for the number of samples.
    pub sampling: Sampling,
    /// The limits on time.
    pub limits: Limits,
    /// The contents of the caches before each sample.
    pub cache: Cache,
    /// The way to launch short kernels.
    pub launches: Launches,
    /// The rule for the number of launches in the last verification.
    pub repetition: Repetition,
}

impl Policy {
    /// Returns the rules that decide the samples, as journals write them. The limit for racing is left
    /// out, since it depends on the configuration.
    pub fn identity(&self) -> String {
        let Sampling { warmups, min_samples, max_samples, stable, time_cap, bar_ms: _ } = self.sampling;
        // Journals without these words mean one warm-up, warm caches, and groups where they are
        // possible.
        let warmups = if warmups == 1 { String::new() } else { format!(", {warmups} warm-ups") };
        let cache = if self.cache == Cache::Cold { ", cold caches" } else { "" };
        let launches = if self.launches == Launches::Single { ", single launches" } else { "" };
        format!(
            "Sampling {{ min_samples: {min_samples}, max_samples: {max_samples}, stable: {stable:?}, time_cap: \
             {time_cap:?} }}{warmups}{cache}{launches}"
        )
    }
}

/// The way to launch kernels that are short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Launches {
    /// Many launches in one group are a sample, on devices that can group launches.
    #[default]
    Grouped,
    /// Each sample is one launch.
    Single,
}

/// The contents of the device's caches before each timed sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The caches hold the data of the previous sample and of restoring the buffers. This models an
    /// application that calls the kernel again and again on the same data.
    #[default]
    Warm,
    /// The caches hold other data. This models an application that does other work between two
    /// calls.
    Cold,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_of_the_default_policy_is_that_of_older_journals() {
        let plain = "Sampling { min_samples: 7, max_samples: 50, stable: 0.02, time_cap: 500ms }";
        assert_eq!(Policy::default().identity(), plain);
        let sampling = Sampling { warmups: 3, ..Sampling::default() };
        let other = Policy { sampling, cache: Cache::Cold, launches: Launches::Single, ..Policy::default() };
        assert_eq!(other.identity(), format!("{plain}, 3 warm-ups, cold caches, single launches"));
    }
}
