//! Writes the seeds that our own code writes better than a person: `seeds FOLDER`.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_choose::TimingModel;
use tunesmith_choose::timing::{Feature, Frame, HeldOut, KnownDevice, Origin, ReferenceTime, TimingParts};
use tunesmith_choose::wisdom::{
    Attempt, AttemptEnd, Entry, Measured, Portfolio, PortfolioOptions, Provenance, Wisdom,
};
use tunesmith_choose::{WisdomFormat, wisdom_text};
use tunesmith_core::{
    CompileData, Evaluation, Failure, FailureKind, Measurement, Request, Resample, Role, Store, Verdict,
};
use tunesmith_cost::{Case, CostProperty, DeviceFile, Form, PropertyCounts, fit};
use tunesmith_model::counters::{self, CounterData, CounterModel, Method};
use tunesmith_model::{
    BoostedSettings, BoostedTrees, Column, RandomisedSettings, RandomisedTrees, RegressionTree, Table, TreeSettings,
};
use tunesmith_space::{Expr, Parameter, Space, Value, Values};
use tunesmith_store::Journal;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

// Instrumented code calls libFuzzer, whose own `main` is not used.
libfuzzer_sys::fuzz_target!(|_input: &[u8]| {});

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("name a folder")?);
    let write = |target: &str, name: &str, text: &str| -> Result<()> {
        std::fs::create_dir_all(folder.join(target))?;
        Ok(std::fs::write(folder.join(target).join(name), text)?)
    };
    for (name, text) in models()? {
        write("models", &name, &text)?;
    }
    write("devices", "device.json", &device_file()?)?;
    let wisdom = wisdom()?;
    write("wisdom", "lines.wisdom", &wisdom_text(&wisdom, &WisdomFormat::Lines)?)?;
    let launcher = WisdomFormat::KernelLauncher { sizes: Vec::new() };
    write("wisdom", "launcher.wisdom", &wisdom_text(&wisdom, &launcher)?)?;
    let journal = journal(&folder)?;
    write("journals", "run.jsonl", &journal)?;
    write("journals", "old.jsonl", &without_sums(&journal))?;
    write("recordings", "run.jsonl", &journal)
}

/// Returns the journal as earlier versions wrote it. No mutation of a line keeps its checksum.
fn without_sums(journal: &str) -> String {
    let without = |line: &str| match line.rfind(",\"sum\"") {
        Some(at) => format!("{}}}\n", &line[..at]),
        None => format!("{line}\n"),
    };
    journal.lines().map(without).collect()
}

fn table() -> (Table, Vec<f64>) {
    let columns = vec![Column::ordinal("TILE"), Column::categorical("KIND", ["a", "b"])];
    let rows: Vec<[f64; 2]> = (0..12).map(|at| [f64::from(1 << (at % 4)), f64::from(at % 2)]).collect();
    let targets = rows.iter().map(|row| row[0] * 3.0 + row[1]).collect();
    (Table::from_rows(columns, rows), targets)
}

fn models() -> Result<Vec<(String, String)>> {
    let (table, targets) = table();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let boosted = BoostedSettings { rounds: 3, depth: 2, min_leaf: 1, ..BoostedSettings::default() };
    let randomised = RandomisedSettings { trees: 2, ..RandomisedSettings::default() };
    let mut models = vec![
        ("boosted.json".to_string(), BoostedTrees::fit(&table, &targets, &boosted, &mut rng)?.to_json()),
        ("random.json".to_string(), RandomisedTrees::fit(&table, &targets, &randomised, &mut rng)?.to_json()),
        ("tree.json".to_string(), RegressionTree::fit(&table, &targets, &TreeSettings::default())?.to_json()),
        ("timing.json".to_string(), timing()?.to_json()),
    ];
    let values = [("inst_fp_32".to_string(), targets), ("dram__bytes".to_string(), vec![2.0; 12])];
    let data = CounterData::new(table, values.into())?;
    for (name, method) in [
        ("exact", Method::Exact),
        ("tree", Method::Tree),
        ("squares", Method::LeastSquares),
        ("trees", Method::Trees { share: 0.5 }),
    ] {
        let model = CounterModel::train(&data, method, counters::Provenance::default(), 1)?;
        models.push((format!("counters-{name}.json"), model.to_json()));
    }
    Ok(models)
}

fn timing() -> Result<TimingModel> {
    let features = vec![
        Feature::new(Origin::Parameter, "TILE", None),
        Feature::new(Origin::Size, "N", None),
        Feature::new(Origin::Derived, "AREA", None),
        Feature::new(Origin::Device, "cores", None),
    ];
    let columns: Vec<Column> = features.iter().map(|feature| feature.column.clone()).collect();
    let rows = (0..8).map(|at| [f64::from(1 + at % 2), f64::from(16 << (at / 2)), f64::from(at), 4.0]);
    let table = Table::from_rows(columns, rows);
    let targets: Vec<f64> = (0..8).map(|at| f64::from(at % 3) - 1.0).collect();
    let settings = BoostedSettings { rounds: 2, depth: 2, min_leaf: 1, ..BoostedSettings::default() };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut trees = || BoostedTrees::fit(&table, &targets, &settings, &mut rng);
    let parts = TimingParts {
        problem: "gemm".to_string(),
        frame: Frame {
            parameters: vec![Parameter::new("TILE", Values::list([1, 2]))?],
            sizes: vec![("N".to_string(), Value::Int(64))],
            derived: vec![("AREA".to_string(), Expr::parse("N * N")?)],
            features,
        },
        constraints: vec![("fits".to_string(), "TILE <= N".to_string())],
        reference: vec![Value::Int(1)],
        candidates: vec![vec![Value::Int(1)], vec![Value::Int(2)]],
        devices: vec![KnownDevice { name: "d".to_string(), features: BTreeMap::from([("cores".to_string(), 4.0)]) }],
        ranges: BTreeMap::from([("N".to_string(), (16.0, 128.0))]),
        zeta: -3.0,
        mean: trees()?,
        low: trees()?,
        high: trees()?,
        reference_time: Some(ReferenceTime { powers: vec![(1, 2.0)], factor: -9.0 }),
        held_out: HeldOut::default(),
        unseen: None,
        best_single: Some(vec![Value::Int(2)]),
        robust: vec![vec![Value::Int(2)]],
    };
    Ok(TimingModel::new(parts)?)
}

