//! Which configuration is better, from noisy samples: pure rules, without a device or a clock.
//!
//! Each rule states how often it errs; `tests/judging.rs` measures that on synthetic noise. The
//! tuning loop acts on them. All of them compare scores with scores, so the unit does not matter.

pub mod drift;
pub mod finals;
pub mod racing;
pub mod standing;

/// The rules by which a run judges its measurements. A rule that is `None` is not applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Judging {
    /// Configurations clearly slower than the best get few samples.
    pub racing: Option<racing::Racing>,
    /// The leaders are measured again at the end.
    pub finals: Option<finals::Finals>,
    /// A reference is measured again through the run.
    pub drift: Option<drift::Watch>,
}

impl Default for Judging {
    fn default() -> Self {
        let (racing, finals, drift) = (Default::default(), Default::default(), Default::default());
        Self { racing: Some(racing), finals: Some(finals), drift: Some(drift) }
    }
}

impl Judging {
    /// Takes every sample for what it is: no racing, no final, no reference.
    pub fn nothing() -> Self {
        Self { racing: None, finals: None, drift: None }
    }
}
