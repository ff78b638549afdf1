//! Measures the time that `profile_guided` needs to score a large space: for the first step, which
//! predicts the counters of all configurations, and for later steps.
//!
//! `cargo bench -p tunesmith --bench scoring` takes the full space of CLTune's matrix
//! multiplication, 241,600 configurations (`spaces/cltune_gemm.json` in `$TUNESMITH_SHARED`, else
//! in `../shared`), with made-up counters, and trees fitted to half of 2,000 of them. Goals: 2 s
//! for the first step, 10 ms for the others. Run it on a quiet machine.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods, reason = "a benchmark has no command line to be told the folder by")]

use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith::Problem;
use tunesmith::core::counters::Hardware;
use tunesmith::core::recording::{Column, Row};
use tunesmith::core::{
    Clock, Completion, Error, Evaluator, Interrupt, Measurement, Recording, Request, Rng, Searcher, Stop, SystemClock,
    Told, Tuner, View,
};
use tunesmith::search::profile_guided::{Guide, counter_data};
use tunesmith::search::{Knowledge, StrategySpec};
use tunesmith::space::{ConfigId, Space, Value};
use tunesmith_model::counters::{CounterModel, Method};

/// Number of configurations with counters that the model learns from.
const KNOWN: usize = 2000;
/// Number of evaluations of the search.
const EVALUATIONS: u64 = 60;

/// A kernel whose counters follow from its tiles as those of a matrix multiplication do.
struct MadeUp<'a> {
    space: &'a Space,
    submitted: Option<Request>,
}

fn measurement(space: &Space, config: ConfigId) -> Measurement {
    let configuration = space.unrank(config);
    let value = |name: &str| {
        let found = space.values(&configuration).find(|(parameter, _)| *parameter == name);
        found.and_then(|(_, value)| value.as_float()).unwrap_or(1.0)
    };
    let (m, n, size) = (value("MWG"), value("NWG"), 2048.0_f64);
    let floats = size * size * size * (1.0 + 1.0 / value("KWI"));
    let reads = size * size * size * (1.0 / m + 1.0 / n) / 8.0 * (2.0 - 0.5 * (value("SA") + value("SB")));
    let shared = size * size * size / 16.0 * (value("SA") + value("SB")) / value("VWM").min(value("VWN"));
    let integers = size * size * size * (0.1 + 0.5 / value("VWM") + 0.3 * value("STRM") / value("VWN"));
    let time = floats / 4e9 + reads / 5e7 + shared / 1e9 + integers / 6e9;
    let used = |part: f64| (10.0 * part / time).min(10.0);
    let counters = [
        ("dram_utilization", used(reads / 5e7)),
        ("dram_read_transactions", reads),
        ("dram_write_transactions", size * size / 8.0),
        ("l2_utilization", used(reads / 8e7)),
        ("l2_read_transactions", reads * 1.5),
        ("l2_write_transactions", size * size / 8.0),
        ("tex_utilization", used(reads / 6e7)),
        ("tex_cache_transactions", reads * 2.0),
        ("shared_utilization", used(shared / 1e9)),
        ("shared_load_transactions", shared),
        ("shared_store_transactions", shared / 8.0),
        ("inst_fp_32", floats),
        ("inst_integer", integers),
        ("inst_compute_ld_st", reads + shared),
        ("inst_control", size * size * size / value("KWI") / 32.0),
        ("inst_misc", integers / 4.0),
        ("inst_executed", (floats + integers * 1.25 + reads + shared) / 32.0),
        ("issue_slot_utilization", used(floats / 4e9 + integers / 6e9) * 10.0),
        ("sm_efficiency", 98.0),
    ];
    let counters = counters.map(|(name, value)| (name.to_string(), value)).into();
    Measurement { times_ms: vec![time], counters, ..Measurement::default() }
}

impl Evaluator for MadeUp<'_> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted = Some(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.submitted.take() else { return Ok(None) };
        Ok(Some(Completion { measurement: measurement(self.space, request.config), ..Completion::default() }))
    }
}

/// A strategy with a timer around every ask and tell.
struct Timed {
    strategy: Box<dyn Searcher>,
    clock: SystemClock,
    steps: Vec<Duration>,
}

impl Searcher for Timed {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        let start = self.clock.now();
        let asked = self.strategy.ask(view, room, rng);
        self.steps.push(self.clock.now().saturating_sub(start));
        asked
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        let start = self.clock.now();
        self.strategy.tell(view, told);
        if let Some(step) = self.steps.last_mut() {
            *step += self.clock.now().saturating_sub(start);
        }
    }
}

/// Trains a model on the counters of some configurations spread over the space.
fn model(space: &Space) -> CounterModel {
    let columns = space.parameters().iter().map(|parameter| Column::of_rows(parameter.name())).collect();
    let every = (space.len().unwrap_or(1) as usize / KNOWN).max(1);
    let row = |config| {
        let configuration = space.unrank(config);
        let values: Vec<Value> = space.values(&configuration).map(|(_, value)| value.clone()).collect();
        Row { values, measurement: measurement(space, config), ..Row::default() }
    };
    let recording = Recording::new("made up", columns, space.iter().step_by(every).map(row).collect()).unwrap();
    let (data, provenance) = counter_data(&recording).unwrap();
    CounterModel::train(&data, Method::Trees { share: 0.5 }, provenance, 1).unwrap()
}

fn main() {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let shared = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let path = shared.join("spaces/cltune_gemm.json");
    if !path.is_file() {
        println!("skipped: no {}; set TUNESMITH_SHARED", path.display());
        return;
    }
    let space = Problem::load(&path, &[]).unwrap().space(&[]).unwrap().space;
    let (model, clock) = (model(&space), SystemClock::default());
    println!("{} configurations, {} counters", space.len().unwrap_or(0), model.counters().len());
    println!("| variant | first step, s | median of the others, ms | longest, ms |\n|---|---|---|---|");
    for variant in ["ours", "authors", "paper"] {
        let start = clock.now();
        let guide = Guide::new(&model, &Hardware::default(), &space).unwrap();
        let knowledge = Knowledge { guide: Some(guide), ..Knowledge::default() };
        let strategy: StrategySpec = format!("profile_guided(variant={variant})").parse().unwrap();
        let strategy = strategy.build(&knowledge).unwrap();
        let prepared = clock.now().saturating_sub(start);
        let mut searcher = Timed { strategy, clock: SystemClock::default(), steps: Vec::new() };
        let mut device = MadeUp { space: &space, submitted: None };
        let tuner = Tuner::new(&space, &mut searcher, &mut device).stop(Stop::evaluations(EVALUATIONS));
        tuner.seed(1).run().unwrap();
        let (first, others) = searcher.steps.split_first_mut().unwrap();
        others.sort();
        let ms = |step: Duration| step.as_secs_f64() * 1e3;
        let (median, longest) = (ms(others[others.len() / 2]), ms(others[others.len() - 1]));
        println!("| {variant} | {:.2} | {median:.1} | {longest:.1} |", (prepared + *first).as_secs_f64());
    }
}
