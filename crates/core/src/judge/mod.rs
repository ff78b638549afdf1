//! Which configuration is better, from noisy samples: pure rules, without a device or a clock.
//!
//! Each rule states how often it errs; `tests/judging.rs` measures that on synthetic noise. The tuning loop acts on
//! them. All of them compare scores with scores, so the unit does not matter.

pub mod racing;

/// How a run judges what it measures. What is `None` is not done.
#[derive(Clone, Debug, PartialEq)]
pub struct Judging {
    /// Configurations clearly slower than the best get few samples.
    pub racing: Option<racing::Racing>,
}

impl Default for Judging {
    fn default() -> Self {
        Self { racing: Some(racing::Racing::default()) }
    }
}

impl Judging {
    /// Takes every sample for what it is: no racing.
    pub fn nothing() -> Self {
        Self { racing: None }
    }
}
