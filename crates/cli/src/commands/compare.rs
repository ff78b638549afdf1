//! `tunesmith compare`.

use crate::args::CompareArgs;
use crate::{Ending, output, render};
use std::collections::BTreeMap;
use tunesmith::core::Interrupt;
use tunesmith::report::{ComparisonRow, amount, comparison_table};
use tunesmith::{
    Error,
    study::{Baseline, CompareOptions, Comparison, ModelChoice, TimeTransfer},
};

/// The meaning of the table's columns.
const NOTE: &str =
    "rel@n: optimum / best after n distinct evaluations; ERT x: expected evaluations to within x of the optimum
score: lead over random search in simulated time; 0 is as good, 1 finds the optimum at once; last line: mean";

pub(crate) fn compare(args: &CompareArgs) -> Result<Ending, Error> {
    let options = CompareOptions {
        recordings: args.recordings.clone(),
        strategies: args.strategy.clone(),
        repeats: args.repeats,
        budget: args.budget,
        seed: args.seed,
        noise: args.noise,
        plots: args.plots.clone(),
        over_time: args.over_time,
        profile_passes: args.profile_passes,
        model: args.model.as_deref().map(ModelChoice::from_text),
        history: args.history.clone(),
        shuffle_history: args.shuffle_history,
        in_flight: args.in_flight,
        without_failures: args.without_failures,
        objective: args.objective.clone(),
        metrics: args.metrics.clone(),
        limits: args.limits.clone(),
        // Ctrl-C ends the process.
        interrupt: Interrupt::default(),
    };
    let comparison = tunesmith::study::compare(&options)?;
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
    format!("{}\n{NOTE}\n{objectives}{controls}{notes}{written}", comparison_table(budgets, &levels, &rows))
}

/// Returns the line about a recording whose objective is not the time.
fn objective(baseline: &Baseline) -> Option<String> {
    let Baseline { recording, objective, optimum, .. } = baseline;
    objective.beside_time(format!("{recording}: {objective}, the best is {}\n", amount(*optimum, objective)))
}
