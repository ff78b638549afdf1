//! The variants of the rules: as published, as in the authors' program, and as they work best.

use super::{Family, Readings, Size, analyse};

/// The threshold for kernels that compute (section 3.5.2).
const COMPUTING: f64 = 0.5;
/// The threshold for all others.
const OTHERS: f64 = 0.7;

/// A variant of the rules. The variants differ in several places, and some differences are mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The equations as published, except for the sign of Eq. 16. As printed, it prefers what
    /// should be avoided. The sign of the issue bottleneck is the printed one: fewer cycles that
    /// issue instructions are wanted.
    Paper,
    /// The rules in the authors' simulation.
    Authors,
    /// The authors' rules where they work better, without their mistake in local memory and with
    /// values kept in range.
    Mended,
}

/// The rules of one variant, with the threshold for instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The variant.
    pub variant: Variant,
    /// The bottleneck of instructions above which the rules react, from 0 to below 1:
    /// `inst_reaction`. The paper uses 0.5 for compute-bound kernels and 0.7 for others, as the user
    /// declares (section 3.5.2).
    pub reaction: f64,
}

impl Rules {
    /// Chooses the threshold by a profiled run: 0.5 if it uses a class of instructions more than any
    /// memory, else 0.7. Cost: an analysis.
    pub fn of_run(variant: Variant, readings: &Readings, family: &'static Family, size: Size) -> Self {
        // The bottlenecks that are compared do not depend on the threshold.
        let rules = Self { variant, reaction: COMPUTING };
        let computes = analyse(readings, family, size, &rules).is_ok_and(|found| found.bottlenecks.computes());
        Self { reaction: if computes { COMPUTING } else { OTHERS }, ..rules }
    }

    /// Returns the excess of `bottleneck` over the threshold, rescaled to 0 to 1 (Eq. 15 without
    /// its sign).
    pub(super) fn excess(&self, bottleneck: f64) -> f64 {
        ((bottleneck - self.reaction) / (1.0 - self.reaction)).max(0.0)
    }
}
