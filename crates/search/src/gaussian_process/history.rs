//! Times on other devices: the first configurations of a search, and features of all
//! configurations.
//!
//! # Tried without gain
//!
//! Picks by mean alone, without the preference for the middle of equal ones: .918, .941, .972 and
//! .991 of the optimum after 10, 25, 50 and 100 evaluations. The middle gives .925, .949, .979 and
//! .991. With a shuffled history, picks by mean alone give .789, .885, .931 and .975, and the
//! middle gives .774, .894, .942 and .977.

use super::targets::targets;
use super::told::Told;
use crate::knowledge::PastTimes;
use std::collections::HashMap;
use std::sync::Arc;
use tunesmith_model::rank_correlation;
use tunesmith_space::{ConfigId, Space};

/// Number of configurations spread over the space after the picks. Without them, the model would
/// know nothing but a history that may mislead. Two and three did about as well with a true
/// history, two a little better with a shuffled one.
pub(super) const SPREAD: usize = 2;
/// Minimum number of parameters in which picks differ. Neighbours of the best elsewhere are good or
/// bad together.
const APART: usize = 2;
/// The standard errors by which the history must agree with the evaluations told.
const CONFIRMED: f64 = 2.0;
/// Maximum difference of equal means. Models predict equal times on whole plateaus, and measured
/// times differ by as much from run to run.
const EQUAL: f64 = 0.01;
/// Maximum number of equal configurations to examine. More are thinned out.
const MOST_EQUAL: usize = 512;
/// Minimum share of the space in a recording of the whole space. A configuration missing from such
/// a recording did not run there. A configuration missing from a smaller one is unknown.
const WHOLE: f64 = 0.5;
/// Number of levels of a feature. It resolves all slowdowns that can be told apart, and a table of
/// them is small.
const LEVELS: usize = 256;
/// Median of the prior of a feature's length scale. It is that of a parameter, because one device
/// predicts another about as well as one parameter does. The fit makes the length scale of an
/// uninformative device large, so its feature has no effect.
pub(super) const LENGTH: f64 = 0.8;

/// The history of a kernel in the form that this strategy uses. The times of every recording become
/// the model's targets: bent logarithms of the slowdown ([`targets`]), 0 for the best.
///
/// - The first `picks` configurations asked are those with the lowest mean over the recordings.
///   Each differs in at least two parameters from those before. Among equal ones, the first pick is
///   the one in their middle, and each later pick is the one farthest from the picks before. At the
///   edge of a plateau, properties that the history does not show matter most, and similar picks
///   would fail together.
/// - Every recording is a feature of configurations, beside the parameters. Its influence is its
///   length scale, fitted like those of the parameters. An uninformative recording costs the picks
///   and little else.
#[derive(Debug)]
pub(super) struct History {
    slowdowns: Vec<Slowdowns>,
    /// The recorded configurations, by ascending mean.
    ascending: Vec<(f64, ConfigId)>,
    /// The means by configuration.
    means: HashMap<ConfigId, f64>,
    /// The mean of a configuration that no recording tells, or `None` if it is unknown.
    missing: Option<f64>,
    picked: Vec<ConfigId>,
}

/// The scores of one recording.
#[derive(Debug)]
struct Slowdowns {
    of: HashMap<ConfigId, f64>,
    worst: f64,
    /// The level of a configuration that was not recorded, or `None` if it is unknown.
    missing: Option<f64>,
}

