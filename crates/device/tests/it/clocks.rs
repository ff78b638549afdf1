//! Clocks and power limits as tuning parameters, on a scripted CUDA device whose power is a script.

use crate::common;

use common::scripted::ScriptedLab;
use common::*;
use std::fs;
use tunesmith_backend::{PowerSetup, Target};
use tunesmith_core::{Completion, Evaluator, Interrupt, Request, statistics};
use tunesmith_device::{LiveEvaluator, LiveOptions, missed_clocks};
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::measure::ENERGY_MJ;
use tunesmith_power::Knob;
use tunesmith_space::{Parameter, Space, Value};

/// A kernel of 1 ms at the highest clock.
const KERNELS: &str = r#"[{"times_us": [1000], "writes": [{"to": 1, "from": {"parameter": 0}, "bytes": 4096}]}]"#;

fn space() -> Space {
    let ints = |values: &[i64]| values.iter().map(|value| Value::Int(*value)).collect::<Vec<_>>();
    let parameter = |name: &str, values: &[i64]| Parameter::new(name, ints(values)).unwrap();
    let builder = Space::builder().parameter(parameter("MODE", &[0, 1]));
    builder.parameter(parameter("clock_mhz", &[1800, 600, 900])).build().unwrap()
}

fn options_of(lab: &ScriptedLab) -> LiveOptions {
    let power = PowerSetup { notes: lab.path().join("notes"), ..PowerSetup::default() };
    LiveOptions { knobs: vec![Knob::Clock], power, energy: true, ..options(lab.copy()) }
}

fn at(space: &Space, mode: i64, mhz: i64) -> tunesmith_space::ConfigId {
    let pairs = [("MODE", Value::Int(mode)), ("clock_mhz", Value::Int(mhz))];
    space.rank(&space.configuration(&pairs, None).unwrap()).unwrap()
}

fn median(completion: &Completion, name: &str) -> f64 {
    statistics::median(&completion.measurement.values[name]).unwrap()
}

fn time(completion: &Completion) -> f64 {
    statistics::median(&completion.measurement.times_ms).unwrap()
}

fn log(lab: &ScriptedLab) -> Vec<String> {
    let text = fs::read_to_string(lab.path().join("power-log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn each_configuration_runs_at_its_clock_and_the_clock_is_reset_at_the_end() {
    let lab = ScriptedLab::new(KERNELS).steered("");
    let space = space();
    // With one job, the answers come in the order asked.
    let mut device = lab.open(&space, LiveOptions { jobs: 1, ..options_of(&lab) });
    for (mode, mhz) in [(0, 1800), (0, 600), (1, 900)] {
        device.submit(Request::timed(at(&space, mode, mhz))).unwrap();
    }
    let mut next = || device.next(&Interrupt::default()).unwrap().unwrap();
    for (mhz, time_ms) in [(1800.0, 1.0), (600.0, 3.0), (900.0, 2.0)] {
        let completion = next();
        assert_correct(&completion);
        assert_eq!((median(&completion, "clock_mhz"), (time(&completion) * 1e3).round() / 1e3), (mhz, time_ms));
        // The same machine code at another clock is measured again.
        assert!(!completion.measurement.compile.as_ref().unwrap().same_binary);
        let volt: f64 = 1.0 + 0.0008 * (mhz - 1000.0f64).max(0.0);
        let watts = 60.0 + 0.12 * mhz * volt * volt;
        let energy = median(&completion, ENERGY_MJ);
        assert!((energy / (watts * time_ms) - 1.0).abs() < 0.01, "{energy} at {mhz} MHz");
    }
    drop(device);
    // One trial, one setting for each clock, one reset.
    assert_eq!(log(&lab), ["reset_clock 0", "lock_clock 1800", "lock_clock 600", "lock_clock 900", "reset_clock 0"]);
}

#[test]
fn a_clock_that_is_not_reached_under_load_is_noted() {
    let lab = ScriptedLab::new(KERNELS).steered(r#", "reaches_mhz": 1500"#);
    let space = space();
    let mut device = lab.open(&space, options_of(&lab));
    let high = evaluate(&mut device, at(&space, 0, 1800));
    let note = "the device ran at 1500 MHz, not at the 1800 MHz that were set";
    assert_eq!(high.measurement.note.as_deref(), Some(note));
    let low = evaluate(&mut device, at(&space, 0, 900));
    assert_eq!(low.measurement.note, None);
    let said = missed_clocks([&high.measurement, &low.measurement].into_iter()).unwrap();
    assert!(said.starts_with("1 evaluations ran at another clock") && said.ends_with(note), "{said}");
}

#[test]
fn the_clock_is_no_macro_and_the_same_program_at_the_same_clock_is_a_twin() {
    let lab = ScriptedLab::new(KERNELS).steered("");
    let space = space();
    let mut device = lab.open(&space, options_of(&lab));
    let plan = device.plan(at(&space, 0, 600));
    let text = format!("{plan:?}");
    assert!(text.contains("MODE") && !text.contains("clock_mhz"), "{text}");
    assert_correct(&evaluate(&mut device, at(&space, 0, 600)));
    let again = evaluate(&mut device, at(&space, 0, 600));
    assert!(again.measurement.compile.unwrap().same_binary);
}

#[test]
fn a_device_without_clocks_and_a_user_without_rights_are_refused_before_anything_runs() {
    let refused = |lab: &ScriptedLab, options: LiveOptions| {
        let target = options.target.clone();
        let target = if target == Target::processor() { lab.target() } else { target };
        match LiveEvaluator::new(&space(), LiveOptions { target, ..options }) {
            Err(DeviceError::Settings { problem, remedy }) => (problem, remedy),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("opened"),
        }
    };
    let plain = ScriptedLab::new(KERNELS);
    assert!(refused(&plain, options_of(&plain)).0.contains("clock and power of this device cannot be set"));
    let lab = ScriptedLab::new(KERNELS).steered(r#", "forbidden": true"#);
    let (problem, remedy) = refused(&lab, options_of(&lab));
    assert!(problem.contains("you may not set `clock_mhz` of Scripted GPU") && remedy.contains("forbidden"));
    assert_eq!(lab.count("open"), 0, "no worker has opened the device");
    let lab = ScriptedLab::new(KERNELS).steered("");
    let first = lab.open(&space(), options_of(&lab));
    assert!(refused(&lab, options_of(&lab)).0.contains("another run sets the clock and power of Scripted GPU"));
    drop(first);
}
