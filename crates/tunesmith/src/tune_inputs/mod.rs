//! Tuning a problem for all of its inputs.

mod index;

pub use index::FinishedRun;

use crate::devices::DeviceChoice;
use crate::probe;
use crate::tune::{Session, TuneOptions, tune};
use crate::{Error, Outcome, Problem};
use index::Index;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tunesmith_problem::{Input, InputRun, Inputs};
use tunesmith_space::Value;

/// What tuning all inputs gave. Its JSON form is what `tune --inputs --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct InputsOutcome {
    /// The problem's name.
    pub problem: String,
    /// How many inputs there are.
    pub inputs: usize,
    /// Every finished run, those of an earlier part of a resumed tuning first.
    pub runs: Vec<FinishedRun>,
    /// Inputs that cannot be tuned, and why.
    pub skipped: Vec<SkippedInput>,
    /// The folder of the journals.
    pub out: PathBuf,
    /// What it took, in seconds of wall time.
    pub wall_seconds: f64,
}

/// An input that cannot be tuned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedInput {
    /// Its sizes.
    pub input: String,
    /// Why.
    pub reason: String,
}

/// How every input is tuned where `[inputs]` does not say: the grid, if there is one, and 75 steps of the paper's climb
/// from the default configuration (Bergstra, Pinto and Cox, 2012, section 2.4).
fn runs(problem: &Problem, inputs: &Inputs) -> Vec<InputRun> {
    if !inputs.runs.is_empty() {
        return inputs.runs.clone();
    }
    let climb = InputRun {
        strategy: "hill_climbing(initial=1, patience=0)".to_string(),
        stop: Some("evaluations 75".to_string()),
    };
    let grid = InputRun { strategy: "grid".to_string(), stop: None };
    let has_grid = !problem.tuning.grid.is_empty();
    has_grid.then_some(grid).into_iter().chain([climb]).collect()
}

/// Tunes `problem` for every input of its `[inputs]`, one after the other, by each of its runs; `on_run` sees every run when
/// it is finished, with how many there are in all.
///
/// Each run has a journal of its own in the folder `options.out`, by default `NAME.inputs` beside the problem, and a line in
/// the folder's `runs.jsonl`. With `options.resume` finished runs are not repeated and the one that was under way goes on;
/// without it an existing folder is left alone and a numbered new one is made. The memory bandwidth of the device is measured
/// once and kept in every journal, with the input's sizes and features.
///
/// # Errors
/// A problem without `[inputs]`, a wrong request that concerns all inputs; a device or disk that fails. What is wrong with
/// one input alone, such as a default configuration that its sizes exclude, is in [`InputsOutcome::skipped`]; what is wrong
/// with all of them is the first one's error.
pub fn tune_inputs(
    problem: &Problem,
    options: &TuneOptions,
    session: &mut Session<'_>,
    on_run: &mut dyn FnMut(&FinishedRun, usize),
) -> Result<InputsOutcome, Error> {
    let began = session.clock.now();
    let all = problem.input_sizes()?;
    let runs = problem.inputs.as_ref().map(|inputs| runs(problem, inputs)).unwrap_or_default();
    // What the user asks for goes before what the file says, but for strategies that end by themselves.
    let stop = |run: &InputRun| options.stop.clone().filter(|_| !is_finite(run)).or(run.stop.clone());
    let runs: Vec<InputRun> = runs.into_iter().map(|run| InputRun { stop: stop(&run), ..run }).collect();
    for run in &runs {
        tunesmith_search::build(&run.strategy)?;
    }
    let device = DeviceChoice::for_problem(problem, options.device.as_deref(), &options.compilers, &options.worker)?;
    let mut index = Index::open(&folder(problem, options), options.resume)?;
    let mut options = options.clone();
    if let Some(speed) = probe::bandwidth(&device, &options, &session.interrupt)? {
        options.device_features.insert(probe::BANDWIDTH.to_string(), speed);
    }
    let varying = varying(&all);
    let (mut skipped, mut refusal) = (Vec::new(), None);
    'inputs: for sizes in &all {
        let name = name(sizes, &varying);
        for run in &runs {
            if index.has(&name, run) {
                continue;
            }
            match tune_one(problem, sizes, run, &index.journal(&name, run), &options, session) {
                Ok(outcome) if session.interrupt.is_raised() => drop(outcome),
                Ok(outcome) => {
                    let finished = FinishedRun::new(&name, sizes, run, &outcome);
                    index.append(finished.clone())?;
                    on_run(&finished, all.len() * runs.len());
                }
                Err(error) if error.is_request() => {
                    skipped.push(SkippedInput { input: name.clone(), reason: error.to_string() });
                    refusal.get_or_insert(error);
                    continue 'inputs;
                }
                Err(error) => return Err(error),
            }
            if session.interrupt.is_raised() {
                break 'inputs;
            }
        }
    }
    if let Some(error) = refusal.filter(|_| skipped.len() == all.len()) {
        return Err(error);
    }
    Ok(InputsOutcome {
        problem: problem.name.clone(),
        inputs: all.len(),
        out: index.folder().to_path_buf(),
        runs: index.into_runs(),
        skipped,
        wall_seconds: (session.clock.now() - began).as_secs_f64(),
    })
}

/// One run of one input; goes on with its journal where there is one.
fn tune_one(
    problem: &Problem,
    sizes: &Input,
    run: &InputRun,
    journal: &Path,
    options: &TuneOptions,
    session: &mut Session<'_>,
) -> Result<Outcome, Error> {
    let problem = Problem::load(&problem.source_file.path, sizes)?;
    let stop = run.stop.clone().or_else(|| is_finite(run).then(|| "fraction 1".to_string()));
    let options = TuneOptions {
        strategy: Some(run.strategy.clone()),
        stop,
        out: Some(journal.to_path_buf()),
        resume: true,
        ..options.clone()
    };
    tune(&problem, &options, session)
}

/// Whether the strategy ends by itself.
fn is_finite(run: &InputRun) -> bool {
    ["grid", "exhaustive"].contains(&run.strategy.as_str())
}

fn folder(problem: &Problem, options: &TuneOptions) -> PathBuf {
    options.out.clone().unwrap_or_else(|| problem.source_file.path.with_extension("inputs"))
}

/// The sizes that are not the same in all inputs; all of them where there is one input.
fn varying(all: &[Input]) -> Vec<usize> {
    let count = all.first().map_or(0, Vec::len);
    let varies = |index: &usize| all.iter().any(|input| input[*index].1 != all[0][*index].1);
    let varying: Vec<usize> = (0..count).filter(varies).collect();
    if varying.is_empty() { (0..count).collect() } else { varying }
}

/// `M=64,N=128`: what tells an input from the others.
fn name(sizes: &[(String, Value)], varying: &[usize]) -> String {
    let pair = |index: &usize| format!("{}={}", sizes[*index].0, sizes[*index].1.define());
    varying.iter().map(pair).collect::<Vec<_>>().join(",")
}
