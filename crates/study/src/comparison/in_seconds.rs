//! Judges searches by simulated seconds, on a machine whose cores compile and measure.

use super::curve::Curve;
use crate::Error;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tunesmith_core::recording::Recorded;
use tunesmith_core::{Condition, Stop, statistics};

/// The moments at which searches are judged, in median durations of an evaluation.
const MEDIANS: [u32; 4] = [10, 20, 40, 80];

/// The end of a search, in median durations of an evaluation.
const END: u32 = MEDIANS[MEDIANS.len() - 1];

/// Number of evaluations up to which searches that end by time alone are judged by evaluations.
const JUDGED_EVALUATIONS: u64 = 400;

/// One strategy on one recording, judged by simulated seconds. Recordings differ in the duration of an
/// evaluation, so that moments are multiples of its median.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InSeconds {
    /// The median recorded duration of the evaluations that took time, in seconds, failures included.
    pub median_seconds: f64,
    /// By the number of medians that have passed: 10, 20, 40 and 80.
    pub by_median: BTreeMap<String, AtSeconds>,
    /// Mean number of cores that compile or measure at a time.
    pub cores_used: f64,
}

/// The results of searches up to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AtSeconds {
    /// The mean of the optimum over the best so far, 0 while nothing is correct.
    pub rel: f64,
    /// The standard error of this mean. 0 for one search.
    pub error: f64,
    /// Mean number of evaluations that have ended. Failures count.
    pub evaluations: f64,
}

impl InSeconds {
    /// Returns the results of `searches`, at least one, on a recording with the cost `optimum` of its best
    /// configuration.
    pub(super) fn of(searches: &[Curve], optimum: f64, median_seconds: f64) -> Self {
        let at = |medians: u32| {
            let seconds = end(median_seconds, medians).as_secs_f64();
            (medians.to_string(), AtSeconds::of(searches, optimum, seconds))
        };
        let cores: Vec<f64> = searches.iter().map(|curve| curve.cores_used).collect();
        Self { median_seconds, by_median: MEDIANS.map(at).into(), cores_used: mean(&cores) }
    }
}

impl AtSeconds {
    /// Returns the results of `searches` up to `seconds`.
    fn of(searches: &[Curve], optimum: f64, seconds: f64) -> Self {
        let shares: Vec<f64> = searches.iter().map(|curve| optimum / curve.best_at(seconds)).collect();
        let made: Vec<f64> = searches.iter().map(|curve| curve.ended_by(seconds) as f64).collect();
        let (count, rel) = (shares.len() as f64, mean(&shares));
        let squares: f64 = shares.iter().map(|share| (share - rel).powi(2)).sum();
        let error = if count > 1.0 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        Self { rel, error, evaluations: mean(&made) }
    }
}

/// Returns the stop condition of a search: the last moment at which it is judged, if it is judged by seconds, and the
/// number of evaluations. `u64::MAX` evaluations leave a search to its time.
pub(super) fn stop(median_seconds: Option<f64>, budget: u64) -> Stop {
    let evaluations = Stop::evaluations(budget);
    let Some(median_seconds) = median_seconds else { return evaluations };
    let time = Stop::When(Condition::Time(end(median_seconds, END)));
    if budget == u64::MAX { time } else { Stop::Any(vec![time, evaluations]) }
}

/// Returns the number of evaluations up to which searches of `budget` evaluations are judged by evaluations, on a
/// machine of so many `cores`, if it is simulated.
pub(super) fn judged_evaluations(cores: Option<usize>, budget: u64) -> u64 {
    if cores.is_some() && budget == u64::MAX { JUDGED_EVALUATIONS } else { budget }
}

