//! Strategies compared on recordings: how near the optimum after so many evaluations, how many to come near it.

mod curve;
mod exact;
mod measures;

pub use measures::{Measures, Overall, Score};

use crate::Error;
use curve::Curve;
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use tunesmith_core::{Judging, MedianTime, Objective, Recording, Stop, Tuner};
use tunesmith_device::ReplayEvaluator;
use tunesmith_space::Space;

/// What is compared, and how thoroughly.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The recordings, in any format that can be read.
    pub recordings: Vec<PathBuf>,
    /// The strategies: `NAME` or `NAME(option=value, ...)`.
    pub strategies: Vec<String>,
    /// How often each strategy searches each recording, at least 1.
    pub repeats: usize,
    /// Evaluations of each search, at least 1; failures count.
    pub budget: u64,
    /// The seed that the seeds of all searches are derived from.
    pub seed: u64,
}

/// How strategies did.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The recordings by name.
    pub recordings: Vec<String>,
    /// The numbers of evaluations after which the best is looked at.
    pub budgets: Vec<u64>,
    /// Every strategy on every recording.
    pub results: Vec<Score>,
    /// Every strategy over all recordings: geometric means.
    pub overall: Vec<Overall>,
}

/// A recording made ready.
struct Subject {
    name: String,
    space: Space,
    device: ReplayEvaluator,
    /// The times of the correct configurations of the space in milliseconds, ascending.
    times: Vec<f64>,
}

/// Lets every strategy search every recording `repeats` times and measures how it went.
///
/// Each search starts from a fresh state, with room for one request and a seed derived from the strategy's text, the
/// recording's name and the number of the repeat; searches run on all cores, and the result does not depend on how many there are.
/// `random` without replacement is not run: its expectation is exact.
///
/// # Errors
/// A recording that cannot be read or has no correct configuration, a strategy that does not exist.
pub fn compare(options: &CompareOptions) -> Result<Comparison, Error> {
    check(options)?;
    let subjects: Vec<Subject> =
        options.recordings.par_iter().map(|path| Subject::load(path)).collect::<Result<_, Error>>()?;
    let subjects = distinctly_named(subjects, &options.recordings);
    let pairs: Vec<(&String, &Subject)> = options
        .strategies
        .iter()
        .flat_map(|strategy| subjects.iter().map(move |subject| (strategy, subject)))
        .collect();
    let scores = pairs.into_par_iter().map(|(strategy, subject)| score(strategy, subject, options));
    let results: Vec<Score> = scores.collect::<Result<_, Error>>()?;
    let of = |strategy: &String| results.iter().filter(|score| score.strategy == *strategy).collect::<Vec<_>>();
    Ok(Comparison {
        recordings: subjects.iter().map(|subject| subject.name.clone()).collect(),
        budgets: measures::budgets(options.budget),
        overall: options.strategies.iter().map(|strategy| Overall::of(strategy, &of(strategy))).collect(),
        results,
    })
}

/// Refuses what cannot be run before anything is read.
fn check(options: &CompareOptions) -> Result<(), Error> {
    for strategy in &options.strategies {
        tunesmith_search::build(strategy)?;
    }
    let refuse = |text: &str, remedy: &str| Err(Error::request(text, Some(remedy.to_string())));
    if options.recordings.is_empty() || options.strategies.is_empty() {
        let names: Vec<&str> = tunesmith_search::catalogue().iter().map(|strategy| strategy.name).collect();
        let remedy = format!("name recordings, and strategies among {}", names.join(", "));
        return refuse("there is nothing to compare", &remedy);
    }
    if options.repeats == 0 || options.budget == 0 {
        return refuse("no search would make an evaluation", "give --repeats and --budget of at least 1");
    }
    Ok(())
}

/// The subjects with their paths as names where the files' names are the same.
fn distinctly_named(mut subjects: Vec<Subject>, paths: &[PathBuf]) -> Vec<Subject> {
    let names: Vec<String> = subjects.iter().map(|subject| subject.name.clone()).collect();
    for (subject, path) in subjects.iter_mut().zip(paths) {
        if names.iter().filter(|name| **name == subject.name).count() > 1 {
            subject.name = path.display().to_string();
        }
    }
    subjects
}

impl Subject {
    fn load(path: &Path) -> Result<Self, Error> {
        Self::new(&tunesmith_store::import(path)?, path)
    }

    fn new(recording: &Recording, path: &Path) -> Result<Self, Error> {
        let refuse = |text: String, remedy: &str| Error::request(text, Some(remedy.to_string()));
        let too_large = |error| refuse(format!("`{}`: {error}", path.display()), "leave that recording out");
        let space = recording.space().map_err(too_large)?;
        let evaluations = recording.evaluations(&space);
        let mut times: Vec<f64> = evaluations.iter().filter_map(|evaluation| MedianTime.score(evaluation)).collect();
        times.sort_by(f64::total_cmp);
        // Without a positive time there is no share of the optimum.
        if times.first().is_none_or(|best| *best <= 0.0) {
            let text = format!("`{}` has no correct configuration with a time above 0", path.display());
            return Err(refuse(text, "leave that recording out"));
        }
        Ok(Self { name: recording.name.clone(), space, device: ReplayEvaluator::new(evaluations), times })
    }
}

