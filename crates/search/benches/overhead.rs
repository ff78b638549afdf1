//! Measures the overhead of strategies: mean seconds of an evaluation and the longest single step,
//! on a recording of about 18,000 configurations and on a space of 10^18.
//!
//! `cargo bench -p tunesmith-search --bench overhead -- [EVALUATIONS] [STRATEGY...]` prints a table
//! in Markdown. By default, all strategies of the catalogue except `exhaustive` make 400
//! evaluations. The recording is `recordings/gemm-RTX_2080_Ti-kt.csv.gz` in `$TUNESMITH_SHARED`,
//! else in `../shared`. The time covers asking and telling only, without the loop and without
//! measuring. Run it on a quiet machine.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods, reason = "a benchmark has no command line to be told the folder by")]

use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_core::testing::FunctionEvaluator;
use tunesmith_core::{Clock, Failure, FailureKind, Request, Rng, Searcher, Stop, SystemClock, Told, Tuner, View};
use tunesmith_space::{Constraint, Parameter, Space, Value};

/// Number of repeats. The table shows their mean and their longest step.
const REPEATS: u64 = 3;

/// A strategy with a stopwatch.
struct Timed {
    strategy: Box<dyn Searcher>,
    clock: SystemClock,
    steps: Vec<Duration>,
}

impl Timed {
    fn step<T>(&mut self, work: impl FnOnce(&mut dyn Searcher) -> T) -> T {
        let start = self.clock.now();
        let answer = work(self.strategy.as_mut());
        self.steps.push(self.clock.now().saturating_sub(start));
        answer
    }
}

impl Searcher for Timed {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        self.step(|strategy| strategy.ask(view, room, rng))
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        self.step(|strategy| strategy.tell(view, told));
    }
}

/// The time of a configuration in milliseconds, or `None` for a failure.
type Times = dyn Fn(&[Value]) -> Option<f64>;

/// A space and the times of its configurations.
struct Subject {
    name: &'static str,
    space: Space,
    time: Box<Times>,
}

/// Returns the mean seconds per evaluation and the longest step of `strategy`.
fn measure(subject: &Subject, strategy: &str, evaluations: u64) -> (f64, f64) {
    let (mut total, mut longest, mut made) = (Duration::ZERO, Duration::ZERO, 0);
    for seed in 0..REPEATS {
        let built = tunesmith_search::build(strategy).unwrap_or_else(|error| panic!("{error}"));
        let mut timed = Timed { strategy: built, clock: SystemClock::default(), steps: Vec::new() };
        let time =
            |values: &[Value]| (subject.time)(values).ok_or_else(|| Failure::new(FailureKind::Runtime, "failed"));
        let mut evaluator = FunctionEvaluator::new(&subject.space, time);
        let tuner = Tuner::new(&subject.space, &mut timed, &mut evaluator);
        let run =
            tuner.stop(Stop::evaluations(evaluations)).seed(seed).run().expect("a function answers every request");
        made += run.history.len();
        total += timed.steps.iter().sum::<Duration>();
        longest = longest.max(timed.steps.iter().max().copied().unwrap_or_default());
    }
    (total.as_secs_f64() / made.max(1) as f64, longest.as_secs_f64())
}

/// Returns a space of eighteen parameters with ten values each, without constraints: a bowl with
/// ripples.
fn large() -> Subject {
    let parameter = |at: usize| Parameter::new(format!("P{at}"), (1..=10).map(Value::Int)).expect("a parameter");
    let builder = (0..18).map(parameter).fold(Space::builder(), tunesmith_space::SpaceBuilder::parameter);
    let time = |values: &[Value]| {
        let part = |(at, value): (usize, &Value)| {
            let x = value.as_float().unwrap_or(0.0) - 1.0 - (at % 10) as f64;
            x * x + (x * 2.0).sin()
        };
        Some(100.0 + values.iter().enumerate().map(part).sum::<f64>())
    };
    Subject { name: "10^18 configurations", space: builder.build().expect("a space"), time: Box::new(time) }
}

/// Returns the largest of the recordings.
fn recorded() -> Subject {
    let shared = std::env::var_os("TUNESMITH_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = shared.join("recordings/gemm-RTX_2080_Ti-kt.csv.gz");
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("the recording is gzip");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').take_while(|name| *name != "time_ms").collect();
    let row = |line: &str| -> (Vec<Value>, Option<f64>) {
        let cells: Vec<&str> = line.split(',').collect();
        let value = |cell: &&str| cell.parse().map_or_else(|_| Value::Str((*cell).into()), Value::Int);
        (cells[..names.len()].iter().map(value).collect(), cells[names.len()].parse().ok())
    };
    let times: HashMap<Vec<Value>, Option<f64>> = lines.map(row).collect();
    let values = |column: usize| times.keys().map(|row| row[column].clone()).collect::<BTreeSet<Value>>();
    let parameter = |column: usize| Parameter::new(names[column], values(column)).expect("a parameter");
    let builder = (0..names.len()).map(parameter).fold(Space::builder(), tunesmith_space::SpaceBuilder::parameter);
    let rows: std::collections::HashSet<Vec<Value>> = times.keys().cloned().collect();
    let holds = Constraint::closure("recorded", 1, &names, move |values| rows.contains(values));
    let space = builder.constraint(holds).build().expect("a space");
    Subject { name: "gemm, 17,956 configurations", space, time: Box::new(move |values| times.get(values).copied()?) }
}

fn main() {
    // Cargo adds `--bench` to the user's arguments.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let evaluations: u64 = arguments.next().map_or(400, |text| text.parse().expect("a number of evaluations"));
    let mut strategies: Vec<String> = arguments.collect();
    if strategies.is_empty() {
        let all = tunesmith_search::catalogue().iter().map(|strategy| strategy.name);
        strategies = all.filter(|name| *name != "exhaustive").map(str::to_string).collect();
    }
    let subjects = [recorded(), large()];
    println!(
        "{evaluations} evaluations, {REPEATS} repeats: microseconds per evaluation / longest step in milliseconds\n"
    );
    println!("| strategy | {} |", subjects.each_ref().map(|subject| subject.name).join(" | "));
    println!("|---|---|---|");
    for strategy in &strategies {
        let cells = subjects.each_ref().map(|subject| {
            let (mean, longest) = measure(subject, strategy, evaluations);
            format!("{:.1} / {:.2}", mean * 1e6, longest * 1e3)
        });
        println!("| {strategy} | {} |", cells.join(" | "));
    }
}
