//! One source for several backends: `language = ["opencl", "cuda"]`.

use tunesmith_kernel::{CudaCompiler, Kernel, Language};
use tunesmith_problem::{Code, Problem};

fn text(kernel: &str) -> String {
    format!(
        "[problem]\nname = \"scale\"\nsizes = {{ N = 64 }}\n\
         [kernel]\nfile = \"scale.cl\"\nfunction = \"scale\"\nglobal = [\"N\"]\n{kernel}\n\
         [parameters]\nTILE = [8, 16]\n\
         [[arguments]]\nname = \"x\"\ntype = \"f32\"\nshape = [\"N\"]\naccess = \"inout\"\n"
    )
}

/// Returns the kernel on a device for `language`, or the error's message with its remedy.
fn kernel(text: &str, language: Language) -> Result<Kernel, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scale.cl"), "kernel void scale(global float *x) {}").unwrap();
    let problem = Problem::parse(text, folder.path()).map_err(|error| {
        let words = |message: &tunesmith_problem::Diagnostic| {
            format!("{}; {}", message.text, message.remedy.clone().unwrap_or_default())
        };
        error.messages.iter().map(words).collect::<String>()
    })?;
    let spec = problem.kernel_spec(language);
    let spec = spec.map_err(|error| format!("{error}; {}", error.remedy().unwrap_or_default()))?;
    Ok(spec.kernels[0].clone())
}

const BOTH: &str = "language = [\"opencl\", \"cuda\"]\nlocal = [\"TILE\"]";

#[test]
fn a_device_gets_the_kernel_in_its_own_language_and_the_first_is_the_default() {
    for language in [Language::OpenCl, Language::Cuda] {
        assert_eq!(kernel(&text(BOTH), language).unwrap().language, language);
    }
    let folder = tempfile::tempdir().unwrap();
    let default = |languages: &str| {
        let text = text(&BOTH.replace("\"opencl\", \"cuda\"", languages));
        Problem::parse(&text, folder.path()).unwrap().spec().kernels()[0].language
    };
    assert_eq!(default("\"opencl\", \"cuda\""), Language::OpenCl);
    assert_eq!(default("\"cuda\", \"opencl\""), Language::Cuda);
}

#[test]
fn a_device_of_another_language_is_refused_with_the_devices_that_run_the_kernel() {
    let refused = kernel(&text(BOTH), Language::C).unwrap_err();
    assert_eq!(
        refused,
        "the kernel `scale` is written in OpenCL C and CUDA C++, which the device `c` does not run; choose `--device \
         opencl` or `--device cuda`"
    );
    // With one language, the device itself refuses the kernel, as ever.
    assert_eq!(kernel(&text("local = [\"TILE\"]"), Language::Cuda).unwrap().language, Language::OpenCl);
}

#[test]
fn a_hip_device_gets_the_kernel_in_cuda_unless_it_is_in_hip_too() {
    assert_eq!(kernel(&text(BOTH), Language::Hip).unwrap().language, Language::Cuda);
    let all = BOTH.replace("\"cuda\"", "\"cuda\", \"hip\"");
    for language in [Language::OpenCl, Language::Cuda, Language::Hip] {
        assert_eq!(kernel(&text(&all), language).unwrap().language, language);
    }
    let no_blocks = kernel(&text("language = \"hip\""), Language::Hip).unwrap_err();
    assert!(no_blocks.contains("the number of threads in a block is missing"), "{no_blocks}");
}

#[test]
fn each_language_may_have_options_of_its_own() {
    let own =
        format!("{BOTH}\noptions = {{ opencl = [\"-cl-mad-enable\", \"-I\", \"a\"], cuda = [\"-DX={{TILE}}\"] }}");
    let options = |text: &str, language| {
        let kernel = kernel(text, language).unwrap();
        (kernel.options.iter().map(ToString::to_string).collect::<Vec<_>>(), kernel.include.len())
    };
    assert_eq!(options(&text(&own), Language::OpenCl), (vec!["-cl-mad-enable".to_string()], 1));
    assert_eq!(options(&text(&own), Language::Cuda), (vec!["-DX={TILE}".to_string()], 0));
    let common = format!("{BOTH}\noptions = [\"-DY\"]");
    for language in [Language::OpenCl, Language::Cuda] {
        assert_eq!(options(&text(&common), language).0, ["-DY"]);
    }
    let wrong = kernel(&text(&format!("{BOTH}\noptions = {{ cude = [] }}")), Language::Cuda).unwrap_err();
    assert!(wrong.contains("has no `cude`; did you mean `cuda`?"), "{wrong}");
}

