//! Tunes few inputs, chosen by what a model of the earlier ones does not know.

use super::index::{FinishedRun, Index};
use super::{SkippedInput, Work, name, varying};
use crate::Error;
use crate::tune::{Search, Session};
use std::collections::HashSet;
use std::path::PathBuf;
use tunesmith_choose::wisdom;
use tunesmith_core::Stop;
use tunesmith_problem::{GridTable, Input, InputRun};
use tunesmith_study::ModelChoice;
use tunesmith_study::gathered::config;
use tunesmith_timing::{TimingSettings, TrainTimingOptions, doubts, train_timing};

/// Number of inputs that are tuned before a model chooses the next ones. They are far apart.
const FIRST: usize = 5;

/// Maximum number of inputs among which the next one is chosen.
const CONSIDERED: usize = 1000;

/// Default number of evaluations of each input, a seventh of the paper's. More inputs teach a model
/// more than more evaluations of each.
const EVALUATIONS: u64 = 20;

/// Number of trees of the models that choose inputs and begin their runs: the paper's.
const ROUNDS: usize = 100;

/// Maximum number of configurations that are measured for every tuned input at the end.
const WINNERS: usize = 8;

/// Tunes inputs until `count` of them are tuned, then measures their best configurations for all of
/// them. Returns the inputs that cannot be tuned.
pub(super) fn learn(
    work: &Work<'_>,
    count: usize,
    index: &mut Index,
    session: &mut Session<'_>,
    on_run: &mut dyn FnMut(&FinishedRun, usize),
) -> Result<Vec<SkippedInput>, Error> {
    let step = work.all.len().div_ceil(CONSIDERED);
    let considered: Vec<&Input> = work.all.iter().step_by(step).collect();
    let learning = Learning { work, varying: varying(work.all), run: run(work)? };
    let count = count.min(considered.len());
    let mut skipped: Vec<SkippedInput> = Vec::new();
    loop {
        let (tuned, left): (Vec<&Input>, Vec<&Input>) =
            considered.iter().partition(|input| index.has(&learning.name(input), &learning.run));
        let is_skipped = |input: &&Input| skipped.iter().any(|skipped| skipped.input == learning.name(input));
        let left: Vec<&Input> = left.into_iter().filter(|input| !is_skipped(input)).collect();
        if tuned.len() >= count || left.is_empty() || session.interrupt.is_raised() {
            break;
        }
        let files = journals(index);
        let next = if tuned.len() < FIRST { farthest(&tuned, &left) } else { doubtful(&files, &left)? };
        match learning.tune(next, &files, index, session) {
            Err(error) if error.is_request() => {
                skipped.push(SkippedInput { input: learning.name(next), reason: error.to_string() });
            }
            Err(error) => return Err(error),
            Ok(finished) => finished.iter().for_each(|run| on_run(run, 2 * count)),
        }
    }
    learning.compare_winners(&considered, count, index, session, on_run)?;
    Ok(skipped)
}

/// The inputs with the run that tunes each.
struct Learning<'a> {
    work: &'a Work<'a>,
    varying: Vec<usize>,
    run: InputRun,
}

/// Returns the run of every input: the first of the problem's that does not end by itself, or else
/// the default strategy.
fn run(work: &Work<'_>) -> Result<InputRun, Error> {
    let own = work.task.problem.spec().inputs().map(|inputs| inputs.runs.as_slice()).unwrap_or_default();
    let own = own.iter().find(|run| !run.strategy.strategy().ends_by_itself());
    let strategy = own.map_or_else(|| "default".parse(), |run| Ok(run.strategy.clone()))?;
    let stop = work.search.stop.clone().or_else(|| own.and_then(|run| run.stop.clone()));
    Ok(InputRun { strategy, stop: Some(stop.unwrap_or_else(|| Stop::evaluations(EVALUATIONS))) })
}

