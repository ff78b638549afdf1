//! Compares strategies on recordings: the nearness to the optimum after a number of evaluations,
//! and the evaluations needed to come near it.

mod baseline;
#[cfg(test)]
mod chance;
mod cost;
mod curve;
mod exact;
mod guides;
mod in_seconds;
mod measures;
mod plots;
mod progress;
mod subject;
mod time_transfer;

pub use baseline::Baseline;
pub use in_seconds::{AtSeconds, InSeconds};
pub use measures::{Measures, Overall, Score};
pub use time_transfer::TimeTransfer;

use crate::past::{LeftOut, Past};
use crate::{Error, ModelChoice};
use curve::{Curve, Watched};
use rand::SeedableRng as _;
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use subject::Subject;
use tunesmith_core::{Clock as _, Interrupt, Judging, ManualClock, Rng, Target, Tuner};
use tunesmith_device::ReplayEvaluator;
use tunesmith_report::PlotSeries;
use tunesmith_search::{Knowledge, PastTimes, StrategySpec};
use tunesmith_space::{ErrorClass, UserError};

/// A comparison that somebody ended. Its command has nothing to show, and says so.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
struct Interrupted;

impl UserError for Interrupted {
    fn class(&self) -> ErrorClass {
        ErrorClass::Run
    }
}

/// The subjects and the settings of a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// The recordings, in any format that can be read.
    pub recordings: Vec<PathBuf>,
    /// The strategies: `NAME` or `NAME(option=value, ...)`.
    pub strategies: Vec<String>,
    /// Number of searches of each strategy on each recording, at least 1.
    pub repeats: usize,
    /// Number of evaluations of each search, at least 1. Failures count. `u64::MAX` leaves searches that are judged
    /// by seconds to their time; then 400 evaluations are judged.
    pub budget: u64,
    /// The seed that the seeds of all searches are derived from.
    pub seed: u64,
    /// True if searches see samples drawn from the recorded noise. They are judged by the recorded
    /// times.
    pub noise: bool,
    /// A folder to write plots to, created if it does not exist. Without it, no plots are written.
    pub plots: Option<PathBuf>,
    /// True if plots run over simulated seconds instead of evaluations. `random` is then simulated
    /// as well.
    pub over_time: bool,
    /// Number of launches that reading the counters of a configuration takes in simulated time.
    /// Recordings do not have it. `None` counts as one.
    pub profile_passes: Option<f64>,
    /// The counter model for strategies. Without it, they search without one.
    pub model: Option<ModelChoice>,
    /// Recordings whose times strategies are told. For each recording these are the recordings of
    /// the same kernel, never the recording itself.
    pub history: Vec<PathBuf>,
    /// True if the times of the history are shuffled among its configurations before each search.
    /// This measures the cost of believing a history that misleads.
    pub shuffle_history: bool,
    /// Number of requests of a search in flight, each evaluated by a worker of its own in simulated
    /// time, or on `cores`. 0 counts as 1; with `cores`, as the default of a tuning run.
    pub in_flight: usize,
    /// Number of processor cores of a simulated machine, on which searches are also judged by seconds, at least 1. A
    /// search then ends after 80 median durations of an evaluation, or after the `budget`. `None` does not judge by
    /// seconds.
    pub cores: Option<usize>,
    /// True if configurations that failed are left out of the spaces, as in papers that count only
    /// configurations that ran.
    pub without_failures: bool,
    /// The number that ranks configurations, for recordings that do not state it or to rank them by another
    /// one. Without it, each recording's own objective ranks.
    pub objective: Option<Target>,
    /// Metrics over the recorded numbers, as names and expressions.
    pub metrics: Vec<(String, String)>,
    /// Conditions over recorded numbers and metrics. Configurations that break one count as failures.
    pub limits: Vec<String>,
    /// Ends the comparison when it is raised.
    pub interrupt: Interrupt,
}