impl History {
    /// Returns the history. Costs a sort of the recorded configurations.
    pub(super) fn new(past: &PastTimes, space: &Space) -> Self {
        let whole = WHOLE * space.len().map_or(f64::INFINITY, |len| len as f64);
        let slowdowns: Vec<Slowdowns> = past.each().iter().map(|past| Slowdowns::new(past, whole)).collect();
        let mut configs: Vec<ConfigId> = slowdowns.iter().flat_map(|known| known.of.keys().copied()).collect();
        // The order of a hash map varies.
        configs.sort_unstable();
        configs.dedup();
        let known = configs.into_iter().filter_map(|config| {
            let known = slowdowns.iter().filter_map(|known| known.at(config));
            Some((mean_of(known)?, config))
        });
        let mut ascending: Vec<(f64, ConfigId)> = known.collect();
        ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
        let means = ascending.iter().map(|(mean, config)| (*config, *mean)).collect();
        let missing = mean_of(slowdowns.iter().filter_map(|known| known.missing));
        Self { slowdowns, ascending, means, missing, picked: Vec::new() }
    }

    /// Returns the next of the first configurations. Returns `None` after `count` of them, or if no
    /// new one is left.
    pub(super) fn pick(&mut self, space: &Space, is_new: impl Fn(ConfigId) -> bool, count: usize) -> Option<ConfigId> {
        if self.picked.len() >= count {
            return None;
        }
        let is_apart = |config: ConfigId| self.picked.iter().all(|&pick| apart(space, pick, config) >= APART);
        let mut left = self.ascending.iter().filter(|(_, config)| is_new(*config) && is_apart(*config));
        let &(least, first) = left.next()?;
        let others = left.take_while(|(mean, _)| *mean <= least + EQUAL).map(|(_, config)| *config);
        let equal: Vec<ConfigId> = [first].into_iter().chain(others).collect();
        let step = equal.len().div_ceil(MOST_EQUAL);
        let equal: Vec<ConfigId> = equal.into_iter().step_by(step).collect();
        let to_all = |config: ConfigId| equal.iter().map(|other| distance(space, config, *other)).sum::<f64>();
        let from_picks = |config: ConfigId| {
            self.picked.iter().map(|pick| distance(space, config, *pick)).fold(f64::INFINITY, f64::min)
        };
        let badness = |config: ConfigId| if self.picked.is_empty() { to_all(config) } else { -from_picks(config) };
        let pick = equal.iter().map(|config| (badness(*config), *config)).min_by(|a, b| a.0.total_cmp(&b.0))?.1;
        self.picked.push(pick);
        Some(pick)
    }

    /// Returns true if the history ranks the evaluations told as this device does, beyond doubt: if the rank
    /// correlation of its means with the targets is above two standard errors, which without any relation are
    /// `1 / sqrt(n - 1)` for `n` evaluations (Kendall and Gibbons, Rank correlation methods, 1990).
    pub(super) fn is_confirmed(&self, told: &[Told], targets: &[f64]) -> bool {
        let known = told.iter().zip(targets);
        let pairs: Vec<(f64, f64)> =
            known.filter_map(|(told, target)| Some((self.mean(told.config)?, *target))).collect();
        pairs.len() > 1 && rank_correlation(&pairs) > CONFIRMED / ((pairs.len() - 1) as f64).sqrt()
    }

    fn mean(&self, config: ConfigId) -> Option<f64> {
        self.means.get(&config).copied().or(self.missing)
    }

    /// Returns the `count` configurations that were best elsewhere. In a space too large to list,
    /// the model might never see them by chance.
    pub(super) fn best(&self, count: usize) -> Vec<ConfigId> {
        self.ascending.iter().take(count).map(|(_, config)| *config).collect()
    }

    /// Returns one feature column for each recording.
    pub(super) fn columns(&self) -> Vec<Column> {
        self.slowdowns.iter().map(Slowdowns::column).collect()
    }
}

impl Slowdowns {
    /// Returns the scores of one recording. A recording with at least `whole` configurations counts
    /// as one of the whole space.
    fn new(past: &[(ConfigId, Option<f64>)], whole: f64) -> Self {
        let scores: Vec<Option<f64>> = past.iter().map(|(_, score)| *score).collect();
        let targets = targets(&scores);
        let worst = targets.iter().copied().fold(0.0, f64::max);
        let of: HashMap<ConfigId, f64> = past.iter().map(|(config, _)| *config).zip(targets).collect();
        let missing = (of.len() as f64 >= whole).then_some(worst);
        Self { of, worst, missing }
    }

