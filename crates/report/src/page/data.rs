//! The data of an interactive page: once, as columns, for the script.

use super::record::{Evaluations, ParameterValues, RunSection, Samples};
use super::slices::{Line, Slice};
use super::{Page, curve, text};
use serde::Serialize;
use std::collections::HashMap;
use tunesmith_core::{Direction, FailureKind};
use tunesmith_explain::{Importance, MainShare, PairShare};

/// The data of a page, as `script/data.js` reads them.
#[derive(Serialize)]
struct Data<'a> {
    runs: Vec<RunData<'a>>,
}

#[derive(Serialize)]
struct RunData<'a> {
    name: String,
    objective: String,
    is_time: bool,
    is_maximised: bool,
    /// Number of all evaluations, of which the columns hold some.
    total: usize,
    parameters: Vec<ParameterData>,
    /// The words of the statuses that `status` counts from 0.
    statuses: Vec<&'static str>,
    /// The number of each evaluation of the columns, counted from 1.
    number: Vec<usize>,
    value: Vec<Option<f64>>,
    clock: Vec<f64>,
    status: Vec<usize>,
    /// The position in `messages` of the message of each evaluation, or null.
    message: Vec<Option<usize>>,
    messages: Vec<String>,
    /// For each parameter, the position in its values, or -1.
    columns: Vec<Vec<i64>>,
    curve: CurveData,
    slices: Vec<SliceData>,
    importance: ImportanceData,
    samples: Vec<SamplesData>,
    spent: &'a [(String, f64)],
}

#[derive(Serialize)]
struct ParameterData {
    name: String,
    values: Vec<String>,
}

/// The steps of the best so far.
#[derive(Serialize)]
struct CurveData {
    number: Vec<usize>,
    clock: Vec<f64>,
    value: Vec<f64>,
    /// The end of the run in seconds.
    end: f64,
}

/// The findings about a parameter, as columns.
#[derive(Serialize)]
struct SliceData {
    value: Vec<String>,
    evaluated: Vec<usize>,
    valued: Vec<usize>,
    spread: Vec<Option<[f64; 5]>>,
}

/// An [`Importance`] with names as the parameters of the data have them.
#[derive(Serialize)]
struct ImportanceData {
    parameters: Vec<MainShare>,
    pairs: Vec<PairShare>,
}

#[derive(Serialize)]
struct SamplesData {
    config: String,
    /// Its place in the table of the best, counted from 1.
    place: Option<usize>,
    times: Vec<f64>,
}

/// Maximum number of different messages.
const MESSAGES: usize = 200;
/// Maximum number of samples of a configuration.
const SAMPLES: usize = 500;

/// Returns the data of `page` as JSON.
pub(super) fn packed(page: &Page, slices: &[Vec<Slice>]) -> String {
    let runs = page.runs.iter().zip(slices).map(|(run, slices)| RunData::new(run, slices)).collect();
    // Fails only for maps whose keys are no texts.
    serde_json::to_string(&Data { runs }).unwrap_or_default()
}

impl<'a> RunData<'a> {
    fn new(run: &'a RunSection, slices: &[Slice]) -> Self {
        let RunSection { evaluations, subject, .. } = run;
        let kept = &evaluations.kept;
        let (parameters, columns) = parameters(run);
        let (messages, message) = messages(evaluations);
        let words = FailureKind::ALL.map(FailureKind::word);
        let status = |at: &usize| {
            if evaluations.cut.contains(at) {
                return FailureKind::ALL.len() + 1;
            }
            let failure = evaluations.failures.get(*at).copied().flatten();
            failure.and_then(|kind| FailureKind::ALL.iter().position(|own| *own == kind)).map_or(0, |kind| kind + 1)
        };
        Self {
            name: text::name(&run.name),
            objective: text::name(&subject.objective.label()),
            is_time: subject.objective.unit() == Some("ms"),
            is_maximised: subject.objective.direction() == Direction::Maximise,
            total: evaluations.len(),
            parameters,
            statuses: ["correct"].into_iter().chain(words).chain(["cut"]).collect(),
            number: kept.iter().map(|at| at + 1).collect(),
            value: kept.iter().map(|at| evaluations.values[*at].map(rounded)).collect(),
            clock: kept.iter().map(|at| clock(evaluations, *at)).collect(),
            status: kept.iter().map(status).collect(),
            message,
            messages,
            columns,
            curve: CurveData::new(run),
            slices: run.parameters.iter().zip(slices).map(|(own, slice)| SliceData::new(own, slice)).collect(),
            importance: ImportanceData::new(&run.importance),
            samples: run.samples.configs.iter().map(|samples| SamplesData::new(run, samples)).collect(),
            spent: &run.spent.results,
        }
    }
}

