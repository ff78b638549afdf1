//! Search quality on recordings: how near the optimum a strategy is after so many evaluations.
//!
//! `cargo bench -p tunesmith-search --bench quality -- [STRATEGY] [REPEATS] [PART OF A RECORDING'S NAME] [FIRST SEED]`
//! reads the recordings of the folder `recordings` in `$TUNESMITH_SHARED`, else in `../shared`. `rel@n` is the optimum
//! divided by the best of n evaluations, failures counting, on average over the repeats; `ERT x` the evaluations used
//! up to the hit or 400, divided by the successes in reaching x times the optimum, no success counting as one half.
//! Figures over recordings are geometric means. Milliseconds are of the strategy alone, per evaluation, and the longest.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods, reason = "a benchmark has no command line to be told the folder by")]

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::{Clock, Failure, FailureKind, Request, Rng, Searcher, Stop, SystemClock, Told, Tuner, View};
use tunesmith_space::{Constraint, Parameter, Space, Value};

const BUDGETS: [usize; 5] = [25, 50, 100, 200, 400];
const FACTORS: [f64; 3] = [1.10, 1.05, 1.01];

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

    /// Times of a run: for each evaluation the best so far over the optimum; and the seconds of the strategy.
    fn run(&self, strategy: &str, seed: u64) -> Repeat {
        let mut searcher = Clocked::new(strategy);
        let time = |values: &[Value]| {
            let time = self.times.get(values).copied().flatten();
            time.ok_or_else(|| Failure::new(FailureKind::Runtime, "failed when it was recorded"))
        };
        let mut evaluator = FunctionEvaluator::new(&self.space, time);
        let stop = Stop::evaluations(BUDGETS[4] as u64);
        let tuner = Tuner::new(&self.space, &mut searcher, &mut evaluator).stop(stop).seed(seed);
        let run = tuner.run().expect("a recording answers every request");
        let mut best = f64::INFINITY;
        let curve = run.history.iter().map(|scored| {
            best = best.min(scored.score.unwrap_or(f64::INFINITY));
            best / self.optimum
        });
        Repeat { curve: curve.collect(), spent: searcher.spent, longest: searcher.longest }
    }
}

/// The space whose configurations are the recorded ones.
fn space(names: &[&str], times: &HashMap<Vec<Value>, Option<f64>>) -> Space {
    let rows: HashSet<Vec<Value>> = times.keys().cloned().collect();
    let values = |column: usize| rows.iter().map(|row| row[column].clone()).collect::<BTreeSet<Value>>();
    let parameter = |column: usize| Parameter::new(names[column], values(column)).expect("a parameter");
    let parameters: Vec<Parameter> = (0..names.len()).map(parameter).collect();
    let recorded = Constraint::closure("recorded", 1, names, move |values| rows.contains(values));
    let builder = parameters.into_iter().fold(Space::builder(), tunesmith_space::SpaceBuilder::parameter);
    builder.constraint(recorded).build().expect("a space")
}

struct Repeat {
    curve: Vec<f64>,
    spent: Duration,
    longest: Duration,
}

impl Repeat {
    fn relative(&self, budget: usize) -> f64 {
        1.0 / self.curve[budget.min(self.curve.len()) - 1]
    }

    /// The evaluation that came within `factor` of the optimum.
    fn hit(&self, factor: f64) -> Option<usize> {
        self.curve.iter().position(|slowdown| *slowdown <= factor).map(|index| index + 1)
    }
}

/// A strategy with a clock around it.
struct Clocked {
    searcher: Box<dyn Searcher>,
    clock: SystemClock,
    spent: Duration,
    longest: Duration,
}

impl Clocked {
    fn new(strategy: &str) -> Self {
        let searcher = tunesmith_search::build(strategy).unwrap_or_else(|error| panic!("{error}"));
        Self { searcher, clock: SystemClock::default(), spent: Duration::ZERO, longest: Duration::ZERO }
    }

