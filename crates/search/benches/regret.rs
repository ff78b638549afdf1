//! Checks the promises of the stop condition `regret` on recordings.
//!
//! `cargo bench -p tunesmith-search --bench regret -- [STRATEGY] [REPEATS] [PART OF A RECORDING'S
//! NAME] [FIRST SEED]` reads the recordings of the folder `recordings` in `$TUNESMITH_SHARED`, else
//! in `../shared`. Each search has 400 evaluations. `regret R at P` would have ended the run where
//! it first held. The table counts how often the best was truly within R of the optimum at that
//! point, for all recordings and for the recordings of each kernel.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods, reason = "a benchmark has no command line to be told the folder by")]

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::{Failure, FailureKind, History, RegretEstimator as _, Stop, Tuner};
use tunesmith_search::RegretModel;
use tunesmith_space::{Constraint, Parameter, Space, Value};

const BUDGET: u64 = 400;
const SHARES: [f64; 3] = [0.02, 0.05, 0.10];
const LEVELS: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

struct Recording {
    name: String,
    space: Space,
    times: HashMap<Vec<Value>, Option<f64>>,
    optimum: f64,
}

fn value(text: &str) -> Value {
    text.parse().map_or_else(|_| Value::Str(text.into()), Value::Int)
}

impl Recording {
    fn load(path: &Path) -> Self {
        let mut text = String::new();
        let file = std::fs::File::open(path).expect("the recording can be opened");
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("the recording is gzip");
        let mut lines = text.lines();
        let names: Vec<&str> =
            lines.next().expect("a header").split(',').take_while(|name| *name != "time_ms").collect();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[..names.len()].iter().map(|cell| value(cell)).collect(), cells[names.len()].parse().ok())
        };
        let times: HashMap<Vec<Value>, Option<f64>> = lines.map(row).collect();
        let optimum = times.values().flatten().copied().fold(f64::INFINITY, f64::min);
        let name = path.file_name().unwrap_or_default().to_string_lossy().replace(".csv.gz", "");
        Self { name, space: space(&names, &times), times, optimum }
    }

    /// Returns the evaluations of one search.
    fn run(&self, strategy: &str, seed: u64) -> History {
        let mut searcher = tunesmith_search::build(strategy).unwrap_or_else(|error| panic!("{error}"));
        let time = |values: &[Value]| {
            let time = self.times.get(values).copied().flatten();
            time.ok_or_else(|| Failure::new(FailureKind::Runtime, "failed when it was recorded"))
        };
        let mut evaluator = FunctionEvaluator::new(&self.space, time);
        let stop = Stop::evaluations(BUDGET);
        let tuner = Tuner::new(&self.space, searcher.as_mut(), &mut evaluator)
            .stop(stop)
            .seed(seed)
            .judging(tunesmith_core::Judging::nothing());
        tuner.run().expect("ok").history
    }
}

/// Returns the space whose configurations are the recorded ones.
fn space(names: &[&str], times: &HashMap<Vec<Value>, Option<f64>>) -> Space {
    let rows: HashSet<Vec<Value>> = times.keys().cloned().collect();
    let values = |column: usize| rows.iter().map(|row| row[column].clone()).collect::<BTreeSet<Value>>();
    let parameter = |column: usize| Parameter::new(names[column], values(column)).expect("a parameter");
    let parameters: Vec<Parameter> = (0..names.len()).map(parameter).collect();
    let recorded = Constraint::closure("recorded", 1, names, move |values| rows.contains(values));
    let builder = parameters.into_iter().fold(Space::builder(), tunesmith_space::SpaceBuilder::parameter);
    builder.constraint(recorded).build().expect("a space")
}

