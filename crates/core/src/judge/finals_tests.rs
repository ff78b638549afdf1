use super::super::standing::{Standing, standing};
use super::*;

fn leaders(scores: &[&[f64]], launch_ms: u64) -> Vec<Leader<usize>> {
    let leader = |(config, scores): (usize, &&[f64])| Leader {
        config,
        scores: scores.to_vec(),
        launch: Duration::from_millis(launch_ms),
    };
    scores.iter().enumerate().map(leader).collect()
}

fn equal(count: usize) -> Vec<Leader<usize>> {
    leaders(&vec![[1.0, 1.1, 1.2, 0.9, 0.8, 1.0, 1.0].as_slice(); count], 0)
}

/// Plays a final re-measurement in which every visit takes `step` and has the result of `score`.
/// Returns the order of the visits.
fn play(
    contest: &mut Contest<usize>,
    step: Duration,
    score: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<(usize, Stage)> {
    let (mut order, mut used) = (Vec::new(), Duration::ZERO);
    while let Some((config, stage)) = contest.next(used) {
        contest.record(config, stage, score(config, order.len()).map(|score| vec![score; 3]));
        order.push((config, stage));
        used += step;
    }
    order
}

fn count(order: &[(usize, Stage)], config: usize, stage: Stage) -> usize {
    order.iter().filter(|visit| **visit == (config, stage)).count()
}

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn finalists_are_those_whose_interval_reaches_the_best_and_the_runner_up_in_any_case() {
    let reaching = [1.05, 1.2, 1.3, 1.1, 1.2, 1.3, 1.2];
    let contest = |scores: &[&[f64]]| Finals::default().contest(&leaders(scores, 0), LONG, 1).unwrap().running;
    assert_eq!(contest(&[&[1.0, 1.1, 1.1], &[9.0, 9.1, 9.2], &[9.5; 3]]), [0, 1]);
    assert_eq!(contest(&[&[1.0, 1.1, 1.1], &[9.0; 3], &reaching]), [0, 1, 2]);
    assert_eq!(contest(&[&[1.0]]), [0]);
    assert_eq!(Finals::default().contest(&equal(30), LONG, 1).unwrap().entrants(), 8);
    assert!(Finals::default().contest::<usize>(&[], LONG, 1).is_none());
}

#[test]
fn every_round_visits_everyone_once_in_an_order_that_changes() {
    let mut contest = Finals::default().contest(&equal(4), LONG, 1).unwrap();
    let order = play(&mut contest, Duration::ZERO, |_, at| Some(1.0 + (at * 7 % 13) as f64));
    let rounds: Vec<Vec<usize>> =
        order[..44].chunks(4).map(|round| round.iter().map(|visit| visit.0).collect()).collect();
    for round in &rounds {
        let mut sorted = round.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3]);
    }
    assert!(rounds.iter().any(|round| round != &rounds[0]));
    let mut again = Finals::default().contest(&equal(4), LONG, 1).unwrap();
    assert_eq!(play(&mut again, Duration::ZERO, |_, at| Some(1.0 + (at * 7 % 13) as f64)), order, "the seed decides");
}

#[test]
fn one_surely_worse_drops_out_early_and_the_rest_is_confirmed_in_seventeen_rounds() {
    let mut contest = Finals::default().contest(&equal(3), LONG, 1).unwrap();
    let order = play(&mut contest, Duration::ZERO, |config, at| {
        Some(if config == 2 { 2.0 } else { 1.0 + 0.01 * (at * 7 % 5) as f64 })
    });
    assert_eq!(count(&order, 2, Stage::Selection), 5);
    assert_eq!(count(&order, 0, Stage::Selection), 11);
    assert_eq!([0, 1, 2].map(|config| count(&order, config, Stage::Confirmation)), [17, 17, 0]);
    let Standing { winner, ties, .. } = standing(contest.visits()).unwrap();
    assert_eq!((winner + ties[0], ties.len()), (1, 1));
}

#[test]
fn a_single_configuration_is_confirmed_without_a_selection() {
    let mut contest = Finals::default().contest(&equal(1), LONG, 1).unwrap();
    let order = play(&mut contest, Duration::ZERO, |_, _| Some(1.0));
    assert_eq!(order, vec![(0, Stage::Confirmation); 17]);
}

#[test]
fn a_finalist_that_fails_loses_its_place_at_once() {
    let mut contest = Finals::default().contest(&equal(3), LONG, 1).unwrap();
    let order = play(&mut contest, Duration::ZERO, |config, at| (config != 1).then_some(1.0 + (at % 3) as f64));
    assert_eq!(order.iter().filter(|visit| visit.0 == 1).count(), 1);
    let result = standing(contest.visits()).unwrap();
    assert!(result.winner != 1 && !result.ties.contains(&1));
}

