//! Tests of AMD's compiler, which needs no GPU: code for three architectures, its messages, and what
//! the real runtime says on a machine without a GPU.
#![allow(clippy::print_stdout)] // prints the tests it leaves out

use crate::common;

use common::compiler::{
    SOURCE, messages_keep_their_place, scale, the_same_code_is_built_once, wrong_arguments_are_named,
};
use common::scripted::ScriptedLab;
use common::*;
use std::path::{Path, PathBuf};
use tunesmith_backend::host::HipSetup;
use tunesmith_device::{hip_architecture, hip_devices};
use tunesmith_kernel::{Access, DeviceError, Fill, Template};

/// Of data-center GPUs with wavefronts of 64, and of a Radeon with 32.
const ARCHITECTURES: [&str; 3] = ["gfx90a", "gfx942", "gfx1100"];

/// Returns the folder with AMD's libraries. Without it, the function prints the reason. In
/// continuous integration, it must be there.
#[allow(clippy::disallowed_methods)] // the environment tells tests if they run in CI
fn rocm() -> Option<PathBuf> {
    let folder = std::env::var_os("TUNESMITH_ROCM").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        assert!(std::env::var_os("CI").is_none(), "hiprtc's tests must run here: set TUNESMITH_ROCM");
        println!("skipped: TUNESMITH_ROCM names no folder with AMD's libraries (scripts/rocm-wheel FOLDER)");
    }
    folder
}

/// Returns a scripted device of this architecture, with hiprtc as its compiler.
fn lab(architecture: &str) -> Option<ScriptedLab> {
    let mut lab = ScriptedLab::hip_device("[]", false, architecture);
    lab.setup.libraries = Some(rocm()?);
    Some(lab)
}

#[test]
fn templates_symbols_and_headers_compile_for_every_architecture() {
    for architecture in ARCHITECTURES {
        let Some(lab) = lab(architecture) else { return };
        let device = lab.device();
        assert!(device.compiler.starts_with("hiprtc 7.") && device.architecture == architecture, "{device:?}");
        let space = space_with("WIDTH", &[2]);
        let completion = evaluate(&mut lab.evaluator(&space, scale(&lab)), config(&space, 2));
        assert_correct(&completion);
        assert!(completion.measurement.compile.unwrap().binary_bytes > Some(1000));
    }
}

#[test]
fn code_objects_tell_registers_and_spills() {
    for architecture in ARCHITECTURES {
        let Some(lab) = lab(architecture) else { return };
        let space = space_with("WIDTH", &[2]);
        let completion = evaluate(&mut lab.evaluator(&space, scale(&lab)), config(&space, 2));
        let found = completion.measurement.compile.unwrap();
        let resource = |name| found.resource(name);
        // The scripted driver itself answers for `registers` and `shared_bytes`, as a loaded kernel's driver does. That
        // both are read from a code object is tested beside its reader.
        assert!(resource("scalar_registers") > Some(0.0), "{found:?}");
        let spilled = [resource("spilled_registers"), resource("spilled_scalar_registers")];
        assert_eq!(spilled, [Some(0.0); 2], "{found:?}");
    }
}

#[test]
fn parameters_that_change_nothing_give_the_same_code() {
    lab("gfx90a").iter().for_each(the_same_code_is_built_once);
}

#[test]
fn errors_of_the_code_keep_their_place_and_too_much_shared_memory_is_a_constraint() {
    let Some(lab) = lab("gfx90a") else { return };
    let undefined = ["kernel.hip:10:", "use of undeclared identifier 'j'"];
    messages_keep_their_place(&lab, "kernel.hip", &undefined, &["local memory", "exceeds limit"]);
}

#[test]
fn a_kernel_that_does_not_fit_its_arguments_is_refused_with_the_argument_named() {
    lab("gfx1100").iter().for_each(wrong_arguments_are_named);
}

#[test]
fn a_source_for_cuda_compiles_with_its_options() {
    let Some(lab) = lab("gfx942") else { return };
    let mut spec = scale(&lab);
    let source = lab.file("kernel.cu", SOURCE);
    spec.kernels[0].language = tunesmith_kernel::Language::Cuda;
    spec.kernels[0].file = source;
    spec.kernels[0].options =
        ["--use_fast_math", "-lineinfo", "--std=c++17"].map(|option| Template::parse(option).unwrap()).to_vec();
    let space = space_with("WIDTH", &[2]);
    assert_correct(&evaluate(&mut lab.evaluator(&space, spec), config(&space, 2)));
}

#[test]
fn an_opencl_source_with_a_header_that_maps_its_words_compiles_for_hip() {
    let source = "#include \"one_source.h\"\n\
        __kernel void scale(__global const float *a, __global float4 *b, int n)\n{\n\
        __local float tile[256];\n\
        VECTOR(float, 4) v = LOAD(float, 4, 0, a);\n\
        v = mad(v, v, SPLAT(float, 4, 2.0f)) * 3.0f;\n\
        tile[get_local_id(0)] = native_sqrt(a[get_global_id(0)]);\n\
        barrier(CLK_LOCAL_MEM_FENCE);\n\
        b[get_global_id(0)] = v + make_float4(WIDTH, 1, 2, 3) * tile[255 - get_local_id(0)];\n}\n";
    for architecture in ARCHITECTURES {
        let Some(lab) = lab(architecture) else { return };
        let arguments = vec![
            buffer("a", "f32", 1024, Access::In, Fill::Random),
            buffer("b", "f32", 4096, Access::InOut, Fill::Zeros),
            scalar("n", "i32", "1024"),
        ];
        let mut spec = lab.spec("scale", source, arguments);
        spec.kernels[0].file = lab.file("kernel.cl", source);
        spec.kernels[0].include = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suite/common")];
        let space = space_with("WIDTH", &[2]);
        assert_correct(&evaluate(&mut lab.evaluator(&space, spec), config(&space, 2)));
    }
}

#[test]
fn an_architecture_has_its_limits_and_an_unknown_one_is_refused() {
    let Some(libraries) = rocm() else { return };
    let setup = HipSetup { libraries: Some(libraries), ..HipSetup::default() };
    let device = hip_architecture(&setup, "gfx1100", &worker()).unwrap();
    assert_eq!((device.limits["warp_size"], device.limits["local_memory"]), (32.0, 65536.0));
    let error = hip_architecture(&setup, "gfx42", &worker()).unwrap_err().to_string();
    assert!(error.contains("`gfx42`"), "{error}");
}

/// The real runtime opens with all of its functions. Without a GPU, one line says so.
#[test]
fn the_runtime_has_every_function_and_says_that_there_is_no_gpu() {
    let Some(libraries) = rocm() else { return };
    let setup = HipSetup { libraries: Some(libraries), ..HipSetup::default() };
    match hip_devices(&setup, &worker()) {
        Ok(devices) => assert!(devices.iter().all(|device| device.architecture.starts_with("gfx")), "{devices:?}"),
        Err(DeviceError::NoDevices { reason, remedy, .. }) => {
            assert!(reason.starts_with("the HIP runtime finds no GPU"), "{reason}");
            assert!(remedy.contains("install ROCm"), "{remedy}");
        }
        Err(error) => panic!("{error}"),
    }
}