/// The results of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The recordings by name.
    pub recordings: Vec<String>,
    /// Numbers of evaluations after which the best is measured.
    pub budgets: Vec<u64>,
    /// Results of every strategy on every recording.
    pub results: Vec<Score>,
    /// Results of every strategy over all recordings: geometric means.
    pub overall: Vec<Overall>,
    /// The baselines of the scores on each recording.
    pub baselines: Vec<Baseline>,
    /// The result of using the times of the counter model's recording alone, for each recording
    /// that shares configurations with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub time_transfer: Vec<TimeTransfer>,
    /// The assumptions about recordings, which do not state everything, by recording.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub assumptions: BTreeMap<String, Vec<String>>,
    /// Notes on the counter model: parameters that it does not know, or a space that it cannot
    /// serve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The plots written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<PathBuf>,
    /// The history of every recording that strategies were told of. Empty without a history.
    pub history: BTreeMap<String, Vec<PathBuf>>,
    /// Recordings that were left out of the history of another one.
    #[serde(skip)]
    pub left_out: BTreeMap<String, Vec<LeftOut>>,
}

/// Lets every strategy search every recording `repeats` times and measures the results.
///
/// Each search starts from a fresh state, with room for `in_flight` requests. Its seed is derived from the
/// strategy's text, the recording's name and the number of the repeat. Searches run on all cores;
/// the result does not depend on the number of cores. `random` without replacement is not run: its
/// expectation is exact, unless it is judged by seconds or differs for another reason.
///
/// # Errors
/// A recording cannot be read or has no correct configuration, a strategy does not exist, a folder
/// cannot be created or written to, or the comparison was interrupted. With `cores`, also if a recording has no
/// durations or no times of compilation.
pub fn compare(options: &CompareOptions) -> Result<Comparison, Error> {
    let strategies = checked(options)?;
    // Checked before the work, which would be lost.
    options.plots.as_deref().map_or(Ok(()), plots::make_folder)?;
    let past = Past::read(&options.history)?;
    let subjects: Vec<Subject> =
        options.recordings.par_iter().map(|path| Subject::load(path, options, &past)).collect::<Result<_, Error>>()?;
    let subjects = distinctly_named(subjects, &options.recordings);
    let pairs: Vec<(&StrategySpec, &Subject)> =
        strategies.iter().flat_map(|strategy| subjects.iter().map(move |subject| (strategy, subject))).collect();
    let scores = pairs.into_par_iter().map(|(strategy, subject)| score(strategy, subject, options));
    let (results, series): (Vec<Score>, Vec<PlotSeries>) =
        scores.collect::<Result<Vec<_>, Error>>()?.into_iter().unzip();
    let recordings: Vec<String> = subjects.iter().map(|subject| subject.name.clone()).collect();
    let plots = options
        .plots
        .as_deref()
        .map_or(Ok(Vec::new()), |folder| plots::write(folder, &recordings, series, options.over_time))?;
    let of = |strategy: &String| results.iter().filter(|score| score.strategy == *strategy).collect::<Vec<_>>();
    Ok(Comparison {
        recordings,
        budgets: measures::budgets(judged(options)),
        overall: options.strategies.iter().map(|strategy| Overall::of(strategy, &of(strategy))).collect(),
        results,
        time_transfer: subjects.iter().filter_map(|subject| subject.guidance.time_transfer.clone()).collect(),
        notes: subjects.iter().flat_map(|subject| subject.guidance.notes.clone()).collect(),
        plots,
        assumptions: assumptions(&subjects),
        history: named(&subjects, options, |subject| subject.history.clone()),
        left_out: named(&subjects, options, |subject| subject.left_out.clone()),
        baselines: subjects.into_iter().map(|subject| subject.baseline).collect(),
    })
}

/// Returns the assumptions about the recordings that need some.
fn assumptions(subjects: &[Subject]) -> BTreeMap<String, Vec<String>> {
    let needing = subjects.iter().filter(|subject| !subject.assumptions.is_empty());
    needing.map(|subject| (subject.name.clone(), subject.assumptions.clone())).collect()
}