fn recordings() -> Vec<PathBuf> {
    let shared = std::env::var_os("TUNESMITH_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let folder = shared.join("recordings");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".csv.gz"));
    paths.sort();
    paths
}

/// The claim for each share at one moment of a search, and the true regret of the best at that
/// moment.
struct Moment {
    evaluations: usize,
    regret: f64,
    claimed: Vec<f64>,
}

/// Returns the claims of one search, made as often as in a run.
fn moments(recording: &Recording, strategy: &str, seed: u64) -> Vec<Moment> {
    let history = recording.run(strategy, seed);
    let (mut model, mut seen, mut due) = (RegretModel::default(), History::default(), 20);
    let mut moments = Vec::new();
    for scored in history.iter() {
        seen.insert(scored.evaluation.clone(), scored.score);
        if seen.len() >= due {
            due = (seen.len() + 1).max((seen.len() as f64 * 1.05).ceil() as usize);
            let claimed = model.within(&recording.space, &seen, &SHARES);
            let regret = seen.best_score().map_or(f64::INFINITY, |best| best / recording.optimum - 1.0);
            moments.push(Moment { evaluations: seen.len(), regret, claimed });
        }
    }
    moments
}

/// Returns how many searches a condition ended, the share of them ended rightly, and the mean
/// number of evaluations. Searches not ended count with the whole budget.
fn tally(searches: &[&Vec<Moment>], share: usize, level: f64) -> String {
    let ended: Vec<&Moment> =
        searches.iter().filter_map(|moments| moments.iter().find(|moment| moment.claimed[share] >= level)).collect();
    let right = ended.iter().filter(|moment| moment.regret <= SHARES[share] + 1e-9).count();
    let spent: usize = ended.iter().map(|moment| moment.evaluations).sum();
    let unended = (searches.len() - ended.len()) * BUDGET as usize;
    let mean = (spent + unended) as f64 / searches.len().max(1) as f64;
    let observed =
        if ended.is_empty() { "-".to_string() } else { format!("{:.0}", 100.0 * right as f64 / ended.len() as f64) };
    format!("{observed} of {} ({mean:.0})", ended.len())
}

/// Runs all searches on all cores.
fn search(recordings: &[Recording], strategy: &str, repeats: usize, first: u64) -> Vec<(String, Vec<Moment>)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let claim = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|job| *job < repeats * recordings.len());
        let run = |job: usize| {
            let recording = &recordings[job % recordings.len()];
            let kernel = recording.name.split('-').next().unwrap_or_default().to_string();
            (kernel, moments(recording, strategy, first + (job / recordings.len()) as u64))
        };
        std::iter::from_fn(claim).map(run).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("no search panics")).collect()
    })
}

fn main() {
    // Cargo adds `--bench` to the user's arguments.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or_else(|| default.to_string());
    let (strategy, part) = (argument(0, "default"), argument(2, ""));
    let repeats = argument(1, "3").parse().expect("a number of repeats");
    let first = argument(3, "1").parse().expect("a seed");
    let paths = recordings().into_iter().filter(|path| path.to_string_lossy().contains(&part));
    let all: Vec<Recording> = paths.map(|path| Recording::load(&path)).collect();
    let searches = search(&all, &strategy, repeats, first);
    let kernels: BTreeSet<&str> = searches.iter().map(|(kernel, _)| kernel.as_str()).collect();
    println!(
        "{strategy}, {repeats} repeats: % truly within, of how many ended (mean evaluations, {BUDGET} where not ended)"
    );
    println!("| regret | at | all | {} |", kernels.iter().copied().collect::<Vec<_>>().join(" | "));
    println!("|---|---|---|{}", "---|".repeat(kernels.len()));
    for (share, allowed) in SHARES.iter().enumerate() {
        for level in LEVELS {
            let of = |kernel: &str| {
                let own = searches.iter().filter(|(name, _)| kernel.is_empty() || name == kernel);
                tally(&own.map(|(_, moments)| moments).collect::<Vec<_>>(), share, level)
            };
            let cells: Vec<String> = std::iter::once("").chain(kernels.iter().copied()).map(of).collect();
            println!("| {}% | {}% | {} |", allowed * 100.0, level * 100.0, cells.join(" | "));
        }
    }
}
