//! Tests of NVIDIA's compiler, which needs no GPU: its options, the rewriting of its messages, and
//! the speed of many compilations.
#![allow(clippy::print_stdout)] // prints the tests it leaves out

use crate::common;

use common::compiler::{
    SOURCE, messages_keep_their_place, scale, the_same_code_is_built_once, wrong_arguments_are_named,
};
use common::scripted::ScriptedLab;
use common::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::cuda_devices;
use tunesmith_kernel::{Access, Argument, ArgumentKind, Fill, FunctionName, Image, KernelSpec, Memory, Template};
use tunesmith_space::Value;

/// Returns the folder with NVIDIA's libraries. Without it, the function prints the reason. In
/// continuous integration, it must be there.
#[allow(clippy::disallowed_methods)] // the environment tells tests if they run in CI
fn nvidia() -> Option<PathBuf> {
    let folder = std::env::var_os("TUNESMITH_NVIDIA").map(PathBuf::from);
    if folder.is_none() {
        assert!(std::env::var_os("CI").is_none(), "NVRTC's tests must run here: set TUNESMITH_NVIDIA");
        println!("skipped: no NVIDIA libraries; set TUNESMITH_NVIDIA to a folder that holds libnvrtc.so.13");
    }
    folder
}

/// Returns a scripted device of compute capability 8.0, with NVRTC as its compiler.
fn lab() -> Option<ScriptedLab> {
    let mut lab = ScriptedLab::with("[]", false, (8, 0));
    lab.setup.libraries = Some(nvidia()?);
    Some(lab)
}

#[test]
fn templates_symbols_and_headers_compile_and_the_result_is_a_cubin() {
    let Some(lab) = lab() else { return };
    let device = &cuda_devices(&lab.setup, &worker()).unwrap()[0];
    assert!(device.compiler.starts_with("NVRTC 1") && device.architecture == "sm_80", "{device:?}");
    let space = space_with("WIDTH", &[2, 4]);
    let mut evaluator = lab.evaluator(&space, scale(&lab));
    for width in [2, 4] {
        let completion = evaluate(&mut evaluator, config(&space, width));
        assert_correct(&completion);
        let compile = completion.measurement.compile.unwrap();
        assert!(compile.binary_bytes > Some(1000) && !compile.same_binary, "{compile:?}");
        assert!(compile.resource("registers") > Some(0.0), "{compile:?}");
    }
}

#[test]
fn the_function_may_depend_on_parameters() {
    let Some(lab) = lab() else { return };
    let space = space_with("WIDTH", &[2, 4, 8]);
    let arguments = || vec![buffer("b", "f32", 1024, Access::InOut, Fill::Zeros)];
    let source = "extern \"C\" __global__ void by_2(float *b) { b[0] += 2; }\n\
                  template <int N> __global__ void by_4(float *b) { b[0] += N; }\n";
    for (function, known) in [("by_{WIDTH}", [2]), ("by_4<{WIDTH}>", [4])] {
        let mut spec = lab.spec(function, source, arguments());
        spec.kernels[0].function = FunctionName::parse(function).unwrap();
        let mut evaluator = lab.evaluator(&space, spec);
        assert_correct(&evaluate(&mut evaluator, config(&space, known[0])));
        if function == "by_{WIDTH}" {
            let missing = evaluate(&mut evaluator, config(&space, 8)).failure.unwrap();
            assert_eq!(missing.kind, FailureKind::Compile);
            assert!(missing.message.contains("has no kernel `by_8`"), "{missing:?}");
        }
    }
}

#[test]
fn parameters_that_change_nothing_give_the_same_code_and_are_timed_once() {
    lab().iter().for_each(the_same_code_is_built_once);
}

#[test]
fn a_newer_device_gets_ptx_and_an_architecture_of_the_user_goes_before_ours() {
    let Some(libraries) = nvidia() else { return };
    let mut lab = ScriptedLab::with("[]", false, (19, 9));
    lab.setup.libraries = Some(libraries);
    let device = &cuda_devices(&lab.setup, &worker()).unwrap()[0];
    assert!(device.architecture.starts_with("compute_"), "{device:?}");
    let mut spec = scale(&lab);
    spec.kernels[0].options = vec![Template::parse("-arch=sm_90a").unwrap(), Template::parse("-DWIDTH=1").unwrap()];
    let evaluator = lab.evaluator(&one(), spec);
    let command = &evaluator.plan(one().id(0).unwrap())[0].build.command;
    assert!(!command.iter().any(|option| option.starts_with("--gpu-architecture")), "{command:?}");
}