/// Returns the parameters with those values that the kept evaluations have, and their columns.
fn parameters(run: &RunSection) -> (Vec<ParameterData>, Vec<Vec<i64>>) {
    let of = |(parameter, column): (&ParameterValues, &Vec<u32>)| {
        let places: Vec<u32> = run.evaluations.kept.iter().map(|at| column[*at]).collect();
        let mut used = places.clone();
        used.sort_unstable();
        used.dedup();
        used.retain(|place| (*place as usize) < parameter.values.len());
        let values = used.iter().map(|place| text::name(&parameter.values[*place as usize])).collect();
        let column = places.iter().map(|place| used.binary_search(place).map_or(-1, |at| at as i64)).collect();
        (ParameterData { name: text::name(&parameter.name), values }, column)
    };
    run.parameters.iter().zip(&run.evaluations.columns).map(of).unzip()
}

/// Returns the messages of the kept evaluations, and for each the position of its own.
fn messages(evaluations: &Evaluations) -> (Vec<String>, Vec<Option<usize>>) {
    let (mut messages, mut places) = (Vec::new(), HashMap::new());
    let mut place = |at: &usize| {
        let headline = text::name(evaluations.messages.get(at)?.lines().next()?);
        let known = places.get(&headline).copied();
        known.or_else(|| {
            let new = (messages.len() < MESSAGES).then_some(messages.len())?;
            messages.push(headline.clone());
            places.insert(headline, new);
            Some(new)
        })
    };
    let column = evaluations.kept.iter().map(&mut place).collect();
    (messages, column)
}

impl CurveData {
    fn new(run: &RunSection) -> Self {
        let evaluations = &run.evaluations;
        let steps = curve::drawn(evaluations, &run.subject.objective);
        Self {
            number: steps.iter().map(|at| at + 1).collect(),
            clock: steps.iter().map(|at| clock(evaluations, *at)).collect(),
            value: steps.iter().filter_map(|at| evaluations.values[*at].map(rounded)).collect(),
            end: evaluations.clocks.last().copied().map_or(0.0, rounded),
        }
    }
}

impl SliceData {
    fn new(parameter: &ParameterValues, slice: &Slice) -> Self {
        let lines = || slice.lines.iter();
        Self {
            value: lines().map(|line| text::name(&parameter.values[line.place])).collect(),
            evaluated: lines().map(|line| line.evaluated).collect(),
            valued: lines().map(|line| line.valued).collect(),
            spread: lines().map(|Line { spread, .. }| spread.map(|spread| spread.map(rounded))).collect(),
        }
    }
}

impl ImportanceData {
    fn new(found: &Importance) -> Self {
        let name = |name: &String| text::name(name);
        let main = |share: &MainShare| MainShare { parameter: name(&share.parameter), ..share.clone() };
        let pair = |pair: &PairShare| PairShare { parameters: pair.parameters.each_ref().map(name), ..pair.clone() };
        Self {
            parameters: found.importance.iter().map(main).collect(),
            pairs: found.interactions.iter().map(pair).collect(),
        }
    }
}

impl SamplesData {
    fn new(run: &RunSection, samples: &Samples) -> Self {
        let place = run.top.iter().position(|row| row.config == samples.config).map(|at| at + 1);
        let times = super::record::even(samples.times_ms.len(), SAMPLES).map(|at| rounded(samples.times_ms[at]));
        Self { config: text::name(&samples.config), place, times: times.collect() }
    }
}

