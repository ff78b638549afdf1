//! The default strategy is never below chance: on no recording, after no number of evaluations.

#![allow(clippy::print_stdout)]

use super::{CompareOptions, Curve, Past, Subject, exact, search};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Number of first evaluations, before the model is asked.
const FIRST: u64 = 6;

/// Returns the number of standard errors by which the mean of the searches may be below the expectation of random
/// search after `at` evaluations. The first configuration is a random one, so that one recording of forty is two
/// standard errors below chance by luck alone, and the first few hang together with it.
fn allowed(at: u64) -> f64 {
    if at <= FIRST { 3.0 } else { 2.0 }
}

/// Returns the recordings in a folder, by name.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "gz")).collect();
    paths.sort();
    paths
}

/// Returns our own recordings of kernels on processors.
fn own() -> Vec<PathBuf> {
    let paths = recordings(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/recordings"));
    assert!(paths.len() >= 6, "{paths:?}");
    paths
}

/// Returns the recordings of GPUs.
#[allow(clippy::disallowed_methods)] // the environment names the test data
fn of_gpus() -> Vec<PathBuf> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let shared = named.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let paths = ["recordings", "recordings-large"].map(|folder| recordings(&shared.join(folder))).concat();
    if paths.is_empty() {
        println!("skipped: no shared data at {}; set TUNESMITH_SHARED", shared.display());
    }
    paths
}

/// Returns the number of evaluations after which the mean of the searches is farthest below chance, as a share of what
/// is allowed, and that distance in standard errors. It is negative if the mean is above everywhere.
fn farthest_below(curves: &[Curve], subject: &Subject, budget: u64) -> (u64, f64) {
    let (costs, size) = (&subject.costs, subject.space.len().map_or(f64::INFINITY, |len| len as f64));
    let best = costs[0];
    let below = |at: u64| {
        let shares: Vec<f64> = curves.iter().map(|curve| best / curve.best_after(at)).collect();
        let count = shares.len() as f64;
        let mean = shares.iter().sum::<f64>() / count;
        let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let chance = exact::expected(costs, size, at, &|cost| best / cost).0;
        (at, (chance - mean) / (variance / count).sqrt().max(f64::MIN_POSITIVE))
    };
    let share = |(at, errors): &(u64, f64)| errors / allowed(*at);
    (1..=budget).map(below).max_by(|a, b| share(a).total_cmp(&share(b))).unwrap()
}

/// Checks that the default is not below chance on `recordings`, at any of `budget` numbers of evaluations.
fn check(recordings: &[PathBuf], repeats: usize, budget: u64) {
    let options = CompareOptions { repeats, budget, seed: 3, ..CompareOptions::default() };
    let strategy = "default".parse().unwrap();
    let mut failures = Vec::new();
    for path in recordings {
        let subject = Subject::load(path, &options, &Past::default()).unwrap();
        let searches =
            (0..repeats).into_par_iter().map(|repeat| search(&strategy, &subject, &options, repeat).unwrap());
        let (at, errors) = farthest_below(&searches.collect::<Vec<_>>(), &subject, budget);
        println!("{}: {errors:.1} standard errors below chance after {at} evaluations, the farthest", subject.name);
        if errors > allowed(at) {
            failures.push((subject.name.clone(), at, errors));
        }
    }
    assert!(failures.is_empty(), "below chance: {failures:?}");
}

#[test]
fn the_first_evaluations_are_not_below_chance() {
    check(&own(), 40, 12);
}

#[test]
fn no_number_of_evaluations_is_below_chance() {
    let all: Vec<PathBuf> = own().into_iter().chain(of_gpus()).collect();
    check(&all, 40, 100);
}