impl Learning<'_> {
    fn name(&self, input: &Input) -> String {
        name(input, &self.varying)
    }

    /// Tunes one input. With enough files, its run begins with the candidates of their model.
    /// Returns `None` when interrupted.
    fn tune(
        &self,
        input: &Input,
        files: &[PathBuf],
        index: &mut Index,
        session: &mut Session<'_>,
    ) -> Result<Option<FinishedRun>, Error> {
        let name = self.name(input);
        let model = index.folder().join("learned.timing.json");
        let mut search = self.work.search.clone();
        if files.len() >= FIRST {
            let settings = TimingSettings { hold_out: 0.0, rounds: Some(ROUNDS), ..TimingSettings::default() };
            let options =
                TrainTimingOptions { inputs: files.to_vec(), out: model.clone(), reference: Vec::new(), settings };
            train_timing(&options, session.clock.as_ref())?;
            search.model = Some(ModelChoice::File(model));
        }
        let work = Work { search: &search, ..*self.work };
        let outcome = work.tune_one(input, &self.run, &index.journal(&name, &self.run), session)?;
        if session.interrupt.is_raised() {
            return Ok(None);
        }
        let finished = FinishedRun::new(&name, input, &self.run, &outcome);
        index.append(finished.clone())?;
        Ok(Some(finished))
    }

    /// Measures the best configurations of the tuned inputs for all of these inputs, so that a
    /// chooser knows what its choices cost elsewhere.
    fn compare_winners(
        &self,
        considered: &[&Input],
        count: usize,
        index: &mut Index,
        session: &mut Session<'_>,
        on_run: &mut dyn FnMut(&FinishedRun, usize),
    ) -> Result<(), Error> {
        let grid = InputRun { strategy: "grid".parse()?, stop: None };
        let winners = winners(index.runs().iter().filter(|run| run.strategy != "grid"));
        if winners.is_empty() {
            return Ok(());
        }
        let search = Search { stop: None, ..self.work.search.clone() };
        let work = Work { search: &search, grid: Some(&winners), ..*self.work };
        for input in considered.iter().filter(|input| index.has(&self.name(input), &self.run)).collect::<Vec<_>>() {
            let name = self.name(input);
            if session.interrupt.is_raised() || index.has(&name, &grid) {
                continue;
            }
            let outcome = match work.tune_one(input, &grid, &index.journal(&name, &grid), session) {
                // No winner is valid for this input: it keeps its own.
                Err(error) if error.is_request() => continue,
                other => other?,
            };
            if !session.interrupt.is_raised() {
                let finished = FinishedRun::new(&name, input, &grid, &outcome);
                index.append(finished.clone())?;
                on_run(&finished, 2 * count);
            }
        }
        Ok(())
    }
}

/// Returns the best configurations of most inputs as tables of a grid.
fn winners<'a>(runs: impl Iterator<Item = &'a FinishedRun>) -> Vec<GridTable> {
    let mut counted: Vec<(usize, GridTable)> = Vec::new();
    for best in runs.filter_map(|run| run.best.as_ref()) {
        let table: GridTable = config(best).into_iter().map(|(name, value)| (name, vec![value])).collect();
        match counted.iter_mut().find(|(_, known)| *known == table) {
            Some((count, _)) => *count += 1,
            None => counted.push((1, table)),
        }
    }
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    counted.into_iter().take(WINNERS).map(|(_, table)| table).collect()
}

/// Returns the journals of all finished runs, each once.
fn journals(index: &Index) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let files = index.runs().iter().filter(|run| run.default_ms.is_some() && seen.insert(run.journal.clone()));
    files.map(|run| index.folder().join(&run.journal)).collect()
}

/// Returns the input farthest from those tuned, or, if none is, the one nearest to all others.
fn farthest<'a>(tuned: &[&Input], left: &[&'a Input]) -> &'a Input {
    let numbers = |input: &Input| -> wisdom::Input {
        input.iter().filter_map(|(name, value)| Some((name.clone(), value.as_float()?))).collect()
    };
    let (known, open): (Vec<wisdom::Input>, Vec<wisdom::Input>) =
        (tuned.iter().map(|input| numbers(input)).collect(), left.iter().map(|input| numbers(input)).collect());
    let remoteness = |at: usize| match known.is_empty() {
        true => -open.iter().map(|other| wisdom::distance(&open[at], other)).sum::<f64>(),
        false => known.iter().map(|other| wisdom::distance(&open[at], other)).fold(f64::INFINITY, f64::min),
    };
    let remotest = (0..left.len()).map(|at| (at, remoteness(at)));
    let (at, _) = remotest.reduce(|best, other| if other.1 > best.1 { other } else { best }).unwrap_or((0, 0.0));
    left[at]
}

/// Returns the input for which a model of `files` knows least what to choose.
fn doubtful<'a>(files: &[PathBuf], left: &[&'a Input]) -> Result<&'a Input, Error> {
    let inputs: Vec<Input> = left.iter().map(|input| (*input).clone()).collect();
    let doubts = doubts(files, &inputs, 0)?;
    let most = doubts.iter().enumerate().reduce(|best, other| if other.1 > best.1 { other } else { best });
    Ok(left[most.map_or(0, |(at, _)| at)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::Value;

    #[test]
    fn the_first_input_is_in_the_middle_and_the_next_ones_at_the_ends() {
        let inputs: Vec<Input> = [1, 2, 4, 8, 16, 32, 64].map(|n| vec![("N".to_string(), Value::Int(n))]).to_vec();
        let all: Vec<&Input> = inputs.iter().collect();
        let mut tuned: Vec<&Input> = Vec::new();
        for expected in [8, 1, 64, 2] {
            let left: Vec<&Input> = all.iter().copied().filter(|input| !tuned.contains(input)).collect();
            let next = farthest(&tuned, &left);
            assert_eq!(next[0].1, Value::Int(expected));
            tuned.push(next);
        }
    }
}
