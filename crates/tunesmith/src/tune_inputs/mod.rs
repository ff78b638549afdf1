//! Tunes a problem for all of its inputs.

mod index;
mod learning;

pub use index::FinishedRun;

use crate::devices::device_for;
use crate::probe;
use crate::tune::{JournalOptions, Search, Session, TuningTask, tune};
use crate::{Error, Outcome, Problem};
use index::Index;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tunesmith_core::{Condition, Stop};
use tunesmith_problem::{GridTable, Input, InputRun};
use tunesmith_space::Value;

/// The outcome of tuning all inputs. Its JSON form is the output of `tune --inputs --json`.
#[derive(Clone, Debug, Serialize)]
pub struct InputsOutcome {
    /// The problem's name.
    pub problem: String,
    /// Number of inputs.
    pub inputs: usize,
    /// Every finished run. Those of an earlier part of a resumed tuning come first.
    pub runs: Vec<FinishedRun>,
    /// Inputs that cannot be tuned, each with the reason.
    pub skipped: Vec<SkippedInput>,
    /// The folder of the journals.
    pub out: PathBuf,
    /// Wall time in seconds.
    pub wall_seconds: f64,
}

/// An input that cannot be tuned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedInput {
    /// Its sizes.
    pub input: String,
    /// The reason.
    pub reason: String,
}

/// Returns the runs of every input. `stop` overrides the file's stop conditions, except for
/// strategies that end by themselves.
fn planned(problem: &Problem, stop: Option<&Stop>) -> Result<Vec<InputRun>, Error> {
    let own = problem.spec().inputs().map(|inputs| inputs.runs.clone()).unwrap_or_default();
    let runs = if own.is_empty() { usual(problem)? } else { own };
    let asked = |run: &InputRun| stop.filter(|_| !run.strategy.strategy().ends_by_itself()).cloned();
    Ok(runs.into_iter().map(|run| InputRun { stop: asked(&run).or(run.stop), strategy: run.strategy }).collect())
}

/// Returns the default runs of every input: the grid, if there is one, and 75 steps of the paper's
/// climb from the default configuration (Bergstra, Pinto and Cox, 2012, section 2.4).
fn usual(problem: &Problem) -> Result<Vec<InputRun>, Error> {
    let climb = "hill_climbing(initial=1, patience=0)".parse()?;
    let climb = InputRun { strategy: climb, stop: Some(Stop::evaluations(75)) };
    let grid = InputRun { strategy: "grid".parse()?, stop: None };
    let has_grid = !problem.spec().tuning().grid.is_empty();
    Ok(has_grid.then_some(grid).into_iter().chain([climb]).collect())
}

/// Returns the stop condition of a run, or `None` if the problem gives it.
fn ending(run: &InputRun) -> Option<Stop> {
    let all = || Stop::When(Condition::Fraction(1.0));
    run.stop.clone().or_else(|| run.strategy.strategy().ends_by_itself().then(all))
}

/// Tunes the problem of `task` for every input of its `[inputs]`, one after the other, by each of its
/// runs. `on_run` gets every finished run, with the number of all runs.
///
/// Each run has its own journal in the folder `journal.out` of the task, by default `NAME.inputs` beside
/// the problem, and a line in the folder's `runs.jsonl`. With `journal.resume`, finished runs are not
/// repeated, and the run that was under way continues. Without it, an existing folder is left
/// alone, and a new numbered one is created. The memory bandwidth of the device is measured once
/// and kept in every journal, with the input's sizes and features.
///
/// With `learn`, at most that many inputs are tuned. The first five are far apart. Each further one
/// is the one for which a model of the earlier runs knows least what to choose, and its run begins
/// with the model's candidates. At the end, the best configurations are measured for all of them.
///
/// # Errors
/// The problem has no `[inputs]`, the request is wrong for all inputs, or a device or the disk
/// fails. If something is wrong with one input alone, such as a default configuration that its
/// sizes exclude, the input is in [`InputsOutcome::skipped`]. If all inputs are wrong, the first
/// one's error is returned.
pub fn tune_inputs(
    task: &TuningTask<'_>,
    learn: Option<usize>,
    session: &mut Session<'_>,
    on_run: &mut dyn FnMut(&FinishedRun, usize),
) -> Result<InputsOutcome, Error> {
    let began = session.clock.now();
    let mut task = task.clone();
    let all = task.problem.input_sizes()?;
    let runs = planned(task.problem, task.search.stop.as_ref())?;
    let device = device_for(task.problem, &task.machine)?;
    let mut index = Index::open(&folder(&task), task.journal.resume)?;
    if let Some(speed) = probe::bandwidth(&device, &task.machine, &session.interrupt)? {
        task.journal.device_features.insert(probe::BANDWIDTH.to_string(), speed);
    }
    let work = Work { task: &task, search: &task.search, runs: &runs, all: &all, grid: None };
    let skipped = match learn {
        Some(count) => learning::learn(&work, count, &mut index, session, on_run)?,
        None => work.tune_all(&mut index, session, on_run)?,
    };
    Ok(InputsOutcome {
        problem: task.problem.spec().name().to_string(),
        inputs: all.len(),
        out: index.folder().to_path_buf(),
        runs: index.into_runs(),
        skipped,
        wall_seconds: (session.clock.now() - began).as_secs_f64(),
    })
}