fn clock(evaluations: &Evaluations, at: usize) -> f64 {
    evaluations.clocks.get(at).copied().map_or(0.0, rounded)
}

/// Returns a number with five digits, and a larger one to the unit: no picture shows more.
fn rounded(number: f64) -> f64 {
    match number.abs() {
        1e4..1e15 => number.round(),
        _ => format!("{number:.4e}").parse().unwrap_or(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn data(run: RunSection) -> Json {
        let slices = vec![Slice::all(&run)];
        let page = Page { runs: vec![run], ..Page::default() };
        let data: Json = serde_json::from_str(&packed(&page, &slices)).unwrap();
        data["runs"][0].clone()
    }

    #[test]
    fn columns_hold_the_kept_evaluations_and_the_values_that_they_have() {
        let evaluations = Evaluations {
            values: vec![Some(2.0), None, Some(1.234_567)],
            clocks: vec![0.5, 1.0, 2.0],
            failures: vec![None, Some(FailureKind::Runtime), None],
            cut: [].into(),
            columns: vec![vec![7, 3, u32::MAX]],
            kept: vec![1, 2],
            messages: [(1, "boom\nsecond line".to_string())].into(),
        };
        let values = (0..8).map(|value: i32| (value * 10).to_string()).collect();
        let parameters = vec![ParameterValues { name: "T".to_string(), values }];
        let data = data(RunSection { evaluations, parameters, ..RunSection::default() });
        assert_eq!((&data["number"], &data["value"]), (&json!([2, 3]), &json!([null, 1.2346])));
        assert_eq!((&data["parameters"][0]["values"], &data["columns"]), (&json!(["30"]), &json!([[0, -1]])));
        assert_eq!((&data["message"], &data["messages"]), (&json!([0, null]), &json!(["boom"])));
        let statuses = data["statuses"].as_array().unwrap();
        assert_eq!(statuses[data["status"][0].as_u64().unwrap() as usize], "runtime");
        assert_eq!(data["curve"]["number"], json!([1, 3]), "the curve is that of all evaluations");
        assert_eq!(data["slices"][0]["value"], json!(["30", "70"]), "as the values of parameters are");
    }

    #[test]
    fn what_limits_cut_has_a_status_of_its_own() {
        let evaluations = Evaluations {
            values: vec![Some(2.0), None, None],
            clocks: vec![0.5, 1.0, 2.0],
            failures: vec![None, Some(FailureKind::Timeout), Some(FailureKind::Timeout)],
            cut: [2].into(),
            kept: vec![0, 1, 2],
            ..Evaluations::default()
        };
        let data = data(RunSection { evaluations, ..RunSection::default() });
        let status = |row: usize| &data["statuses"][data["status"][row].as_u64().unwrap() as usize];
        assert_eq!([status(0), status(1), status(2)], ["correct", "timeout", "cut"]);
    }

    #[test]
    fn numbers_have_five_digits_and_integers_are_whole() {
        let numbers = [1_249_692.0, -1_249_692.4, 1024.0, 0.0, 0.000_912_345_6, -2.123_456_7].map(rounded);
        assert_eq!(numbers, [1_249_692.0, -1_249_692.0, 1024.0, 0.0, 0.000_912_35, -2.123_5]);
    }

    #[test]
    fn hostile_texts_are_short_and_shown() {
        let hostile = format!("\u{1b}[2J</script>{}", "x".repeat(1_000_000));
        let parameters = vec![ParameterValues { name: hostile.clone(), values: vec![hostile.clone()] }];
        let evaluations = Evaluations {
            values: vec![None],
            failures: vec![Some(FailureKind::Compile)],
            clocks: vec![1.0],
            cut: [].into(),
            columns: vec![vec![0]],
            kept: vec![0],
            messages: [(0, hostile.clone())].into(),
        };
        let text = data(RunSection { name: hostile, parameters, evaluations, ..RunSection::default() }).to_string();
        assert!(text.len() < 10_000 && !text.contains("\\u001b") && text.contains("\\\\u{1b}[2J"), "{text}");
    }
}
