//! Checks the promises of judging on measured noise: recordings with many samples of every
//! configuration.
//!
//! `cargo bench -p tunesmith-study --bench judging -- [RUNS] RECORDING...` needs recordings in which
//! each configuration was measured often. A run evaluates 60 configurations, with racing and a
//! final, and sees samples drawn from the recorded ones. Two draws are compared: independent ones,
//! and successive ones from a random start, which keep what neighbouring samples have in common.
//! Two sets of configurations are compared: the 60 fastest, and the fastest among 59 random ones.
//!
//! The best is the configuration whose recorded samples have the least mean. An interval covers the
//! truth if it holds the median of all recorded samples, and covers visits if it holds the median of
//! all visits that could have been drawn. Of successive samples that differ between parts of the
//! recording, the two are different numbers.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use rand::seq::SliceRandom as _;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::judge::racing::Racing;
use tunesmith_core::judge::standing::counted;
use tunesmith_core::recording::Recorded;
use tunesmith_core::{Judging, ManualClock, Request, Rng, Run, Searcher, Stop, Tuner, View, statistics};
use tunesmith_device::ReplayEvaluator;
use tunesmith_space::{ConfigId, Space};

/// The number of configurations of a run.
const COMPETITORS: usize = 60;

/// Asks for the given configurations in their order.
struct Listed(VecDeque<ConfigId>);

impl Searcher for Listed {
    fn ask(&mut self, _: &View<'_>, room: usize, _: &mut Rng) -> Vec<Request> {
        (0..room).map_while(|_| self.0.pop_front()).map(Request::timed).collect()
    }
}

struct Subject {
    space: Space,
    device: ReplayEvaluator,
    /// The correct configurations with their samples, fastest mean first.
    all: Vec<(ConfigId, Vec<f64>)>,
}

