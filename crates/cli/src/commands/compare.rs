//! `tunesmith compare`.

use crate::args::CompareArgs;
use crate::{Ending, output, render};
use std::collections::BTreeMap;
use tunesmith::core::Interrupt;
use tunesmith::report::{ComparisonRow, SecondsRow, amount, comparison_table, seconds_table};
use tunesmith::{
    Error,
    study::{Baseline, CompareOptions, Comparison, ModelChoice, Overall, Score, TimeTransfer},
};

/// The meaning of the table's columns.
const NOTE: &str =
    "rel@n: optimum / best after n distinct evaluations; ERT x: expected evaluations to within x of the optimum
score: lead over random search in simulated time; 0 is as good, 1 finds the optimum at once; last line: mean";

/// The meaning of the columns of the table of seconds.
const SECONDS_NOTE: &str =
    "n medians: optimum / best after n times the recording's median duration of an evaluation, in simulated time
evaluations: made until the last moment; cores used: the mean number of cores that compile or measure";

/// Default number of evaluations of a search that is not judged by seconds.
const DEFAULT_BUDGET: u64 = 400;

pub(crate) fn compare(args: &CompareArgs) -> Result<Ending, Error> {
    let comparison = tunesmith::study::compare(&options(args))?;
    for (recording, assumptions) in &comparison.assumptions {
        assumptions.iter().for_each(|assumption| output::note(&format!("note: {recording}: {assumption}")));
    }
    tell_history(&comparison);
    if args.json {
        output::json(&comparison);
    } else {
        output::print(&text(&comparison));
    }
    Ok(Ending::Done)
}

/// Returns the settings of the comparison.
fn options(args: &CompareArgs) -> CompareOptions {
    // Searches that are judged by seconds end by time.
    let budget = if args.seconds { u64::MAX } else { DEFAULT_BUDGET };
    CompareOptions {
        recordings: args.recordings.clone(),
        strategies: args.strategy.clone(),
        repeats: args.repeats,
        budget: args.budget.unwrap_or(budget),
        seed: args.seed,
        noise: args.noise,
        plots: args.plots.clone(),
        over_time: args.over_time,
        profile_passes: args.profile_passes,
        model: args.model.as_deref().map(ModelChoice::from_text),
        history: args.history.clone(),
        shuffle_history: args.shuffle_history,
        in_flight: args.in_flight.unwrap_or_default(),
        cores: args.seconds.then(|| args.cores.unwrap_or(1)),
        without_failures: args.without_failures,
        objective: args.objective.clone(),
        metrics: args.metrics.clone(),
        limits: args.limits.clone(),
        // Ctrl-C ends the process.
        interrupt: Interrupt::default(),
    }
}

/// Prints the history that each search was given, and warns of recordings left out of it.
fn tell_history(comparison: &Comparison) {
    for (recording, files) in &comparison.history {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let names = if names.is_empty() { "none of the history fits".to_string() } else { names.join(", ") };
        output::note(&format!("history of {recording}: {names}"));
        for left_out in comparison.left_out.get(recording).into_iter().flatten() {
            render::left_out(left_out);
        }
    }
}

fn text(comparison: &Comparison) -> String {
    let Comparison { recordings, budgets, results, overall, plots, .. } = comparison;
    let levels: Vec<&str> =
        overall.iter().take(1).flat_map(|overall| overall.ert.keys().rev()).map(String::as_str).collect();
    let row =
        |strategy: &str, recording, rel: &BTreeMap<String, f64>, ert: &BTreeMap<String, f64>, score| ComparisonRow {
            strategy: strategy.to_string(),
            recording,
            score,
            rel: budgets.iter().filter_map(|at| rel.get(&at.to_string()).copied()).collect(),
            ert: levels.iter().filter_map(|level| ert.get(*level).copied()).collect(),
        };
    let of_recording = |name: &String| {
        let of = results.iter().filter(|score| score.recording == *name).collect::<Vec<_>>();
        of.into_iter().map(|score| {
            let (recording, measures) = (Some(score.recording.clone()), &score.measures);
            row(&score.strategy, recording, &measures.rel, &measures.ert, score.score)
        })
    };
    let means = overall.iter().map(|overall| row(&overall.strategy, None, &overall.rel, &overall.ert, overall.score));
    let rows: Vec<ComparisonRow> = recordings.iter().flat_map(of_recording).chain(means).collect();
    let control = |control: &TimeTransfer| {
        let hit = control.first_hit.map_or("never".to_string(), |hit| format!("after {hit:.1} evaluations"));
        format!("{}: in the order of the times of {} alone within 1.10 {hit}\n", control.recording, control.from)
    };
    let controls: String = comparison.time_transfer.iter().map(control).collect();
    let objectives: String = comparison.baselines.iter().filter_map(objective).collect();
    let notes: String = comparison.notes.iter().map(|note| format!("note: {note}\n")).collect();
    let written: String = plots.iter().map(|path| format!("wrote {}\n", path.display())).collect();
    let (table, seconds) = (comparison_table(budgets, &levels, &rows), seconds(comparison));
    format!("{table}\n{NOTE}\n{seconds}{objectives}{controls}{notes}{written}")
}

/// Returns the table of the results by simulated seconds. Empty if there are none.
fn seconds(Comparison { recordings, results, overall, .. }: &Comparison) -> String {
    let medians = overall.iter().filter_map(|overall| overall.seconds.as_ref()).take(1);
    let medians: Vec<String> = medians.flat_map(|shares| shares.keys().cloned()).collect();
    let of_search = |score: &Score| {
        let seconds = score.seconds.as_ref()?;
        Some(SecondsRow {
            strategy: score.strategy.clone(),
            recording: Some(score.recording.clone()),
            rel: seconds.by_median.values().map(|at| at.rel).collect(),
            evaluations: seconds.by_median.values().last().map(|at| at.evaluations),
            cores_used: Some(seconds.cores_used),
        })
    };
    let of_all = |overall: &Overall| {
        let rel = overall.seconds.as_ref()?.values().copied().collect();
        Some(SecondsRow { strategy: overall.strategy.clone(), rel, ..SecondsRow::default() })
    };
    let of_recording = |name: &String| results.iter().filter(|score| score.recording == *name).collect::<Vec<_>>();
    let searches = recordings.iter().flat_map(of_recording).filter_map(of_search);
    let rows: Vec<SecondsRow> = searches.chain(overall.iter().filter_map(of_all)).collect();
    if rows.is_empty() { String::new() } else { format!("{}\n{SECONDS_NOTE}\n", seconds_table(&medians, &rows)) }
}

/// Returns the line about a recording whose objective is not the time.
fn objective(baseline: &Baseline) -> Option<String> {
    let Baseline { recording, objective, optimum, .. } = baseline;
    objective.beside_time(format!("{recording}: {objective}, the best is {}\n", amount(*optimum, objective)))
}
