//! In what the publication, its authors' program and what works differ.

/// The author of the rules. They differ in five places, and some differences are mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The equations as published, with the sign of Eq. 16 mended: as printed it prefers what is to
    /// be avoided.
    Paper,
    /// The rules that the authors' simulation computes.
    Authors,
    /// The authors' way where it works better, without its mistake in local memory and with values
    /// kept in range.
    Mended,
}

/// The rules of one variant and the threshold at which instructions count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The author of the rules.
    pub variant: Variant,
    /// The bottleneck of instructions above which they are reacted to, from 0 to below 1:
    /// `inst_reaction`. The paper takes 0.5 for kernels that compute and 0.7 for others.
    pub reaction: f64,
}

impl Rules {
    /// Creates the rules that work best, with this threshold.
    pub fn mended(reaction: f64) -> Self {
        Self { variant: Variant::Mended, reaction }
    }

    /// Returns what of `bottleneck` exceeds the threshold, rescaled to 0 to 1 (Eq. 15 without its
    /// sign).
    pub(super) fn excess(&self, bottleneck: f64) -> f64 {
        ((bottleneck - self.reaction) / (1.0 - self.reaction)).max(0.0)
    }
}
