//! Measures what the compiler's numbers are worth to a search, on recordings with registers and spills.
//!
//! `cargo bench -p tunesmith-search --bench compiled -- [REPEATS]` reads the recordings of KTT in the
//! folder `counters` in `$TUNESMITH_SHARED`. It searches each without the numbers, with them, and with
//! those of other configurations.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // prints its table, reads its environment

use flate2::read::GzDecoder;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::io::Read as _;
use std::path::Path;
use tunesmith_core::{
    CompileData, Completion, Evaluator, Examined, Failure, FailureKind, Interrupt, Judging, Measurement, Request, Rng,
    Stop, Tuner,
};
use tunesmith_search::build;
use tunesmith_space::{ConfigId, Constraint, Parameter, Space, Value};

const FILES: [&str; 3] = ["convolution_2080ti", "coulomb3d_2080ti", "coulomb3d_1070"];
const BUDGETS: [usize; 4] = [10, 25, 50, 100];
/// The numbers of compilers in files of KTT.
const NUMBERS: [&str; 3] = ["registers", "private_mem_bytes", "const_mem_bytes"];

/// A recorded configuration: its time, and what the compiler told.
#[derive(Clone)]
struct Row {
    time_ms: Option<f64>,
    compile: CompileData,
}

struct Recorded {
    space: Space,
    rows: HashMap<ConfigId, Row>,
    submitted: VecDeque<Request>,
    compiled: usize,
}

impl Evaluator for Recorded {
    fn submit(&mut self, request: Request) -> Result<(), tunesmith_core::Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, tunesmith_core::Error> {
        let Some(Request { config, .. }) = self.submitted.pop_front() else { return Ok(None) };
        let Row { time_ms, compile } = self.rows[&config].clone();
        let failure = time_ms.is_none().then(|| Failure::new(FailureKind::Runtime, "failed"));
        let measurement =
            Measurement { times_ms: time_ms.into_iter().collect(), compile: Some(compile), ..Measurement::default() };
        Ok(Some(Completion { failure, measurement, ..Completion::default() }))
    }

    fn examine(&mut self, configs: &[ConfigId], _: &Interrupt) -> Result<Vec<Examined>, tunesmith_core::Error> {
        self.compiled += configs.len();
        let found = |config: &ConfigId| Examined { failure: None, compile: self.rows[config].compile.clone() };
        Ok(configs.iter().map(found).collect())
    }
}

impl Recorded {
    fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().ok_or("an empty file")?;
        let place = |name: &str| header.iter().position(|known| *known == name).ok_or(format!("no column {name}"));
        let (status, time) = (place("status")?, place("duration_us")?);
        let numbers: Vec<(&str, usize)> =
            NUMBERS.iter().map(|name| Ok((*name, place(name)?))).collect::<Result<_, String>>()?;
        let rows: Vec<(Vec<Value>, Row)> = lines
            .map(|fields| {
                let values = fields[..status].iter().map(|field| Ok(Value::Int(field.parse::<f64>()? as i64)));
                let told = numbers.iter().filter_map(|(name, at)| Some((*name, fields[*at].parse::<f64>().ok()?)));
                let resources = told.map(|(name, number)| (ours(name).to_string(), number)).collect();
                let time_ms = (fields[status] == "Ok").then(|| fields[time].parse().ok()).flatten();
                let row = Row { time_ms, compile: CompileData { resources, ..CompileData::default() } };
                Ok((values.collect::<Result<_, std::num::ParseFloatError>>()?, row))
            })
            .collect::<Result<_, Box<dyn Error>>>()?;
        Self::new(&header[..status], rows)
    }

    fn new(names: &[&str], rows: Vec<(Vec<Value>, Row)>) -> Result<Self, Box<dyn Error>> {
        let mut builder = Space::builder();
        for (at, name) in names.iter().enumerate() {
            let mut values: Vec<i64> = rows.iter().filter_map(|(values, _)| values[at].as_int()).collect();
            values.sort_unstable();
            values.dedup();
            builder = builder.parameter(Parameter::new(*name, values.into_iter().map(Value::Int))?);
        }
        let known: std::collections::HashSet<Vec<i64>> = rows.iter().map(|(values, _)| ints(values)).collect();
        let holds = move |values: &[Value]| known.contains(&ints(values));
        let space = builder.constraint(Constraint::closure("recorded", 1, names, holds)).build()?;
        let id = |values: &[Value]| {
            let indices: Option<Vec<u32>> = space
                .parameters()
                .iter()
                .zip(values)
                .map(|(parameter, value)| u32::try_from(parameter.index_of(value)?).ok())
                .collect();
            space.rank_indices(&indices?)
        };
        let rows = rows.iter().filter_map(|(values, row)| Some((id(values)?, row.clone()))).collect();
        Ok(Self { space, rows, submitted: VecDeque::new(), compiled: 0 })
    }

    /// Deals the compiler's numbers out at random.
    fn shuffle(&mut self) {
        let mut ids: Vec<ConfigId> = self.rows.keys().copied().collect();
        ids.sort_unstable();
        let mut told: Vec<CompileData> = ids.iter().map(|id| self.rows[id].compile.clone()).collect();
        told.shuffle(&mut Rng::seed_from_u64(7));
        for (id, compile) in ids.iter().zip(told) {
            if let Some(row) = self.rows.get_mut(id) {
                row.compile = compile;
            }
        }
    }

    fn optimum(&self) -> f64 {
        self.rows.values().filter_map(|row| row.time_ms).fold(f64::INFINITY, f64::min)
    }
}

