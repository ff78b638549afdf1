//! Decides the winner of a final re-measurement and the configurations indistinguishable from it.

use super::measure::{Gain, Measure, MeasureInterval};
use crate::{Role, statistics};

/// The origin of scores: the search, or a stage of the final re-measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The search. Its samples help to choose the winner, because known results need not be
    /// measured again.
    Search,
    /// Chooses the winner.
    Selection,
    /// Estimates the winner. A winner that is chosen and estimated by the same samples looks better
    /// than it is, the more so the more configurations competed. Samples that did not choose it
    /// have no such bias.
    Confirmation,
    /// The confirmation rounds of a configuration that does not compete. The winner is compared
    /// with it.
    Baseline,
}

impl Stage {
    /// Returns the role under which samples of this stage are stored, or `None` for the search.
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Search => None,
            Self::Selection => Some(Role::Selection),
            Self::Confirmation => Some(Role::Confirmation),
            Self::Baseline => Some(Role::Baseline),
        }
    }
}

impl Role {
    /// Returns the stage of the final re-measurement to which the samples belong, if any.
    pub fn stage(self) -> Option<Stage> {
        [Stage::Selection, Stage::Confirmation, Stage::Baseline].into_iter().find(|stage| stage.role() == Some(self))
    }
}

/// One visit to a finalist: a few samples, taken in its turn of a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit<K> {
    /// The configuration visited.
    pub config: K,
    /// The stage of the visit.
    pub stage: Stage,
    /// The scores of the samples, or `None` if the configuration failed.
    pub scores: Option<Vec<f64>>,
}

/// The result of a final re-measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing<K> {
    /// The winner.
    pub winner: K,
    /// The configurations indistinguishable from the winner, best first.
    pub ties: Vec<K>,
    /// The finalists that were measured too seldom to be told apart from the winner or to be called its
    /// tie, best first.
    pub not_compared: Vec<K>,
}

impl<K> Standing<K> {
    /// Adds a configuration by its relation to the winner. One that is worse has no place.
    pub(crate) fn add(&mut self, config: K, relation: Relation) {
        match relation {
            Relation::Worse => {}
            Relation::Tie => self.ties.push(config),
            Relation::NotCompared => self.not_compared.push(config),
        }
    }
}

/// The relation of a finalist to the winner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// It is worse beyond doubt.
    Worse,
    /// Enough turns were taken, and they do not tell the two apart.
    Tie,
    /// Too few turns were taken to say either.
    NotCompared,
}

/// The medians of the visits of one finalist, by stage, and all its scores before the confirmation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns<'a> {
    /// All scores before the confirmation, those of the search included.
    pub(crate) before: &'a [f64],
    /// The medians of the selection visits.
    pub(crate) selection: &'a [f64],
    /// The medians of the confirmation visits, or of the visits beside them.
    pub(crate) confirmation: &'a [f64],
}

/// Maximum ratio of the medians of a tie, either way. Where the medians are further apart and the interval still holds
/// equality, turns were disturbed. They say neither that the two are equal nor that they are not.
const FURTHEST_TIE: f64 = 2.0;

/// Minimum number of confirmation visits for an estimate. Their extremes hold the median with 97 %
/// probability.
pub const FEWEST_CONFIRMATIONS: usize = 6;

/// Number of visits to a slow configuration that does not compete. With the fewest confirmation
/// visits of the winner, three suffice: 1 / C(9, 3) = 1.2 %.
pub const FEWEST_BESIDE: usize = 3;

/// Maximum probability of calling the winner better than a configuration with the same
/// distribution.
const TELLING_APART: f64 = 0.025;

/// Maximum probability that any finalist with the same distribution as the leader drops out of the
/// selection.
const DROPPING: f64 = 0.01;