/// Returns by recording a property of its history. Empty if no history was given.
fn named<T>(subjects: &[Subject], options: &CompareOptions, of: fn(&Subject) -> T) -> BTreeMap<String, T> {
    let subjects = if options.history.is_empty() { &[] } else { subjects };
    subjects.iter().map(|subject| (subject.name.clone(), of(subject))).collect()
}

/// Parses the strategies and refuses those that cannot be run, before anything is read.
fn checked(options: &CompareOptions) -> Result<Vec<StrategySpec>, Error> {
    let strategies = options.strategies.iter().map(|text| text.parse()).collect::<Result<Vec<StrategySpec>, _>>()?;
    let refuse = |text: &str, remedy: &str| Err(Error::request(text, Some(remedy.to_string())));
    if options.recordings.is_empty() || options.strategies.is_empty() {
        let names: Vec<&str> = tunesmith_search::catalogue().iter().map(|strategy| strategy.name).collect();
        let remedy = format!("name recordings, and strategies among {}", names.join(", "));
        return refuse("there is nothing to compare", &remedy);
    }
    if options.repeats == 0 || options.budget == 0 {
        return refuse(
            "there are no searches, or searches without evaluations",
            "give --repeats and --budget of at least 1",
        );
    }
    if options.cores == Some(0) {
        return refuse("a machine without cores compiles nothing", "give --cores of at least 1");
    }
    Ok(strategies)
}

/// Returns the subjects, named by their paths if their files' names are equal.
fn distinctly_named(mut subjects: Vec<Subject>, paths: &[PathBuf]) -> Vec<Subject> {
    let names: Vec<String> = subjects.iter().map(|subject| subject.name.clone()).collect();
    for (subject, path) in subjects.iter_mut().zip(paths) {
        if names.iter().filter(|name| **name == subject.name).count() > 1 {
            subject.name = path.display().to_string();
            subject.baseline.recording.clone_from(&subject.name);
        }
    }
    subjects
}

/// Returns the score of one strategy on one recording, with its curves.
fn score(strategy: &StrategySpec, subject: &Subject, options: &CompareOptions) -> Result<(Score, PlotSeries), Error> {
    // With noise, the best of a search is not the fastest that it met, and no expectation is known.
    // With several in flight, fast configurations are delivered before slow ones.
    let is_simulated = options.noise || options.over_time || options.in_flight > 1 || options.cores.is_some();
    let is_exact = strategy.has_exact_expectation() && !is_simulated;
    // One search of `random` is still run, to measure the cost of an evaluation.
    let repeats = if is_exact { 1 } else { options.repeats };
    let searches = (0..repeats).into_par_iter().map(|repeat| search(strategy, subject, options, repeat));
    let curves: Vec<Curve> = searches.collect::<Result<_, Error>>()?;
    let evaluations: usize = curves.iter().map(Curve::evaluations).sum();
    let seconds: f64 = curves.iter().map(|curve| curve.seconds).sum();
    let (costs, budget, name) = (&subject.costs, judged(options), strategy.to_string());
    let size = subject.space.len().unwrap_or(u128::MAX);
    // Nothing changes once every configuration has been evaluated.
    let drawn = budget.min(u64::try_from(size).unwrap_or(u64::MAX));
    let (measures, score, series) = if is_exact {
        let measures = exact::random(costs, size as f64, budget);
        (measures, 0.0, progress::of_random(&name, costs, size as f64, drawn))
    } else {
        let series = if options.over_time {
            progress::over_time(&name, &curves, costs[0])
        } else {
            progress::of_searches(&name, &curves, costs[0], drawn)
        };
        (Measures::of(&curves, costs[0], budget), subject.baseline.score(&curves), series)
    };
    let score = Score {
        strategy: name,
        recording: subject.name.clone(),
        repeats: options.repeats,
        exact: is_exact,
        measures,
        score,
        seconds_per_evaluation: seconds / evaluations.max(1) as f64,
        seconds: subject.median_seconds.map(|median| InSeconds::of(&curves, costs[0], median)),
    };
    Ok((score, series))
}

