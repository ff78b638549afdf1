use super::*;

/// Measurements of configurations named by numbers. Scores of trials are constant samples.
#[derive(Default)]
struct Case {
    trials: Vec<(u8, Option<Vec<f64>>)>,
    repeats: Vec<Repeat<u8>>,
    default: Option<u8>,
}

impl Case {
    fn of(trials: &[(u8, &[f64])], default: u8) -> Self {
        let trials = trials.iter().map(|(config, scores)| (*config, Some(scores.to_vec()))).collect();
        Self { trials, default: Some(default), repeats: Vec::new() }
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

    fn verdict(&self) -> Verdict<u8> {
        let score = |scores: &Option<Vec<f64>>| statistics::median(scores.as_ref()?);
        let trial = |(config, scores): &(u8, _)| Trial { config: *config, score: score(scores), clock: Duration::ZERO };
        Evidence {
            trials: self.trials.iter().map(trial).collect(),
            samples: &|at| self.trials[at].1.clone().unwrap_or_default(),
            repeats: self.repeats.clone(),
            default: self.default,
        }
        .verdict()
    }
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
    assert!((found.ratio - 4.0).abs() < 0.2 && found.interval.0 <= found.ratio && found.ratio <= found.interval.1);
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
    assert!((found.ratio - 9.0).abs() < 0.5, "{found:?}");
}

#[test]
fn the_order_follows_the_scores_that_count_and_equal_ones_keep_the_order_found() {
    let trials: [(u8, &[f64]); 4] = [(3, &[1.0]), (4, &[3.0]), (2, &[2.0]), (1, &[2.0])];
    assert_eq!(Case::of(&trials, 9).verdict().order, [3, 2, 1, 4]);
}
