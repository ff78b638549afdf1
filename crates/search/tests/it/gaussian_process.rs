//! Promises of the Gaussian process strategy beyond the conformance suite.

use crate::common;

use common::{best, cube, run};
use std::collections::HashSet;
use tunesmith_core::{Request, Run, StopReason};
use tunesmith_search::build;

fn distinct(run: &Run) -> usize {
    run.history.iter().map(|scored| scored.evaluation.request).collect::<HashSet<Request>>().len()
}

#[test]
fn a_bowl_with_a_forbidden_corner_is_solved_better_than_by_annealing_and_random_search() {
    let space = cube(5, 10);
    for room in [1, 4] {
        let [model, annealing, random] =
            ["gaussian_process", "annealing", "random"].map(|strategy| best(strategy, &space, 60, room));
        assert!(model < 0.8 * annealing && model < 0.5 * random, "room {room}: {model}, {annealing}, {random}");
    }
}

#[test]
fn a_run_longer_than_the_model_covers_the_space_and_ends() {
    let space = cube(3, 8);
    let run = run("gaussian_process", &space, 1000, 3, 5);
    assert_eq!((run.history.len(), distinct(&run)), (512, 512));
    assert_eq!(run.stop_reason, StopReason::Exhausted);
}

#[test]
fn spaces_of_ten_to_the_thirtieth_are_searched_beyond_the_first_candidates() {
    let space = cube(30, 10);
    let model = run("gaussian_process", &space, 100, 2, 3);
    assert_eq!((model.history.len(), distinct(&model)), (100, 100));
    let random = run("random", &space, 100, 2, 3);
    assert!(model.history.best_score().unwrap() < 0.7 * random.history.best_score().unwrap());
}

#[test]
fn options_out_of_range_are_refused_with_what_is_right() {
    let error = |text: &str| build(text).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error("gaussian_process(initial=1)").contains("a whole number from 2"));
    assert!(error("gaussian_process(margin=-1)").contains("a number from 0"));
    assert!(build("gaussian_process(initial=4, margin=0, fit_points=50)").is_ok());
}
