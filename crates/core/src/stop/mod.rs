//! Stop conditions: they decide when a run ends.

mod parse;
mod reason;

pub use parse::StopParseError;
pub use reason::StopReason;

use crate::judge::measure::Measure;
use crate::{Direction, Progress};
use std::fmt;
use std::time::Duration;

/// A stop condition: single conditions, joined by `and` and `or`. It decides from [`Progress`]
/// alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// One condition.
    When(Condition),
    /// Ends when all of them hold.
    All(Vec<Stop>),
    /// Ends when any of them holds.
    Any(Vec<Stop>),
}

/// A single stop condition.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Condition {
    /// This many evaluations are recorded, including failures.
    Evaluations(u64),
    /// This much time has passed, less the [reserve](Progress::reserve) for the final.
    Time(Duration),
    /// This fraction of the space is evaluated.
    Fraction(f64),
    /// The best score is at most this. Times are in milliseconds.
    Cost(f64),
    /// The best value of a maximised objective is at least this.
    Reached(f64),
    /// The best score improved by less than `factor` within the last `window` (ATF's `speedup`). Where a
    /// ratio has no meaning, any improvement keeps the run going.
    Speedup {
        /// The improvement that keeps the run going, above 1.
        factor: f64,
        /// The stretch of the run to compare with.
        window: Window,
    },
    /// The best score reaches this share of the modelled limit: `limit / best` is at least the
    /// share.
    Limit(f64),
    /// The best score is within `share` of the optimum of the space, with this probability.
    Regret {
        /// The allowed distance of the best score from the optimum: 0.02 is 2 %.
        share: f64,
        /// The required probability, above 0 and below 1.
        probability: f64,
    },
}

/// A stretch of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// The last evaluations, in this number.
    Evaluations(u64),
    /// The last stretch of this length.
    Time(Duration),
}

impl Stop {
    /// Creates the condition `evaluations n`.
    pub fn evaluations(n: u64) -> Self {
        Self::When(Condition::Evaluations(n))
    }

    /// Returns the reason to end the run at `progress`, or `None` to go on.
    ///
    /// Cost: linear in the size of the condition and, for `speedup`, in the number of improvements.
    pub fn check(&self, progress: &Progress) -> Option<StopReason> {
        self.check_at(progress, progress.evaluations)
    }

    /// Checks as [`check`](Self::check) does, but with `evaluations` in place of the number in
    /// `progress`. It predicts whether the requests in flight will end the run.
    pub fn check_at(&self, progress: &Progress, evaluations: u64) -> Option<StopReason> {
        self.reached(progress, evaluations).map(StopReason::Reached)
    }

    fn reached(&self, progress: &Progress, evaluations: u64) -> Option<Vec<Condition>> {
        match self {
            Self::When(condition) => condition.holds(progress, evaluations).then(|| vec![*condition]),
            Self::Any(parts) => parts.iter().find_map(|part| part.reached(progress, evaluations)),
            Self::All(parts) => {
                let reached: Option<Vec<_>> = parts.iter().map(|part| part.reached(progress, evaluations)).collect();
                reached.map(|parts| parts.concat())
            }
        }
    }

    /// Returns true if the time that the condition allows is used up at `progress`. Other conditions
    /// allow repeated measurements, which count as no evaluations.
    pub fn is_out_of_time(&self, progress: &Progress) -> bool {
        match self {
            Self::When(condition) => matches!(condition, Condition::Time(limit) if is_up(progress, *limit)),
            Self::Any(parts) => parts.iter().any(|part| part.is_out_of_time(progress)),
            Self::All(parts) => {
                parts.iter().any(|part| part.is_out_of_time(progress)) && self.check(progress).is_some()
            }
        }
    }

    /// Returns the condition for an objective of this direction: the `cost` of a maximised one is a value to reach.
    #[must_use]
    pub fn towards(self, direction: Direction) -> Self {
        let all = |parts: Vec<Self>| parts.into_iter().map(|part| part.towards(direction)).collect();
        match self {
            Self::When(Condition::Cost(value)) if direction == Direction::Maximise => {
                Self::When(Condition::Reached(value))
            }
            Self::When(condition) => Self::When(condition),
            Self::All(parts) => Self::All(all(parts)),
            Self::Any(parts) => Self::Any(all(parts)),
        }
    }

    /// Returns true if the condition contains a modelled limit.
    pub fn has_limit(&self) -> bool {
        self.conditions().iter().any(|condition| matches!(condition, Condition::Limit(_)))
    }