/// Returns the median duration of the evaluations that took time, in seconds.
///
/// # Errors
/// No evaluation took any time, or no time of compilation is known.
pub(super) fn median_seconds(recorded: &[Recorded], path: &Path) -> Result<f64, Error> {
    let refuse = |text: &str| {
        let remedy = "leave that recording out, or compare without --seconds";
        Err(Error::request(format!("`{}`: {text}", path.display()), Some(remedy.to_string())))
    };
    let costs = recorded.iter().map(|one| one.cost_ms).filter(|ms| ms.is_finite() && *ms > 0.0);
    let Some(median_ms) = statistics::median(&costs.collect::<Vec<_>>()) else {
        return refuse("no evaluation took any time, so that seconds cannot judge a search");
    };
    let mut compilations = recorded.iter().filter_map(|one| one.evaluation.measurement.compile.as_ref());
    if !compilations.any(|compile| compile.time_ms > 0.0) {
        return refuse("no time of compilation is known, so that cores cannot share the work");
    }
    Ok(median_ms / 1e3)
}

/// Returns the moment after so many medians, rounded as clocks are.
fn end(median_seconds: f64, medians: u32) -> Duration {
    let median = Duration::try_from_secs_f64(median_seconds).unwrap_or(Duration::MAX);
    median.saturating_mul(medians)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::subject::Subject;
    use super::super::{CompareOptions, score};
    use super::*;
    use tunesmith_core::recording::{Column, Costs, Row};
    use tunesmith_core::{CompileData, Measurement, Recording};
    use tunesmith_space::Value;

    /// Returns a configuration that compiles and runs for so many milliseconds, with the time of its kernel.
    fn row(at: usize, compile_ms: f64, benchmark_ms: f64, time_ms: f64) -> Row {
        let compile = Some(CompileData { time_ms: compile_ms, ..CompileData::default() });
        Row {
            values: vec![Value::Int(at as i64)],
            measurement: Measurement { times_ms: vec![time_ms], compile, ..Measurement::default() },
            costs: Costs { benchmark_ms: Some(benchmark_ms), ..Costs::default() },
            ..Row::default()
        }
    }

    fn recording(rows: Vec<Row>) -> Recording {
        Recording::new("r", vec![Column::of_rows("A")], rows).unwrap()
    }

    /// Five configurations. Their median duration is 100 ms.
    fn five() -> Recording {
        let rows = [(60, 40, 4), (50, 50, 8), (30, 70, 5), (1100, 400, 2), (400, 600, 1)];
        let row = |(at, (compile, benchmark, time)): (usize, (i32, i32, i32))| {
            row(at, f64::from(compile), f64::from(benchmark), f64::from(time))
        };
        recording(rows.into_iter().enumerate().map(row).collect())
    }

    fn in_seconds(recording: &Recording, strategy: &str, options: CompareOptions) -> InSeconds {
        let subject = Subject::new(recording, Path::new("r"), &options).unwrap();
        score(&strategy.parse().unwrap(), &subject, &options).unwrap().0.seconds.unwrap()
    }

    fn on(cores: usize) -> CompareOptions {
        CompareOptions { repeats: 2, budget: u64::MAX, seed: 5, cores: Some(cores), ..CompareOptions::default() }
    }

    /// Returns the same with a number of evaluations, so that nothing is put aside.
    fn unlimited(cores: usize) -> CompareOptions {
        CompareOptions { budget: 1000, ..on(cores) }
    }

    /// Returns the shares and the numbers of evaluations after 10, 20, 40 and 80 medians.
    fn results(judged: &InSeconds) -> [(f64, f64); 4] {
        MEDIANS.map(|medians| judged.by_median[&medians.to_string()]).map(|at| (at.rel, at.evaluations))
    }

    #[test]
    fn one_core_takes_the_recorded_durations_one_after_the_other() {
        // The evaluations end after 100, 200, 300, 1800 and 2800 ms.
        let judged = in_seconds(&five(), "exhaustive", unlimited(1));
        assert_eq!(judged.median_seconds, 0.1);
        assert_eq!(results(&judged), [(0.25, 3.0), (0.5, 4.0), (1.0, 5.0), (1.0, 5.0)]);
        assert_eq!((judged.cores_used, judged.by_median["10"].error), (1.0, 0.0));
    }

    #[test]
    fn two_cores_compile_ahead_and_measure_what_is_compiled_first() {
        // Four in flight. The second configuration ends after 100 ms, the first after 150, the third after 240. The
        // fifth compiles beside the fourth and ends after 1240, the fourth after 2320.
        let judged = in_seconds(&five(), "exhaustive", unlimited(2));
        assert_eq!(results(&judged), [(0.25, 3.0), (1.0, 4.0), (1.0, 5.0), (1.0, 5.0)]);
        assert!((judged.cores_used - 2800.0 / 2320.0).abs() < 1e-12, "{judged:?}");
        // One in flight leaves nothing to the second core.
        let alone = CompareOptions { in_flight: 1, ..unlimited(2) };
        assert_eq!(in_seconds(&five(), "exhaustive", alone), in_seconds(&five(), "exhaustive", unlimited(1)));
    }

    #[test]
    fn long_compilations_are_put_aside_and_count_once_they_are_taken_up() {
        // After three evaluations a compilation may take five times that of the best: 300 ms. The last two are put aside
        // after 600 and 900 ms, and taken up until 2400 and 3400 ms.
        let judged = in_seconds(&five(), "exhaustive", on(1));
        assert_eq!(results(&judged), [(0.25, 3.0), (0.25, 3.0), (1.0, 5.0), (1.0, 5.0)]);
    }

    #[test]
    fn a_search_ends_after_eighty_medians_or_after_the_budget() {
        let many = recording((0..200).map(|at| row(at, 60.0, 40.0, 1.0 + at as f64)).collect());
        let made = |options| results(&in_seconds(&many, "exhaustive", options)).map(|(_, made)| made);
        assert_eq!(made(on(1)), [10.0, 20.0, 40.0, 80.0]);
        assert_eq!(made(CompareOptions { budget: 30, ..on(1) }), [10.0, 20.0, 30.0, 30.0]);
        // Four cores compile for 60 ms, and then 40 ms of each are measured alone.
        let [ten, .., eighty] = made(on(4));
        assert!(ten > 15.0 && (140.0..=200.0).contains(&eighty), "{ten} {eighty}");
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_random_search_is_simulated() {
        let rows = (0..120).map(|at| row(at, 40.0 + (at % 7) as f64, 20.0, 1.0 + (at * 37 % 120) as f64));
        let recording = recording(rows.collect());
        let judged = |seed| in_seconds(&recording, "random", CompareOptions { repeats: 6, seed, ..on(4) });
        assert_eq!(judged(3), judged(3));
        assert_ne!(judged(3), judged(4));
        assert!(judged(3).by_median["10"].error > 0.0);
    }

    #[test]
    fn the_error_is_that_of_the_mean() {
        let at = AtSeconds::of(&[Curve::holding(1.0, 2.0), Curve::holding(1.0, 1.0)], 1.0, 1.0);
        assert_eq!((at.rel, at.error), (0.75, 0.25));
    }

    #[test]
    fn recordings_without_durations_or_compilations_are_refused() {
        let refused = |recording: &Recording| {
            let error = Subject::new(recording, Path::new("r.csv"), &on(2)).err().unwrap();
            (error.to_string(), error.remedy().unwrap().to_string())
        };
        let mut without = row(0, 0.0, 10.0, 1.0);
        without.measurement.compile = None;
        let (text, remedy) = refused(&recording(vec![without]));
        assert_eq!(text, "`r.csv`: no time of compilation is known, so that cores cannot share the work");
        assert_eq!(remedy, "leave that recording out, or compare without --seconds");
        let error = median_seconds(&[], Path::new("r.csv")).unwrap_err().to_string();
        assert_eq!(error, "`r.csv`: no evaluation took any time, so that seconds cannot judge a search");
    }
}