/// Returns the result of a final re-measurement from its visits, in the order made. Returns `None`
/// if no finalist was confirmed. Visits to a baseline decide nothing.
///
/// A configuration that failed in any visit has lost its place. The winner is the confirmed
/// finalist with the smallest median of all its scores before the confirmation. Of equal medians,
/// the smaller key wins.
///
/// Ties are the other finalists that are indistinguishable from the winner at 2.5 %. The test is
/// the exact signed-rank test of the logarithms of the ratios of their visits' medians, round by
/// round, or of the differences where a ratio has no meaning: the [interval](measure_interval) does not lie
/// above equality. It uses the confirmation visits if there are enough. Otherwise it uses the selection visits.
/// These also chose the winner, so only half of the error is allowed. A finalist that dropped out of the
/// selection is no tie.
///
/// A finalist with too few visits for either interval is worse if the 95 % intervals of all scores before
/// the confirmation are apart. Otherwise it was not compared. So was one whose interval holds equality although its
/// median is more than a factor of two away: disturbed visits are no evidence of a tie.
///
/// Cost: small, quadratic in the number of finalists.
pub fn standing<K: Copy + Ord>(visits: &[Visit<K>]) -> Option<Standing<K>> {
    let finalists = finalists(visits);
    let confirmed = finalists.iter().filter(|finalist| finalist.confirmation.len() >= FEWEST_CONFIRMATIONS);
    let winner = confirmed.min_by(|a, b| a.order(b))?;
    let rivals = finalists.len() - 1;
    let mut others: Vec<&Finalist<K>> = finalists.iter().filter(|other| other.config != winner.config).collect();
    others.sort_by(|a, b| a.order(b));
    let mut standing = Standing { winner: winner.config, ties: Vec::new(), not_compared: Vec::new() };
    for other in others {
        standing.add(other.config, relation(winner.turns(), other.turns(), rivals));
    }
    Some(standing)
}

/// Returns the relation of `other` to `winner`, one of whose `rivals` it is.
pub(crate) fn relation(winner: Turns<'_>, other: Turns<'_>, rivals: usize) -> Relation {
    let confirmed = measure_interval(winner.confirmation, other.confirmation);
    let confirmed = confirmed.map(|interval| (interval, winner.confirmation, other.confirmation));
    let told = confirmed.or_else(|| {
        let interval = selection_interval(winner.selection, other.selection, rivals)?;
        Some((interval, winner.selection, other.selection))
    });
    match told {
        Some((interval, ..)) if interval.is_above_equality() => return Relation::Worse,
        Some((_, best, rest)) if is_close(best, rest) => return Relation::Tie,
        _ => {}
    }
    match interval_before(winner, other) {
        Some(interval) if interval.is_above_equality() => Relation::Worse,
        // Both were measured several times, and always the same number came out.
        Some(interval) if interval.ends == (interval.measure.equality(), interval.measure.equality()) => Relation::Tie,
        _ => Relation::NotCompared,
    }
}

/// Returns true if the medians of two configurations that are not told apart are close enough for a tie. Differences
/// have no scale to judge by.
fn is_close(best: &[f64], other: &[f64]) -> bool {
    let medians = statistics::median(best).zip(statistics::median(other));
    medians.is_some_and(|(best, other)| match Gain::between(best, other) {
        Gain::Ratio(ratio) => (FURTHEST_TIE.recip()..=FURTHEST_TIE).contains(&ratio),
        Gain::Difference(_) => true,
    })
}

/// Returns the interval between all scores before the confirmation, each with an interval of its own. `None` if one of
/// the two was measured once.
fn interval_before(winner: Turns<'_>, other: Turns<'_>) -> Option<MeasureInterval> {
    let interval = |turns: Turns<'_>| statistics::reported_interval(turns.before);
    Some(MeasureInterval::between(interval(winner)?, interval(other)?))
}

/// Returns the configurations that failed in a visit, in the order of their first visits.
pub fn failed<K: Copy + Ord>(visits: &[Visit<K>]) -> Vec<K> {
    let mut failed: Vec<K> = Vec::new();
    for visit in visits.iter().filter(|visit| visit.scores.is_none()) {
        if !failed.contains(&visit.config) {
            failed.push(visit.config);
        }
    }
    failed
}

/// Returns the scores of one configuration's visits that its estimate uses: those of the
/// confirmation rounds if there are enough or nothing else, else those of the selection. Their
/// median has no bias.
/// Their 95 % interval is an interval of the configuration's median.
pub fn counted(visits: impl Iterator<Item = (Stage, f64)>) -> Vec<f64> {
    let own = visits.filter(|(stage, _)| *stage != Stage::Search);
    let (confirmation, selection): (Vec<_>, Vec<_>) = own.partition(|(stage, _)| *stage != Stage::Selection);
    let few = confirmation.len() < FEWEST_CONFIRMATIONS && !selection.is_empty();
    let counted = if few { selection } else { confirmation };
    counted.into_iter().map(|(_, score)| score).collect()
}

