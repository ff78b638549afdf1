//! CUDA without a GPU: the whole way from configurations to measurements, through a driver that
//! follows a script.

mod common;

use common::scripted::{N, ScriptedLab, work};
use common::*;
use tunesmith_core::{Completion, Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::{
    Access, Argument, ArgumentKind, Cache, Compilers, CudaSetup, DeviceError, Fill, LiveEvaluator, LiveOptions, Memory,
    cuda_devices, devices,
};
use tunesmith_space::Expr;

/// Writes the 4096 bytes of `a` to `b`, as [`ScriptedLab::copy`] expects.
const COPIES: &str = r#""writes": [{"to": 1, "from": {"parameter": 0}, "bytes": 4096}]"#;

/// Returns rules for `copy`: first those of `MODE`, then one that is correct.
fn rules(special: &[(i64, &str)]) -> String {
    let special = special.iter().map(|(mode, what)| format!(r#"{{"defines": {{"MODE": "{mode}"}}, {what}}}"#));
    let right = format!(r#"{{"times_us": [90, 50, 52, 51], "attributes": {{"NUM_REGS": 40}}, {COPIES}}}"#);
    let rules: Vec<String> = special.chain([right]).collect();
    format!("[{}]", rules.join(", "))
}

fn measured(completion: &Completion) -> Vec<i64> {
    completion.measurement.times_ms.iter().map(|time| (time * 1e3).round() as i64).collect()
}

#[test]
fn a_correct_configuration_has_the_times_of_its_events_and_what_its_kernel_uses() {
    let lab = ScriptedLab::new(&rules(&[]));
    let completion = evaluate(&mut lab.evaluator(&one(), lab.copy()), one().id(0).unwrap());
    assert_correct(&completion);
    assert_eq!(completion.measurement.warmup_ms.map(|time| (time * 1e3).round()), Some(90.0));
    assert_eq!(measured(&completion)[..3], [50, 52, 51]);
    assert_eq!(completion.measurement.values["error"], [2f64.powi(-24)], "every bit of an f32 is right");
    let compile = completion.measurement.compile.unwrap();
    assert_eq!(compile.resources["registers"], 40.0);
    assert_eq!(compile.resources["blocks_per_multiprocessor"], 8.0);
    assert_eq!(compile.resources["occupancy"], 1.0);
    assert_eq!(lab.count("launch copy [4, 1, 1] [256, 1, 1] 0"), 1 + completion.measurement.times_ms.len());
}

/// Each error has its status. A correct configuration follows it in the same run. Only sticky
/// errors of the driver cost a worker.
#[test]
fn every_error_of_the_driver_costs_one_configuration() {
    let cases = [
        (1, r#""compile": "kernel.cu(3): error: no""#, FailureKind::Compile, "kernel.cu(3): error", 0),
        (2, r#""launch": "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES""#, FailureKind::Constraints, "too many registers", 0),
        (
            3,
            r#""load": "CUDA_ERROR_OUT_OF_MEMORY""#,
            FailureKind::Constraints,
            "cannot be loaded: CUDA_ERROR_OUT_OF",
            0,
        ),
        (4, r#""end": "CUDA_ERROR_ILLEGAL_ADDRESS""#, FailureKind::Runtime, "memory that is not its own", 2),
        (5, r#""end": "CUDA_ERROR_MISALIGNED_ADDRESS""#, FailureKind::Runtime, "multiple of its size", 2),
        (6, r#""crashes": true"#, FailureKind::Runtime, "SIGABRT", 2),
        (7, r#""hangs": true"#, FailureKind::Timeout, "did not end within", 2),
        (8, r#""writes": []"#, FailureKind::Correctness, "`b`[0]", 0),
        (
            9,
            r#""attributes": {"MAX_THREADS_PER_BLOCK": 128, "NUM_REGS": 255}"#,
            FailureKind::Constraints,
            "takes at most 128",
            0,
        ),
        (
            10,
            r#""writes": [{"to": 0, "from": {"byte": 1}, "bytes": 8}]"#,
            FailureKind::Correctness,
            "its input `a`[0]",
            0,
        ),
        (
            11,
            r#""compile": "ptxas error : Entry function 'copy' uses too much shared data""#,
            FailureKind::Constraints,
            "too much shared data",
            0,
        ),
    ];
    let special: Vec<(i64, &str)> = cases.iter().map(|(mode, what, ..)| (*mode, *what)).collect();
    let lab = ScriptedLab::new(&rules(&special));
    let space = space_of("MODE", 12);
    let mut evaluator = lab.evaluator(&space, lab.copy());
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    for (mode, what, kind, words, workers) in cases {
        let before = lab.count("open");
        assert_failed(&evaluate(&mut evaluator, config(&space, mode)), kind, &[words]);
        // The names must differ, or it would get the samples of the first configuration.
        assert_correct(&evaluator.resample(config(&space, 0), 3, &Interrupt::default()).unwrap().unwrap());
        // Whatever breaks a worker is tried again in a fresh one, to find the culprit.
        assert_eq!(lab.count("open") - before, workers, "{what}");
    }
}

#[test]
fn what_was_compiled_ahead_goes_on_in_a_new_worker_after_a_sticky_error() {
    let lab = ScriptedLab::new(&rules(&[(1, r#""end": "CUDA_ERROR_LAUNCH_FAILED""#)]));
    let space = space_of("MODE", 3);
    let mut evaluator = lab.evaluator(&space, lab.copy());
    for mode in [1, 0, 1, 2] {
        evaluator.submit(Request::timed(config(&space, mode))).unwrap();
    }
    let failures: Vec<bool> =
        (0..4).map(|_| evaluator.next(&Interrupt::default()).unwrap().unwrap().failure.is_some()).collect();
    assert_eq!(failures, [true, false, true, false]);
    // The first configuration has a fresh worker. The third breaks a used one, then a fresh one.
    assert_eq!(lab.count("open"), 4);
}

#[test]
fn shared_memory_beyond_the_default_is_allowed_before_the_launch_and_never_passed() {
    let lab = ScriptedLab::new(&format!("[{{{COPIES}}}]"));
    let mut spec = lab.copy();
    let scratch = ArgumentKind::Local { shape: vec![Expr::parse("BYTES").unwrap()] };
    spec.arguments.push(Argument::new("scratch", element("u8"), scratch));
    spec.kernels[0].arguments = vec![0, 3, 1, 2];
    let text =
        "void r(const float *a, float *b, int n, unsigned char *s) { for (int i = 0; i < n; i++) b[i] = a[i]; }\n";
    spec.verify = reference(lab.file("scratch.c", text), "r");
    let space = space_with("BYTES", &[1000, 100_000, 300_000]);
    let mut evaluator = lab.evaluator(&space, spec);
    assert_correct(&evaluate(&mut evaluator, config(&space, 1000)));
    assert_eq!(lab.count("allow_shared"), 0);
    let completion = evaluate(&mut evaluator, config(&space, 100_000));
    assert_correct(&completion);
    assert_eq!(completion.measurement.compile.unwrap().resources["shared_bytes"], 1e5);
    assert_eq!(lab.count("allow_shared 100000"), 1);
    let words = "local memory in bytes is 300000, but Scripted GPU has local_memory = 232448";
    assert_failed(&evaluate(&mut evaluator, config(&space, 300_000)), FailureKind::Constraints, &[words]);
}

#[test]
fn an_argument_with_a_symbol_is_written_to_the_variable_and_not_passed() {
    let kernels = r#"[{"writes": [{"to": 0, "from": {"symbol": "table"}, "bytes": 4096}]}]"#;
    let lab = ScriptedLab::new(kernels);
    let mut spec = lab.copy();
    let ArgumentKind::Buffer { memory, .. } = &mut spec.arguments[0].kind else { panic!("a buffer") };
    *memory = Memory::Constant;
    spec.arguments[0].symbol = Some("table".into());
    assert_correct(&evaluate(&mut lab.evaluator(&one(), spec.clone()), one().id(0).unwrap()));
    // Twice the size of any variable of the script.
    let large = 32 * N;
    for (argument, access) in [(0, Access::In), (1, Access::Out)] {
        let ArgumentKind::Buffer { shape, access: found, .. } = &mut spec.arguments[argument].kind else { continue };
        assert_eq!(*found, access);
        *shape = vec![large].into();
    }
    let completion = evaluate(&mut lab.evaluator(&one(), spec), one().id(0).unwrap());
    assert_failed(
        &completion,
        FailureKind::Runtime,
        &["the variable `table` has 65536 bytes, but its argument has 131072"],
    );
}

#[test]
fn cold_caches_are_filled_with_twice_their_size_before_every_sample() {
    let lab = ScriptedLab::new(&rules(&[]));
    let mut options = options(lab.copy());
    options.policy.cache = Cache::Cold;
    let completion = evaluate(&mut lab.open(&one(), options), one().id(0).unwrap());
    assert_correct(&completion);
    assert_eq!(lab.count("fill 2097152"), completion.measurement.times_ms.len());
}

#[test]
fn configurations_with_the_same_code_and_launch_are_timed_once() {
    let lab = ScriptedLab::new(&rules(&[]));
    let space = space_with("P", &[1, 2]);
    let mut spec = lab.copy();
    // The script's output depends only on the macros, so both get the same ones.
    spec.sizes = vec![("MODE".into(), tunesmith_space::Value::Int(0))];
    spec.kernels[0].work = Some(work("1024", "128 * P"));
    let mut evaluator = lab.evaluator(&space, spec);
    let first = evaluate(&mut evaluator, config(&space, 1));
    let launches = lab.count("launch");
    assert!(!first.measurement.compile.as_ref().unwrap().same_binary);
    // Other macros give other code.
    let second = evaluate(&mut evaluator, config(&space, 2));
    assert!(!second.measurement.compile.unwrap().same_binary && lab.count("launch") > launches);
    let launches = lab.count("launch");
    let again = evaluate(&mut evaluator, config(&space, 1));
    assert!(again.measurement.compile.as_ref().unwrap().same_binary);
    assert_eq!((again.measurement.times_ms, lab.count("launch")), (first.measurement.times_ms, launches));
}

#[test]
fn compiled_kernels_are_kept_on_disk_from_run_to_run() {
    let mut lab = ScriptedLab::new(&rules(&[]));
    lab.setup.cache = Some(lab.path().join("cache"));
    let run = || evaluate(&mut lab.evaluator(&one(), lab.copy()), one().id(0).unwrap());
    assert_correct(&run());
    let kept = || std::fs::read_dir(lab.path().join("cache")).unwrap().count();
    assert_eq!(kept(), 2);
    assert_correct(&run());
    assert_eq!(kept(), 2);
    let mut other = lab.copy();
    other.kernels[0].options = vec![tunesmith_device::Template::parse("--use_fast_math").unwrap()];
    assert_correct(&evaluate(&mut lab.evaluator(&one(), other), one().id(0).unwrap()));
    assert_eq!(kept(), 4);
}

#[test]
fn too_little_memory_for_the_buffers_ends_the_run_with_the_argument_named() {
    let lab = ScriptedLab::new("[]");
    let arguments = vec![buffer("huge", "f32", 32 << 20, Access::Out, Fill::Zeros)];
    let mut evaluator = lab.evaluator(&one(), lab.spec("f", "__global__ void f(float *huge) {}", arguments));
    evaluator.submit(Request::timed(one().id(0).unwrap())).unwrap();
    let error = evaluator.next(&Interrupt::default()).unwrap_err().to_string();
    assert!(error.contains("no memory for argument `huge`") && error.contains("CUDA_ERROR_OUT_OF_MEMORY"), "{error}");
}

#[test]
fn kernels_need_blocks_and_a_device_of_their_language() {
    let lab = ScriptedLab::new("[]");
    let error = |spec, target| {
        let options = tunesmith_device::LiveOptions { target, ..options(spec) };
        LiveEvaluator::new(&one(), options).err().expect("an error").to_string()
    };
    let mut spec = lab.copy();
    spec.kernels[0].work.as_mut().unwrap().local = None;
    assert!(error(spec, lab.target()).contains("how many threads a block has; write `local"));
    let message = error(lab.copy(), tunesmith_device::Target::Processor);
    assert!(
        message.contains("written in CUDA C++, which the device `c` does not run; choose `--device cuda`"),
        "{message}"
    );
}

#[test]
fn a_device_tells_its_limits_by_the_names_of_opencl_where_it_has_them() {
    let lab = ScriptedLab::new("[]");
    let device = &cuda_devices(&lab.setup, &worker()).unwrap()[0];
    let limits = ["max_work_group_size", "local_memory", "compute_units", "clock_mhz", "compute_capability"];
    assert_eq!(limits.map(|limit| device.limits[limit]), [1024.0, 232_448.0, 132.0, 1980.0, 9.0]);
    assert_eq!((device.name.as_str(), device.architecture.as_str()), ("Scripted GPU", "sm_90"));
}

#[test]
fn what_is_missing_is_said_with_the_remedy() {
    let nothing = tempfile::tempdir().unwrap();
    let script = nothing.path().join("none.json");
    std::fs::write(&script, r#"{"devices": []}"#).unwrap();
    let absent = |setup: CudaSetup| match cuda_devices(&setup, &worker()) {
        Err(DeviceError::NoDevices { reason, remedy, .. }) => (reason, remedy),
        other => panic!("{other:?}"),
    };
    let (reason, remedy) = absent(CudaSetup { script: Some(script), ..CudaSetup::default() });
    assert_eq!(reason, "the NVIDIA driver finds no GPU");
    assert!(remedy.contains("install NVIDIA's driver"));
    let lab = ScriptedLab::with("[]", false, (9, 0));
    let setup = CudaSetup { libraries: Some(nothing.path().to_owned()), ..lab.setup.clone() };
    let (reason, remedy) = absent(setup.clone());
    assert!(reason.starts_with("there is no NVRTC") && reason.ends_with("for Scripted GPU"), "{reason}");
    assert!(remedy.contains("nvidia-cuda-nvrtc"), "{remedy}");
    let (_, missing) = devices(&Compilers { cuda: setup, ..Compilers::default() }, &worker());
    assert!(missing.iter().any(|missing| missing.backend == "cuda" && missing.reason == reason));
}

/// Every pass launches once more. The launches before the passes and between them are not counted.
#[test]
fn counters_are_read_in_passes_of_their_own() {
    let counts = r#""counters": {"smsp__inst_executed.sum": 7}, "attributes": {"NUM_REGS": 40}"#;
    let lab = ScriptedLab::new(&format!("[{{{counts}, {COPIES}}}]")).and("\"passes\": 3");
    let mut evaluator = lab.evaluator(&one(), lab.copy());
    let id = one().id(0).unwrap();
    let timed = evaluate(&mut evaluator, id);
    assert!(timed.measurement.counters.is_empty() && timed.unprofiled.is_none());
    evaluator.submit(Request::profiled(id)).unwrap();
    let before = lab.count("launch copy");
    let profiled = evaluator.next(&Interrupt::default()).unwrap().unwrap();
    assert_correct(&profiled);
    assert_eq!(profiled.measurement.counters, [("smsp__inst_executed.sum".to_owned(), 7.0)].into());
    let value = |name: &str| profiled.measurement.values[name][0];
    assert_eq!((value("global_size"), value("local_size"), value("registers")), (1024.0, 256.0, 40.0));
    assert_eq!(value("profiling_launches"), 3.0);
    assert_eq!(lab.count("launch copy") - before, 1 + profiled.measurement.times_ms.len() + 3);
}

#[test]
fn counters_that_cannot_be_read_leave_a_measured_configuration_and_a_reason() {
    let lab = ScriptedLab::new(&rules(&[]));
    let mut evaluator = lab.evaluator(&one(), lab.copy());
    evaluator.submit(Request::profiled(one().id(0).unwrap())).unwrap();
    let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
    assert_correct(&completion);
    assert!(completion.measurement.counters.is_empty());
    assert!(completion.unprofiled.unwrap().contains("`passes`"));
}

#[test]
fn the_energy_of_every_sample_is_measured_where_it_is_wanted() {
    let lab = ScriptedLab::new(&rules(&[])).and("\"watts\": 250");
    let with_energy = LiveOptions { energy: true, ..options(lab.copy()) };
    let completion = evaluate(&mut lab.open(&one(), with_energy), one().id(0).unwrap());
    assert_correct(&completion);
    let (times, values) = (&completion.measurement.times_ms, &completion.measurement.values);
    assert_eq!((values["energy_mj"].len(), values["power_w"].clone()), (times.len(), vec![250.0; times.len()]));
    assert!(values["energy_mj"].iter().all(|energy| *energy > 0.0));
}

#[test]
fn a_device_that_tells_no_energy_is_refused_before_anything_runs() {
    let lab = ScriptedLab::new(&rules(&[]));
    let mut evaluator = lab.open(&one(), LiveOptions { energy: true, ..options(lab.copy()) });
    evaluator.submit(Request::timed(one().id(0).unwrap())).unwrap();
    let error = evaluator.next(&Interrupt::default()).unwrap_err().to_string();
    assert!(error.contains("cannot measure energy") && error.contains("`watts`"), "{error}");
    assert_eq!(lab.count("launch"), 0);
}

/// A script stands in for Nsight Compute. It runs the worker, and writes a table for each reported
/// launch.
#[test]
fn counters_come_from_nsight_compute_where_the_worker_cannot_read_them() {
    use std::os::unix::fs::PermissionsExt;
    let mut lab = ScriptedLab::new(&rules(&[]));
    let ncu = lab.file(
        "ncu",
        "#!/bin/sh\n\
         while [ \"$1\" != --metrics ]; do [ \"$1\" = --log-file ] && log=$2; shift; done\n\
         shift 2\n\
         \"$@\" || exit 1\n\
         echo '\"ID\",\"smsp__inst_executed.sum\",\"smsp__inst_executed_pipe_fma_type_fp16.sum\"' >\"$log\"\n\
         printf '\"\",\"inst\",\"inst\"\\n\"0\",\"1,024\",\"8\"\\n' >>\"$log\"\n",
    );
    std::fs::set_permissions(&ncu, std::fs::Permissions::from_mode(0o755)).unwrap();
    lab.setup.ncu = Some(ncu);
    let mut evaluator = lab.evaluator(&one(), lab.copy());
    evaluator.submit(Request::profiled(one().id(0).unwrap())).unwrap();
    let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
    assert_correct(&completion);
    assert_eq!(completion.unprofiled, None);
    let counters = completion.measurement.counters;
    assert_eq!(counters["smsp__inst_executed.sum"], 1024.0);
    assert_eq!(counters["smsp__inst_executed_pipe_fp16.sum"], 8.0, "by the name of the table");
}
