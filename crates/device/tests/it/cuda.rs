//! Features that CUDA alone has, without a GPU: its limits, counters and energy, through a driver that follows a
//! script.

use crate::common;

use common::scripted::{COPIES, ScriptedLab, rules};
use common::*;
use tunesmith_backend::host::{Compilers, CudaSetup};
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::{LiveEvaluator, LiveOptions, cuda_devices, devices};
use tunesmith_kernel::{ArgumentKind, DeviceError, Image, KernelSpec, Memory};

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
    let message = error(lab.copy(), tunesmith_backend::Target::processor());
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

/// Returns the copy of an image of 32 x 32 floats to another one.
fn copy_of_images(lab: &ScriptedLab) -> KernelSpec {
    let mut spec = lab.copy();
    spec.arguments.pop();
    spec.kernels[0].arguments.pop();
    for argument in &mut spec.arguments {
        let ArgumentKind::Buffer { shape, memory, .. } = &mut argument.kind else { panic!("no buffer") };
        (*shape, *memory) = (vec![32, 32].into(), Memory::Image(Image::default()));
    }
    let reference = "void r(const float *a, float *b) { for (int i = 0; i < 1024; i++) b[i] = a[i]; }\n";
    spec.verify = reference_in(lab, reference);
    spec
}

fn reference_in(lab: &ScriptedLab, source: &str) -> tunesmith_kernel::Verify {
    reference(lab.file("reference.c", source), "r")
}

#[test]
fn images_are_textures_or_surfaces_whose_pixels_are_filled_and_verified() {
    let lab = ScriptedLab::new(&rules(&[]));
    let completion = evaluate(&mut lab.evaluator(&one(), copy_of_images(&lab)), one().id(0).unwrap());
    assert_correct(&completion);
    // One object each, however often the kernel is launched.
    assert_eq!((lab.count("texture f32 [32, 32, 1]"), lab.count("surface f32 [32, 32, 1]")), (1, 1));
    let lab = ScriptedLab::new(r#"[{"writes": [{"to": 1, "from": {"byte": 0}, "bytes": 4096}]}]"#);
    let wrong = evaluate(&mut lab.evaluator(&one(), copy_of_images(&lab)), one().id(0).unwrap());
    assert_failed(&wrong, FailureKind::Correctness, &["`b`"]);
}