/// Returns a 95 % interval of how much better the scores of `better` are than those of `worse`, by their
/// visits in confirmation rounds: of the ratio, or of the difference where a ratio has no meaning. Both ends
/// exclude values with an error of at most 2.5 %.
///
/// If both were visited in all rounds, the interval is that of the signed-rank test. A slow default is
/// visited in a few rounds only ([`FEWEST_BESIDE`]). Then the interval excludes a value if it puts all
/// scores of one above all of the other, which equal distributions do with the probability
/// 1 / C(n + m, m). For equal distributions it lies above equality with a probability of at most 2.5 %.
/// `better` may have been chosen among many, since other samples chose it. Returns `None` if there are too few visits
/// to exclude anything: a final that was cut short says nothing, neither for nor against it.
pub fn measure_interval(better: &[f64], worse: &[f64]) -> Option<MeasureInterval> {
    if better.len().min(worse.len()) >= FEWEST_CONFIRMATIONS {
        return paired_interval(better, worse, TELLING_APART);
    }
    (arrangements(better.len(), worse.len()) * TELLING_APART >= 1.0).then(|| extremes(better, worse))
}

/// Returns an interval of how much better the scores of `better`, the leader of `rivals` others, are than
/// those of `worse`, by their visits in the selection. These also chose the leader, so that only half of the error
/// is allowed. After few rounds, it excludes what [dropped out](is_apart). Returns `None` if there are
/// too few visits to exclude anything.
pub(crate) fn selection_interval(better: &[f64], worse: &[f64], rivals: usize) -> Option<MeasureInterval> {
    let drops = may_drop(better.len().min(worse.len()), rivals);
    paired_interval(better, worse, TELLING_APART / 2.0).or_else(|| drops.then(|| extremes(better, worse)))
}

/// Returns the interval by scores of the same rounds. Each end is wrong with a probability of at most
/// `error`.
fn paired_interval(better: &[f64], worse: &[f64], error: f64) -> Option<MeasureInterval> {
    let measure = Measure::of(better.iter().chain(worse).copied());
    let sums: Vec<f64> = better.iter().zip(worse).map(|(better, worse)| measure.sum(*better, *worse)).collect();
    let (low, high) = statistics::signed_rank_interval(&sums, error)?;
    Some(MeasureInterval { measure, ends: (measure.value_of_sum(low), measure.value_of_sum(high)) })
}

/// Returns the values that put neither all scores of `worse` above all of `better` nor the reverse.
fn extremes(better: &[f64], worse: &[f64]) -> MeasureInterval {
    MeasureInterval::between((lowest(better), highest(better)), (lowest(worse), highest(worse)))
}

/// Returns the number of ways to choose `few` of `many` + `few`.
fn arrangements(many: usize, few: usize) -> f64 {
    (1..=few).fold(1.0, |product, at| product * (many + at) as f64 / at as f64)
}

/// Returns true if every score of `worse` lies above every score of `better`.
///
/// For two samples of n from one distribution, this has the probability 1 / C(2n, n): the extreme
/// of Mann and Whitney's test. The answer is false until this probability is at most 1 % for all
/// `rivals` of the leader together. Two configurations that are apart after more rounds were apart
/// after fewer, so looking after every round adds nothing to the error.
pub(super) fn is_apart(better: &[f64], worse: &[f64], rivals: usize) -> bool {
    may_drop(better.len().min(worse.len()), rivals) && lowest(worse) > highest(better)
}

/// Returns true if a finalist may drop out after so many rounds.
fn may_drop(rounds: usize, rivals: usize) -> bool {
    rivals.max(1) as f64 / arrangements(rounds, rounds) <= DROPPING
}

fn highest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn lowest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The scores of one finalist without its failures.
#[derive(Clone, Debug)]
struct Finalist<K> {
    config: K,
    /// All scores before the confirmation.
    before: Vec<f64>,
    /// The medians of the selection visits.
    selection: Vec<f64>,
    /// The medians of the confirmation visits.
    confirmation: Vec<f64>,
}

impl<K: Ord> Finalist<K> {
    fn turns(&self) -> Turns<'_> {
        Turns { before: &self.before, selection: &self.selection, confirmation: &self.confirmation }
    }

    /// Orders the better finalist first. The order is total, so the same visits always give the
    /// same winner.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let median = |finalist: &Self| statistics::lower_median(&finalist.before).unwrap_or(f64::INFINITY);
        median(self).total_cmp(&median(other)).then_with(|| self.config.cmp(&other.config))
    }
}