#[test]
fn when_the_winner_fails_in_the_end_one_that_dropped_out_takes_its_place() {
    let mut contest = Finals::default().contest(&equal(2), LONG, 1).unwrap();
    let order = play(&mut contest, Duration::ZERO, |config, at| match config {
        0 => (at < 12).then_some(1.0),
        _ => Some(2.0),
    });
    assert_eq!(count(&order, 1, Stage::Confirmation), 17);
    assert_eq!(standing(contest.visits()).unwrap(), Standing { winner: 1, ties: vec![], not_compared: vec![] });
}

/// Returns the final of two equal leaders beside a baseline called 9. The baseline is five times as
/// fast, so it would win if it competed.
fn beside(launch_ms: u64, elapsed: Duration) -> Contest<usize> {
    let baseline = Leader { config: 9, scores: vec![0.2; 7], launch: Duration::from_millis(launch_ms) };
    Finals::default().contest(&equal(2), elapsed, 1).unwrap().beside(&baseline)
}

fn score_beside(config: usize, at: usize) -> Option<f64> {
    Some(if config == 9 { 0.2 } else { 1.0 + 0.01 * (at * 7 % 5) as f64 })
}

#[test]
fn a_baseline_is_visited_once_in_every_confirming_round_and_decides_nothing() {
    let mut contest = beside(0, LONG);
    let order = play(&mut contest, Duration::ZERO, score_beside);
    let (selection, confirmation) = order.split_at(22);
    assert!(selection.iter().all(|visit| visit.0 != 9));
    assert_eq!(confirmation.len(), 3 * 17);
    assert!(confirmation.chunks(3).all(|round| count(round, 9, Stage::Baseline) == 1), "{confirmation:?}");
    let mut alone = Finals::default().contest(&equal(2), LONG, 1).unwrap();
    play(&mut alone, Duration::ZERO, score_beside);
    let Standing { winner, ties, .. } = standing(contest.visits()).unwrap();
    assert_eq!((winner + ties[0], ties.len()), (1, 1));
    assert_eq!(count(&order, 0, Stage::Confirmation), 17);
    assert_eq!(standing(alone.visits()).unwrap().winner, winner);
}

#[test]
fn a_baseline_that_is_confirmed_itself_is_visited_as_a_finalist_alone() {
    let leaders = equal(2);
    let mut contest = Finals::default().contest(&leaders, LONG, 1).unwrap().beside(&leaders[1]);
    let order = play(&mut contest, Duration::ZERO, score_beside);
    assert_eq!([Stage::Confirmation, Stage::Baseline].map(|stage| count(&order, 1, stage)), [17, 0]);
}

#[test]
fn a_slow_baseline_takes_its_turn_in_a_few_rounds_and_costs_the_finalists_none() {
    let visits = |launch_ms| {
        let mut contest = beside(launch_ms, Duration::from_secs(100));
        let order = play(&mut contest, Duration::from_millis(1), score_beside);
        let count = |config, stage| count(&order, config, stage);
        (count(9, Stage::Baseline), count(0, Stage::Confirmation), contest.samples(Stage::Baseline))
    };
    // Some 20 s are left. Six rounds with 4 launches each may take half of them.
    assert_eq!(visits(1), (17, 17, 3));
    assert_eq!(visits(410), (12, 12, 3), "fewer rounds, and the finalists in all of them");
    assert_eq!(visits(420), (3, 17, 1));
    assert_eq!(visits(1_000_000), (3, 17, 1));
}

#[test]
fn a_baseline_that_fails_is_not_visited_again_and_the_final_goes_on() {
    let mut contest = beside(0, LONG);
    let order = play(&mut contest, Duration::ZERO, |config, at| score_beside(config, at).filter(|_| config != 9));
    assert_eq!(count(&order, 9, Stage::Baseline), 1);
    assert!(standing(contest.visits()).is_some_and(|result| result.winner != 9));
}

#[test]
fn when_all_fail_there_is_no_result() {
    let mut contest = Finals::default().contest(&equal(3), LONG, 1).unwrap();
    assert_eq!(play(&mut contest, Duration::ZERO, |_, _| None).len(), 3);
    assert_eq!(standing(contest.visits()), None);
}

#[test]
fn the_budget_is_a_share_of_the_search_between_its_bounds() {
    let budget = |seconds| Finals::default().budget(Duration::from_secs(seconds)).as_secs();
    assert_eq!([0, 60, 3600].map(budget), [1, 12, 120]);
}

