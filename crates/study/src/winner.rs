//! Judges the winner of a run by new measurements of it, its runners-up and the default.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::fmt;
use tunesmith_core::Comparison;
use tunesmith_store::{Difference, arguments};

/// The winner of a run, measured again.
#[derive(Clone, Debug, Serialize)]
pub struct WinnerCheck {
    /// The problem's name.
    pub problem: String,
    /// The device, by name.
    pub device: String,
    /// True if there is neither a regression nor, where that counts, another environment.
    pub ok: bool,
    /// The regressions beyond noise.
    pub regressions: Vec<Regression>,
    /// The differences between the environment of the run and the present one.
    pub environment: Vec<Difference>,
    /// The winner, its runners-up in the order of the run, and the default if it is none of them.
    pub configs: Vec<Remeasured>,
    /// True if a final re-measurement, in which all take turns, compared them.
    pub by_final: bool,
    /// The time that the measurements took.
    pub seconds: f64,
}

/// One configuration, in the run and now.
#[derive(Clone, Debug, Serialize)]
pub struct Remeasured {
    /// Its place in the run.
    pub place: Place,
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// Its time in the run. An interval is absent if the journal does not say it.
    pub before: Option<Estimate>,
    /// Its time now. `None` if it failed.
    pub now: Option<Estimate>,
    /// The reason why it failed.
    pub failure: Option<String>,
}

/// A configuration's place in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The best.
    Winner,
    /// One of the next best.
    RunnerUp,
    /// The configuration that speed-ups refer to.
    Default,
}

/// A median time with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The median.
    pub time_ms: f64,
    /// The interval, if it is known.
    pub ci95_ms: Option<(f64, f64)>,
}

/// A ratio of times with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// The interval.
    pub ci95: (f64, f64),
}

impl<K> From<&Comparison<K>> for Ratio {
    /// Returns the ratio of a comparison of times. Single measurements have no interval, so that the ratio itself
    /// stands for it.
    fn from(comparison: &Comparison<K>) -> Self {
        let ratio = comparison.improvement;
        Self { ratio, ci95: comparison.interval.unwrap_or((ratio, ratio)) }
    }
}

/// A fault of the winner beyond noise.
#[derive(Clone, Debug, PartialEq)]
pub enum Regression {
    /// It is not correct any more.
    Failed(String),
    /// Another configuration is faster, by this ratio.
    Overtaken(Map<String, Json>, Ratio),
    /// It is slower than in the run, by this ratio of the medians.
    Slower(f64),
    /// Its speed-up over the default has shrunk.
    LessSpeedup(Ratio, Ratio),
}

impl Regression {
    /// Returns the word for it in files.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Failed(_) => "failed",
            Self::Overtaken(..) => "overtaken",
            Self::Slower(_) => "slower",
            Self::LessSpeedup(..) => "less-speedup",
        }
    }
}

impl fmt::Display for Regression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |(low, high): (f64, f64)| format!("95 %: {low:.3} to {high:.3}");
        match self {
            Self::Failed(message) => write!(f, "the winner failed: {message}"),
            Self::Overtaken(config, Ratio { ratio, ci95 }) => {
                write!(f, "{} is faster than the winner: {ratio:.3} x ({})", arguments(config), range(*ci95))
            }
            Self::Slower(ratio) => write!(f, "the winner takes {ratio:.3} times as long as in the run"),
            Self::LessSpeedup(before, now) => write!(
                f,
                "the winner's speed-up over the default has shrunk from {:.3} x to {:.3} x ({})",
                before.ratio,
                now.ratio,
                range(now.ci95)
            ),
        }
    }
}

/// Writes the word and the sentence.
impl Serialize for Regression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            kind: &'a str,
            text: String,
        }
        Line { kind: self.word(), text: self.to_string() }.serialize(serializer)
    }
}

/// The evidence about a winner.
#[derive(Clone, Debug, Default)]
pub struct WinnerEvidence {
    /// The failure of the winner.
    pub failure: Option<String>,
    /// The times of the winner, in the run and now.
    pub winner: (Option<Estimate>, Option<Estimate>),
    /// The speed-up over the default in the run, and the default's time now.
    pub default: (Option<Ratio>, Option<Estimate>),
    /// The best of the others, if it is faster beyond doubt, with the ratio of the times.
    pub rival: Option<(Map<String, Json>, Ratio)>,
}