/// Returns our name of a number.
fn ours(name: &str) -> &str {
    match name {
        "private_mem_bytes" => "local_bytes",
        "const_mem_bytes" => "constant_bytes",
        other => other,
    }
}

fn ints(values: &[Value]) -> Vec<i64> {
    values.iter().filter_map(Value::as_int).collect()
}

/// Prints a row: the optimum divided by the best after each of [`BUDGETS`], the evaluations to within
/// 5 % of the optimum, and the compilations for each evaluation.
fn measure(name: &str, strategy: &str, recorded: &mut Recorded, repeats: u64) -> Result<(), Box<dyn Error>> {
    let (optimum, space) = (recorded.optimum(), recorded.space.clone());
    let (mut shares, mut needed, mut made) = ([0.0; BUDGETS.len()], 0.0, 0.0);
    recorded.compiled = 0;
    for seed in 0..repeats {
        let mut searcher = build(strategy)?;
        let tuner = Tuner::new(&space, searcher.as_mut(), recorded).stop(Stop::evaluations(100)).seed(seed);
        let run = tuner.judging(Judging::nothing()).keep_going(true).run()?;
        let scores: Vec<f64> = run.history.iter().map(|scored| scored.score.unwrap_or(f64::INFINITY)).collect();
        for (share, budget) in shares.iter_mut().zip(BUDGETS) {
            let best = scores[..budget.min(scores.len())].iter().copied().fold(f64::INFINITY, f64::min);
            *share += optimum / best / repeats as f64;
        }
        let place = scores.iter().position(|score| *score <= 1.05 * optimum);
        needed += place.map_or(scores.len(), |place| place + 1) as f64 / repeats as f64;
        made += scores.len() as f64;
    }
    let shares: Vec<String> = shares.iter().map(|share| format!("{share:.3}")).collect();
    let compiled = recorded.compiled as f64 / made;
    println!("| {name} | {} | {needed:.1} | {compiled:.1} |", shares.join(" | "));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let repeats = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(40);
    let shared = std::env::var_os("TUNESMITH_SHARED").ok_or("set TUNESMITH_SHARED to the folder of shared data")?;
    println!("| recording, numbers | @10 | @25 | @50 | @100 | to within 5 % | compiled for each |");
    for file in FILES {
        let path = Path::new(&shared).join("counters").join(format!("{file}.csv.gz"));
        let mut recorded = Recorded::read(&path)?;
        measure(&format!("{file}, without"), "gaussian_process", &mut recorded, repeats)?;
        measure(&format!("{file}, with"), "gaussian_process(compiled=8)", &mut recorded, repeats)?;
        recorded.shuffle();
        measure(&format!("{file}, dealt at random"), "gaussian_process(compiled=8)", &mut recorded, repeats)?;
    }
    Ok(())
}
