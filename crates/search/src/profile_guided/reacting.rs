//! Analyses a profiled run with the threshold for instructions that suits it.

use tunesmith_model::bottleneck::{Bottlenecks, Family, Readings, Rules, Size, Variant, analyse};

/// A variant of the rules, with a threshold for instructions or with one chosen for each run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reacting {
    pub(super) variant: Variant,
    /// `None` if each run decides.
    pub(super) reaction: Option<f64>,
}

impl Reacting {
    /// Returns the bottlenecks of a run with these readings on a device of this size, and the rules
    /// that react to them. Returns `None` if no bottlenecks follow from the readings.
    pub(super) fn analyse(
        &self,
        (family, readings): &(&'static Family, Readings),
        size: Size,
    ) -> Option<(Bottlenecks, Rules)> {
        let rules = match self.reaction {
            Some(reaction) => Rules { variant: self.variant, reaction },
            None => Rules::of_run(self.variant, readings, family, size),
        };
        let found = analyse(readings, family, size, &rules).ok()?;
        Some((found.bottlenecks, rules))
    }
}