impl WinnerEvidence {
    /// Returns the regressions. A time or speed-up is worse if its 95 % interval lies beyond that of
    /// the run by more than `tolerance`, a share. Between two runs, the clock of the processor and
    /// its temperature differ, which neither interval contains. A rival is faster beyond doubt
    /// already, and counts if it is so by more than the tolerance.
    pub fn regressions(self, tolerance: f64) -> Vec<Regression> {
        let allowed = 1.0 + tolerance;
        let mut found: Vec<Regression> = self.failure.map(Regression::Failed).into_iter().collect();
        let rival = self.rival.filter(|(_, ratio)| ratio.ratio > allowed);
        found.extend(rival.map(|(config, ratio)| Regression::Overtaken(config, ratio)));
        let (before, now) = self.winner;
        if let (Some(before), Some(now)) = (before, now) {
            let (highest, lowest) = (interval(before).1, interval(now).0);
            found.extend((lowest > highest * allowed).then(|| Regression::Slower(now.time_ms / before.time_ms)));
        }
        if let ((Some(before), Some(default)), Some(now)) = (self.default, now) {
            let (slowest, fastest) = (interval(now), interval(default));
            let ci95 = (fastest.0 / slowest.1, fastest.1 / slowest.0);
            let speedup = Ratio { ratio: default.time_ms / now.time_ms, ci95 };
            let has_shrunk = ci95.1 * allowed < before.ci95.0;
            found.extend(has_shrunk.then_some(Regression::LessSpeedup(before, speedup)));
        }
        found
    }
}

fn interval(estimate: Estimate) -> (f64, f64) {
    estimate.ci95_ms.unwrap_or((estimate.time_ms, estimate.time_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(time_ms: f64) -> Option<Estimate> {
        Some(Estimate { time_ms, ci95_ms: Some((time_ms * 0.99, time_ms * 1.01)) })
    }

    fn speedup(ratio: f64) -> Option<Ratio> {
        Some(Ratio { ratio, ci95: (ratio * 0.99, ratio * 1.01) })
    }

    fn words(evidence: WinnerEvidence, tolerance: f64) -> Vec<&'static str> {
        evidence.regressions(tolerance).iter().map(Regression::word).collect()
    }

    #[test]
    fn a_winner_is_slower_only_beyond_both_intervals_and_the_tolerance() {
        let of = |now| WinnerEvidence { winner: (estimate(1.0), estimate(now)), ..WinnerEvidence::default() };
        assert_eq!([1.0, 1.019, 1.06].map(|now| words(of(now), 0.05).len()), [0, 0, 0]);
        assert_eq!(words(of(1.08), 0.05), ["slower"]);
        assert_eq!(words(of(1.03), 0.0), ["slower"]);
        assert_eq!(words(of(0.5), 0.0), [""; 0]);
    }

    #[test]
    fn a_slower_machine_keeps_the_speedup_and_a_faster_default_takes_it() {
        let of = |winner, default| WinnerEvidence {
            winner: (estimate(1.0), estimate(winner)),
            default: (speedup(3.0), estimate(default)),
            ..WinnerEvidence::default()
        };
        assert_eq!(words(of(1.0, 3.0), 0.05), [""; 0]);
        assert_eq!(words(of(1.3, 3.9), 0.05), ["slower"], "both are");
        assert_eq!(words(of(1.0, 2.0), 0.05), ["less-speedup"]);
        assert_eq!(words(of(1.5, 3.0), 0.05), ["slower", "less-speedup"]);
    }

    #[test]
    fn a_failure_is_a_regression_and_a_rival_beyond_the_tolerance() {
        let rival = Some((Map::from_iter([("X".to_string(), Json::from(2))]), speedup(1.02).unwrap()));
        let evidence = WinnerEvidence { failure: Some("wrong".to_string()), rival, ..WinnerEvidence::default() };
        assert_eq!(words(evidence.clone(), 0.05), ["failed"]);
        let found = evidence.regressions(0.01);
        assert_eq!(found[0].to_string(), "the winner failed: wrong");
        assert!(found[1].to_string().starts_with("X=2 is faster than the winner: 1.020 x"), "{}", found[1]);
        let json = serde_json::to_value(&found[0]).unwrap();
        assert_eq!(json, serde_json::json!({ "kind": "failed", "text": "the winner failed: wrong" }));
    }
}