#[test]
fn errors_of_the_code_keep_their_place_and_too_much_shared_memory_is_a_constraint() {
    let Some(lab) = lab() else { return };
    let undefined = ["kernel.cu(10): error", "\"j\" is undefined"];
    messages_keep_their_place(&lab, "kernel.cu", &undefined, &["uses too much shared data"]);
}

#[test]
fn a_kernel_that_does_not_fit_its_arguments_is_refused_with_the_argument_named() {
    lab().iter().for_each(wrong_arguments_are_named);
}

#[test]
fn the_check_of_parameters_compiles_in_every_standard_and_beside_any_macro() {
    let Some(lab) = lab() else { return };
    let source = "__global__ void __launch_bounds__(256) f(float (*a)[8], const float4 *b, unsigned *c, int n)\n\
                  { a[n][threadIdx.x % 8] = b[n].x + c[n]; }\n";
    let arguments = |a: &str| {
        vec![
            buffer("a", a, 1024, Access::InOut, Fill::Zeros),
            buffer("b", "f32", 1024, Access::In, Fill::Zeros),
            buffer("c", "i32", 1024, Access::In, Fill::Zeros),
            scalar("n", "i32", "0"),
        ]
    };
    for standard in ["", "-std=c++11", "--std=c++11", "--std=c++20"] {
        let preflight = |a: &str| {
            let mut spec = lab.spec("f", source, arguments(a));
            spec.kernels[0].options = vec![Template::parse(standard).unwrap()];
            // The names of the check as it was. NVRTC's own header takes `T`, `size` and `value`.
            let names = ["F", "real", "is_real", "is_own", "element", "memory", "any_memory", "plain"];
            spec.sizes.extend(names.map(|name| (name.to_owned(), Value::Int(3))));
            let mut evaluator = lab.evaluator(&one(), spec);
            evaluator.preflight(one().id(0).unwrap()).unwrap();
            evaluate(&mut evaluator, one().id(0).unwrap())
        };
        assert_correct(&preflight("f32"));
    }
    for (element, standard) in [("f64", "--std=c++11"), ("i32", ""), ("u64", "-std=c++11")] {
        let mut spec = lab.spec("f", source, arguments(element));
        spec.kernels[0].options = vec![Template::parse(standard).unwrap()];
        let error = lab.evaluator(&one(), spec).preflight(one().id(0).unwrap()).unwrap_err().to_string();
        assert!(error.contains("argument `a`"), "{error}");
    }
}

#[test]
fn a_kernel_in_a_raw_literal_compiles_and_its_errors_keep_their_place() {
    let Some(lab) = lab() else { return };
    let space = space_with("WIDTH", &[2]);
    let wrapped = |source: &str| {
        let mut spec = scale(&lab);
        // An option that expands to nothing is none.
        spec.kernels[0].options = vec![Template::parse("").unwrap()];
        lab.file("kernel.cu", &format!("// For inclusion in C++.\nR\"cuda({source})cuda\"\n// The end.\n"));
        evaluate(&mut lab.evaluator(&space, spec), config(&space, 2))
    };
    assert_correct(&wrapped(SOURCE));
    assert_failed(
        &wrapped(&SOURCE.replace("if (i < n)", "if (j < n)")),
        FailureKind::Compile,
        &["kernel.cu(11): error"],
    );
}

#[test]
fn everything_that_several_workers_compile_ahead_is_measured() {
    let Some(lab) = lab() else { return };
    let space = space_with("WIDTH", &[1, 2, 3, 4, 5, 6]);
    let mut options = options(scale(&lab));
    options.jobs = 3;
    let mut evaluator = lab.open(&space, options);
    for id in space.iter() {
        evaluator.submit(Request::timed(id)).unwrap();
    }
    for _ in space.iter() {
        assert_correct(&evaluator.next(&Interrupt::default()).unwrap().unwrap());
    }
}