#[test]
fn a_kernel_in_cuda_names_its_compiler() {
    let compiled_by = |keys: &str| kernel(&text(&format!("{BOTH}\n{keys}")), Language::Cuda);
    assert_eq!(compiled_by("").unwrap().cuda_compiler, CudaCompiler::Nvrtc);
    assert_eq!(compiled_by("compiler = \"nvrtc\"").unwrap().cuda_compiler, CudaCompiler::Nvrtc);
    assert_eq!(compiled_by("compiler = \"nvcc\"").unwrap().cuda_compiler, CudaCompiler::Nvcc);
    let wrong = compiled_by("compiler = \"nvc\"").unwrap_err();
    assert_eq!(wrong, "`nvc` is no compiler of CUDA; did you mean `nvcc`?");
    let wrong = compiled_by("compiler = \"clang\"").unwrap_err();
    assert_eq!(wrong, "`clang` is no compiler of CUDA; write nvrtc or nvcc");
    let opencl = kernel(&text("local = [\"TILE\"]\ncompiler = \"nvcc\""), Language::OpenCl).unwrap_err();
    assert!(opencl.starts_with("`compiler` has no meaning for OpenCL C; remove it"), "{opencl}");
}

#[test]
fn lists_that_no_device_can_choose_from_are_refused() {
    let refused = |languages: &str| {
        kernel(&text(&format!("language = {languages}\nlocal = [\"TILE\"]")), Language::OpenCl).unwrap_err()
    };
    assert!(
        refused("[\"opencl\", \"c\"]").starts_with("one kernel cannot be in languages with and without work-items")
    );
    assert!(refused("[\"opencl\", \"cl\"]").starts_with("OpenCL C and OpenCL C run on the same device, `opencl`"));
    assert!(refused("[]").starts_with("the list of languages is empty"));
    assert!(refused("[\"opencl\", \"vulkan\"]").contains("names no language that can be compiled"));
    let blocks = kernel(&text("language = [\"opencl\", \"cuda\"]"), Language::OpenCl).unwrap_err();
    assert!(blocks.starts_with("the number of threads in a block is missing"), "{blocks}");
}

#[test]
fn a_problem_in_code_names_several_languages() {
    let code = Code::opencl("scale", "kernel void scale(global float *x) {}").global([64]).local([8]);
    let code = code.languages([Language::OpenCl, Language::Cuda]);
    let problem = Problem::builder("scale").kernel(code).parameter("TILE", [8]).build().unwrap();
    for language in [Language::OpenCl, Language::Cuda] {
        assert_eq!(problem.kernel_spec(language).unwrap().kernels[0].language, language);
    }
}

#[test]
fn a_kernel_in_code_names_its_compiler() {
    let cuda = Code::cuda("scale", "__global__ void scale(float *x) {}").global([64]).local([8]);
    let problem = Problem::builder("scale").kernel(cuda.compiler(CudaCompiler::Nvcc)).parameter("TILE", [8]);
    let spec = problem.build().unwrap().kernel_spec(Language::Cuda).unwrap();
    assert_eq!(spec.kernels[0].cuda_compiler, CudaCompiler::Nvcc);
}

#[test]
fn the_launch_is_known_from_sizes_limits_and_work_items_in_either_unit() {
    let launch = |work: &str| {
        let text = text("local = [\"TILE\"]").replace("global = [\"N\"]", work);
        let problem = Problem::parse(&text, std::path::Path::new(".")).unwrap();
        let launch = problem.launch(Language::OpenCl, &[("units".to_string(), 4.into())]);
        let space = problem.space(&[("units".to_string(), 4.into())]).unwrap().space;
        let launch = launch.unwrap();
        (launch.group_items(&space).unwrap().numbers, launch.items(&space).unwrap().numbers)
    };
    let some = |numbers: [f64; 2]| numbers.map(Some).to_vec();
    assert_eq!(launch("global = [\"N * TILE\"]"), (some([8.0, 16.0]), some([512.0, 1024.0])));
    assert_eq!(launch("grid = [\"N // TILE * device.units\"]").1, some([256.0, 256.0]));
    let problem = Problem::parse(&text(""), std::path::Path::new(".")).unwrap();
    assert!(problem.launch(Language::OpenCl, &[]).is_none(), "the driver chooses the work-groups");
}
