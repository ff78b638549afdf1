//! The duties of a GPU's backend, on both APIs: the whole way from configurations to measurements,
//! through drivers that follow a script.

use crate::common;

use common::scripted::{APIS, COPIES, N, ScriptedLab, rules, work};
use common::*;
use tunesmith_backend::gpu::{GpuApi, GpuDevice};
use tunesmith_backend::host::{Compilers, HipSetup};
use tunesmith_core::{Completion, Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::{LiveEvaluator, LiveOptions, devices, hip_devices};
use tunesmith_kernel::measure::{Cache, Launches};
use tunesmith_kernel::{Access, Argument, ArgumentKind, DeviceError, Fill, Language, Memory};
use tunesmith_space::Expr;

fn measured(completion: &Completion) -> Vec<i64> {
    completion.measurement.times_ms.iter().map(|time| (time * 1e3).round() as i64).collect()
}

#[test]
fn a_correct_configuration_has_the_times_of_its_events_and_what_its_kernel_uses() {
    for lab in ScriptedLab::of_both(|_| rules(&[])) {
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
}

/// Each error has its status. A correct configuration follows it in the same run. Only sticky
/// errors of the driver cost a worker.
#[test]
fn every_error_of_the_driver_costs_one_configuration() {
    let cases = [
        (1, r#""compile": "kernel.cu(3): error: no""#, FailureKind::Compile, "kernel.cu(3): error", 0),
        (2, r#""launch": "LAUNCH_OUT_OF_RESOURCES""#, FailureKind::Constraints, "too many registers", 0),
        (3, r#""load": "OUT_OF_MEMORY""#, FailureKind::Constraints, "no memory left", 0),
        (4, r#""end": "ILLEGAL_ADDRESS""#, FailureKind::Runtime, "memory that is not its own", 2),
        (5, r#""end": "ASSERT""#, FailureKind::Runtime, "an assertion of the kernel", 2),
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
    let kernels = |error: fn(&str) -> String| {
        let named = |what: &str| {
            let known = ["LAUNCH_OUT_OF_RESOURCES", "OUT_OF_MEMORY", "ILLEGAL_ADDRESS", "ASSERT"];
            known
                .iter()
                .fold(what.to_owned(), |text, name| text.replace(&format!("\"{name}\""), &format!("{:?}", error(name))))
        };
        let special: Vec<(i64, String)> = cases.iter().map(|(mode, what, ..)| (*mode, named(what))).collect();
        rules(&special.iter().map(|(mode, what)| (*mode, what.as_str())).collect::<Vec<_>>())
    };
    for lab in ScriptedLab::of_both(kernels) {
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
}

#[test]
fn what_was_compiled_ahead_goes_on_in_a_new_worker_after_a_sticky_error() {
    for lab in ScriptedLab::of_both(|error| rules(&[(1, &format!(r#""end": {:?}"#, error("LAUNCH_FAILED")))])) {
        let space = space_of("MODE", 3);
        // With one job, the answers come in the order asked.
        let mut evaluator = lab.open(&space, LiveOptions { jobs: 1, ..options(lab.copy()) });
        for mode in [1, 0, 1, 2] {
            evaluator.submit(Request::timed(config(&space, mode))).unwrap();
        }
        let failures: Vec<bool> =
            (0..4).map(|_| evaluator.next(&Interrupt::default()).unwrap().unwrap().failure.is_some()).collect();
        assert_eq!(failures, [true, false, true, false]);
        // The first configuration has a fresh worker. The third breaks a used one, then a fresh one.
        assert_eq!(lab.count("open"), 4);
    }
}

#[test]
fn shared_memory_beyond_the_default_is_allowed_before_the_launch_and_never_passed() {
    for lab in ScriptedLab::of_both(|_| format!("[{{{COPIES}}}]")) {
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
}

#[test]
fn an_argument_with_a_symbol_is_written_to_the_variable_and_not_passed() {
    let kernels = r#"[{"writes": [{"to": 0, "from": {"symbol": "table"}, "bytes": 4096}]}]"#;
    for lab in ScriptedLab::of_both(|_| kernels.to_owned()) {
        let mut spec = lab.copy();
        let ArgumentKind::Buffer { memory, .. } = &mut spec.arguments[0].kind else { panic!("a buffer") };
        *memory = Memory::Constant;
        spec.arguments[0].symbol = Some("table".into());
        let (mut evaluator, only) = (lab.open(&one(), uncapped(spec.clone())), one().id(0).unwrap());
        assert_correct(&evaluate(&mut evaluator, only));
        // The variable follows its buffer when the data change from launch to launch.
        let confirmed = confirm(&mut evaluator, only);
        assert_eq!((confirmed.failure, confirmed.launches), (None, 200));
        // Twice the size of any variable of the script.
        let large = 32 * N;
        for (argument, access) in [(0, Access::In), (1, Access::Out)] {
            let ArgumentKind::Buffer { shape, access: found, .. } = &mut spec.arguments[argument].kind else {
                continue;
            };
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
}

#[test]
fn cold_caches_are_filled_with_twice_their_size_before_every_sample() {
    for lab in ScriptedLab::of_both(|_| rules(&[])) {
        let mut options = options(lab.copy());
        options.policy.cache = Cache::Cold;
        let completion = evaluate(&mut lab.open(&one(), options), one().id(0).unwrap());
        assert_correct(&completion);
        assert_eq!(lab.count("fill 2097152"), completion.measurement.times_ms.len());
    }
}

#[test]
fn configurations_with_the_same_code_and_launch_are_timed_once() {
    for lab in ScriptedLab::of_both(|_| rules(&[])) {
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
}

#[test]
fn a_short_kernel_is_launched_many_times_in_a_graph_so_that_starting_it_costs_nothing() {
    for lab in ScriptedLab::of_both(|_| rules(&[])) {
        let lab = lab.and(r#""graphs": true, "launch_us": 10"#);
        let completion = evaluate(&mut lab.evaluator(&one(), lab.copy()), one().id(0).unwrap());
        assert_correct(&completion);
        // A launch took 50 + 10 us, so 17 of them take a millisecond.
        assert_eq!(completion.measurement.values["launches_per_sample"], [17.0]);
        assert!(measured(&completion).iter().all(|time| [51, 52].contains(time)), "{:?}", measured(&completion));
        assert_eq!(lab.count("graph 17"), 1);
        assert_eq!(lab.count("launch_graph 17"), completion.measurement.times_ms.len());
        assert_eq!(lab.count("launch copy"), 2, "the first launch, and the one that shows its time");
    }
}

#[test]
fn launches_are_single_where_a_group_would_change_what_is_measured() {
    let single = |change: &dyn Fn(&mut LiveOptions)| {
        for lab in ScriptedLab::of_both(|_| rules(&[])) {
            let lab = lab.and(r#""graphs": true, "launch_us": 10"#);
            let mut options = options(lab.copy());
            change(&mut options);
            let completion = evaluate(&mut lab.open(&one(), options), one().id(0).unwrap());
            assert_correct(&completion);
            assert_eq!(lab.count("graph"), 0);
            assert!(!completion.measurement.values.contains_key("launches_per_sample"));
            assert_eq!(measured(&completion)[..3], [60, 62, 61]);
        }
    };
    single(&|options| options.policy.launches = Launches::Single);
    single(&|options| options.policy.cache = Cache::Cold);
    single(&|options| {
        let ArgumentKind::Buffer { access, .. } = &mut options.spec.arguments[1].kind else { panic!("no buffer") };
        *access = Access::InOut;
    });
    // A kernel of a fifth of a millisecond and more is not short.
    for lab in ScriptedLab::of_both(|_| rules(&[]).replace("[90, 50, 52, 51]", "[200]")) {
        let lab = lab.and(r#""graphs": true"#);
        let completion = evaluate(&mut lab.evaluator(&one(), lab.copy()), one().id(0).unwrap());
        assert_eq!((measured(&completion)[0], lab.count("graph")), (200, 0));
    }
}

#[test]
fn compiled_kernels_are_kept_on_disk_from_run_to_run() {
    for mut lab in ScriptedLab::of_both(|_| rules(&[])) {
        lab.setup.cache = Some(lab.path().join("cache"));
        let run = || evaluate(&mut lab.evaluator(&one(), lab.copy()), one().id(0).unwrap());
        assert_correct(&run());
        let kept = || std::fs::read_dir(lab.path().join("cache")).unwrap().count();
        assert_eq!(kept(), 2);
        assert_correct(&run());
        assert_eq!(kept(), 2);
        let mut other = lab.copy();
        other.kernels[0].options = vec![tunesmith_kernel::Template::parse("--use_fast_math").unwrap()];
        assert_correct(&evaluate(&mut lab.evaluator(&one(), other), one().id(0).unwrap()));
        assert_eq!(kept(), 4);
    }
}

#[test]
fn too_little_memory_for_the_buffers_ends_the_run_with_the_argument_named() {
    for lab in ScriptedLab::of_both(|_| "[]".to_owned()) {
        let arguments = vec![buffer("huge", "f32", 32 << 20, Access::Out, Fill::Zeros)];
        let mut evaluator = lab.evaluator(&one(), lab.spec("f", "__global__ void f(float *huge) {}", arguments));
        evaluator.submit(Request::timed(one().id(0).unwrap())).unwrap();
        let error = evaluator.next(&Interrupt::default()).unwrap_err().to_string();
        assert!(error.contains("no memory for argument `huge`") && error.contains("no memory left"), "{error}");
    }
}

/// A block of 96 threads fills three warps of 32, or half of two wavefronts of 64.
#[test]
fn occupancy_counts_whole_warps_of_the_devices_own_size() {
    let occupancy = |lab: &ScriptedLab| {
        let mut spec = lab.copy();
        spec.kernels[0].work = Some(work("96 * 11", "96"));
        let completion = evaluate(&mut lab.evaluator(&one(), spec), one().id(0).unwrap());
        assert_correct(&completion);
        let resources = completion.measurement.compile.unwrap().resources;
        (resources["blocks_per_multiprocessor"], resources["occupancy"])
    };
    let [cuda, hip] = ScriptedLab::of_both(|_| rules(&[]));
    assert_eq!(occupancy(&cuda), (21.0, 21.0 * 96.0 / 2048.0));
    assert_eq!(occupancy(&hip), (16.0, 1.0));
    let radeon = ScriptedLab::hip_device(&rules(&[]), true, "gfx1100");
    assert_eq!(occupancy(&radeon), occupancy(&cuda));
}

#[test]
fn a_hip_device_has_an_architecture_by_name_and_no_compute_capability() {
    let lab = ScriptedLab::hip_device("[]", true, "gfx90a:sramecc+:xnack-");
    let device = lab.device();
    let limits = ["max_work_group_size", "warp_size", "compute_units", "clock_mhz"];
    assert_eq!(limits.map(|limit| device.limits[limit]), [1024.0, 64.0, 132.0, 1980.0]);
    assert!(!device.limits.contains_key("compute_capability"), "it would count AMD's generations");
    assert_eq!((device.id().as_str(), device.driver.as_str()), ("hip:0", "6.2.41133"));
    let plan = &lab.evaluator(&one(), lab.copy()).plan(one().id(0).unwrap())[0].build;
    assert_eq!(plan.command[..2], ["hiprtc", "--offload-arch=gfx90a:sramecc+:xnack-"]);
    assert!(plan.command.iter().any(|option| option == "-DP=1"), "{:?}", plan.command);
}

#[test]
fn a_hip_device_runs_cuda_with_clangs_options_and_a_cuda_device_no_hip() {
    let [cuda, hip] = ScriptedLab::of_both(|_| rules(&[]));
    let mut spec = cuda.copy();
    spec.kernels[0].options =
        ["--use_fast_math", "--std=c++17"].map(|option| tunesmith_kernel::Template::parse(option).unwrap()).to_vec();
    let mut evaluator = hip.evaluator(&one(), spec);
    let command = evaluator.plan(one().id(0).unwrap())[0].build.command.join(" ");
    assert!(command.contains("-ffast-math -std=c++17"), "{command}");
    assert_correct(&evaluate(&mut evaluator, one().id(0).unwrap()));
    let options = tunesmith_device::LiveOptions { target: cuda.target(), ..options(hip.copy()) };
    let error = LiveEvaluator::new(&one(), options).err().expect("an error").to_string();
    assert!(
        error.contains("written in HIP C++, which CUDA device 0 (Scripted GPU) does not run; choose `--device hip`"),
        "{error}"
    );
}

#[test]
fn what_is_missing_of_hip_is_said_with_the_remedy() {
    let nothing = tempfile::tempdir().unwrap();
    let script = nothing.path().join("none.json");
    std::fs::write(&script, r#"{"devices": []}"#).unwrap();
    let absent = |setup: HipSetup| match hip_devices(&setup, &worker()) {
        Err(DeviceError::NoDevices { reason, remedy, .. }) => (reason, remedy),
        other => panic!("{other:?}"),
    };
    let (reason, remedy) = absent(HipSetup { script: Some(script), ..HipSetup::default() });
    assert_eq!(reason, "the HIP runtime finds no GPU");
    assert!(remedy.contains("`render` and `video`"), "{remedy}");
    let lab = ScriptedLab::hip_device("[]", false, "gfx90a");
    let setup = HipSetup { libraries: Some(nothing.path().to_owned()), ..lab.hip() };
    let (reason, remedy) = absent(setup.clone());
    assert!(reason.starts_with("there is no hiprtc") && reason.ends_with("for Scripted GPU"), "{reason}");
    assert!(remedy.contains("scripts/rocm-wheel"), "{remedy}");
    let (_, missing) = devices(&Compilers { hip: setup, ..Compilers::default() }, &worker());
    assert!(missing.iter().any(|missing| missing.backend == "hip" && missing.reason == reason));
}

#[test]
fn each_api_has_its_language_and_devices() {
    for api in APIS {
        let lab = match api {
            GpuApi::Cuda => ScriptedLab::new("[]"),
            GpuApi::Hip => ScriptedLab::hip_device("[]", true, "gfx942"),
        };
        let target = lab.target();
        assert!(!target.is_processor());
        assert_eq!(target.language(), if api == GpuApi::Hip { Language::Hip } else { Language::Cuda });
        assert!(target.device::<GpuDevice>().is_some_and(|device| device.api() == api));
    }
}
