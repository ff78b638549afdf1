//! Measures the time of a choice at run time: `cargo bench -p tunesmith --bench selector`. Goals: 2
//! us for an exact choice; 20 us for a predicted one, by a portfolio's tree or by a model of 100
//! trees among 32 configurations.

#[path = "../tests/it/common/mod.rs"]
mod common;

use common::{Kernel, Run};
use divan::{Bencher, black_box};
use serde_json::{Map, Value as Json, json};
use tunesmith::choose::wisdom::{Config, Entry, Input, Measured, Portfolio, PortfolioOptions, Wisdom};
use tunesmith::space::Value;
use tunesmith::{Selector, choose::Source};

fn main() {
    divan::main();
}

const SIZES: [&str; 6] = ["C", "D", "F", "H", "R", "W"];

/// Returns a configuration of ten parameters, as many as a real kernel has.
fn config(number: usize) -> Config {
    (0..10).map(|at| (format!("PARAMETER_{at}"), Value::Int((number + at) as i64))).collect()
}

/// Returns input `number` of 600.
fn input(number: usize) -> Input {
    let size = |at: usize| f64::from(1u32 << ((number >> (2 * at)) % 4 + at));
    SIZES.iter().enumerate().map(|(at, name)| ((*name).to_string(), size(at))).collect()
}

fn time(input: usize, config: usize) -> f64 {
    1.0 + ((input * 7 + config * 13) % 64) as f64 / 16.0
}

/// Returns 600 inputs, each with a best configuration of 64, and a portfolio of 32.
fn selector() -> Selector {
    let measured = Measured {
        sizes: Vec::new(),
        inputs: (0..600).map(input).collect(),
        configs: (0..64).map(config).collect(),
        times_ms: (0..600).map(|input| (0..64).map(|config| Some(time(input, config))).collect()).collect(),
        default: None,
    };
    let options = PortfolioOptions { most: 32, ..PortfolioOptions::default() };
    let entry = |number: usize| Entry {
        kernel: "filterbank".into(),
        device: "device".into(),
        input: input(number),
        config: config(number % 64),
        time_ms: 1.0,
        provenance: Default::default(),
    };
    Selector::new(Wisdom {
        entries: (0..600).map(entry).collect(),
        portfolios: vec![Portfolio::new("filterbank", "device", &measured, options).expect("there are times")],
        ..Wisdom::default()
    })
}

/// Returns the same with a model of `rounds` trees. The model learned from every tenth input and
/// chooses among the portfolio's 32 configurations.
fn selector_with_model(rounds: usize) -> Selector {
    let values = |at: usize| (0..64).map(|number| json!(number + at)).collect::<Json>();
    let parameters: Map<String, Json> = (0..10).map(|at| (format!("PARAMETER_{at}"), values(at))).collect();
    let kernel = Kernel {
        name: "filterbank",
        features: json!({ "work": "R * C * D * H * W * F" }),
        constraints: json!({ "fits": "PARAMETER_0 <= 64 * C", "is even": "PARAMETER_1 % 2 == 0 or R > 2" }),
        parameters: Json::from(parameters),
    };
    let run = |number: usize| Run {
        device: ("device", 1.0),
        sizes: SIZES.map(|name| (name, input(number)[name])).to_vec(),
        rows: (0..64).map(|at| (config(at), Some(time(number, at)))).collect(),
    };
    let runs: Vec<Run> = (0..600).step_by(10).map(run).collect();
    let folder = tempfile::tempdir().expect("a folder for the model");
    let selector = selector().with_model(&common::model(folder.path(), &kernel, &runs, rounds));
    assert!(selector.warnings().is_empty(), "{:?}", selector.warnings());
    selector
}

fn ask(bencher: Bencher<'_, '_>, device: &str, sizes: &[(&str, f64)], is_expected: fn(&Source<'_>) -> bool) {
    ask_of(&selector(), bencher, device, sizes, is_expected);
}

fn ask_of(
    selector: &Selector,
    bencher: Bencher<'_, '_>,
    device: &str,
    sizes: &[(&str, f64)],
    is_expected: fn(&Source<'_>) -> bool,
) {
    let source = selector.select("filterbank", device, sizes).map(|choice| choice.source);
    assert!(source.is_some_and(|source| is_expected(&source)), "{source:?}");
    bencher.bench_local(|| selector.select(black_box("filterbank"), black_box(device), black_box(sizes)).is_some());
}

#[divan::bench]
fn exact(bencher: Bencher<'_, '_>) {
    let input = input(77);
    let sizes: Vec<(&str, f64)> = input.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    ask(bencher, "device", &sizes, |source| *source == Source::Exact);
}

#[divan::bench]
fn predicted(bencher: Bencher<'_, '_>) {
    let sizes = SIZES.map(|name| (name, 3.0));
    ask(bencher, "device", &sizes, |source| matches!(source, Source::Predicted { .. }));
}

#[divan::bench]
fn other_device(bencher: Bencher<'_, '_>) {
    let sizes = SIZES.map(|name| (name, 3.0));
    ask(bencher, "elsewhere", &sizes, |source| matches!(source, Source::OtherDevice { .. }));
}

#[divan::bench(args = [100, 400])]
fn predicted_by_trees(bencher: Bencher<'_, '_>, rounds: usize) {
    let sizes = SIZES.map(|name| (name, 3.0));
    ask_of(&selector_with_model(rounds), bencher, "device", &sizes, |source| {
        matches!(source, Source::Predicted { .. })
    });
}
