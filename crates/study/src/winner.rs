//! Judges the winner of a run by new measurements of it, its runners-up and the default.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::fmt;
use tunesmith_core::judge::measure::MeasureInterval;
use tunesmith_core::{Comparison, Gain, Objective};
use tunesmith_report::{amount, quantity};
use tunesmith_store::{Difference, arguments};

/// The winner of a run, measured again.
#[derive(Clone, Debug, Serialize)]
pub struct WinnerCheck {
    /// The problem's name.
    pub problem: String,
    /// The objective of the run.
    pub objective: Objective,
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
    /// Its time and its value in the run. An interval is absent if the journal does not say it.
    pub before: Option<Estimate>,
    /// Its time and its value now. `None` if it failed.
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

/// The median time of a configuration and its value of the objective, with 95 % intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The median time.
    pub time_ms: f64,
    /// The interval of the time, if it is known.
    pub ci95_ms: Option<(f64, f64)>,
    /// The value of the objective.
    pub value: f64,
    /// The interval of the value, if it is known.
    pub value_ci95: Option<(f64, f64)>,
}

impl Estimate {
    /// Returns the interval of the score: smaller is better. Without an interval, it is the score itself.
    fn scores(&self, objective: &Objective) -> (f64, f64) {
        let (a, b) = self.value_ci95.unwrap_or((self.value, self.value));
        let (a, b) = (objective.score(a), objective.score(b));
        (a.min(b), a.max(b))
    }

    fn score(&self, objective: &Objective) -> f64 {
        objective.score(self.value)
    }
}

/// The gain of one configuration over another, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainEstimate {
    /// The gain.
    pub gain: Gain,
    /// The interval.
    pub ci95: (f64, f64),
}

impl<K> From<&Comparison<K>> for GainEstimate {
    /// Returns the gain of a comparison. Single measurements have no interval, so that the gain itself stands
    /// for it.
    fn from(comparison: &Comparison<K>) -> Self {
        let gain = comparison.improvement;
        Self { gain: comparison.gain(), ci95: comparison.interval.unwrap_or((gain, gain)) }
    }
}

impl fmt::Display for GainEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.ci95;
        match self.gain {
            Gain::Ratio(ratio) => write!(f, "{ratio:.3} x (95 %: {low:.3} to {high:.3})"),
            Gain::Difference(by) => {
                write!(f, "by {} (95 %: {} to {})", quantity(by), quantity(low), quantity(high))
            }
        }
    }
}

/// A fault of the winner beyond noise.
#[derive(Clone, Debug, PartialEq)]
pub enum Regression {
    /// It is not correct any more.
    Failed(String),
    /// Another configuration is better, by this gain.
    Overtaken(Map<String, Json>, GainEstimate, Objective),
    /// It is worse than in the run, by this ratio or difference of the medians.
    Slower(Gain, Objective),
    /// Its gain over the default has shrunk.
    LessSpeedup(GainEstimate, GainEstimate, Objective),
}

impl Regression {
    /// Returns the word for it in files.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Failed(_) => "failed",
            Self::Overtaken(..) => "overtaken",
            Self::Slower(..) => "slower",
            Self::LessSpeedup(..) => "less-speedup",
        }
    }
}

impl fmt::Display for Regression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(message) => write!(f, "the winner failed: {message}"),
            Self::Overtaken(config, gain, objective) => {
                write!(f, "{} is {} than the winner: {gain}", arguments(config), objective.comparative())
            }
            Self::Slower(Gain::Ratio(ratio), objective) => {
                write!(f, "the winner is {} than in the run ({objective}): {ratio:.3} x", objective.negative())
            }
            Self::Slower(Gain::Difference(by), objective) => {
                let by = amount(*by, objective);
                write!(f, "the winner is {} than in the run ({objective}): by {by}", objective.negative())
            }
            Self::LessSpeedup(before, now, objective) => {
                let gained = |gain: Gain| match gain {
                    Gain::Ratio(ratio) => format!("{ratio:.3} x"),
                    Gain::Difference(by) => quantity(by),
                };
                let what = objective.gain_word();
                write!(f, "the winner's {what} over the default has shrunk from {} to {now}", gained(before.gain))
            }
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
    /// The objective of the run.
    pub objective: Objective,
    /// The failure of the winner.
    pub failure: Option<String>,
    /// The winner, in the run and now.
    pub winner: (Option<Estimate>, Option<Estimate>),
    /// The gain over the default in the run, and the default now.
    pub default: (Option<GainEstimate>, Option<Estimate>),
    /// The best of the others, if it is better beyond doubt, with its gain over the winner.
    pub rival: Option<(Map<String, Json>, GainEstimate)>,
}