/// One strategy on one recording.
fn score(strategy: &str, subject: &Subject, options: &CompareOptions) -> Result<Score, Error> {
    let is_exact = is_random_without_replacement(strategy);
    // Of `random` one search is made all the same: for what an evaluation costs.
    let repeats = if is_exact { 1 } else { options.repeats };
    let searches = (0..repeats).into_par_iter().map(|repeat| search(strategy, subject, options, repeat));
    let curves: Vec<Curve> = searches.collect::<Result<_, Error>>()?;
    let evaluations: usize = curves.iter().map(Curve::evaluations).sum();
    let seconds: f64 = curves.iter().map(|curve| curve.seconds).sum();
    let measures = if is_exact {
        let size = subject.space.len().unwrap_or(u128::MAX) as f64;
        exact::random(&subject.times, size, options.budget)
    } else {
        Measures::of(&curves, subject.times[0], options.budget)
    };
    Ok(Score {
        strategy: strategy.to_string(),
        recording: subject.name.clone(),
        repeats: options.repeats,
        exact: is_exact,
        measures,
        seconds_per_evaluation: seconds / evaluations.max(1) as f64,
    })
}

fn is_random_without_replacement(strategy: &str) -> bool {
    let text: String = strategy.chars().filter(|character| !character.is_whitespace()).collect();
    ["random", "random()", "random(replacement=false)"].contains(&text.as_str())
}

/// One search from a fresh state.
fn search(strategy: &str, subject: &Subject, options: &CompareOptions, repeat: usize) -> Result<Curve, Error> {
    let mut searcher = tunesmith_search::build(strategy)?;
    let mut device = subject.device.clone();
    let run = Tuner::new(&subject.space, searcher.as_mut(), &mut device)
        .stop(Stop::evaluations(options.budget))
        .judging(Judging::nothing())
        .seed(seed(options.seed, strategy, &subject.name, repeat))
        .run()?;
    Ok(Curve::of(&run))
}

/// A seed for one search that differs from those of all others.
fn seed(seed: u64, strategy: &str, recording: &str, repeat: usize) -> u64 {
    let digest = Sha256::digest(format!("{seed}\n{strategy}\n{recording}\n{repeat}").as_bytes());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::recording::{Column, Row};
    use tunesmith_core::{Failure, FailureKind, Measurement};
    use tunesmith_space::Value;

    /// 120 configurations, every fifth failing, times without structure.
    fn subject() -> Subject {
        let row = |at: i64| Row {
            values: vec![Value::Int(at / 12), Value::Int(at % 12)],
            failure: (at % 5 == 2).then(|| Failure::new(FailureKind::Compile, "x")),
            measurement: Measurement {
                times_ms: vec![1.0 + ((at * 37) % 120) as f64 / 40.0],
                ..Measurement::default()
            },
            ..Row::default()
        };
        let columns = vec![Column::of_rows("A"), Column::of_rows("B")];
        Subject::new(&Recording::new("small", columns, (0..120).map(row).collect()).unwrap(), Path::new("small"))
            .unwrap()
    }

    fn options(repeats: usize, budget: u64) -> CompareOptions {
        CompareOptions { recordings: Vec::new(), strategies: Vec::new(), repeats, budget, seed: 5 }
    }

    #[test]
    fn the_exact_expectation_of_random_search_is_that_of_many_searches() {
        let (subject, options) = (subject(), options(3000, 60));
        let exact = score("random", &subject, &options).unwrap().measures;
        let runs: Vec<Curve> = (0..options.repeats)
            .into_par_iter()
            .map(|repeat| search("random", &subject, &options, repeat).unwrap())
            .collect();
        let simulated = Measures::of(&runs, subject.times[0], options.budget);
        for (budget, expected) in &exact.rel {
            // Shares of the optimum lie in 0..1, so the mean of 3000 has a standard error below 0.01.
            assert!((simulated.rel[budget] - expected).abs() < 0.012, "{budget}: {expected} {simulated:?}");
        }
        for (level, expected) in &exact.ert {
            assert!((simulated.ert[level] / expected - 1.0).abs() < 0.1, "{level}: {expected} {simulated:?}");
            assert!((simulated.success[level] - exact.success[level]).abs() < 0.04, "{level}");
        }
        assert!((simulated.first_hit_mean / exact.first_hit_mean - 1.0).abs() < 0.05);
        assert!((simulated.first_hit_p90 - exact.first_hit_p90).abs() <= 3.0);
        let (a, b) = (simulated.paper_metric.unwrap() as f64, exact.paper_metric.unwrap() as f64);
        assert!((a - b).abs() <= 2.0, "{a} {b}");
    }

    #[test]
    fn searches_differ_in_their_seeds_and_are_the_same_every_time() {
        let (subject, options) = (subject(), options(4, 30));
        let run = |repeat| search("annealing", &subject, &options, repeat).unwrap().best_by_evaluation;
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn a_search_that_ends_early_keeps_its_best() {
        let (subject, options) = (subject(), options(2, 400));
        let score = score("exhaustive", &subject, &options).unwrap();
        assert_eq!(score.measures.rel["200"], 1.0);
        assert_eq!(score.measures.success["1.01"], 1.0);
    }

    #[test]
    fn impossible_comparisons_are_refused() {
        let wrong = |change: fn(&mut CompareOptions)| {
            let mut options = CompareOptions {
                recordings: vec!["absent.csv".into()],
                strategies: vec!["random".into()],
                ..options(1, 1)
            };
            change(&mut options);
            compare(&options).unwrap_err()
        };
        assert!(wrong(|_| {}).is_request(), "a file that is not there");
        assert!(wrong(|options| options.strategies = vec!["ranom".into()]).to_string().contains("did you mean"));
        assert!(wrong(|options| options.budget = 0).is_request());
        assert!(wrong(|options| options.strategies.clear()).remedy().unwrap().contains("annealing"));
    }
}