    fn at(&self, config: ConfigId) -> Option<f64> {
        self.of.get(&config).copied().or(self.missing)
    }

    fn column(&self) -> Column {
        let width = if self.worst > 0.0 { self.worst } else { 1.0 };
        let level = |slowdown: f64| (slowdown / width * (LEVELS - 1) as f64).round() as u16;
        let mut recorded: Vec<u16> = self.of.values().map(|slowdown| level(*slowdown)).collect();
        recorded.sort_unstable();
        // An unknown configuration gets the median level.
        let missing = self.missing.map_or(recorded[recorded.len() / 2], level);
        Column { levels: Arc::new(self.of.iter().map(|(config, y)| (*config, level(*y))).collect()), missing }
    }
}

/// Returns the mean of the slowdowns in the recordings that tell a configuration, or `None` if none does.
fn mean_of(slowdowns: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = slowdowns.fold((0.0, 0), |(sum, count), slowdown| (sum + slowdown, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Returns the number of parameters in which two configurations differ.
fn apart(space: &Space, a: ConfigId, b: ConfigId) -> usize {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    space.unrank_into(a, &mut one);
    space.unrank_into(b, &mut other);
    one.iter().zip(&other).filter(|(a, b)| a != b).count()
}

/// Returns the distance of two configurations: the sum over parameters of at most 1 each, from the
/// first value to the last.
fn distance(space: &Space, a: ConfigId, b: ConfigId) -> f64 {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    space.unrank_into(a, &mut one);
    space.unrank_into(b, &mut other);
    let values = space.parameters().iter().map(|parameter| parameter.values().len());
    let apart = one.iter().zip(&other).map(|(a, b)| f64::from(a.abs_diff(*b)));
    apart.zip(values).map(|(apart, values)| apart / values.max(2).saturating_sub(1) as f64).sum()
}

/// The levels of a feature by configuration.
#[derive(Clone, Debug)]
pub(super) struct Column {
    levels: Arc<HashMap<ConfigId, u16>>,
    missing: u16,
}

impl Column {
    /// Returns the level of `config`.
    pub(super) fn level(&self, config: ConfigId) -> u16 {
        self.levels.get(&config).copied().unwrap_or(self.missing)
    }

    /// Returns the numbers of the levels, from 0 for the best elsewhere to 1 for the worst.
    pub(super) fn numbers() -> Vec<f64> {
        (0..LEVELS).map(|level| level as f64 / (LEVELS - 1) as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::{Parameter, Value};

    fn space() -> Space {
        let list = |name: &str| Parameter::new(name, (0..4).map(Value::Int)).unwrap();
        Space::builder().parameter(list("A")).parameter(list("B")).build().unwrap()
    }

    fn history(space: &Space, pasts: &[&[(u128, Option<f64>)]]) -> History {
        let past = |past: &&[(u128, Option<f64>)]| past.iter().map(|(at, t)| (space.id(*at).unwrap(), *t)).collect();
        History::new(&PastTimes::from_scores(pasts.iter().map(past).collect()), space)
    }

    fn ranks(history: &History, space: &Space) -> Vec<u128> {
        history.ascending.iter().map(|(_, config)| rank(space, *config)).collect()
    }

    fn rank(space: &Space, config: ConfigId) -> u128 {
        (0..16).find(|at| space.id(*at) == Some(config)).unwrap()
    }

    #[test]
    fn configurations_come_by_their_mean_slowdown_and_a_failure_is_as_bad_as_the_worst() {
        let space = space();
        let found = history(&space, &[&[(0, Some(2.0)), (1, Some(1.0)), (2, None), (3, Some(9.0))]]);
        assert_eq!(ranks(&found, &space)[..2], [1, 0]);
        let two = history(&space, &[&[(0, Some(1.0)), (1, Some(1.5))], &[(0, Some(90.0)), (1, Some(30.0))]]);
        assert_eq!(ranks(&two, &space), [1, 0], "each is compared with its own best");
    }

    #[test]
    fn what_is_missing_counts_as_the_worst_only_where_most_of_the_space_was_recorded() {
        let space = space();
        let most: Vec<(u128, Option<f64>)> = (1..12).map(|at| (at, Some(1.0 + at as f64))).collect();
        let found = history(&space, &[&most, &[(0, Some(1.0)), (15, Some(1.1))]]);
        assert_eq!(ranks(&found, &space)[0], 1, "0 was the best of a few, and did not run where most did");
        let few = history(&space, &[&most[..3], &[(0, Some(1.0))]]);
        assert_eq!(ranks(&few, &space)[..2], [0, 1]);
        assert_eq!(few.columns()[1].level(space.id(9).unwrap()), few.columns()[1].level(space.id(0).unwrap()));
    }

    #[test]
    fn picks_are_apart_in_two_parameters_and_end() {
        let space = space();
        let all: Vec<(u128, Option<f64>)> = (0..16).map(|at| (at, Some(1.0 + at as f64))).collect();
        let mut history = history(&space, &[&all]);
        let picks: Vec<ConfigId> = std::iter::from_fn(|| history.pick(&space, |_| true, 3)).collect();
        assert_eq!(picks.len(), 3);
        assert_eq!(Some(picks[0]), space.id(0));
        for (at, pick) in picks.iter().enumerate() {
            assert!(picks[..at].iter().all(|other| apart(&space, *other, *pick) == 2));
        }
    }

    #[test]
    fn a_history_is_confirmed_by_the_same_order_and_not_by_another() {
        let space = space();
        let all: Vec<(u128, Option<f64>)> = (0..16).map(|at| (at, Some(1.0 + at as f64))).collect();
        let history = history(&space, &[&all]);
        let is_confirmed = |count: u128, target: fn(u128) -> f64| {
            let told = |at| Told { config: space.id(at).unwrap(), score: Some(1.0), aspects: None, ms: None };
            history.is_confirmed(&(0..count).map(told).collect::<Vec<_>>(), &(0..count).map(target).collect::<Vec<_>>())
        };
        assert!(is_confirmed(16, |at| at as f64) && is_confirmed(6, |at| at as f64));
        assert!(!is_confirmed(16, |at| -(at as f64)) && !is_confirmed(16, |at| (at * 7 % 16) as f64));
        assert!(!is_confirmed(1, |at| at as f64) && !is_confirmed(5, |at| at as f64), "too few to tell");
    }

    #[test]
    fn of_equal_configurations_the_one_in_the_middle_comes_first_and_then_the_farthest() {
        let space = space();
        let picked = |time: fn(u128) -> f64| {
            let all: Vec<(u128, Option<f64>)> = (0..16).map(|at| (at, Some(time(at)))).collect();
            let mut history = history(&space, &[&all]);
            let picks = std::iter::from_fn(|| history.pick(&space, |_| true, 3));
            picks.map(|pick| rank(&space, pick)).collect::<Vec<u128>>()
        };
        // A plateau of A from 0 to 2 and B from 0 to 2. The middle is A=1 B=1, and its corners are
        // equally far from it.
        assert_eq!(picked(|at| if at / 4 < 3 && at % 4 < 3 { 1.0 } else { 2.0 }), [5, 0, 10]);
        // Half a percent is no difference, two percent are.
        assert_eq!(picked(|at| 1.0 + 0.005 * (at % 2) as f64)[0], picked(|_| 1.0)[0]);
        assert_eq!(picked(|at| 1.0 + 0.02 * at as f64)[0], 0);
    }
}