/// Runs one search from a fresh state.
fn search(strategy: &StrategySpec, subject: &Subject, options: &CompareOptions, repeat: usize) -> Result<Curve, Error> {
    let seed = seed(options.seed, strategy, &subject.name, repeat);
    let guides = &subject.guidance.guides;
    let guide = guides.get(repeat % guides.len().max(1)).cloned();
    let shuffled = |past: &PastTimes| past.shuffled(&mut Rng::seed_from_u64(seed));
    let history = if options.shuffle_history { subject.past.as_ref().map(shuffled) } else { subject.past.clone() };
    let mut searcher = Watched::new(strategy.build(&Knowledge {
        history,
        guide,
        device: subject.device_class,
        launch: subject.launch.clone(),
        ..Knowledge::default()
    })?);
    let clock = Arc::new(ManualClock::default());
    let room = subject.room(strategy, options);
    let mut device = device(subject, options, room, clock.clone());
    if options.noise {
        device = device.with_noise(seed);
    }
    let run = Tuner::new(&subject.space, &mut searcher, &mut device)
        .objective(&subject.objective)
        .stop(in_seconds::stop(subject.median_seconds, options.budget))
        .judging(Judging::nothing())
        .simulated(clock.clone())
        .room(room)
        .interrupt(options.interrupt.clone())
        .seed(seed)
        .run()?;
    if options.interrupt.is_raised() {
        return Err(Interrupted.into());
    }
    let mut curve = Curve::of(&run, &searcher, judged(options), |config| subject.cost(config));
    let seconds = clock.now().as_secs_f64();
    let used = device.busy().filter(|_| seconds > 0.0).map(|busy| busy.as_secs_f64() / seconds);
    curve.cores_used = used.unwrap_or_default();
    Ok(curve)
}

/// Returns the number of evaluations up to which searches are judged by evaluations.
fn judged(options: &CompareOptions) -> u64 {
    in_seconds::judged_evaluations(options.cores, options.budget)
}

/// Returns the device of one search with `room` for requests, whose evaluations advance `clock`.
fn device(subject: &Subject, options: &CompareOptions, room: usize, clock: Arc<ManualClock>) -> ReplayEvaluator {
    let passes = options.profile_passes.unwrap_or(1.0);
    let device = subject.device.clone().with_clock(clock).with_profile_passes(passes);
    match options.cores {
        Some(cores) => device.with_cores(cores, subject.device_class),
        None => device.with_workers(room),
    }
}

