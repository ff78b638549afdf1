//! The variants of the rules: as published, as in the authors' program, and as they work best.

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
    /// `inst_reaction`. The paper uses 0.5 for compute-bound kernels and 0.7 for others.
    pub reaction: f64,
}

impl Rules {
    /// Creates the rules that work best, with this threshold.
    pub fn mended(reaction: f64) -> Self {
        Self { variant: Variant::Mended, reaction }
    }

    /// Returns the excess of `bottleneck` over the threshold, rescaled to 0 to 1 (Eq. 15 without
    /// its sign).
    pub(super) fn excess(&self, bottleneck: f64) -> f64 {
        ((bottleneck - self.reaction) / (1.0 - self.reaction)).max(0.0)
    }
}
