//! The catalogue's statements about strategies are true on recorded spaces, and the documentation
//! agrees.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use tunesmith::search::{Strategy, catalogue};
use tunesmith::study::{CompareOptions, Comparison, compare};

/// Strategies that fit models. They are a hundred times as slow as the others, so that one repeat
/// must do.
const MODELS: &[&str] = &["default", "gaussian_process", "regression_tree", "boosted_trees"];
/// Number of evaluations after which strategies are compared.
const BUDGET: u64 = 100;
/// Number of the nine recordings on which a strategy must be ahead.
const ENOUGH: usize = 7;

#[allow(clippy::disallowed_methods)] // the environment names the test data
fn recordings() -> Option<Vec<PathBuf>> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let shared = named.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let Ok(entries) = std::fs::read_dir(shared.join("recordings")) else {
        println!("skipped: no shared data at {}; set TUNESMITH_SHARED", shared.display());
        return None;
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(".csv.gz")).collect();
    paths.sort();
    assert_eq!(paths.len(), 9);
    Some(paths)
}

/// Returns the share of the optimum that each of `strategies` reaches, by recording.
fn shares(recordings: &[PathBuf], strategies: &[&str], repeats: usize) -> Vec<Vec<f64>> {
    let strategies: Vec<String> = strategies.iter().map(ToString::to_string).collect();
    let options = CompareOptions {
        recordings: recordings.to_vec(),
        strategies: strategies.clone(),
        repeats,
        budget: BUDGET,
        seed: 7,
        ..CompareOptions::default()
    };
    let comparison: Comparison = compare(&options).unwrap();
    let of = |strategy: &String| {
        let scores = comparison.results.iter().filter(|score| score.strategy == *strategy);
        scores.map(|score| score.measures.rel[&BUDGET.to_string()]).collect()
    };
    strategies.iter().map(of).collect()
}

/// Checks that each of `strategies` is ahead of random search's expectation as often as the
/// catalogue says.
fn check(strategies: &[&Strategy], repeats: usize) {
    let Some(recordings) = recordings() else { return };
    let random = shares(&recordings, &["random"], 1).remove(0);
    let names: Vec<&str> = strategies.iter().map(|strategy| strategy.name).collect();
    for (strategy, shares) in strategies.iter().zip(shares(&recordings, &names, repeats)) {
        let ahead = shares.iter().zip(&random).filter(|(share, random)| share > random).count();
        println!("{}: ahead on {ahead} of {}: {shares:.3?}", strategy.name, shares.len());
        assert_eq!(ahead >= ENOUGH, strategy.beats_random(), "{} is ahead on {ahead}", strategy.name);
    }
}

/// Returns the strategies to judge. `random` is its own measure.
fn judged() -> impl Iterator<Item = &'static Strategy> {
    catalogue().iter().filter(|strategy| strategy.name != "random")
}

#[test]
fn strategies_beat_random_search_on_seven_of_nine_recordings_unless_the_catalogue_says_otherwise() {
    let light: Vec<&Strategy> = judged().filter(|strategy| !MODELS.contains(&strategy.name)).collect();
    check(&light, 10);
}

#[test]
fn strategies_with_models_beat_random_search_on_seven_of_nine_recordings() {
    // `default` is another name of one of the others.
    let models = judged().filter(|strategy| MODELS.contains(&strategy.name) && strategy.name != "default");
    check(&models.collect::<Vec<_>>(), 1);
}

#[test]
fn every_strategy_and_each_of_its_options_stands_in_the_documentation() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/strategies.md");
    let text = std::fs::read_to_string(path).unwrap();
    for strategy in catalogue() {
        let line = text.lines().find(|line| line.starts_with(&format!("| `{}` |", strategy.name)));
        let line = line.unwrap_or_else(|| panic!("docs/strategies.md has no line for `{}`", strategy.name));
        for option in strategy.options.iter().filter(|_| strategy.name != "default") {
            let written = format!("`{}={}`", option.name, option.default);
            assert!(line.contains(&written), "docs/strategies.md does not say {written} of `{}`", strategy.name);
        }
        let says_no = line.contains("not better than random");
        assert_eq!(says_no, !strategy.beats_random(), "docs/strategies.md on `{}`", strategy.name);
    }
}
