//! Rules that compare configurations by noisy samples. They are pure: they use neither a device nor
//! a clock.
//!
//! Each rule states its error rate, and `tests/judging.rs` measures it on synthetic noise. The
//! tuning loop applies the rules. All of them compare scores with scores, so the unit does not
//! matter.

pub mod drift;
pub mod finals;
pub mod measure;
pub mod noise;
pub mod racing;
pub mod standing;

/// The rules by which a run judges its measurements. `None` switches a rule off.
#[derive(Clone, Debug, PartialEq)]
pub struct Judging {
    /// Abandons clearly slow configurations after few samples.
    pub racing: Option<racing::Racing>,
    /// Measures the leaders again at the end: the final re-measurement.
    pub finals: Option<finals::Finals>,
    /// Measures a reference again during the run, to detect drift.
    pub drift: Option<drift::Watch>,
}

impl Default for Judging {
    fn default() -> Self {
        let (racing, finals, drift) = (Default::default(), Default::default(), Default::default());
        Self { racing: Some(racing), finals: Some(finals), drift: Some(drift) }
    }
}

impl Judging {
    /// Applies no rule: no racing, no final re-measurement, no reference.
    pub fn nothing() -> Self {
        Self { racing: None, finals: None, drift: None }
    }
}