impl WinnerEvidence {
    /// Returns the regressions. A value or a gain is worse if its 95 % interval lies beyond that of the run by more
    /// than `tolerance`: a share of the value, also where differences are compared. Between two runs, the clock of
    /// the processor and its temperature differ, which neither interval contains. A rival is better beyond doubt
    /// already, and counts if it is so by more than the tolerance.
    pub fn regressions(self, tolerance: f64) -> Vec<Regression> {
        let Self { objective, failure, winner: (before, now), .. } = &self;
        let mut found: Vec<Regression> = failure.iter().cloned().map(Regression::Failed).collect();
        let size = |estimate: &Estimate| estimate.score(objective).abs();
        let of_winner = before.as_ref().or(now.as_ref()).map_or(0.0, size);
        let rival = self.rival.iter().filter(|(_, gain)| exceeds(gain.gain, tolerance, of_winner));
        found.extend(rival.map(|(config, gain)| Regression::Overtaken(config.clone(), *gain, objective.clone())));
        if let (Some(before), Some(now)) = (before, now) {
            let apart = MeasureInterval::between(before.scores(objective), now.scores(objective));
            let least = apart.measure.of_value(apart.ends.0);
            let gain = Gain::between(before.score(objective), now.score(objective));
            found.extend(exceeds(least, tolerance, size(before)).then(|| Regression::Slower(gain, objective.clone())));
        }
        if let ((Some(before), Some(default)), Some(now)) = (&self.default, now) {
            let MeasureInterval { ends, .. } =
                MeasureInterval::between(now.scores(objective), default.scores(objective));
            let present =
                GainEstimate { gain: Gain::between(now.score(objective), default.score(objective)), ci95: ends };
            let has_shrunk = match (before.gain, present.gain) {
                (Gain::Ratio(_), Gain::Ratio(_)) => ends.1 * (1.0 + tolerance) < before.ci95.0,
                (Gain::Difference(_), Gain::Difference(by)) => ends.1 + tolerance * by.abs() < before.ci95.0,
                // A ratio and a difference cannot be compared. The values themselves are, above.
                _ => false,
            };
            found.extend(has_shrunk.then(|| Regression::LessSpeedup(*before, present, objective.clone())));
        }
        found
    }
}

/// Returns true if a gain exceeds equality by more than the share `tolerance` of a value of this `size`.
fn exceeds(gain: Gain, tolerance: f64, size: f64) -> bool {
    gain.beyond_equality()
        > match gain {
            Gain::Ratio(_) => tolerance,
            Gain::Difference(_) => tolerance * size,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::{Direction, Source};

    fn estimate(time_ms: f64) -> Option<Estimate> {
        let ci95 = Some((time_ms * 0.99, time_ms * 1.01));
        Some(Estimate { time_ms, ci95_ms: ci95, value: time_ms, value_ci95: ci95 })
    }

    fn speedup(ratio: f64) -> Option<GainEstimate> {
        Some(GainEstimate { gain: Gain::Ratio(ratio), ci95: (ratio * 0.99, ratio * 1.01) })
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

    #[test]
    fn values_of_any_sign_are_judged_in_their_direction() {
        let value = |value: f64| Some(Estimate { time_ms: 1.0, value, ..Estimate::default() });
        let of = |before, now, direction, tolerance| {
            let winner = (value(before), value(now));
            let objective = Objective::new("score", direction, None, Source::Printed);
            words(WinnerEvidence { winner, objective, ..WinnerEvidence::default() }, tolerance).len()
        };
        use Direction::{Maximise, Minimise};
        // Misses: none before. Any miss is worse.
        assert_eq!([0.0, 1.0].map(|now| of(0.0, now, Minimise, 0.05)), [0, 1]);
        // A score below zero, at 20 %.
        assert_eq!([-100.0, -90.0, -120.0, -70.0, 5.0].map(|now| of(-100.0, now, Minimise, 0.2)), [0, 0, 0, 1, 1]);
        // A rate is worse where it falls.
        assert_eq!([100.0, 120.0, 90.0, 70.0].map(|now| of(100.0, now, Maximise, 0.2)), [0, 0, 0, 1]);
        let objective = Objective::new("misses", Minimise, None, Source::Printed);
        let winner = (value(0.0), value(3.0));
        let default = (Some(GainEstimate { gain: Gain::Difference(9.0), ci95: (9.0, 9.0) }), value(4.0));
        let found = WinnerEvidence { winner, objective, default, ..WinnerEvidence::default() }.regressions(0.05);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts[0], "the winner is worse than in the run (minimise misses): by 3");
        // 4 / 3 now, and 9 before: a ratio and a difference are not compared.
        assert_eq!(texts.len(), 1, "{texts:?}");
    }
}
