//! Gathers what a page of the report shows about a journal.

mod environment;
mod full_entry;
mod notes;
mod samples;
mod spent;
mod workers;
mod write;

pub use write::{interactive_page, page, write_page};

use crate::judged_run::brief_value;
use full_entry::{FullEntry, even, full};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tunesmith_core::{Cuts, Failure, common_failures, statistics};
use tunesmith_explain::{Surrogate, TrialResult, Trials, failure_causes, importance};
use tunesmith_problem::Metric;
use tunesmith_report::{Evaluations, FailureLine, ParameterValues, RunSection, Subject};
use tunesmith_space::{Parameter, Value};
use tunesmith_store::{Outline, StoreError};

/// Returns what the journal alone says about a run: all but its name, its verdict, the best
/// configurations and what to do with them. `metric` is its objective, and
/// `leaders` are the ranks of the best. The section holds at most `most` evaluations. Beside the journal
/// at `path`, a fleet may have left its state.
///
/// Costs reading `most` evaluations in full, the failed ones, those with a note, and all with a metric.
///
/// # Errors
/// A line of the journal cannot be read.
pub fn run_section(
    path: &Path,
    outline: &Outline,
    metric: &Metric,
    leaders: &[u128],
    most: usize,
) -> Result<RunSection, StoreError> {
    let header = &outline.header;
    let subject = Subject {
        problem: header.problem.clone(),
        sizes: tunesmith_store::arguments(&header.sizes),
        objective: metric.objective().clone(),
    };
    let cuts = outline.entries.cuts()?;
    let mut evaluations = evaluations(outline, metric, most)?;
    evaluations.cut = cuts.iter().map(|(at, _)| *at).collect();
    let looked_at = full(outline, even(outline.entries.len(), most))?;
    let trials = trials(outline, metric, &evaluations, &looked_at);
    let found = trials.as_ref().map(|trials| importance(trials, Surrogate::fit(trials).as_ref()));
    Ok(RunSection {
        parameters: parameters(outline),
        importance: found.unwrap_or_default(),
        causes: trials.as_ref().map(failure_causes).unwrap_or_default(),
        failures: failures(outline, &evaluations.cut)?,
        cut: Cuts::of(cuts.into_iter().map(|(_, cut)| cut)),
        samples: samples::of(outline, leaders)?,
        spent: spent::of(outline, &evaluations.cut, &looked_at),
        workers: workers::of(path, outline, &looked_at)?,
        notes: notes::of(outline)?,
        environment: environment::of(header, metric),
        evaluations,
        subject,
        ..RunSection::default()
    })
}

fn parameters(outline: &Outline) -> Vec<ParameterValues> {
    let plain = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let parameter = |(name, values): (&String, &serde_json::Value)| ParameterValues {
        name: name.clone(),
        values: values.as_array().into_iter().flatten().map(plain).collect(),
    };
    outline.header.parameters.iter().map(parameter).collect()
}

fn evaluations(outline: &Outline, metric: &Metric, most: usize) -> Result<Evaluations, StoreError> {
    let briefs = outline.entries.briefs();
    let values = (0..briefs.len()).map(|at| value(outline, metric, at)).collect::<Result<_, _>>()?;
    let mut evaluations = Evaluations {
        values,
        clocks: briefs.iter().map(|brief| brief.clock).collect(),
        failures: briefs.iter().map(|brief| brief.failure).collect(),
        cut: BTreeSet::new(),
        columns: outline.entries.columns(&outline.header.parameters)?,
        kept: Vec::new(),
        messages: BTreeMap::new(),
    };
    evaluations.kept = evaluations.thinned(metric.objective(), most);
    let failed = evaluations.kept.iter().copied().filter(|at| briefs[*at].failure.is_some());
    let failed = full(outline, failed)?;
    evaluations.messages = failed.into_iter().filter_map(|(at, entry)| Some((at, entry.message?))).collect();
    Ok(evaluations)
}

/// Returns the metric of the evaluation at a position, or `None` if it failed or has none.
fn value(outline: &Outline, metric: &Metric, at: usize) -> Result<Option<f64>, StoreError> {
    let brief = &outline.entries.briefs()[at];
    if brief.failure.is_some() {
        return Ok(None);
    }
    if let Some(value) = brief_value(metric, brief) {
        return Ok(Some(value));
    }
    let entry = outline.entries.get(at)?;
    let parameter = |name: &str| entry.config.get(name).and_then(Value::of_document);
    let samples = metric.samples(&parameter, &entry.measurement());
    Ok(samples.ok().and_then(|samples| statistics::median(&samples)))
}

/// Returns these evaluations as the analyses take them. Returns `None` if the header has a parameter
/// that is none.
fn trials(outline: &Outline, metric: &Metric, evaluations: &Evaluations, looked_at: &[FullEntry]) -> Option<Trials> {
    let parameter = |(name, values): (&String, &serde_json::Value)| {
        let values: Option<Vec<Value>> = values.as_array()?.iter().map(Value::of_document).collect();
        Parameter::new(name, values?).ok()
    };
    let parameters: Vec<Parameter> = outline.header.parameters.iter().map(parameter).collect::<Option<_>>()?;
    let mut trials = Trials::new(&parameters);
    for (at, entry) in looked_at {
        let values = crate::values_of(&parameters, &entry.config);
        let score = evaluations.values[*at].map(|value| metric.objective().score(value));
        let cut = entry.cut().map(TrialResult::Cut);
        let result = cut.unwrap_or_else(|| match (evaluations.failures[*at], score) {
            (Some(kind), _) => {
                let failure = Failure::new(kind, entry.message.clone().unwrap_or_default());
                TrialResult::Failed { kind, headline: failure.headline().to_string() }
            }
            (None, Some(score)) => TrialResult::Score(score),
            (None, None) => TrialResult::Unscored,
        });
        values.into_iter().for_each(|values| trials.push(&values, result.clone()));
    }
    Some(trials)
}

/// Returns the failures by kind, without those that were `cut`. A failed entry in full is read and dropped one by
/// one.
fn failures(outline: &Outline, cut: &BTreeSet<usize>) -> Result<Vec<FailureLine>, StoreError> {
    let mut failures = Vec::new();
    for (at, brief) in outline.entries.briefs().iter().enumerate() {
        if let Some(kind) = brief.failure.filter(|_| !cut.contains(&at)) {
            let message = outline.entries.get(at)?.message.unwrap_or_default();
            // Only headlines are compared.
            failures.push(Failure::new(kind, message.lines().next().unwrap_or_default()));
        }
    }
    let common = common_failures(failures.iter()).into_iter();
    Ok(common.map(|one| FailureLine { kind: one.kind, count: one.count, message: one.message }).collect())
}
