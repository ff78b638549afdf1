use super::*;
use crate::Rng;
use rand::{RngExt, SeedableRng};

/// Measurements of configurations named by numbers. Scores of trials are constant samples.
#[derive(Clone, Default)]
struct Case {
    trials: Vec<(u8, Option<Vec<f64>>)>,
    repeats: Vec<Repeat<u8>>,
    default: Option<u8>,
    /// The configurations whose machine code is known, each with a digest.
    codes: Vec<(u8, &'static str)>,
}

impl Case {
    fn of(trials: &[(u8, &[f64])], default: u8) -> Self {
        let trials = trials.iter().map(|(config, scores)| (*config, Some(scores.to_vec()))).collect();
        Self { trials, default: Some(default), ..Self::default() }
    }

    fn coded(mut self, codes: &[(u8, &'static str)]) -> Self {
        self.codes = codes.to_vec();
        self
    }

    fn again(mut self, config: u8, role: Role, scores: &[f64]) -> Self {
        let repeat = |score: &f64| Repeat { config, role, scores: Some(vec![*score; 3]), clock: Duration::ZERO };
        self.repeats.extend(scores.iter().map(repeat));
        self
    }

    fn breaks(mut self, config: u8, role: Role) -> Self {
        self.repeats.push(Repeat { config, role, scores: None, clock: Duration::ZERO });
        self
    }

    /// Asks the evidence, in which the trials follow each other by a second.
    fn asked<T>(&self, ask: impl FnOnce(&Evidence<'_, u8>) -> T) -> T {
        let score = |scores: &Option<Vec<f64>>| statistics::median(scores.as_ref()?);
        let trial = |(at, (config, scores)): (u64, &(u8, _))| Trial {
            config: *config,
            score: score(scores),
            clock: Duration::from_secs(at),
        };
        let samples = |at: usize| self.trials[at].1.clone().unwrap_or_default();
        let code = |at: usize| {
            let known = self.codes.iter().find(|(config, _)| *config == self.trials[at].0);
            known.map(|(_, code)| (*code).to_string())
        };
        ask(&Evidence {
            code: &code,
            trials: (0..).zip(&self.trials).map(trial).collect(),
            samples: &samples,
            lowest: &|at| Some(statistics::median_interval(&samples(at), 0.95)?.0),
            repeats: self.repeats.clone(),
            default: self.default,
        })
    }

    fn verdict(&self) -> Verdict<u8> {
        self.asked(|evidence| evidence.verdict())
    }

    /// Draws trials of one to nine samples from few levels, some of them failed, and later
    /// measurements: probes that drift or not, failures, and finals.
    fn drawn(rng: &mut Rng) -> Self {
        let samples = |rng: &mut Rng| -> Vec<f64> {
            let level = 1.0 + 0.1 * f64::from(rng.random_range(0..4_u8));
            (0..rng.random_range(1..10_u8)).map(|_| level + 0.01 * f64::from(rng.random_range(0..20_u8))).collect()
        };
        let trials: u8 = rng.random_range(0..12);
        let trials = (0..trials).map(|config| (config, rng.random_bool(0.9).then(|| samples(rng)))).collect();
        let mut case = Self { trials, default: Some(rng.random_range(0..4)), ..Self::default() };
        let slope = if rng.random_bool(0.5) { 0.0 } else { 0.1 };
        for at in 0..rng.random_range(0..2_u8) * 12 {
            let (clock, level) = (Duration::from_secs(at.into()), 1.0 + slope * f64::from(at));
            let scores = Some(vec![level, level * 1.001, level * 0.999]);
            case.repeats.push(Repeat { config: 0, role: Role::Reference, scores, clock });
        }
        for _ in 0..rng.random_range(0..3_u8) {
            let config = rng.random_range(0..12);
            case = match rng.random_range(0..3_u8) {
                0 => case.breaks(config, Role::Verification),
                _ => case.again(config, Role::Selection, &samples(rng)),
            };
        }
        case
    }
}

/// Returns the field without a final by its definition: every trial is asked for its interval.
fn obvious_field(court: &Court<'_, u8>) -> Option<(u8, Vec<u8>)> {
    let (first, others) = court.search.split_first()?;
    let interval = |at: usize| statistics::median_interval(&court.corrected_samples(at), 0.95);
    let reach = interval(*first).map_or(f64::NEG_INFINITY, |(_, highest)| highest);
    let reaches = |at: &&usize| interval(**at).is_some_and(|(lowest, _)| lowest <= reach);
    let config = |at: &usize| court.evidence.trials[*at].config;
    Some((config(first), others.iter().filter(reaches).map(config).collect()))
}

/// Returns the order by its definition: a sort of all others.
fn obvious_order(court: &Court<'_, u8>, winner: u8, ties: &[u8]) -> Vec<u8> {
    let finals = court.finals();
    let mut order = vec![winner];
    order.extend(ties);
    let score = |at: &usize| {
        let trial = &court.evidence.trials[*at];
        let in_final = statistics::median(&finals.counted(trial.config));
        (in_final.unwrap_or_else(|| trial.score.unwrap() / court.correction(trial.clock)), trial.config)
    };
    let mut others: Vec<(f64, u8)> = court.search.iter().map(score).collect();
    others.retain(|(_, config)| !order.contains(config));
    others.sort_by(|a, b| a.0.total_cmp(&b.0));
    order.extend(others.into_iter().map(|(_, config)| config));
    order
}

#[test]
fn ties_and_order_are_those_of_their_definitions() {
    let mut rng = Rng::seed_from_u64(1);
    let (mut drifted, mut with_ties, mut visited) = (0, 0, 0);
    for _ in 0..3000 {
        let case = Case::drawn(&mut rng);
        let verdict = case.verdict();
        case.asked(|evidence| {
            let court = Court::new(evidence);
            let field = court.field().map(|(field, by_final)| {
                assert!(!by_final && field.not_compared.is_empty());
                (field.winner, field.ties)
            });
            assert_eq!(field, obvious_field(&court), "{:?} {:?}", case.trials, case.repeats);
            let order = verdict.winner.map(|winner| obvious_order(&court, winner, &verdict.ties));
            assert_eq!(verdict.order, order.unwrap_or_default(), "{:?} {:?}", case.trials, case.repeats);
            drifted += usize::from(court.drift.is_some_and(|drift| drift.drifted) && !court.search.is_empty());
            visited += usize::from(!court.finals().0.is_empty());
        });
        with_ties += usize::from(!verdict.ties.is_empty() && verdict.ties.len() + 1 < verdict.order.len());
    }
    assert!(drifted > 100 && with_ties > 100 && visited > 100, "{drifted} {with_ties} {visited}");
}

/// Nine scores around `level`, in a different order for every `phase`.
fn nine(level: f64, phase: usize) -> Vec<f64> {
    (0..9).map(|at| level + 0.01 * ((at * 4 + phase) % 9) as f64).collect()
}

fn in_final(case: Case, config: u8, role: Role, level: f64) -> Case {
    let case = if role == Role::Confirmation { case.again(config, Role::Selection, &nine(level, 1)) } else { case };
    case.again(config, role, &nine(level, usize::from(config)))
}

const THREE: [(u8, &[f64]); 3] = [(0, &[2.0]), (1, &[1.0]), (2, &[1.5])];

#[test]
fn a_winner_that_is_faster_than_the_default_in_the_final_is_crowned_with_the_speed_up_of_the_final() {
    // The search saw the default at half its present time.
    let case = in_final(Case::of(&THREE, 0), 1, Role::Confirmation, 1.0);
    let case = in_final(in_final(case, 2, Role::Confirmation, 1.5), 0, Role::Baseline, 4.0);
    let verdict = case.verdict();
    assert_eq!((verdict.winner, verdict.order.as_slice(), verdict.by_final), (Some(1), [1, 2, 0].as_slice(), true));
    let found = verdict.comparison.unwrap();
    assert!(verdict.is_better_than_default() && found.basis == Basis::Final);
    let (low, high) = found.interval.unwrap();
    assert!((found.improvement - 4.0).abs() < 0.2 && low <= found.improvement && found.improvement <= high);
}

#[test]
fn scores_of_any_sign_are_judged_as_times_are() {
    // A maximised rate has the ratio of its values; signs that differ, and zero, have a difference.
    let expected = [
        ([-0.5, -2.0, -1.0], Measure::Ratio, 4.0),
        ([1.0, -1.0, 0.5], Measure::Difference, 2.0),
        ([3.0, 0.0, 2.0], Measure::Difference, 3.0),
        ([-1.0, -3.0, -2.0], Measure::Ratio, 3.0),
    ];
    for ([default, best, other], measure, improvement) in expected {
        let case = Case::of(&[(0, &[default]), (1, &[best]), (2, &[other])], 0);
        // Constant samples, in a final and without one.
        let again = |case: Case, config, role, level| case.again(config, role, &[level; 9]);
        let final_of = |case: Case, config, level| {
            again(again(case, config, Role::Selection, level), config, Role::Confirmation, level)
        };
        let in_final = again(final_of(final_of(case.clone(), 1, best), 2, other), 0, Role::Baseline, default);
        for (case, by_final) in [(case, false), (in_final, true)] {
            let verdict = case.verdict();
            assert_eq!((verdict.winner, verdict.by_final), (Some(1), by_final), "{default} {best} {other}");
            let found = verdict.comparison.unwrap();
            assert_eq!((found.measure, found.improvement, found.is_better), (measure, improvement, true), "{found:?}");
            assert_eq!((verdict.order.as_slice(), verdict.ties.len()), ([1, 2, 0].as_slice(), 0));
        }
    }
}

#[test]
fn a_winner_that_the_final_cannot_tell_from_the_default_is_a_tie_of_the_default() {
    let case = in_final(Case::of(&THREE, 0), 1, Role::Confirmation, 1.0);
    let verdict = in_final(case, 0, Role::Baseline, 1.0).verdict();
    assert_eq!((verdict.winner, verdict.ties), (Some(0), vec![1]));
    assert_eq!(verdict.order, [0, 1, 2]);
    assert!(verdict.comparison.is_some_and(|found| !found.is_better && found.contender == 1));
}

#[test]
fn a_winner_that_is_slower_than_the_default_in_the_final_is_not_even_a_tie() {
    let case = in_final(Case::of(&THREE, 0), 1, Role::Confirmation, 1.2);
    let verdict = in_final(case, 0, Role::Baseline, 1.0).verdict();
    assert_eq!((verdict.winner, verdict.ties, verdict.leader), (Some(0), vec![], Some(1)));
}

#[test]
fn a_slower_configuration_with_the_winners_code_is_named() {
    let codes = [(0, "other"), (1, "one"), (2, "one")];
    let verdict = Case::of(&THREE, 0).coded(&codes).verdict();
    assert_eq!((verdict.winner, verdict.ties, verdict.equal_code), (Some(1), vec![], vec![2]));
    // A final that tells them apart does not help.
    let case = in_final(Case::of(&THREE, 0), 1, Role::Confirmation, 1.0);
    let case = in_final(in_final(case, 2, Role::Confirmation, 1.5), 0, Role::Baseline, 4.0).coded(&codes);
    let verdict = case.verdict();
    assert_eq!((verdict.winner, verdict.equal_code.as_slice()), (Some(1), [2].as_slice()));
    assert!(verdict.is_better_than_default());
    // What failed later is out.
    assert_eq!(case.breaks(2, Role::Verification).verdict().equal_code, []);
}

#[test]
fn a_faster_configuration_with_the_defaults_code_is_a_tie_of_the_default() {
    for by_final in [false, true] {
        let case = match by_final {
            false => Case::of(&THREE, 0),
            true => {
                let case = in_final(Case::of(&THREE, 0), 1, Role::Confirmation, 1.0);
                in_final(in_final(case, 2, Role::Confirmation, 1.5), 0, Role::Baseline, 4.0)
            }
        };
        assert_eq!(case.verdict().winner, Some(1), "{by_final}");
        let verdict = case.coded(&[(0, "one"), (1, "one")]).verdict();
        assert_eq!((verdict.winner, verdict.equal_code.as_slice()), (Some(0), [1].as_slice()), "{by_final}");
        assert!(verdict.ties.contains(&1) && !verdict.is_better_than_default(), "{verdict:?}");
    }
}

#[test]
fn code_that_is_not_known_is_equal_to_none() {
    for codes in [&[][..], &[(1, "one")], &[(2, "one")], &[(1, "one"), (2, "two")]] {
        let verdict = Case::of(&THREE, 0).coded(codes).verdict();
        assert_eq!((verdict.winner, verdict.equal_code.len()), (Some(1), 0), "{codes:?}");
    }
}

#[test]
fn without_a_final_the_intervals_of_the_search_decide() {
    let apart = Case::of(&[(0, &[2.0, 2.1]), (1, &[1.0, 1.9])], 0).verdict();
    assert_eq!((apart.winner, apart.is_better_than_default()), (Some(1), true));
    let near = Case::of(&[(0, &[2.0, 2.1]), (1, &[1.0, 2.0])], 0).verdict();
    assert_eq!((near.winner, near.ties, near.comparison.unwrap().is_better), (Some(0), vec![1], false));
    let equal = Case::of(&[(0, &[1.0]), (1, &[1.0])], 1).verdict();
    assert_eq!((equal.winner, equal.ties), (Some(1), vec![0]));
}

#[test]
fn without_a_correct_default_the_best_is_crowned_and_better_than_nothing() {
    let mut case = Case::of(&THREE, 0);
    case.trials[0].1 = None;
    let failed = case.verdict();
    assert_eq!((failed.winner, failed.comparison, failed.is_better_than_default()), (Some(1), None, false));
    let broke = Case::of(&THREE, 0).breaks(0, Role::Baseline).verdict();
    assert_eq!((broke.winner, broke.comparison, broke.failed), (Some(1), None, vec![0]));
    let absent = Case::of(&THREE, 9).verdict();
    assert_eq!((absent.winner, absent.comparison), (Some(1), None));
}

#[test]
fn what_fails_later_is_nowhere_in_the_order_and_nothing_correct_is_no_winner() {
    let verdict = Case::of(&THREE, 0).breaks(1, Role::Selection).verdict();
    assert_eq!((verdict.winner, verdict.order), (Some(2), vec![2, 0]));
    assert_eq!(Case::default().verdict(), Verdict::default());
}

#[test]
fn a_default_that_dropped_out_of_the_selection_was_surely_slower() {
    let case = in_final(Case::of(&THREE, 0), 1, Role::Confirmation, 1.0);
    let verdict = case.again(0, Role::Selection, &nine(2.0, 3)).verdict();
    assert_eq!((verdict.winner, verdict.is_better_than_default()), (Some(1), true));
}

#[test]
fn a_slow_default_of_three_visits_is_compared_by_all_of_them() {
    let case = in_final(Case::of(&THREE, 0), 1, Role::Confirmation, 1.0).again(0, Role::Baseline, &[9.0; 3]);
    let verdict = case.verdict();
    let found = verdict.comparison.unwrap();
    assert_eq!((verdict.winner, found.basis, found.is_better), (Some(1), Basis::Final, true));
    assert!((found.improvement - 9.0).abs() < 0.5, "{found:?}");
}

fn lowest(comparison: &Comparison<u8>) -> f64 {
    comparison.interval.unwrap().0
}

/// Two of nine rounds show the winner slower, by little. The signed-rank test says that it is faster,
/// although the order statistics of the ratios say no more than 0.995.
#[test]
fn the_interval_of_a_speed_up_beyond_doubt_lies_above_1() {
    let base = [0.99, 0.995, 1.2, 1.25, 1.3, 1.4, 1.5, 1.7, 1.8];
    let case = Case::of(&THREE, 0).again(1, Role::Selection, &[1.0; 9]).again(1, Role::Confirmation, &[1.0; 9]);
    let found = case.again(0, Role::Baseline, &base).verdict().comparison.unwrap();
    assert!(found.is_better && lowest(&found) > 1.0 && lowest(&found) < found.improvement, "{found:?}");
    // One disturbed round more, and nothing is beyond doubt.
    let base = [0.99, 0.995, 0.9, 1.25, 1.3, 1.05, 1.02, 1.7, 1.8];
    let case = Case::of(&THREE, 0).again(1, Role::Selection, &[1.0; 9]).again(1, Role::Confirmation, &[1.0; 9]);
    let found = case.again(0, Role::Baseline, &base).verdict().comparison.unwrap();
    assert!(!found.is_better && lowest(&found) <= 1.0, "{found:?}");
}

#[test]
fn in_every_final_a_winner_is_crowned_if_and_only_if_the_interval_of_its_speed_up_lies_above_1() {
    let mut rng = Rng::seed_from_u64(2);
    let (mut crowned, mut held) = (0, 0);
    for _ in 0..3000 {
        let level = 1.0 + 0.1 * f64::from(rng.random_range(0..5_u8));
        let draw = |rng: &mut Rng, level: f64, count: usize| -> Vec<f64> {
            (0..count).map(|_| level + 0.02 * f64::from(rng.random_range(0..12_u8))).collect()
        };
        let (few, many) = (rng.random_range(1..10), rng.random_range(6..18));
        let case = Case::of(&[(0, &[level, level + 0.1]), (1, &[1.0, 1.1])], 0);
        let case = case.again(1, Role::Selection, &draw(&mut rng, 1.0, 7)).again(
            1,
            Role::Confirmation,
            &draw(&mut rng, 1.0, many),
        );
        let case = match rng.random_range(0..4_u8) {
            0 => case.again(0, Role::Selection, &draw(&mut rng, level, few)),
            1 => case.again(0, Role::Baseline, &draw(&mut rng, level, few)),
            2 => case.again(0, Role::Baseline, &draw(&mut rng, level, many)),
            _ => case,
        };
        let verdict = case.verdict();
        let found = verdict.comparison.unwrap();
        let (low, high) = found.interval.unwrap();
        assert!(low <= found.improvement && found.improvement <= high, "{found:?}");
        let is_first = verdict.order[0] == 1;
        assert_eq!((found.is_better, is_first), (low > 1.0, found.is_better), "{found:?} {:?}", case.repeats);
        crowned += usize::from(found.is_better);
        held += usize::from(!found.is_better);
    }
    assert!(crowned > 300 && held > 300, "{crowned} {held}");
}

/// A default that is the best is compared with the best of the others, and names it as no speed-up.
#[test]
fn a_contender_that_is_slower_beyond_doubt_is_compared_all_the_same() {
    let searched = Case::of(&[(0, &[1.0, 1.1]), (1, &[2.0, 2.2]), (2, &[3.0, 3.3])], 0);
    let dropped = searched.clone().again(0, Role::Selection, &nine(1.0, 7)).again(1, Role::Selection, &nine(2.0, 7));
    let dropped = in_final(dropped, 0, Role::Confirmation, 1.0);
    for (case, basis) in [(searched, Basis::Search), (dropped, Basis::Final)] {
        let verdict = case.verdict();
        let found = verdict.comparison.unwrap();
        assert_eq!((verdict.winner, &verdict.ties, found.contender, found.basis), (Some(0), &vec![], 1, basis));
        let (low, high) = found.interval.unwrap();
        assert!(low <= found.improvement && found.improvement <= high && high < 1.0, "{found:?}");
        assert!(!found.is_better && !verdict.is_better_than_default(), "{found:?}");
    }
    assert_eq!(Case::of(&[(0, &[1.0, 1.1])], 0).verdict().comparison, None, "nothing contends");
}

#[test]
fn the_best_is_never_the_default_with_a_speed_up_nor_another_without_one() {
    let mut rng = Rng::seed_from_u64(5);
    let mut found = [0, 0];
    for _ in 0..3000 {
        let case = Case::drawn(&mut rng);
        let verdict = case.verdict();
        let Some(comparison) = verdict.comparison else { continue };
        assert_eq!(verdict.winner == case.default, !comparison.is_better, "{comparison:?}");
        assert_ne!(Some(comparison.contender), case.default);
        if comparison.is_better {
            assert!(comparison.improvement > comparison.measure.equality(), "{comparison:?}");
            assert_eq!(verdict.winner, Some(comparison.contender));
        }
        found[usize::from(comparison.is_better)] += 1;
    }
    assert!(found.iter().all(|count| *count > 100), "{found:?}");
}

#[test]
fn a_single_measurement_of_either_has_no_interval() {
    let found = |trials: &[(u8, &[f64])]| Case::of(trials, 0).verdict().comparison.unwrap();
    for single in
        [[(0, [2.0].as_slice()), (1, &[1.0])], [(0, &[2.0, 2.1]), (1, &[1.0])], [(0, &[2.0]), (1, &[1.0, 1.1])]]
    {
        let found = found(&single);
        assert!(found.is_better && found.interval.is_none(), "{found:?}");
    }
    assert!(found(&[(0, &[2.0, 2.1]), (1, &[1.0, 1.1])]).interval.is_some());
}

#[test]
fn a_default_that_wins_is_no_tie_of_what_found_no_room_in_the_confirmation() {
    // The default wins, because the leader of the selection was not better when confirmed.
    let slow = Case::of(&[(0, &[1.0; 9]), (1, &[1.0; 9]), (2, &[22.0; 9]), (3, &[1.0, 1.01, 0.99])], 0);
    let selected = [(1, [0.99; 3]), (2, [22.0; 3]), (3, [0.98, 1.0, 1.02])];
    let case = selected.into_iter().fold(slow, |case, (config, levels)| case.again(config, Role::Selection, &levels));
    let case = case.again(1, Role::Confirmation, &[1.0; 9]).again(0, Role::Baseline, &[1.0; 9]);
    let verdict = case.verdict();
    assert_eq!((verdict.winner, verdict.by_final), (Some(0), true));
    assert_eq!((verdict.ties, verdict.not_compared), (vec![1], vec![3]));
    assert_eq!(verdict.order, [0, 1, 3, 2]);
}

#[test]
fn ties_stand_in_the_order_of_the_scores_that_are_shown_for_them() {
    // The selection saw the two ties in the other order than the confirmation.
    let mut case = Case::of(&THREE, 9);
    for (config, selection, confirmation) in [(1, 1.0, 1.005), (2, 1.02, 1.0), (0, 1.01, 1.002)] {
        case = case.again(config, Role::Selection, &nine(selection, 1));
        case = case.again(config, Role::Confirmation, &nine(confirmation, usize::from(config)));
    }
    let verdict = case.verdict();
    assert_eq!((verdict.winner, verdict.ties), (Some(1), vec![2, 0]));
    assert_eq!(verdict.order, [1, 2, 0]);
}

#[test]
fn the_order_follows_the_scores_that_count_and_equal_ones_keep_the_order_found() {
    let trials: [(u8, &[f64]); 4] = [(3, &[1.0]), (4, &[3.0]), (2, &[2.0]), (1, &[2.0])];
    assert_eq!(Case::of(&trials, 9).verdict().order, [3, 2, 1, 4]);
}
