//! Tests of nvcc in the place of NVRTC: a script that stands in for it, and the compiler itself where
//! it is installed. Neither needs a GPU.
#![allow(clippy::print_stdout)] // prints the tests it leaves out

use crate::common;

use common::compiler::{messages_keep_their_place, scale, the_same_code_is_built_once, wrong_arguments_are_named};
use common::scripted::ScriptedLab;
use common::*;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tunesmith_core::FailureKind;
use tunesmith_device::{LiveEvaluator, LiveOptions};
use tunesmith_kernel::{CudaCompiler, DeviceError, FunctionName};
use tunesmith_space::Space;

/// Stands in for nvcc: gives names that no compiler would, keeps its calls in a file, and refuses a
/// source with the word `wrong`.
const STAND_IN: &str = r#"#!/bin/sh
here="$(dirname "$0")"
case "$*" in --version) echo "Cuda compilation tools, release 12.4, V12.4.$(cat "$here/patch")"; exit ;; esac
for last; do :; done
echo "$*" >>"$here/calls"
if grep -q wrong "$last"; then echo "$last(1): error: it is wrong"; exit 2; fi
case "$1" in
-ptx)
    cp "$last" "$here/source"
    echo ".target sm_90" >"$3"
    sed -n 's/.*\(tunesmith_name_[0-9]*\) = &\(.*\);/.global .align 8 .u64 \1 = generic(_\2);/p' "$last" >>"$3" ;;
-cubin)
    { printf '\177ELF'; cat "$last"; } >"$3"
    echo "ptxas info    : Function properties for _scale<float, 4>"
    echo "    0 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads" ;;
esac
"#;

/// Returns a scripted device, whose script stands in for NVRTC, beside a toolkit with the stand-in.
fn lab() -> ScriptedLab {
    let mut lab = ScriptedLab::new("[]");
    let bin = lab.path().join("toolkit/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(bin.join("nvcc"), STAND_IN).unwrap();
    std::fs::write(bin.join("patch"), "131").unwrap();
    std::fs::set_permissions(bin.join("nvcc"), PermissionsExt::from_mode(0o755)).unwrap();
    lab.setup.toolkit = Some(lab.path().join("toolkit"));
    lab.setup.cache = Some(lab.path().join("cache"));
    lab.nvcc = true;
    lab
}

fn evaluator(lab: &ScriptedLab, space: &Space) -> LiveEvaluator {
    let mut spec = scale(lab);
    spec.kernels[0].function = FunctionName::parse("scale<float, {WIDTH}>").unwrap();
    lab.evaluator(space, spec)
}

/// Returns the lines that the stand-in wrote to a file.
fn lines(lab: &ScriptedLab, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(lab.path().join("toolkit/bin").join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_kernel_is_compiled_in_two_steps_and_its_names_are_taken_out_of_the_first() {
    let lab = lab();
    let space = space_with("WIDTH", &[4]);
    let mut evaluator = evaluator(&lab, &space);
    let completion = evaluate(&mut evaluator, config(&space, 4));
    assert_correct(&completion);
    let calls = lines(&lab, "calls");
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[0].starts_with("-ptx -o ") && calls[1].starts_with("-cubin -o "), "{calls:?}");
    for call in &calls {
        assert!(call.contains("--gpu-architecture=sm_90") && call.contains("-lineinfo"), "{call}");
        assert!(!call.contains("WIDTH"), "macros stand in the source: {call}");
    }
    let source = lines(&lab, "source").join("\n");
    assert!(source.contains("#define WIDTH 4\n") && source.contains("#line 1 \""), "{source}");
    assert!(source.contains("= &scale<float, 4>;\n") && source.ends_with("= &tools::table;"), "{source}");
    // The scripted driver takes the names: nothing of them is left in the machine code.
    let files = std::fs::read_dir(lab.path().join("cache")).unwrap().map(|entry| entry.unwrap().path());
    let cubins: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|is| is == "bin")).collect();
    assert_eq!(cubins.len(), 1);
    let code = std::fs::read_to_string(&cubins[0]).unwrap();
    assert!(code.contains(".target sm_90") && !code.contains("tunesmith_name"), "{code}");
    let made = std::fs::read_to_string(cubins[0].with_extension("json")).unwrap();
    for part in ["_scale<float, 4>", "_tools::table", "\"load_bytes\":12"] {
        assert!(made.contains(part), "`{part}` is missing in {made}");
    }
}