    fn timed<T>(&mut self, step: impl FnOnce(&mut dyn Searcher) -> T) -> T {
        let start = self.clock.now();
        let answer = step(self.searcher.as_mut());
        let spent = self.clock.now().saturating_sub(start);
        self.spent += spent;
        self.longest = self.longest.max(spent);
        answer
    }
}

impl Searcher for Clocked {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        self.timed(|searcher| searcher.ask(view, room, rng))
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        self.timed(|searcher| searcher.tell(view, told));
    }
}

/// The columns of one recording: relative performance at each budget, then evaluations to each factor.
struct Figures {
    columns: Vec<f64>,
    milliseconds: f64,
    longest: Duration,
}

impl Figures {
    fn new(repeats: &[Repeat]) -> Self {
        let count = repeats.len() as f64;
        let relative = |budget| repeats.iter().map(|repeat| repeat.relative(budget)).sum::<f64>() / count;
        let used = |factor| {
            let evaluations: usize =
                repeats.iter().map(|repeat| repeat.hit(factor).unwrap_or(repeat.curve.len())).sum();
            let hits = repeats.iter().filter(|repeat| repeat.hit(factor).is_some()).count() as f64;
            evaluations as f64 / hits.max(0.5)
        };
        let columns = BUDGETS.into_iter().map(relative).chain(FACTORS.into_iter().map(used)).collect();
        let evaluations: usize = repeats.iter().map(|repeat| repeat.curve.len()).sum();
        let spent: Duration = repeats.iter().map(|repeat| repeat.spent).sum();
        let longest = repeats.iter().map(|repeat| repeat.longest).max().unwrap_or_default();
        Self { columns, milliseconds: spent.as_secs_f64() * 1e3 / evaluations as f64, longest }
    }

    fn print(&self, name: &str) {
        let (relative, used) = self.columns.split_at(BUDGETS.len());
        print!("| {name} |");
        relative.iter().for_each(|column| print!(" {column:.4} |"));
        used.iter().for_each(|column| print!(" {column:.1} |"));
        println!(" {:.2} | {:.0} |", self.milliseconds, self.longest.as_secs_f64() * 1e3);
    }
}

/// Runs all repeats on all cores, each from a fresh state.
fn measure(recording: &Recording, strategy: &str, repeats: usize, first: u64) -> Figures {
    let next = AtomicUsize::new(0);
    let work = || {
        let claim = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|repeat| *repeat < repeats);
        let run = |repeat| (repeat, recording.run(strategy, first + repeat as u64));
        std::iter::from_fn(claim).map(run).collect::<Vec<_>>()
    };
    let mut all: Vec<(usize, Repeat)> = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("no repeat panics")).collect()
    });
    all.sort_by_key(|(repeat, _)| *repeat);
    Figures::new(&all.into_iter().map(|(_, repeat)| repeat).collect::<Vec<_>>())
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

fn main() {
    // Cargo adds `--bench` to what the user gives.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or_else(|| default.to_string());
    let (strategy, part) = (argument(0, "default"), argument(2, ""));
    let repeats = argument(1, "5").parse().expect("a number of repeats");
    let first = argument(3, "1").parse().expect("a seed");
    println!("{strategy}, {repeats} repeats");
    println!("| recording | @25 | @50 | @100 | @200 | @400 | ERT 1.10 | 1.05 | 1.01 | ms | longest |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for path in recordings().iter().filter(|path| path.to_string_lossy().contains(&part)) {
        let recording = Recording::load(path);
        let figures = measure(&recording, &strategy, repeats, first);
        figures.print(&recording.name);
        all.push(figures);
    }
    let count = all.len() as f64;
    let geometric = |column: usize| (all.iter().map(|figures| figures.columns[column].ln()).sum::<f64>() / count).exp();
    let columns = (0..BUDGETS.len() + FACTORS.len()).map(geometric).collect();
    let milliseconds = all.iter().map(|figures| figures.milliseconds).sum::<f64>() / count;
    let longest = all.iter().map(|figures| figures.longest).max().unwrap_or_default();
    Figures { columns, milliseconds, longest }.print("all");
}
