//! Timing models of made-up runs over inputs and devices.

use serde_json::{Map, Value as Json, json};
use std::path::Path;
use tunesmith::choose::wisdom::Config;
use tunesmith::core::SystemClock;
use tunesmith::{
    choose::timing::TimingModel,
    model::BoostedSettings,
    timing::{TimingSettings, TrainTimingOptions, train_timing},
};
use tunesmith_store::Journal;

/// A run over one input on one device, as `tune --inputs` leaves it.
pub(crate) struct Run {
    pub(crate) device: (&'static str, f64),
    pub(crate) sizes: Vec<(&'static str, f64)>,
    /// Configurations with their times in milliseconds; `None` for one that failed.
    pub(crate) rows: Vec<(Config, Option<f64>)>,
}

/// The common part of all runs: the kernel, features and constraints by name, and the parameters
/// with their values.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) features: Json,
    pub(crate) constraints: Json,
    pub(crate) parameters: Json,
}

pub(crate) fn config_json(config: &Config) -> Map<String, Json> {
    config.iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect()
}

fn journal(kernel: &Kernel, run: &Run) -> String {
    let (device, units) = run.device;
    let sizes: Map<String, Json> =
        run.sizes.iter().map(|(name, size)| ((*name).to_string(), json!(*size as i64))).collect();
    let header = json!({
        "format": 2, "tunesmith": "test", "problem": kernel.name, "identity": { "device": device },
        "parameters": kernel.parameters, "space_size": "0", "default": config_json(&run.rows[0].0), "sizes": sizes,
        "features": kernel.features, "constraints": kernel.constraints, "device_features": { "units": units },
        "strategy": "exhaustive", "seed": 0, "room": 1, "started": 0.0,
    });
    let entry = |(index, (config, ms)): (usize, &(Config, Option<f64>))| {
        let (status, times_ms) = ms.map_or(("runtime", vec![]), |ms| ("correct", vec![ms]));
        json!({
            "index": index.to_string(), "config": config_json(config), "status": status, "depth": "timed", "times_ms": times_ms, "clock": 0.0,
        })
    };
    std::iter::once(header).chain(run.rows.iter().enumerate().map(entry)).map(|line| format!("{line}\n")).collect()
}

/// Trains a model with `rounds` trees on `runs` without holding anything out. Its file is
/// `model.json` in `folder`. The first configuration is the reference.
pub(crate) fn model(folder: &Path, kernel: &Kernel, runs: &[Run], rounds: usize) -> TimingModel {
    let write = |(at, run): (usize, &Run)| {
        let path = folder.join(format!("{at}.jsonl"));
        std::fs::write(&path, journal(kernel, run)).unwrap();
        path
    };
    let options = TrainTimingOptions {
        inputs: runs.iter().enumerate().map(write).collect(),
        out: folder.join("model.json"),
        reference: Vec::new(),
        settings: TimingSettings {
            hold_out: 0.0,
            trees: BoostedSettings { rounds, ..BoostedSettings::default() },
            ..TimingSettings::default()
        },
    };
    train_timing(&options, &SystemClock::new()).unwrap();
    TimingModel::read(&options.out).unwrap()
}
