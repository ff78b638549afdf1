//! Promises of the tree strategies beyond the conformance suite.

use crate::common;

use common::{best, cube, run};
use std::collections::HashSet;
use tunesmith_core::{Request, Run, StopReason};
use tunesmith_search::build;

fn requests(run: &Run) -> Vec<Request> {
    run.history.iter().map(|scored| scored.evaluation.request).collect()
}

#[test]
fn a_bowl_with_a_forbidden_corner_is_solved_better_than_by_random_search() {
    let space = cube(4, 10);
    for room in [1, 4] {
        let [boosted, tree, random] =
            ["boosted_trees", "regression_tree", "random"].map(|strategy| best(strategy, &space, 80, room));
        assert!(boosted < 0.6 * random, "room {room}: boosted {boosted}, random {random}");
        assert!(tree < 0.9 * random, "room {room}: tree {tree}, random {random}");
    }
}

#[test]
fn a_space_too_large_to_list_is_searched_better_than_by_random_search() {
    let space = cube(18, 10);
    let [boosted, tree, random] =
        ["boosted_trees", "regression_tree", "random"].map(|strategy| best(strategy, &space, 60, 1));
    assert!(boosted < 0.9 * random && tree < 0.95 * random, "boosted {boosted}, tree {tree}, random {random}");
}

#[test]
fn starchart_samples_as_random_search_does_until_its_tree_is_good() {
    let space = cube(4, 10);
    let strategy = "regression_tree(protocol=paper, validation=30, first=10, most=40, error=0)";
    let (tree, random) = (requests(&run(strategy, &space, 90, 1, 3)), requests(&run("random", &space, 90, 1, 3)));
    // No tree is without error: 30 evaluations for validation and 40 to learn from.
    assert_eq!(tree[..70], random[..70]);
    assert_ne!(tree[70..], random[70..]);
    let satisfied = strategy.replace("error=0", "error=1000");
    let tree = requests(&run(&satisfied, &space, 90, 1, 3));
    assert_eq!(tree[..40], random[..40]);
    assert_ne!(tree[40..], random[40..]);
}

#[test]
fn every_protocol_covers_a_small_space() {
    let space = cube(2, 9);
    for strategy in ["regression_tree(protocol=paper, validation=10)", "regression_tree", "boosted_trees(models=2)"] {
        let run = run(strategy, &space, 1000, 3, 5);
        assert_eq!(requests(&run).into_iter().collect::<HashSet<_>>().len(), 81, "{strategy}");
        assert_eq!(run.stop_reason, StopReason::Exhausted, "{strategy}");
    }
}

#[test]
fn options_out_of_range_are_refused_with_what_is_right() {
    let error = |text: &str| build(text).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error("regression_tree(protocol=starchart)").contains("cannot be `starchart`: it is frugal or paper"));
    assert!(error("regression_tree(min_leaf=0)").contains("a whole number from 1"));
    assert!(error("boosted_trees(models=1)").contains("a whole number from 2 to 100"));
    assert!(error("boosted_trees(subsample=0)").contains("a number above 0"));
    assert!(build("boosted_trees(initial=4, rounds=10, depth=2, rate=1, subsample=1, shrinkage=0)").is_ok());
}
