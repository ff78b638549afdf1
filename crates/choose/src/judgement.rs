//! The judgement of a chooser at sizes that nobody measured before.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The judgement of a chooser at fresh sizes: sizes that it covers, but was not made from. Its choice and
/// the default were measured there in turns. `export --judge` and `train timing --judge` write it.
///
/// The claim holds for one device, and for sizes as they were drawn: on average, not for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The device that measured, by name.
    pub device: String,
    /// Number of sizes at which the choice was compared with the default.
    pub sizes: usize,
    /// Number of those at which the choice was the default itself. Its speed is 1.
    pub defaults: usize,
    /// Number of further sizes at which the choice failed and the default did not.
    pub failed: usize,
    /// The speed of the choices relative to the default: the geometric mean over the sizes. 0 if the choice failed
    /// at all of them.
    pub speed: f64,
    /// A 95 % interval of this mean. `None` for fewer than two sizes.
    pub ci95: Option<(f64, f64)>,
    /// The least speed at any size.
    pub slowest: f64,
    /// The sizes of that input.
    pub slowest_at: BTreeMap<String, f64>,
    /// Number of sizes at which the choice is slower than the default beyond doubt.
    pub slower: usize,
    /// The seed that drew the sizes.
    pub seed: u64,
}

impl Judgement {
    /// Returns true if the choices are faster than the default: if the interval of their mean speed lies above
    /// 1, and none of them failed. A chooser that is not answers with the default.
    pub fn is_faster(&self) -> bool {
        self.failed == 0 && self.ci95.is_some_and(|(low, _)| low > 1.0)
    }
}

/// Prints the judgement as a sentence.
impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sizes, defaults, failed, speed, ci95, slowest, slowest_at, slower, .. } = self;
        let verdict = if self.is_faster() { "faster than the default" } else { "not faster: the default answers" };
        if *sizes == 0 {
            return write!(f, "{verdict}; the choice failed at all {failed} fresh sizes");
        }
        write!(f, "{verdict}; at {sizes} fresh sizes, {speed:.3} times its speed on average")?;
        if let Some((low, high)) = ci95 {
            write!(f, " ({low:.3} to {high:.3})")?;
        }
        let at: Vec<String> = slowest_at.iter().map(|(name, size)| format!("{name}={size}")).collect();
        write!(f, ", {slowest:.3} at the slowest")?;
        if !at.is_empty() {
            write!(f, " ({})", at.join(","))?;
        }
        write!(f, "; {slower} slower beyond doubt, {defaults} the default itself")?;
        if *failed > 0 { write!(f, ", and {failed} more failed") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement() -> Judgement {
        Judgement {
            device: "d".to_string(),
            sizes: 20,
            defaults: 3,
            failed: 0,
            speed: 1.21,
            ci95: Some((1.1, 1.33)),
            slowest: 0.97,
            slowest_at: [("W".to_string(), 640.0)].into(),
            slower: 1,
            seed: 0,
        }
    }

    #[test]
    fn only_a_mean_that_is_above_1_with_its_whole_interval_is_faster() {
        assert!(judgement().is_faster());
        for ci95 in [None, Some((1.0, 1.4)), Some((0.9, 2.0)), Some((0.8, 0.9))] {
            assert!(!Judgement { ci95, ..judgement() }.is_faster(), "{ci95:?}");
        }
        assert!(!Judgement { failed: 1, ..judgement() }.is_faster(), "a choice that fails is worse than a slow one");
    }

    #[test]
    fn the_sentence_says_the_verdict_the_interval_and_the_slowest() {
        let text = "faster than the default; at 20 fresh sizes, 1.210 times its speed on average (1.100 to 1.330), 0.970 \
                    at the slowest (W=640); 1 slower beyond doubt, 3 the default itself";
        assert_eq!(judgement().to_string(), text);
        let failed = Judgement { failed: 2, ..judgement() }.to_string();
        assert!(failed.starts_with("not faster: the default answers") && failed.ends_with(", and 2 more failed"));
        let all = Judgement { sizes: 0, failed: 20, ci95: None, ..judgement() }.to_string();
        assert_eq!(all, "not faster: the default answers; the choice failed at all 20 fresh sizes");
    }
}
