//! Tuning a problem for all of its inputs.

mod index;

pub use index::FinishedRun;

use crate::devices::device_for;
use crate::probe;
use crate::tune::{JournalOptions, Search, Session, tune};
use crate::{Error, Outcome, Problem};
use index::Index;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tunesmith_core::{Condition, Stop};
use tunesmith_device::Machine;
use tunesmith_problem::{Input, InputRun};
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

/// Returns how every input is tuned; `stop` goes before what the file says, but for strategies that end by themselves.
fn planned(problem: &Problem, stop: Option<&Stop>) -> Result<Vec<InputRun>, Error> {
    let own = problem.inputs.as_ref().map(|inputs| inputs.runs.clone()).unwrap_or_default();
    let runs = if own.is_empty() { usual(problem)? } else { own };
    let asked = |run: &InputRun| stop.filter(|_| !run.strategy.strategy().ends_by_itself()).cloned();
    Ok(runs.into_iter().map(|run| InputRun { stop: asked(&run).or(run.stop), strategy: run.strategy }).collect())
}

/// Returns how every input is tuned where `[inputs]` does not say: by the grid, if there is one, and by 75 steps of the
/// paper's climb from the default configuration (Bergstra, Pinto and Cox, 2012, section 2.4).
fn usual(problem: &Problem) -> Result<Vec<InputRun>, Error> {
    let climb = "hill_climbing(initial=1, patience=0)".parse()?;
    let climb = InputRun { strategy: climb, stop: Some(Stop::evaluations(75)) };
    let grid = InputRun { strategy: "grid".parse()?, stop: None };
    let has_grid = !problem.tuning.grid.is_empty();
    Ok(has_grid.then_some(grid).into_iter().chain([climb]).collect())
}

/// Returns when a run ends; `None` where the problem says it.
fn ending(run: &InputRun) -> Option<Stop> {
    let all = || Stop::When(Condition::Fraction(1.0));
    run.stop.clone().or_else(|| run.strategy.strategy().ends_by_itself().then(all))
}

/// Tunes `problem` on `machine` for every input of its `[inputs]`, one after the other, by each of its runs; `on_run` sees
/// every run when it is finished, with how many there are in all.
///
/// Each run has a journal of its own in the folder `journals.out`, by default `NAME.inputs` beside the problem, and a line in
/// the folder's `runs.jsonl`. With `journals.resume` finished runs are not repeated and the one that was under way goes on;
/// without it an existing folder is left alone and a numbered new one is made. The memory bandwidth of the device is measured
/// once and kept in every journal, with the input's sizes and features.
///
/// # Errors
/// A problem without `[inputs]`, a wrong request that concerns all inputs; a device or disk that fails. What is wrong with
/// one input alone, such as a default configuration that its sizes exclude, is in [`InputsOutcome::skipped`]; what is wrong
/// with all of them is the first one's error.
pub fn tune_inputs(
    problem: &Problem,
    machine: &Machine,
    search: &Search,
    journals: &JournalOptions,
    session: &mut Session<'_>,
    on_run: &mut dyn FnMut(&FinishedRun, usize),
) -> Result<InputsOutcome, Error> {
    let began = session.clock.now();
    let all = problem.input_sizes()?;
    let runs = planned(problem, search.stop.as_ref())?;
    let device = device_for(problem, machine)?;
    let mut index = Index::open(&folder(problem, journals), journals.resume)?;
    let mut journals = journals.clone();
    if let Some(speed) = probe::bandwidth(&device, machine, &session.interrupt)? {
        journals.device_features.insert(probe::BANDWIDTH.to_string(), speed);
    }
    let work = Work { problem, machine, search, journals: &journals, runs: &runs, all: &all };
    let skipped = work.tune_all(&mut index, session, on_run)?;
    Ok(InputsOutcome {
        problem: problem.name.clone(),
        inputs: all.len(),
        out: index.folder().to_path_buf(),
        runs: index.into_runs(),
        skipped,
        wall_seconds: (session.clock.now() - began).as_secs_f64(),
    })
}

/// The inputs and the runs that each is tuned by.
struct Work<'a> {
    problem: &'a Problem,
    machine: &'a Machine,
    search: &'a Search,
    journals: &'a JournalOptions,
    runs: &'a [InputRun],
    all: &'a [Input],
}

impl Work<'_> {
    /// Makes the runs that `index` does not have, until interrupted. Returns the inputs that cannot be tuned.
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

    /// Makes the runs of one input that `index` does not have, until interrupted.
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

    /// Makes one run of one input, or goes on with its journal where there is one.
    fn tune_one(
        &self,
        sizes: &Input,
        run: &InputRun,
        journal: &Path,
        session: &mut Session<'_>,
    ) -> Result<Outcome, Error> {
        let problem = self.problem.with_sizes(sizes)?;
        let search = Search { strategy: Some(run.strategy.clone()), stop: ending(run), ..self.search.clone() };
        let journal = JournalOptions { out: Some(journal.to_path_buf()), resume: true, ..self.journals.clone() };
        tune(&problem, self.machine, &search, &journal, session)
    }
}

fn folder(problem: &Problem, journals: &JournalOptions) -> PathBuf {
    journals.out.clone().unwrap_or_else(|| problem.beside("inputs"))
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
