//! `tunesmith tune --inputs`.

use super::Tuned;
use crate::args::TuneArgs;
use crate::{Ending, output};
use tunesmith::core::Interrupt;
use tunesmith::report::{counted, milliseconds};
use tunesmith::{
    Error, Session, TuningTask,
    tune_inputs::{FinishedRun, InputsOutcome},
};

pub(crate) fn tune_inputs(task: &TuningTask<'_>, args: &TuneArgs, interrupt: &Interrupt) -> Result<Ending, Error> {
    let mut session = Session { interrupt: interrupt.clone(), ..Session::default() };
    let mut finished = 0;
    let mut on_run = |run: &FinishedRun, all: usize| {
        finished += 1;
        if !args.quiet {
            output::note(&line(run, finished, all));
        }
    };
    let outcome = tunesmith::tune_inputs(task, args.learn, &mut session, &mut on_run)?;
    outcome.skipped.iter().for_each(|skipped| output::note(&format!("{} skipped: {}", skipped.input, skipped.reason)));
    if args.json {
        output::json(&outcome);
    } else {
        output::print(&text(&outcome, interrupt.is_raised(), args));
    }
    Ok(match outcome {
        _ if interrupt.is_raised() => Ending::Interrupted,
        outcome if outcome.runs.iter().all(|run| run.best.is_none()) => Ending::NothingCorrect,
        _ => Ending::Done,
    })
}

fn line(run: &FinishedRun, finished: usize, all: usize) -> String {
    let head = format!("{finished}/{all} {} {}: {}", run.input, run.strategy, counted(run.evaluations, "evaluation"));
    match (run.best_ms.map(milliseconds), run.speedup()) {
        (Some(time), Some(speedup)) => format!("{head}, {time}, {speedup:.2} times as fast as the default"),
        (Some(time), None) => format!("{head}, {time}; the default failed"),
        (None, _) => format!("{head}, none correct"),
    }
}

fn text(outcome: &InputsOutcome, is_interrupted: bool, args: &TuneArgs) -> String {
    let InputsOutcome { inputs, runs, out, wall_seconds, .. } = outcome;
    let speedups: Vec<f64> = runs.iter().filter_map(FinishedRun::speedup).collect();
    let mean = (speedups.iter().map(|speedup| speedup.ln()).sum::<f64>() / speedups.len().max(1) as f64).exp();
    let (count, folder) = (runs.len(), out.display());
    let next = if is_interrupted {
        Tuned::of(args).again("tune", &["--inputs", "--resume", "--out", &folder.to_string()])
    } else {
        format!("tunesmith train timing {folder}/*=*.jsonl -o timing.json")
    };
    format!(
        "{}, {} in {wall_seconds:.0} s: {mean:.2} times as fast as the default in the geometric \
         mean\njournals: {folder}\n\nnext:\n  {next}\n",
        counted(inputs, "input"),
        counted(count, "run")
    )
}