#[test]
fn an_opencl_source_with_a_header_that_maps_its_words_compiles_for_cuda() {
    let source = "#include \"one_source.h\"\n\
        __kernel void scale(__global const float *a, __global float4 *b, int n)\n{\n\
        __local float tile[256];\n\
        tile[get_local_id(0)] = a[get_global_id(0)];\n\
        barrier(CLK_LOCAL_MEM_FENCE);\n\
        b[get_global_id(0)].x = WIDTH * tile[255 - get_local_id(0)] + n;\n}\n";
    for capability in [(8, 0), (9, 0)] {
        let mut lab = ScriptedLab::with("[]", false, capability);
        let Some(libraries) = nvidia() else { return };
        lab.setup.libraries = Some(libraries);
        let space = space_with("WIDTH", &[2, 4]);
        let spec = |function: &str, b: &str| {
            let arguments = vec![
                buffer("a", "f32", 1024, Access::In, Fill::Random),
                buffer("b", b, 4096, Access::InOut, Fill::Zeros),
                scalar("n", "i32", "1024"),
            ];
            let mut spec = lab.spec(function, source, arguments);
            spec.kernels[0].file = lab.file("kernel.cl", source);
            spec.kernels[0].include = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suite/common")];
            spec
        };
        let mut evaluator = lab.evaluator(&space, spec("scale", "f32"));
        for width in [2, 4] {
            assert_correct(&evaluate(&mut evaluator, config(&space, width)));
        }
        // Messages name the kernel's parameters as they are written, and its kernels.
        let refused =
            |spec: KernelSpec| lab.evaluator(&space, spec).preflight(config(&space, 2)).unwrap_err().to_string();
        assert!(refused(spec("scal", "f32")).contains("did you mean `scale`?"));
        let mut wrong = spec("scale", "f32");
        wrong.arguments[0] = scalar("a", "f32", "1");
        assert!(refused(wrong).contains("is `__global const float *a`"));
    }
}

/// Returns what the compiler and the driver tell of a kernel, compiled for a compute capability.
fn resources_of(source: &str, options: &[&str], capability: (u32, u32)) -> BTreeMap<String, f64> {
    let mut lab = ScriptedLab::with("[]", false, capability);
    lab.setup.libraries = nvidia();
    let arguments = vec![buffer("a", "f32", 1024, Access::InOut, Fill::Zeros)];
    let mut spec = lab.spec("f", source, arguments);
    spec.kernels[0].options = options.iter().map(|option| Template::parse(option).unwrap()).collect();
    let completion = evaluate(&mut lab.evaluator(&one(), spec), one().id(0).unwrap());
    assert_correct(&completion);
    completion.measurement.compile.unwrap().resources
}

const CAPABILITIES: [(u32, u32); 5] = [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0)];

#[test]
fn a_cubin_tells_its_instructions_and_memories_on_every_architecture() {
    if nvidia().is_none() {
        return;
    }
    let source = "extern \"C\" __global__ void f(float *a) {\n\
        __shared__ float tile[128];\n\
        const int i = threadIdx.x % 128;\n\
        tile[i] = a[i]; __syncthreads();\n\
        const float x = tile[i ^ 1];\n\
        a[i] = fmaf(x, x, 0.5f) + (float)((double)x * x + 3.0); }\n";
    for capability in CAPABILITIES {
        let resources = resources_of(source, &[], capability);
        let exactly = [
            ("shared_bytes", 512.0),
            ("local_bytes", 0.0),
            ("spill_store_bytes", 0.0),
            ("spill_load_bytes", 0.0),
            ("global_loads", 1.0),
            ("global_stores", 1.0),
            ("shared_loads", 1.0),
            ("shared_stores", 1.0),
            ("local_loads", 0.0),
            ("local_stores", 0.0),
            ("atomics", 0.0),
            ("tensor_instructions", 0.0),
        ];
        for (name, value) in exactly {
            assert_eq!(resources.get(name), Some(&value), "{name} on {capability:?}: {resources:?}");
        }
        let at_least = [
            ("registers", 8.0),
            ("fp32_instructions", 2.0),
            ("fp64_instructions", 1.0),
            ("integer_instructions", 1.0),
            ("control_instructions", 2.0),
            ("instructions", 12.0),
        ];
        for (name, value) in at_least {
            assert!(resources.get(name) >= Some(&value), "{name} on {capability:?}: {resources:?}");
        }
    }
}