/// Returns a seed for one search that differs from the seeds of all others.
fn seed(seed: u64, strategy: &StrategySpec, recording: &str, repeat: usize) -> u64 {
    let digest = Sha256::digest(format!("{seed}\n{strategy}\n{recording}\n{repeat}").as_bytes());
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tunesmith_core::recording::{Column, Row};
    use tunesmith_core::{Failure, FailureKind, Measurement, Recording, Refusal};
    use tunesmith_space::Value;
    use tunesmith_store::ImportError;

    fn spec(strategy: &str) -> StrategySpec {
        strategy.parse().unwrap()
    }

    /// 120 configurations. Every fifth fails. The times have no structure.
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
        let recording = Recording::new("small", columns, (0..120).map(row).collect()).unwrap();
        Subject::new(&recording, Path::new("small"), &CompareOptions::default()).unwrap()
    }

    fn options(repeats: usize, budget: u64) -> CompareOptions {
        CompareOptions { repeats, budget, seed: 5, ..CompareOptions::default() }
    }

    #[test]
    fn the_exact_expectation_of_random_search_is_that_of_many_searches() {
        let (subject, options) = (subject(), options(3000, 60));
        let exact = score(&spec("random"), &subject, &options).unwrap().0.measures;
        let runs: Vec<Curve> = (0..options.repeats)
            .into_par_iter()
            .map(|repeat| search(&spec("random"), &subject, &options, repeat).unwrap())
            .collect();
        let simulated = Measures::of(&runs, subject.costs[0], options.budget);
        for (budget, expected) in &exact.rel {
            // Shares of the optimum lie in 0..1, so the mean of 3000 has a standard error below
            // 0.01.
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
    fn random_searches_that_are_run_score_as_the_exact_baseline_does() {
        let (subject, options) = (subject(), options(600, 120));
        let (scored, series) = score(&spec("random(replacement = false)"), &subject, &options).unwrap();
        assert_eq!((scored.exact, scored.score), (true, 0.0));
        let runs: Vec<Curve> = (0..options.repeats)
            .into_par_iter()
            .map(|repeat| search(&spec("random"), &subject, &options, repeat).unwrap())
            .collect();
        // An evaluation takes as long as its kernel, so that fast finds come a little sooner than
        // at the mean cost.
        let simulated = subject.baseline.score(&runs);
        assert!(simulated.abs() < 0.1, "{simulated}");
        let drawn = progress::of_searches("random", &runs, subject.costs[0], 120);
        for (exact, drawn) in series.curve.iter().zip(&drawn.curve) {
            assert!(
                (exact.mean - drawn.mean).abs() < 0.03 && (exact.low - drawn.low).abs() < 0.1,
                "{exact:?} {drawn:?}"
            );
        }
    }

    #[test]
    fn configurations_asked_again_count_as_evaluations() {
        let (subject, options) = (subject(), options(400, 60));
        let of = |strategy| score(&spec(strategy), &subject, &options).unwrap().0.measures;
        let (with, without) = (of("random(replacement=true)"), of("random"));
        // 60 draws with replacement miss the only configuration within 1.01 with probability (1 -
        // 1/120)^60 = 0.605.
        assert!((1.0 - with.success["1.01"] - 0.605).abs() < 0.08, "{with:?}");
        assert!((without.success["1.01"] - 0.5).abs() < 1e-9);
        assert!((with.rel["50"] - without.rel["50"]).abs() < 0.03, "rel counts distinct configurations");
    }

    #[test]
    fn with_noise_searches_are_judged_by_the_recorded_times() {
        let rows = (1..=40).map(|at| Row {
            values: vec![Value::Int(at)],
            measurement: Measurement { times_ms: vec![1.0 + at as f64 / 50.0], ..Measurement::default() },
            rel_std: Some(0.5),
            ..Row::default()
        });
        let recording = Recording::new("noisy", vec![Column::of_rows("A")], rows.collect()).unwrap();
        let subject = Subject::new(&recording, Path::new("noisy"), &CompareOptions::default()).unwrap();
        let options = CompareOptions { noise: true, ..options(200, 40) };
        let scored = score(&spec("random"), &subject, &options).unwrap().0;
        assert!(!scored.exact);
        // The median of fifty samples still varies by 9 %, so that the apparent best is often not
        // the best. No recorded time is below the optimum.
        let share = scored.measures.rel["25"];
        assert!(share <= 1.0);
        let found = scored.measures.success["1.10"];
        let runs: Vec<Curve> =
            (0..200).map(|repeat| search(&spec("random"), &subject, &options, repeat).unwrap()).collect();
        assert!(found > 0.5 && runs.iter().any(|run| run.best_after(40) > subject.costs[0]), "{found}");
    }

    #[test]
    fn searches_differ_in_their_seeds_and_are_the_same_every_time() {
        let (subject, options) = (subject(), options(4, 30));
        let run = |repeat| search(&spec("annealing"), &subject, &options, repeat).unwrap().best_by_evaluation;
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn a_search_that_ends_early_keeps_its_best() {
        let (subject, options) = (subject(), options(2, 400));
        let score = score(&spec("exhaustive"), &subject, &options).unwrap().0;
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
        assert!(wrong(|_| {}).downcast_ref::<ImportError>().is_some(), "a file that is not there");
        assert!(wrong(|options| options.strategies = vec!["ranom".into()]).to_string().contains("did you mean"));
        assert!(wrong(|options| options.budget = 0).downcast_ref::<Refusal>().is_some());
        let error = wrong(|options| options.strategies.clear());
        assert!(error.downcast_ref::<Refusal>().is_some() && error.remedy().unwrap().contains("annealing"));
    }
}