/// The inputs, and the runs that tune each.
struct Work<'a> {
    /// The tuning of every input, but for its sizes and its search.
    task: &'a TuningTask<'a>,
    search: &'a Search,
    runs: &'a [InputRun],
    all: &'a [Input],
    /// The tables that the strategy `grid` evaluates in place of the problem's own.
    grid: Option<&'a [GridTable]>,
}

impl Work<'_> {
    /// Does the runs that `index` does not have, until interrupted. Returns the inputs that cannot
    /// be tuned.
    fn tune_all(
        &self,
        index: &mut Index,
        session: &mut Session<'_>,
        on_run: &mut dyn FnMut(&FinishedRun, usize),
    ) -> Result<Vec<SkippedInput>, Error> {
        let varying = varying(self.all);
        let (mut skipped, mut refusal) = (Vec::new(), None);
        for sizes in self.all {
            let name = name(sizes, &varying);
            match self.tune_input(&name, sizes, index, session, on_run) {
                Err(error) if error.is_request() => {
                    skipped.push(SkippedInput { input: name, reason: error.to_string() });
                    refusal.get_or_insert(error);
                }
                other => other?,
            }
            if session.interrupt.is_raised() {
                break;
            }
        }
        match refusal.filter(|_| skipped.len() == self.all.len()) {
            Some(error) => Err(error),
            None => Ok(skipped),
        }
    }

    /// Does the runs of one input that `index` does not have, until interrupted.
    fn tune_input(
        &self,
        name: &str,
        sizes: &Input,
        index: &mut Index,
        session: &mut Session<'_>,
        on_run: &mut dyn FnMut(&FinishedRun, usize),
    ) -> Result<(), Error> {
        for run in self.runs {
            if index.has(name, run) {
                continue;
            }
            let outcome = self.tune_one(sizes, run, &index.journal(name, run), session)?;
            if session.interrupt.is_raised() {
                return Ok(());
            }
            let finished = FinishedRun::new(name, sizes, run, &outcome);
            index.append(finished.clone())?;
            on_run(&finished, self.all.len() * self.runs.len());
        }
        Ok(())
    }

    /// Does one run of one input, or continues its journal if there is one.
    fn tune_one(
        &self,
        sizes: &Input,
        run: &InputRun,
        journal: &Path,
        session: &mut Session<'_>,
    ) -> Result<Outcome, Error> {
        let mut problem = self.task.problem.with_sizes(sizes)?;
        if let Some(grid) = self.grid {
            problem = problem.with_grid(grid.to_vec());
        }
        let search = Search { strategy: Some(run.strategy.clone()), stop: ending(run), ..self.search.clone() };
        let journal = JournalOptions { out: Some(journal.to_path_buf()), resume: true, ..self.task.journal.clone() };
        tune(&TuningTask { problem: &problem, search, journal, ..self.task.clone() }, session)
    }
}

fn folder(task: &TuningTask<'_>) -> PathBuf {
    task.journal.out.clone().unwrap_or_else(|| task.problem.beside("inputs"))
}

/// Returns the positions of the sizes that differ between inputs, or of all sizes if there is one
/// input.
fn varying(all: &[Input]) -> Vec<usize> {
    let count = all.first().map_or(0, Vec::len);
    let varies = |index: &usize| all.iter().any(|input| input[*index].1 != all[0][*index].1);
    let varying: Vec<usize> = (0..count).filter(varies).collect();
    if varying.is_empty() { (0..count).collect() } else { varying }
}

/// Returns `M=64,N=128`, a name that distinguishes an input from the others.
fn name(sizes: &[(String, Value)], varying: &[usize]) -> String {
    let pair = |index: &usize| format!("{}={}", sizes[*index].0, sizes[*index].1.define());
    varying.iter().map(pair).collect::<Vec<_>>().join(",")
}