#[test]
fn the_cache_keeps_the_code_of_one_version_of_the_compiler() {
    let lab = lab();
    let space = space_with("WIDTH", &[4]);
    let run = || assert_correct(&evaluate(&mut evaluator(&lab, &space), config(&space, 4)));
    run();
    run();
    assert_eq!(lines(&lab, "calls").len(), 2);
    lab.file("toolkit/bin/patch", "132");
    run();
    assert_eq!(lines(&lab, "calls").len(), 4);
    // NVRTC's code is another one.
    let mut spec = scale(&lab);
    spec.kernels[0].cuda_compiler = CudaCompiler::Nvrtc;
    spec.kernels[0].function = FunctionName::parse("scale<float, {WIDTH}>").unwrap();
    assert_correct(&evaluate(&mut lab.evaluator(&space, spec), config(&space, 4)));
    assert_eq!(lines(&lab, "calls").len(), 4);
}

#[test]
fn an_error_of_nvcc_is_the_configurations_under_the_name_of_the_users_file() {
    let lab = lab();
    let space = space_with("WIDTH", &[4]);
    let spec = scale(&lab);
    lab.file("kernel.cu", "wrong\n");
    let failed = evaluate(&mut lab.evaluator(&space, spec), config(&space, 4));
    assert_failed(&failed, FailureKind::Compile, &["kernel.cu(1): error: it is wrong"]);
}

#[test]
fn without_nvcc_a_problem_that_asks_for_it_is_refused_with_the_remedy() {
    let mut lab = lab();
    lab.setup.toolkit = Some(lab.path().join("empty"));
    if PathBuf::from("/usr/local/cuda/bin/nvcc").exists() || PathBuf::from("/opt/cuda/bin/nvcc").exists() {
        println!("skipped: this machine has a toolkit");
        return;
    }
    let options = options(scale(&lab));
    let options = LiveOptions { target: lab.target(), ..options };
    let error = LiveEvaluator::new(&space_with("WIDTH", &[4]), options).err().expect("there is no nvcc");
    let DeviceError::Compiler { program, problem, remedy, .. } = error else { panic!("{error}") };
    assert_eq!((program.as_str(), problem.as_str()), ("nvcc", "is not installed"));
    for part in ["CUDA_HOME", "nvidia-cuda-nvcc", "compiler = \"nvrtc\""] {
        assert!(remedy.contains(part), "{remedy}");
    }
}

/// Returns a scripted device for nvcc itself, which compiles in its place. `None` where NVIDIA's
/// packages have none (`scripts/nvidia-wheels --with-nvcc`).
#[allow(clippy::disallowed_methods)] // the environment names the folder
fn real() -> Option<ScriptedLab> {
    let libraries = std::env::var_os("TUNESMITH_NVIDIA").map(PathBuf::from);
    let Some(libraries) = libraries.filter(|folder| folder.join("bin/nvcc").is_file()) else {
        println!("skipped: no nvcc; `scripts/nvidia-wheels --with-nvcc FOLDER` fetches it for TUNESMITH_NVIDIA");
        return None;
    };
    let mut lab = ScriptedLab::with("[]", false, (8, 0));
    lab.setup.libraries = Some(libraries);
    lab.nvcc = true;
    Some(lab)
}

#[test]
fn nvcc_compiles_templates_symbols_and_headers_of_the_host_to_a_cubin() {
    let Some(lab) = real() else { return };
    let space = space_with("WIDTH", &[2, 4]);
    let mut spec = scale(&lab);
    let source = std::fs::read_to_string(lab.path().join("kernel.cu")).unwrap();
    lab.file("kernel.cu", &format!("#include <vector>\nstruct Host {{ std::vector<int> all; }};\n{source}"));
    spec.kernels[0].function = FunctionName::parse("scale<float, {WIDTH}>").unwrap();
    let mut evaluator = lab.evaluator(&space, spec);
    for width in [2, 4] {
        let completion = evaluate(&mut evaluator, config(&space, width));
        assert_correct(&completion);
        let compile = completion.measurement.compile.unwrap();
        assert!(compile.binary_bytes > Some(1000) && !compile.same_binary, "{compile:?}");
        for key in ["registers", "instructions", "spill_load_bytes"] {
            assert!(compile.resources.contains_key(key), "`{key}` is missing in {compile:?}");
        }
    }
}

#[test]
fn nvcc_has_the_duties_of_a_run_time_compiler() {
    let Some(lab) = real() else { return };
    the_same_code_is_built_once(&lab);
    wrong_arguments_are_named(&lab);
    let undefined = ["kernel.cu(10): error: identifier \"j\" is undefined"];
    messages_keep_their_place(&lab, "kernel.cu", &undefined, &["uses too much shared data"]);
}