#[test]
fn registers_that_spill_and_arrays_in_local_memory_are_counted() {
    if nvidia().is_none() {
        return;
    }
    let source = "extern \"C\" __global__ void f(float *a) {\n\
        float x[64], y[8];\n\
        #pragma unroll\n\
        for (int i = 0; i < 64; i++) x[i] = a[i * 3 + threadIdx.x % 4];\n\
        __syncthreads();\n\
        #pragma unroll\n\
        for (int i = 0; i < 64; i++) a[i + threadIdx.x % 8] = x[i] * x[63 - i];\n\
        for (int i = 0; i < 8; i++) y[i] = a[i];\n\
        a[0] = y[(int)a[1] % 8]; }\n";
    for capability in CAPABILITIES {
        let resources = resources_of(source, &["--maxrregcount=32"], capability);
        for name in ["local_bytes", "spill_store_bytes", "spill_load_bytes", "local_loads", "local_stores"] {
            assert!(resources.get(name) > Some(&0.0), "{name} on {capability:?}: {resources:?}");
        }
        assert!(resources["registers"] <= 32.0, "{resources:?}");
    }
}

#[test]
fn blocks_of_cub_and_half_precision_compile_with_headers_found_by_themselves() {
    let Some(libraries) = nvidia() else { return };
    if !libraries.join("include/cccl/cub/version.cuh").is_file() {
        println!("skipped: no headers of CUB; scripts/nvidia-wheels fetches them");
        return;
    }
    let source = "#include <cub/block/block_reduce.cuh>\n#include <cuda/std/limits>\n#include <cuda_fp16.h>\n\
        template <int THREADS>\n\
        __device__ float sum(float own) {\n\
        using Sums = cub::BlockReduce<float, THREADS>;\n\
        __shared__ typename Sums::TempStorage shared;\n\
        return Sums(shared).Sum(own); }\n\
        extern \"C\" __global__ void f(float *a) {\n\
        const float all = sum<128>(__half2float(__float2half(a[threadIdx.x % 128])));\n\
        if (threadIdx.x == 0) a[0] = all + cuda::std::numeric_limits<float>::epsilon(); }\n";
    let resources = resources_of(source, &[], (9, 0));
    assert!(resources["shared_bytes"] > 0.0 && resources["fp32_instructions"] > 5.0, "{resources:?}");
}

#[test]
fn textures_and_surfaces_are_the_parameters_that_images_are_passed_as() {
    let Some(lab) = lab() else { return };
    let source = "extern \"C\" __global__ void f(cudaTextureObject_t a, cudaSurfaceObject_t b, float *c) {\n\
        surf2Dwrite(tex2D<float>(a, threadIdx.x + 0.5f, 0.5f), b, threadIdx.x * 4, 0); c[0] = 1; }\n";
    let spec = |memory: Memory| {
        let mut arguments: Vec<Argument> = [("a", Access::In), ("b", Access::Out), ("c", Access::Out)]
            .map(|(name, access)| buffer(name, "f32", 1024, access, Fill::Zeros))
            .into();
        for (at, argument) in arguments.iter_mut().enumerate() {
            let ArgumentKind::Buffer { shape, memory: own, .. } = &mut argument.kind else { continue };
            *shape = vec![32, 32].into();
            *own = if at == 0 { memory } else { Memory::Image(Image::default()) };
        }
        if let ArgumentKind::Buffer { memory, .. } = &mut arguments[2].kind {
            *memory = Memory::Global;
        }
        lab.spec("f", source, arguments)
    };
    let images = spec(Memory::Image(Image::default()));
    assert_correct(&evaluate(&mut lab.evaluator(&one(), images), one().id(0).unwrap()));
    let error = lab.evaluator(&one(), spec(Memory::Global)).preflight(one().id(0).unwrap()).unwrap_err().to_string();
    assert!(error.contains("argument `a`") && error.contains("`cudaTextureObject_t a`"), "{error}");
}