fn finalists<K: Copy + Ord>(visits: &[Visit<K>]) -> Vec<Finalist<K>> {
    let failed = failed(visits);
    let mut finalists: Vec<Finalist<K>> = Vec::new();
    let competes = |visit: &&Visit<K>| visit.stage != Stage::Baseline && !failed.contains(&visit.config);
    for visit in visits.iter().filter(competes) {
        let Some(scores) = &visit.scores else { continue };
        let known = finalists.iter().position(|finalist| finalist.config == visit.config);
        let at = known.unwrap_or_else(|| {
            let config = visit.config;
            finalists.push(Finalist { config, before: Vec::new(), selection: Vec::new(), confirmation: Vec::new() });
            finalists.len() - 1
        });
        let finalist = &mut finalists[at];
        match visit.stage {
            Stage::Search | Stage::Baseline => {}
            Stage::Selection => finalist.selection.extend(statistics::median(scores)),
            Stage::Confirmation => finalist.confirmation.extend(statistics::median(scores)),
        }
        if visit.stage != Stage::Confirmation {
            finalist.before.extend(scores);
        }
    }
    finalists
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_surely_better(better: &[f64], worse: &[f64]) -> bool {
        measure_interval(better, worse).is_some_and(|interval| interval.is_above_equality())
    }

    fn visits(stage: Stage, config: u8, scores: &[f64]) -> Vec<Visit<u8>> {
        scores.iter().map(|score| Visit { config, stage, scores: Some(vec![*score]) }).collect()
    }

    fn both(config: u8, selection: f64, confirmation: f64) -> Vec<Visit<u8>> {
        let wobble = |level: f64, count: usize| (0..count).map(|i| level + 0.01 * (i % 3) as f64).collect::<Vec<_>>();
        let mut all = visits(Stage::Selection, config, &wobble(selection, 7));
        all.extend(visits(Stage::Confirmation, config, &wobble(confirmation, 9)));
        all
    }

    #[test]
    fn the_selection_names_the_winner_whatever_the_confirmation_shows() {
        let all = [both(1, 1.0, 1.2), both(2, 1.1, 1.0)].concat();
        let standing = standing(&all).unwrap();
        assert_eq!((standing.winner, standing.ties), (1, vec![2]), "2 was not slower when it mattered: a tie");
    }

    #[test]
    fn a_finalist_surely_slower_when_confirmed_is_no_tie() {
        let standing = standing(&[both(1, 1.0, 1.0), both(2, 1.0, 1.1)].concat()).unwrap();
        assert_eq!((standing.winner, standing.ties), (1, vec![]));
    }

    #[test]
    fn what_the_search_measured_helps_to_choose_and_counts_for_nothing_else() {
        let search = [visits(Stage::Search, 1, &[1.5; 9]), visits(Stage::Search, 2, &[0.5; 9])].concat();
        let all = [search, both(1, 1.0, 1.0), both(2, 1.0, 1.0)].concat();
        assert_eq!(standing(&all).unwrap().winner, 2);
        assert_eq!(
            counted(all.iter().filter(|v| v.config == 1).map(|v| (v.stage, v.scores.as_ref().unwrap()[0]))).len(),
            9
        );
    }

    #[test]
    fn of_equal_medians_the_smaller_key_wins_in_any_order() {
        for all in [[both(1, 1.0, 1.0), both(2, 1.0, 1.0)], [both(2, 1.0, 1.0), both(1, 1.0, 1.0)]] {
            assert_eq!(standing(&all.concat()).unwrap(), Standing { winner: 1, ties: vec![2], not_compared: vec![] });
        }
    }

    #[test]
    fn a_finalist_that_failed_once_cannot_win_and_is_no_tie() {
        let mut all = [both(1, 1.0, 1.0), both(2, 1.0, 1.0)].concat();
        all.push(Visit { config: 1, stage: Stage::Confirmation, scores: None });
        assert_eq!(failed(&all), [1]);
        assert_eq!(standing(&all).unwrap(), Standing { winner: 2, ties: vec![], not_compared: vec![] });
    }

    #[test]
    fn without_enough_confirming_visits_there_is_no_result() {
        let all = [visits(Stage::Selection, 1, &[1.0; 9]), visits(Stage::Confirmation, 1, &[1.0; 5])].concat();
        assert_eq!(standing(&all), None);
        assert_eq!(standing::<u8>(&[]), None);
    }

    #[test]
    fn one_that_dropped_out_of_the_selection_is_no_tie() {
        let all = [both(1, 1.0, 1.0), visits(Stage::Selection, 2, &[1.5; 5])].concat();
        assert_eq!(standing(&all).unwrap().ties, []);
    }

    /// A finalist that found no room in the confirmation was visited three or four times.
    #[test]
    fn a_finalist_without_a_confirmation_is_no_tie() {
        let rival = |level: f64| visits(Stage::Selection, 2, &[level, level + 0.02, level + 0.01]);
        for (level, not_compared) in [(22.0, vec![]), (1.1, vec![]), (1.0, vec![2]), (0.9, vec![2])] {
            let standing = standing(&[both(1, 0.8, 1.0), both(1, 1.0, 1.0), rival(level)].concat()).unwrap();
            assert_eq!(
                (standing.winner, &standing.ties, &standing.not_compared),
                (1, &vec![], &not_compared),
                "{level}"
            );
        }
    }

    #[test]
    fn a_number_that_is_always_the_same_ties_without_a_confirmation() {
        let equal = |config| visits(Stage::Selection, config, &[1.0; 3]);
        let all = [equal(1), visits(Stage::Confirmation, 1, &[1.0; 6]), equal(2)].concat();
        assert_eq!(standing(&all).unwrap(), Standing { winner: 1, ties: vec![2], not_compared: vec![] });
    }

    #[test]
    fn disturbed_visits_are_no_evidence_of_a_tie() {
        // One of six visits to the winner was disturbed: the signed-rank test cannot tell the two apart.
        let disturbed = visits(Stage::Confirmation, 1, &[1.0, 1.0, 99.0, 1.0, 1.0, 1.0]);
        let rival = [visits(Stage::Selection, 2, &[22.0; 5]), visits(Stage::Confirmation, 2, &[22.0; 6])].concat();
        let all = [visits(Stage::Selection, 1, &[1.0; 5]), disturbed.clone(), rival].concat();
        assert_eq!(standing(&all).unwrap(), Standing { winner: 1, ties: vec![], not_compared: vec![] });
        // The visits before do not tell them apart either.
        let rival =
            [visits(Stage::Selection, 2, &[22.0, 1.0, 22.0]), visits(Stage::Confirmation, 2, &[22.0; 6])].concat();
        let all = [visits(Stage::Selection, 1, &[1.0; 3]), disturbed, rival].concat();
        assert_eq!(standing(&all).unwrap(), Standing { winner: 1, ties: vec![], not_compared: vec![2] });
    }

    #[test]
    fn the_more_rivals_the_more_rounds_it_takes_to_drop_one() {
        let fewest = |rivals| (1..20).find(|n| is_apart(&vec![1.0; *n], &vec![2.0; *n], rivals)).unwrap();
        assert_eq!([1, 2, 7].map(fewest), [5, 5, 6]); // C(10, 5) = 252, C(12, 6) = 924
    }

    #[test]
    fn few_visits_to_a_slow_configuration_tell_it_apart_only_if_all_of_them_lie_above() {
        assert!(is_surely_better(&[1.0, 1.1, 1.2, 1.0, 1.1, 1.2], &[1.3, 1.4, 1.3]));
        assert!(!is_surely_better(&[1.0, 1.1, 1.2, 1.0, 1.1, 1.35], &[1.3, 1.4, 1.3]));
        assert!(!is_surely_better(&[1.0; 6], &[9.0; 2]), "1 / C(8, 2) is 3.6 %");
        assert!(!is_surely_better(&[1.0; 17], &[]));
        assert!(!is_surely_better(&[1.0; 9], &[1.0; 9]));
        assert!(is_surely_better(&[1.0; 3], &[1.1; 17]) && !is_surely_better(&[1.1; 3], &[1.0; 17]));
    }

    #[test]
    fn the_unit_does_not_matter() {
        let all = [both(1, 1.0, 1.0), both(2, 1.01, 1.01), both(3, 1.02, 1.0)].concat();
        let scale = |visit: &Visit<u8>| {
            let scores = visit.scores.as_ref().map(|scores| scores.iter().map(|score| score * 1024.0).collect());
            Visit { scores, ..visit.clone() }
        };
        let scaled: Vec<Visit<u8>> = all.iter().map(scale).collect();
        assert_eq!(standing(&all), standing(&scaled));
    }
}