#[test]
fn a_run_keeps_time_for_its_final() {
    let finals = Finals::default();
    let reserve = |seconds: f64| finals.reserve(Duration::from_secs_f64(seconds)).as_secs_f64();
    assert_eq!([reserve(1.0), reserve(4.0), reserve(60.0), reserve(3600.0)], [0.5, 1.0, 10.0, 120.0]);
    for total in (2..5000).map(Duration::from_secs) {
        let search = total - finals.reserve(total);
        let end = search + finals.budget(search);
        assert!(end.abs_diff(total) < Duration::from_micros(1), "{total:?} {end:?}");
    }
}

#[test]
fn no_final_takes_longer_than_the_longest() {
    let (finals, step) = (Finals::default(), Duration::from_millis(5));
    let longest = finals.longest(step, step);
    for count in 1..=8 {
        let contest = finals.contest(&equal(count), LONG, 1).unwrap();
        let mut contest = contest.beside(&Leader { config: 99, scores: vec![2.0; 7], launch: Duration::ZERO });
        let order = play(&mut contest, step, |config, at| Some((1 + config / 99) as f64 + (at * 7 % 13) as f64 / 13.0));
        let took = step * order.len() as u32;
        assert!(took <= longest && (count < 8 || took == longest), "{count}: {took:?} of {longest:?}");
    }
}

#[test]
fn a_final_keeps_to_its_budget() {
    let second = Duration::from_secs(1);
    for elapsed in [50, 150, 300, 600] {
        let elapsed = Duration::from_secs(elapsed);
        let budget = Finals::default().budget(elapsed);
        // The launches alone take a quarter of each visit's second: more than the plan knew.
        for count in [2, 8] {
            let scores = [1.0, 1.1, 1.2, 0.9, 0.8, 1.0, 1.0].as_slice();
            let Some(mut contest) = Finals::default().contest(&leaders(&vec![scores; count], 250), elapsed, 1) else {
                continue;
            };
            let order = play(&mut contest, second, |_, at| Some(1.0 + (at * 7 % 13) as f64));
            let least = (contest.entrants() * 3 + 6) as u32;
            assert!(second * order.len() as u32 <= budget.max(second * least), "{elapsed:?} {count}: {}", order.len());
        }
    }
}

#[test]
fn slow_kernels_get_fewer_finalists_then_fewer_samples_then_no_final() {
    let scores = [1.0, 1.1, 1.2, 0.9, 0.8, 1.0, 1.0].as_slice();
    let plan = |launch_ms, seconds| {
        let leaders = leaders(&[scores; 8], launch_ms);
        let contest = Finals::default().contest(&leaders, Duration::from_secs(seconds), 1);
        contest.map(|contest| (contest.entrants(), contest.samples(Stage::Selection)))
    };
    assert_eq!(plan(1, 100), Some((8, 3)));
    assert_eq!(plan(400, 100), Some((2, 3)));
    assert_eq!(plan(800, 100), Some((2, 1)));
    assert_eq!(plan(8000, 100), None);
}

#[test]
fn a_baseline_that_competed_and_finds_no_room_among_the_confirmed_takes_its_turn_beside_them() {
    let leaders = equal(2);
    let mut contest = Finals::default().contest(&leaders, Duration::from_secs(5), 1).unwrap().beside(&leaders[1]);
    let order = play(&mut contest, Duration::from_millis(90), |config, _| Some(1.0 + config as f64));
    assert_eq!((count(&order, 0, Stage::Confirmation), count(&order, 1, Stage::Confirmation)), (6, 0));
    assert_eq!(count(&order, 1, Stage::Baseline), 6);
}

#[test]
fn the_progress_of_a_final_grows_from_nothing_to_everything() {
    for (leaders, step) in [(equal(8), 0), (equal(8), 400), (leaders(&[&[1.0; 3], &[9.0; 3]], 0), 0)] {
        let mut contest = Finals::default().contest(&leaders, LONG, 1).unwrap();
        let (mut used, mut shares) = (Duration::ZERO, vec![contest.progress(Duration::ZERO).share]);
        while let Some((config, stage)) = contest.next(used) {
            contest.record(config, stage, Some(vec![1.0 + config as f64; 3]));
            used += Duration::from_millis(step);
            let progress = contest.progress(used);
            assert!(progress.rounds <= progress.most && progress.finalists > 0, "{progress:?}");
            shares.push(progress.share);
        }
        assert!(shares.is_sorted(), "{shares:?}");
        assert_eq!((shares[0], shares.last().copied()), (0.0, Some(1.0)));
    }
}