fn device_file() -> Result<String> {
    let case = |kernel: &str, loads: f64, adds: f64| -> Result<Case> {
        let mut counts = PropertyCounts::default();
        counts.set("g:32:load:s1".parse::<CostProperty>()?, loads);
        counts.set("op:f32:add".parse::<CostProperty>()?, adds);
        let sizes = BTreeMap::from([("n".to_string(), 512)]);
        let seconds = 1e-5 + 1.1e-9 * loads + 0.7e-9 * adds;
        Ok(Case { kernel: kernel.to_string(), class: "global".to_string(), sizes, counts, seconds })
    };
    let cases = vec![case("copy", 1e6, 0.0)?, case("copy", 3e6, 0.0)?, case("sum", 1e5, 8e6)?];
    let models = Form::ALL.iter().map(|(_, form)| fit(&cases, *form)).collect::<std::result::Result<_, _>>()?;
    let provenance = tunesmith_cost::Provenance { device: "d".to_string(), ..tunesmith_cost::Provenance::default() };
    Ok(DeviceFile { provenance, models, cases, own: Vec::new() }.text())
}

fn wisdom() -> Result<Wisdom> {
    let config = |tile: i64| vec![("TILE".to_string(), Value::Int(tile)), ("FAST".to_string(), Value::Bool(true))];
    let input = |n: f64| BTreeMap::from([("n".to_string(), n), ("m".to_string(), 8.0)]);
    let entry = |n: f64, tile: i64| Entry {
        kernel: "gemm".to_string(),
        device: "d".to_string(),
        input: input(n),
        config: config(tile),
        time_ms: n / 7.0,
        provenance: Provenance { tool: Some("t".to_string()), samples: Some(9), ..Provenance::default() },
    };
    let measured = Measured {
        sizes: vec!["n".to_string(), "m".to_string()],
        inputs: [16.0, 64.0, 256.0, 1024.0].map(input).to_vec(),
        configs: vec![config(8), config(16)],
        times_ms: vec![
            vec![Some(1.0), Some(2.0)],
            vec![Some(2.0), Some(2.5)],
            vec![Some(9.0), Some(4.0)],
            vec![None, Some(8.0)],
        ],
        default: Some(0),
    };
    Ok(Wisdom {
        entries: vec![entry(64.0, 8), entry(512.0, 16)],
        portfolios: vec![Portfolio::new("gemm", "d", &measured, PortfolioOptions::default())?],
        defaults: BTreeMap::from([("gemm".to_string(), config(8))]),
        attempts: vec![Attempt {
            kernel: "gemm".to_string(),
            device: "d".to_string(),
            input: input(64.0),
            config: config(16),
            date: Some(1.5e9),
            end: AttemptEnd::Failed,
        }],
    })
}

fn journal(folder: &Path) -> Result<String> {
    let space = Space::builder()
        .parameter(Parameter::new("TILE", Values::list([8, 16, 32]))?)
        .parameter(Parameter::new("KIND", Values::list(["a", "b"]))?)
        .build()?;
    let path = folder.join("seed.jsonl");
    let header = tunesmith_store::Header { problem: "gemm".to_string(), ..Journal::header(&space) };
    let mut journal = Journal::create(&path, &header, &space)?;
    let config = |rank: u128| space.id(rank).ok_or("a rank of the space");
    let measurement = Measurement {
        times_ms: vec![0.5, 0.75],
        warmup_ms: Some(2.0),
        values: BTreeMap::from([("energy_mj".to_string(), vec![0.5, 0.25])]),
        counters: BTreeMap::from([("inst.sum".to_string(), 1e9)]),
        compile: Some(CompileData { time_ms: 80.25, binary_bytes: Some(16_000), ..CompileData::default() }),
        ..Measurement::default()
    };
    for rank in 0..4 {
        let failure = (rank == 2).then(|| Failure::new(FailureKind::Compile, "no \"x\""));
        let request = Request::timed(config(rank)?);
        let clock = Duration::from_millis(250);
        journal.append(&Evaluation { request, failure, measurement: measurement.clone(), clock, proposed: None })?;
    }
    let again = Measurement { times_ms: vec![0.4, 0.6], ..Measurement::default() };
    let resample = Resample {
        role: Role::Selection,
        config: config(1)?,
        failure: None,
        measurement: again,
        clock: Duration::ZERO,
    };
    journal.append_again(&resample)?;
    journal
        .append_verdict(&Verdict { winner: Some(config(1)?), ties: vec![config(0)?], ..Verdict::default() }, None)?;
    drop(journal);
    let text = std::fs::read_to_string(&path)?;
    std::fs::remove_file(&path)?;
    Ok(text)
}