    /// Returns the single conditions, in the order written.
    fn conditions(&self) -> Vec<Condition> {
        match self {
            Self::When(condition) => vec![*condition],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::conditions).collect(),
        }
    }

    /// Returns the shares of the `regret` conditions, without repetition. They have to be
    /// estimated.
    pub fn regrets(&self) -> Vec<f64> {
        let share = |condition| match condition {
            Condition::Regret { share, .. } => Some(share),
            _ => None,
        };
        let mut shares: Vec<f64> = self.conditions().into_iter().filter_map(share).collect();
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        shares
    }

    /// Returns the number of evaluations after which the run certainly ends, if there is one.
    /// Progress displays use it.
    pub fn evaluation_limit(&self, space_size: f64) -> Option<u64> {
        match self {
            Self::When(Condition::Evaluations(n)) => Some(*n),
            Self::When(Condition::Fraction(share)) => {
                let limit = (share * space_size).ceil();
                (limit <= 1e15).then_some(limit as u64)
            }
            Self::When(_) => None,
            Self::Any(parts) => parts.iter().filter_map(|part| part.evaluation_limit(space_size)).min(),
            Self::All(parts) => {
                let limits: Option<Vec<u64>> = parts.iter().map(|part| part.evaluation_limit(space_size)).collect();
                limits.and_then(|limits| limits.into_iter().max())
            }
        }
    }

    /// Returns the time after which the run certainly ends, if there is one.
    pub fn time_limit(&self) -> Option<Duration> {
        match self {
            Self::When(Condition::Time(limit)) => Some(*limit),
            Self::When(_) => None,
            Self::Any(parts) => parts.iter().filter_map(Self::time_limit).min(),
            Self::All(parts) => {
                let limits: Option<Vec<Duration>> = parts.iter().map(Self::time_limit).collect();
                limits.and_then(|limits| limits.into_iter().max())
            }
        }
    }

    /// Returns the share of the run that is done at `progress`, from 0 to 1, as far as evaluations and
    /// time tell. `None` if nothing says when the run ends. Progress displays use it.
    pub fn share(&self, progress: &Progress) -> Option<f64> {
        let known = |parts: &[Stop]| parts.iter().filter_map(|part| part.share(progress)).collect::<Vec<_>>();
        match self {
            Self::When(condition) => condition.share(progress),
            Self::Any(parts) => known(parts).into_iter().max_by(f64::total_cmp),
            // A part that nobody can foresee may keep the run going.
            Self::All(parts) => {
                let shares = known(parts);
                shares.iter().copied().min_by(f64::total_cmp).filter(|_| shares.len() == parts.len())
            }
        }
    }
}

impl Condition {
    fn share(&self, progress: &Progress) -> Option<f64> {
        let evaluations = progress.evaluations as f64;
        let share = match *self {
            Self::Evaluations(n) => evaluations / n as f64,
            Self::Time(limit) => progress.elapsed.as_secs_f64() / limit.saturating_sub(progress.reserve).as_secs_f64(),
            Self::Fraction(share) => evaluations / (share * progress.space_size),
            Self::Cost(_) | Self::Reached(_) | Self::Limit(_) | Self::Regret { .. } | Self::Speedup { .. } => {
                return None;
            }
        };
        (!share.is_nan()).then_some(share.min(1.0))
    }

    fn holds(&self, progress: &Progress, evaluations: u64) -> bool {
        match *self {
            Self::Evaluations(n) => evaluations >= n,
            Self::Time(limit) => is_up(progress, limit),
            Self::Fraction(share) => evaluations as f64 >= share * progress.space_size,
            Self::Cost(cost) => progress.best().is_some_and(|best| best <= cost),
            Self::Reached(value) => progress.best().is_some_and(|best| best <= Direction::Maximise.score(value)),
            Self::Limit(share) => match (progress.limit, progress.best()) {
                // A better score than the limit shows that the limit is wrong.
                (Some(limit), Some(best)) => limit >= share * best && limit <= best,
                _ => false,
            },
            Self::Regret { share, probability } => {
                progress.best().is_some()
                    && progress.regret.iter().any(|bound| bound.share == share && bound.probability >= probability)
            }
            Self::Speedup { factor, window } => {
                let before = match window {
                    Window::Evaluations(n) => {
                        let start = evaluations.checked_sub(n);
                        start.and_then(|start| progress.best_where(|old| old.evaluations <= start))
                    }
                    Window::Time(time) => {
                        let start = progress.elapsed.checked_sub(time);
                        start.and_then(|start| progress.best_where(|old| old.elapsed <= start))
                    }
                };
                matches!((before, progress.best()), (Some(before), Some(now)) if !improved(before, now, factor))
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evaluations(n) => write!(f, "evaluations {n}"),
            Self::Time(time) => write!(f, "time {}s", time.as_secs_f64()),
            Self::Fraction(share) => write!(f, "fraction {share}"),
            Self::Cost(cost) => write!(f, "cost {cost}ms"),
            Self::Reached(value) => write!(f, "cost {value}"),
            Self::Limit(share) => write!(f, "limit {}%", percent(*share)),
            Self::Regret { share, probability } => {
                write!(f, "regret {}% at {}%", percent(*share), percent(*probability))
            }
            Self::Speedup { factor, window: Window::Evaluations(n) } => {
                write!(f, "speedup {factor} in {n} evaluations")
            }
            Self::Speedup { factor, window: Window::Time(time) } => {
                write!(f, "speedup {factor} in {}s", time.as_secs_f64())
            }
        }
    }
}

/// Returns true if the search must end for the run to end after `limit`.
fn is_up(progress: &Progress, limit: Duration) -> bool {
    progress.elapsed + progress.reserve >= limit
}

/// Returns a share in per cent without rounding noise: 0.07 is 7, not 7.000000000000001.
fn percent(share: f64) -> f64 {
    (share * 1e14).round() / 1e12
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, word) = match self {
            Self::When(condition) => return condition.fmt(f),
            Self::All(parts) => (parts, " and "),
            Self::Any(parts) => (parts, " or "),
        };
        for (position, part) in parts.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { word })?;
            match part {
                Self::Any(_) if word == " and " => write!(f, "({part})")?,
                _ => part.fmt(f)?,
            }
        }
        Ok(())
    }
}

