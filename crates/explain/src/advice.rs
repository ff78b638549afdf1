//! Advises what to try next.

use crate::best::{AmongBest, Edge};
use crate::failures::FailureCause;
use crate::importance::{DOUBTFUL, Importance};
use std::fmt;
use tunesmith_core::FailureKind;

/// The facts about a run that decide what to try next.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Number of evaluations.
    pub evaluations: usize,
    /// Number of correct ones.
    pub correct: usize,
    /// Number of evaluations that are possible; `None` if nobody knows.
    pub possible: Option<f64>,
    /// Number of configurations that are indistinguishable from the best.
    pub ties: usize,
    /// Half the width of the 95 % interval of the best's median, as a share of it.
    pub spread: Option<f64>,
    /// The probability that the best is within 5 % of the optimum.
    pub near_optimum: Option<f64>,
    /// True if the best is the default configuration.
    pub is_default: bool,
    /// The importance of the parameters.
    pub importance: &'a Importance,
    /// The values among the best.
    pub best: Option<&'a AmongBest>,
    /// The failures by kind.
    pub failures: &'a [FailureCause],
}

/// One thing to try, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    /// Nothing was correct: see why one configuration fails.
    Diagnose {
        /// The commonest kind of failure.
        kind: FailureKind,
    },
    /// Many failures share values: exclude these by a constraint.
    Exclude {
        /// The kind of failure.
        kind: FailureKind,
        /// Number of evaluations that the constraint would have saved.
        saved: usize,
        /// The constraint, as an expression of a problem file.
        constraint: String,
    },
    /// The best is at the end of a list of values: list more of them.
    Extend {
        /// The parameter.
        parameter: String,
        /// The end.
        edge: Edge,
    },
    /// The times scatter: measure on a quieter machine.
    Quieten {
        /// The scatter of the best, as a share.
        spread: f64,
    },
    /// Too little was tried, or much is probably left: go on.
    GoOn {
        /// Number of evaluations to reach.
        evaluations: usize,
        /// The probability that the best is within 5 % of the optimum, if that is why.
        near_optimum: Option<f64>,
    },
    /// Parameters have no visible effect: leave them out.
    LeaveOut {
        /// These parameters.
        parameters: Vec<String>,
    },
    /// Several configurations are as good as the best: choose the most convenient.
    Choose {
        /// Number of the others.
        ties: usize,
    },
    /// The winner can be used.
    Ship,
}

/// Maximum number of things to try.
const MOST: usize = 3;
/// Minimum share of the evaluations that a constraint must save.
const WORTH_EXCLUDING: f64 = 0.1;
/// Minimum share of a parameter, with its interactions, whose list is worth extending.
const WORTH_EXTENDING: f64 = 0.05;
/// Scatter of the best above which differences of a few per cent mean little.
const QUIET: f64 = 0.03;
/// Evaluations per parameter below which a search has hardly begun.
const PER_PARAMETER: usize = 10;
/// Probability of being near the optimum below which going on is worthwhile.
const LIKELY: f64 = 0.5;
/// Number of ties that leave a choice.
const MANY_TIES: usize = 3;

/// Returns what to try next, the most urgent first: at most three things, and at least one.
pub fn advice(facts: &Facts<'_>) -> Vec<Advice> {
    if facts.correct == 0 {
        let commonest = facts.failures.first().map_or(FailureKind::Runtime, |failures| failures.status);
        return exclude(facts).into_iter().chain([Advice::Diagnose { kind: commonest }]).collect();
    }
    let quieten = facts.spread.filter(|spread| *spread > QUIET).map(|spread| Advice::Quieten { spread });
    let choose = (facts.ties >= MANY_TIES).then_some(Advice::Choose { ties: facts.ties });
    let ship = (!facts.is_default).then_some(Advice::Ship);
    let all = [exclude(facts), quieten, go_on(facts), extend(facts), leave_out(facts), choose, ship];
    let mut all: Vec<Advice> = all.into_iter().flatten().take(MOST).collect();
    if all.is_empty() {
        let more = Advice::GoOn { evaluations: 2 * facts.evaluations, near_optimum: None };
        all.push(if is_open(facts) { more } else { Advice::Ship });
    }
    all
}

/// Returns true if configurations may be left to evaluate.
fn is_open(facts: &Facts<'_>) -> bool {
    facts.possible.is_none_or(|possible| possible > facts.evaluations as f64)
}

fn exclude(facts: &Facts<'_>) -> Option<Advice> {
    // A device that refuses a configuration, or a limit that it breaks, says so at no cost.
    let is_costly = |kind| !matches!(kind, FailureKind::Constraints | FailureKind::Infeasible);
    let worth = |failures: &&FailureCause| {
        failures.correct == 0 && failures.covered as f64 >= WORTH_EXCLUDING * facts.evaluations as f64
    };
    let found = facts.failures.iter().filter(|failures| is_costly(failures.status)).find(worth)?;
    let constraint = found.cause.as_ref()?.constraint();
    Some(Advice::Exclude { kind: found.status, saved: found.covered, constraint })
}

fn go_on(facts: &Facts<'_>) -> Option<Advice> {
    let few = facts.evaluations < PER_PARAMETER * facts.importance.parameters.max(1);
    let unlikely = facts.near_optimum.filter(|probability| *probability < LIKELY);
    (is_open(facts) && (few || unlikely.is_some()))
        .then(|| Advice::GoOn { evaluations: 2 * facts.evaluations, near_optimum: unlikely })
}

fn extend(facts: &Facts<'_>) -> Option<Advice> {
    let matters = |parameter: &str| {
        let mut shares = facts.importance.importance.iter();
        shares.any(|share| share.parameter == parameter && share.with_interactions >= WORTH_EXTENDING)
    };
    facts.best?.parameters.iter().find_map(|values| {
        let parameter = values.condition.parameter.clone();
        values.edge.filter(|_| matters(&parameter)).map(|edge| Advice::Extend { parameter, edge })
    })
}

fn leave_out(facts: &Facts<'_>) -> Option<Advice> {
    facts.importance.unexplained.filter(|share| *share <= DOUBTFUL)?;
    let inert = facts.importance.importance.iter().filter(|share| share.is_inert());
    let parameters: Vec<String> = inert.map(|share| share.parameter.clone()).collect();
    (!parameters.is_empty()).then_some(Advice::LeaveOut { parameters })
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diagnose { kind } => write!(f, "nothing was correct; the commonest failure is: {kind}"),
            Self::Exclude { kind, saved, constraint } => {
                write!(f, "the constraint `{constraint}` would have saved {saved} evaluations ({kind})")
            }
            Self::Extend { parameter, edge: Edge::Smallest } => {
                write!(f, "the best use the smallest value of {parameter}: list smaller ones")
            }
            Self::Extend { parameter, edge: Edge::Largest } => {
                write!(f, "the best use the largest value of {parameter}: list larger ones")
            }
            Self::Quieten { spread } => {
                write!(f, "the best time scatters by {:.0} %: measure on a quieter machine", spread * 100.0)
            }
            Self::GoOn { near_optimum: Some(near), .. } => {
                let percent = (near * 100.0).floor();
                write!(f, "more is probably left: the best is within 5 % of the optimum with {percent} % probability")
            }
            Self::GoOn { near_optimum: None, .. } => f.write_str("more evaluations may find better ones"),
            Self::LeaveOut { parameters } => {
                write!(f, "no visible effect, so that one value each will do: {}", parameters.join(", "))
            }
            Self::Choose { ties } => write!(f, "{ties} others are as good as the best: choose among them"),
            Self::Ship => f.write_str("the winner can be used"),
        }
    }
}