impl Subject {
    fn load(path: &Path) -> Self {
        let recording = tunesmith_store::import(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let space = recording.space().expect("a space");
        let recorded = recording.recorded(&space);
        let correct = |one: &Recorded| {
            let evaluation = &one.evaluation;
            let samples = evaluation.measurement.times_ms.clone();
            evaluation.is_correct().then_some((evaluation.request.config, samples))
        };
        let mut all: Vec<(ConfigId, Vec<f64>)> = recorded.iter().filter_map(correct).collect();
        assert!(all.iter().all(|(_, samples)| samples.len() >= 12), "{} has too few samples", path.display());
        all.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
        Self { space, device: ReplayEvaluator::new(recorded), all }
    }

    /// Returns the configurations of a run in a random order. The first of `all` is one of them.
    fn competitors(&self, are_fastest: bool, seed: u64) -> Vec<ConfigId> {
        let mut rng = rand::SeedableRng::seed_from_u64(seed);
        let mut others: Vec<ConfigId> = self.all[1..].iter().map(|(config, _)| *config).collect();
        if !are_fastest {
            others.shuffle::<Rng>(&mut rng);
        }
        others.truncate(COMPETITORS - 1);
        others.push(self.all[0].0);
        others.shuffle(&mut rng);
        others
    }

    fn samples(&self, config: ConfigId) -> &[f64] {
        &self.all.iter().find(|(other, _)| *other == config).expect("a correct configuration").1
    }

    fn run(&self, competitors: &[ConfigId], successive: bool, judging: Judging, seed: u64) -> Run {
        let clock = Arc::new(ManualClock::default());
        let mut device = self.device.clone().with_clock(clock.clone()).with_noise(seed);
        if successive {
            device = device.with_successive_samples();
        }
        let mut searcher = Listed(competitors.iter().copied().collect());
        let tuner = Tuner::new(&self.space, &mut searcher, &mut device).clock(clock).seed(seed).judging(judging);
        tuner.stop(Stop::evaluations(competitors.len() as u64)).run().expect("a run")
    }
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Counts of what happened in all runs of a row.
#[derive(Default)]
struct Tally {
    covered: [usize; 2],
    winner: usize,
    among_ties: usize,
    ties: usize,
    discarded: usize,
    /// The sum of the winner's true time over the best's, minus 1.
    regret: f64,
    /// The same by medians, over the least median of the run.
    median_regret: f64,
}

impl Tally {
    fn add(&mut self, subject: &Subject, competitors: &[ConfigId], successive: bool, seed: u64) {
        let judging = |racing| Judging { finals: Some(Finals::default()), racing, drift: None };
        let run = subject.run(competitors, successive, judging(Some(Racing::default())), seed);
        let (best, winner) = (subject.all[0].0, run.verdict.winner.expect("a winner"));
        let covered = covered(subject.samples(winner), &run, winner, successive);
        self.covered.iter_mut().zip(covered).for_each(|(count, covered)| *count += usize::from(covered));
        self.winner += usize::from(winner == best);
        self.among_ties += usize::from(winner == best || run.verdict.ties.contains(&best));
        self.ties += run.verdict.ties.len();
        self.regret += mean(subject.samples(winner)) / mean(&subject.all[0].1) - 1.0;
        let medians = competitors.iter().map(|config| median(subject.samples(*config)));
        self.median_regret += median(subject.samples(winner)) / medians.fold(f64::INFINITY, f64::min) - 1.0;
        // The same samples are drawn without racing, so that fewer of them mean that racing ended them.
        let without = subject.run(competitors, successive, Judging::nothing(), seed);
        let count = |run: &Run| {
            run.history.get(Request::timed(best)).map_or(0, |one| one.evaluation.measurement.times_ms.len())
        };
        self.discarded += usize::from(count(&run) < count(&without));
    }

    fn row(&self, runs: usize) -> String {
        let share = |count: usize| format!("{:.1}", 100.0 * count as f64 / runs as f64);
        let [truth, visits] = self.covered;
        let shares = [truth, visits, self.among_ties, self.winner, self.discarded].map(share);
        let [ties, regret, median] =
            [self.ties as f64, 100.0 * self.regret, 100.0 * self.median_regret].map(|sum| sum / runs as f64);
        format!("{} | {ties:.1} | {regret:.2} | {median:.2} |", shares.join(" | "))
    }
}

/// Returns whether the 95 % interval of the winner's final covers the median of all its samples, and
/// the median of the visits that could have been drawn.
fn covered(samples: &[f64], run: &Run, winner: ConfigId, successive: bool) -> [bool; 2] {
    let own = run.resamples.iter().filter(|again| again.config == winner);
    let visits = own.filter_map(|again| Some((again.role.stage()?, median(&again.measurement.times_ms))));
    let interval = statistics::median_interval(&counted(visits), 0.95);
    let turns = |start: usize| [0, 1, 2].map(|step| samples[(start + step) % samples.len()]);
    let visits: Vec<f64> = (0..samples.len()).map(|start| median(&turns(start))).collect();
    // Independent visits have the median of the samples.
    let visited = if successive { median(&visits) } else { median(samples) };
    [median(samples), visited].map(|truth| interval.is_some_and(|(low, high)| low <= truth && truth <= high))
}

fn median(samples: &[f64]) -> f64 {
    statistics::median(samples).expect("samples")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runs = arguments.first().and_then(|first| first.parse().ok()).unwrap_or(1000);
    let recordings = arguments.iter().filter(|argument| argument.parse::<usize>().is_err());
    let columns = [
        "recording",
        "competitors",
        "samples",
        "truth covered %",
        "visits covered %",
        "best wins or ties %",
        "best wins %",
        "best discarded %",
        "ties",
        "regret %",
        "by medians %",
    ];
    println!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
    for recording in recordings {
        let path = Path::new(recording);
        let subject = Subject::load(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default();
        for (are_fastest, set) in [(true, "fastest"), (false, "random")] {
            for (successive, samples) in [(false, "independent"), (true, "successive")] {
                let mut tally = Tally::default();
                for seed in 0..runs {
                    tally.add(&subject, &subject.competitors(are_fastest, seed), successive, seed);
                }
                println!("| {name} | {set} | {samples} | {}", tally.row(runs as usize));
            }
        }
    }
}