/// Returns true if the best score became better by `factor` at least.
fn improved(before: f64, now: f64, factor: f64) -> bool {
    match Measure::of([before, now]) {
        measure @ Measure::Ratio => measure.between(now, before) >= factor,
        measure @ Measure::Difference => measure.between(now, before) > 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Improvement, RegretBound};

    fn progress(evaluations: u64, seconds: u64, improvements: &[(u64, u64, f64)]) -> Progress {
        let improvement = |&(evaluations, seconds, score): &(u64, u64, f64)| Improvement {
            evaluations,
            elapsed: Duration::from_secs(seconds),
            score,
        };
        Progress {
            evaluations,
            elapsed: Duration::from_secs(seconds),
            reserve: Duration::ZERO,
            space_size: 1000.0,
            limit: None,
            regret: Vec::new(),
            improvements: improvements.iter().map(improvement).collect(),
        }
    }

    fn stops(text: &str, progress: &Progress) -> Option<String> {
        text.parse::<Stop>().unwrap().check(progress).map(|reason| reason.to_string())
    }

    #[test]
    fn counts_times_and_fractions_stop_when_reached() {
        let now = progress(100, 60, &[(1, 1, 2.0)]);
        assert_eq!(stops("evaluations 100", &now).unwrap(), "evaluations 100");
        assert_eq!(stops("evaluations 101", &now), None);
        assert_eq!(stops("time 1min", &now).unwrap(), "time 60s");
        assert_eq!(stops("fraction 0.1", &now).unwrap(), "fraction 0.1");
        assert_eq!(stops("fraction 0.2", &now), None);
    }

    #[test]
    fn time_is_used_up_by_conditions_of_time_alone() {
        let now = progress(100, 60, &[(1, 1, 2.0)]);
        let is_out = |text: &str| text.parse::<Stop>().unwrap().is_out_of_time(&now);
        for text in ["time 60s", "evaluations 500 or time 10s", "evaluations 100 and time 60s"] {
            assert!(is_out(text), "{text}");
        }
        for text in ["time 61s", "evaluations 10", "evaluations 10 or time 61s", "evaluations 500 and time 10s"] {
            assert!(!is_out(text), "{text}");
        }
    }

    #[test]
    fn the_share_is_that_of_what_can_be_foreseen() {
        let now = progress(50, 15, &[(1, 1, 2.0)]);
        let share = |text: &str| text.parse::<Stop>().unwrap().share(&now);
        assert_eq!(share("evaluations 200"), Some(0.25));
        assert_eq!(share("evaluations 20"), Some(1.0));
        assert_eq!(share("time 60s"), Some(0.25));
        assert_eq!(share("fraction 0.1"), Some(0.5));
        assert_eq!(share("cost 1ms"), None);
        assert_eq!(share("cost 1ms or evaluations 100 or time 20s"), Some(0.75));
        assert_eq!(share("evaluations 100 and time 60s"), Some(0.25));
        assert_eq!(share("evaluations 100 and cost 1ms"), None);
    }

    #[test]
    fn the_cost_of_a_maximised_objective_is_a_value_to_reach() {
        let ends = |text: &str, best: f64| {
            let stop = text.parse::<Stop>().unwrap().towards(Direction::Maximise);
            stop.check(&progress(5, 5, &[(1, 1, Direction::Maximise.score(best))])).map(|reason| reason.to_string())
        };
        assert_eq!(ends("cost 3 or evaluations 9 and cost 1", 3.0).unwrap(), "cost 3");
        assert_eq!((ends("cost 3", 2.9), ends("cost -2", -2.5)), (None, None));
        assert_eq!(ends("cost -2", -1.5).unwrap(), "cost -2");
        assert_eq!(ends("cost 0", 0.0).unwrap(), "cost 0");
        let stop: Stop = "cost 3 and time 1s".parse().unwrap();
        assert_eq!(stop.clone().towards(Direction::Minimise), stop);
    }

    #[test]
    fn cost_compares_the_best_in_milliseconds() {
        let now = progress(100, 60, &[(1, 1, 2.0), (9, 9, 1.5)]);
        assert_eq!(stops("cost 1.5ms", &now).unwrap(), "cost 1.5ms");
        assert_eq!(stops("cost 1499us", &now), None);
        assert_eq!(stops("cost 1ms", &progress(5, 5, &[])), None);
    }

    #[test]
    fn a_share_of_the_modelled_limit_is_reached_from_above_and_never_without_a_model() {
        let now = progress(100, 60, &[(1, 1, 2.0), (9, 9, 1.25)]);
        assert_eq!(stops("limit 10%", &now), None);
        let modelled = Progress { limit: Some(1.0), ..now };
        assert_eq!(stops("limit 80%", &modelled).unwrap(), "limit 80%");
        assert_eq!(stops("limit 81%", &modelled), None);
        assert_eq!(stops("limit 80%", &Progress { improvements: Vec::new(), ..modelled }), None);
        assert!("evaluations 5 or (time 3s and limit 90%)".parse::<Stop>().unwrap().has_limit());
        assert!(!"evaluations 5 or time 3s".parse::<Stop>().unwrap().has_limit());
    }

    #[test]
    fn a_regret_holds_when_it_was_estimated_with_the_probability_and_something_was_correct() {
        let bound = |share, probability| RegretBound { share, probability, evaluations: 100 };
        let unknown = progress(100, 60, &[(1, 1, 2.0)]);
        assert_eq!(stops("regret 2% at 50%", &unknown), None);
        let known = Progress { regret: vec![bound(0.02, 0.93), bound(0.05, 0.99)], ..unknown };
        assert_eq!(stops("regret 2% at 93%", &known).unwrap(), "regret 2% at 93%");
        assert_eq!(stops("regret 2% at 95%", &known), None);
        assert_eq!(stops("regret 2% at 95% or regret 5% at 95%", &known).unwrap(), "regret 5% at 95%");
        assert_eq!(stops("regret 10% at 95%", &known), None, "of another share nothing was said");
        assert_eq!(stops("regret 2% at 50%", &Progress { improvements: Vec::new(), ..known }), None);
    }

    #[test]
    fn the_shares_to_estimate_are_named_once() {
        let shares = |text: &str| text.parse::<Stop>().unwrap().regrets();
        assert_eq!(shares("regret 5% at 90% and (time 60s or regret 2% at 95% or regret 5% at 50%)"), [0.02, 0.05]);
        assert!(shares("evaluations 5 or time 3s").is_empty());
    }

    #[test]
    fn speedup_stops_when_the_window_brought_too_little() {
        let stalled = progress(100, 60, &[(1, 1, 2.0), (40, 20, 1.0), (80, 50, 0.999)]);
        assert!(stops("speedup 1.01 in 50 evaluations", &stalled).is_some());
        assert!(stops("speedup 1.01 in 70 evaluations", &stalled).is_none());
        assert!(stops("speedup 1.01 in 30s", &stalled).is_some());
        assert!(stops("speedup 1.01 in 59s", &stalled).is_none());
        let young = progress(10, 5, &[(1, 1, 2.0)]);
        assert!(stops("speedup 1.01 in 50 evaluations", &young).is_none(), "nothing to compare with yet");
    }

    #[test]
    fn conditions_combine_with_and_binding_tighter_than_or() {
        let now = progress(100, 60, &[(1, 1, 2.0)]);
        assert_eq!(stops("evaluations 10 and time 60s", &now).unwrap(), "evaluations 10 and time 60s");
        assert_eq!(stops("evaluations 500 and time 60s or cost 3ms", &now).unwrap(), "cost 3ms");
        assert_eq!(stops("evaluations 500 and (time 60s or cost 3ms)", &now), None);
    }

    #[test]
    fn the_evaluation_limit_is_the_surest_of_the_conditions() {
        let limit = |text: &str| text.parse::<Stop>().unwrap().evaluation_limit(1000.0);
        assert_eq!(limit("evaluations 50 or fraction 0.01"), Some(10));
        assert_eq!(limit("evaluations 50 and fraction 0.01"), Some(50));
        assert_eq!(limit("evaluations 50 and time 1s"), None);
        assert_eq!(limit("evaluations 50 or time 1s"), Some(50));
    }
}
