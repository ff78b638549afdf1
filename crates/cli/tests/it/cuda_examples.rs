//! The CUDA examples without a GPU. NVIDIA's compiler accepts them, and on the processor their
//! kernels compute the right results.

use crate::common;

use common::cuda::{has_headers, nvidia, run_scripted, script};
use common::{Folder, entries, repository};

/// An example with sizes that are fast on the processor, and with the call of its kernel.
struct Example {
    /// The folder of the examples, and the problem in it.
    folder: &'static str,
    problem: &'static str,
    size: &'static str,
    /// C++ that defines `on_host`, with the arguments of the problem, behind the kernel's source.
    call: &'static str,
    /// A reference in CUDA with its call, if there is one.
    reference: Option<(&'static str, &'static str)>,
}

/// Threads that take turns are slow. Only their results count.
const MEASURE: &str = "[measure]\nmin_samples = 1\nmax_samples = 1\nfirst_limit = 120.0\nlaunch_limit = 120.0\n\
    final = false\ndrift = false\nracing = false\n";

const GEMM: Example = Example {
    folder: "gemm",
    problem: "gemm-cuda.toml",
    size: "M=256,N=256,K=64",
    call: "thread_local float4 shared[1 << 16];\n\
        extern \"C\" void on_host(const float *a, const float *b, float *c, float alpha, float beta, float *) {\n\
        on_grid({M / MWG * (N / NWG), 1, 1}, {THREADS, 1, 1}, [&] { gemm(a, b, c, alpha, beta); }); }\n",
    reference: Some((
        "gemm_reference.cu",
        "extern \"C\" void gemm_reference_on_host(\n\
        const float *a, const float *b, float *c, float alpha, float beta, float *) {\n\
        on_grid({(N + 31) / 32, (M + 7) / 8, 1}, {32, 8, 1}, [&] { gemm_reference(a, b, c, alpha, beta); }); }\n",
    )),
};

const CONV2D: Example = Example {
    folder: "conv2d",
    problem: "conv2d-cuda.toml",
    size: "X=256,Y=256,HFS=2",
    call: "extern \"C\" void on_host(const float *image, const float *taps, float *output, float weight) {\n\
        std::memcpy(filter, taps, sizeof filter);\n\
        on_grid({X / TILE_X, Y / TILE_Y, 1}, {TBX_XL, TBY_XL, 1}, [&] { conv2d(image, output, weight); }); }\n",
    reference: None,
};

const STENCIL: Example = Example {
    folder: "stencil",
    problem: "stencil-cuda.toml",
    size: "NX=128,NY=64,NZ=16",
    call: "extern \"C\" void on_host(const float *u, float *v, float *w, float centre, float side) {\n\
        const uint3 grid = {NX / TILE_X, NY / TILE_Y, NZ / DEPTH}, local = {BX, BY, 1};\n\
        on_grid({(NX + 65) / 64, NY + 2, NZ + 2}, {64, 1, 1}, [&] { copy_halo(u, v, w); });\n\
        on_grid(grid, local, [&] { sweep<BX, BY>(u, v, centre, side); });\n\
        on_grid(grid, local, [&] { sweep<BX, BY>(v, w, centre, side); }); }\n",
    reference: None,
};

const ROW_SUMS: Example = Example {
    folder: "cub",
    problem: "row-sums-cuda.toml",
    size: "ROWS=32,COLUMNS=2048",
    call: "extern \"C\" void on_host(const float *data, float *sums) {\n\
        on_grid({ROWS, 1, 1}, {THREADS, 1, 1}, [&] {\n\
        row_sums<THREADS, ITEMS, cub::LOADING, cub::REDUCTION>(data, sums); }); }\n",
    reference: None,
};

const BLUR: Example = Example {
    folder: "images",
    problem: "blur-cuda.toml",
    size: "WIDTH=256,HEIGHT=128",
    call: "extern \"C\" void on_host(const float *from, float *to) {\n\
        const HostImage source = {const_cast<float *>(from), WIDTH, HEIGHT}, target = {to, WIDTH, HEIGHT};\n\
        on_grid({WIDTH / (BX * COLUMNS), HEIGHT / (BY * ROWS), 1}, {BX, BY, 1}, [&] { blur(&source, &target); }); }\n",
    reference: None,
};

/// The architectures that the examples are compiled for, by compute capability.
const CAPABILITIES: [(u32, u32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

impl Example {
    fn path(&self) -> std::path::PathBuf {
        repository().join("examples").join(self.folder).canonicalize().unwrap()
    }

    /// Returns the problem for the C++ compiler: the same parameters, constraints and arguments,
    /// with the kernel on the processor.
    fn on_host(&self) -> Folder {
        let source = std::fs::read_to_string(self.path().join(self.problem)).unwrap();
        let (head, rest) = source.split_once("\n[kernel]").or(source.split_once("\n[[kernel]]")).unwrap();
        let (kernels, rest) = rest.split_once("[parameters]").unwrap();
        let file = kernels.lines().find_map(|line| line.strip_prefix("file = ")).unwrap().trim_matches('"');
        // The folder also has headers in place of NVIDIA's.
        let kernels = repository().join("crates/cli/tests/kernels").canonicalize().unwrap();
        let header = kernels.join("cuda_on_host.h");
        let include = |file: &str| format!("#include \"{}\"\n", self.path().join(file).display());
        let header = format!("#include \"{}\"\n", header.display());
        let mut problem = format!(
            "{head}\n[kernel]\nfile = \"host.cpp\"\nfunction = \"on_host\"\noptions = [\"-O1\"]\n\
            include = [{kernels:?}]\n\n[parameters]{rest}\n{MEASURE}"
        );
        let folder = Folder::with(&[("host.cpp", &format!("{header}{}{}", include(file), self.call))]);
        let line = problem.lines().find(|line| line.starts_with("reference = ")).unwrap().to_string();
        let reference = match self.reference {
            Some((file, call)) => {
                folder.write("reference.cpp", &format!("{header}{}{call}", include(file)));
                let function = call.split_once("void ").and_then(|(_, rest)| rest.split_once('(')).unwrap().0;
                format!("reference = {{ file = \"reference.cpp\", function = \"{function}\" }}")
            }
            None => line.replace("file = \"", &format!("file = \"{}/", self.path().display())),
        };
        problem = problem.replace(&line, &reference);
        folder.write("problem.toml", &problem);
        folder
    }

    fn tuned_on_host(&self, evaluations: usize) {
        let folder = self.on_host();
        let stop = format!("evaluations {evaluations}");
        let arguments = ["tune", "problem.toml", "--size", self.size, "--device", "c", "--strategy", "random"];
        let more = ["--seed", "3", "--stop", &stop, "--json", "--quiet"];
        let ran = folder.run(&[&arguments[..], &more].concat());
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        for entry in entries(&folder.path("problem.jsonl")) {
            assert_eq!(entry["status"], "correct", "{}: {entry:#}", self.problem);
        }
    }

    /// Compiles configurations for generations of GPUs, and checks that nothing prevents their
    /// launch.
    fn compiled(&self, evaluations: usize) {
        let Some(nvidia) = nvidia() else { return };
        for capability in CAPABILITIES {
            let folder = Folder::with(&[("script.json", &script(capability, false, "[]"))]);
            let problem = self.path().join(self.problem);
            let stop = format!("evaluations {evaluations}");
            let mut command =
                folder.command(&["tune", problem.to_str().unwrap(), "--size", self.size, "--out", "run.jsonl"]);
            command.args(["--strategy", "random", "--seed", "5", "--stop", &stop, "--json", "--quiet"]);
            command.env("TUNESMITH_CUDA_SCRIPT", folder.path("script.json")).env("TUNESMITH_NVIDIA", &nvidia);
            let ran = common::Ran::of(command.env("XDG_CACHE_HOME", folder.path("cache")).output().unwrap());
            assert!(matches!(ran.code, Some(0 | 1)), "{ran:#?}");
            let entries = entries(&folder.path("run.jsonl"));
            assert_eq!(entries.len(), evaluations);
            for entry in entries {
                // The script's kernels write nothing.
                assert!(entry["status"] == "correctness" || entry["status"] == "correct", "{entry:#}");
                assert!(entry["compile"]["binary_bytes"].as_u64().unwrap() > 1000, "{entry:#}");
            }
        }
    }
}

#[test]
fn the_cuda_examples_check_out() {
    let folder = Folder::with(&[("script.json", &script((9, 0), true, "[]"))]);
    for (example, size) in [(GEMM, "49800"), (CONV2D, "3424"), (STENCIL, "7497"), (ROW_SUMS, "360"), (BLUR, "480")] {
        let path = example.path().join(example.problem);
        let checked = run_scripted(&folder, &["check", path.to_str().unwrap(), "--json"]).json();
        assert_eq!((&checked["ok"], checked["space"]["size"].as_str()), (&true.into(), Some(size)), "{checked:#}");
    }
}

#[test]
fn gemm_on_the_processor_is_right_in_every_configuration_tried() {
    GEMM.tuned_on_host(4);
}

#[test]
fn conv2d_on_the_processor_is_right_in_every_configuration_tried() {
    CONV2D.tuned_on_host(4);
}

#[test]
fn stencil_on_the_processor_is_right_in_every_configuration_tried() {
    STENCIL.tuned_on_host(3);
}

#[test]
fn row_sums_with_cub_on_the_processor_are_right_in_every_configuration_tried() {
    ROW_SUMS.tuned_on_host(6);
}

#[test]
fn blur_with_textures_on_the_processor_is_right_in_every_configuration_tried() {
    BLUR.tuned_on_host(3);
}

#[test]
fn blur_with_textures_compiles_for_four_generations() {
    BLUR.compiled(1);
}

#[test]
fn gemm_compiles_for_four_generations() {
    GEMM.compiled(2);
}

#[test]
fn conv2d_compiles_for_four_generations() {
    CONV2D.compiled(3);
}

#[test]
fn stencil_compiles_for_four_generations() {
    STENCIL.compiled(2);
}

#[test]
fn row_sums_with_cub_compile_for_four_generations() {
    if has_headers() {
        ROW_SUMS.compiled(1);
    }
}

#[test]
fn a_header_of_cub_that_is_missing_is_named_with_its_package() {
    let Some(nvidia) = nvidia().filter(|_| !std::path::Path::new("/usr/local/cuda").exists()) else { return };
    // NVRTC without the headers, which lie in a folder beside it.
    let libraries = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(nvidia).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        std::os::unix::fs::symlink(entry.path().canonicalize().unwrap(), libraries.path().join(entry.file_name()))
            .unwrap();
    }
    let folder = Folder::with(&[("script.json", &script((9, 0), false, "[]"))]);
    let problem = ROW_SUMS.path().join(ROW_SUMS.problem);
    let mut command =
        folder.command(&["tune", problem.to_str().unwrap(), "--size", ROW_SUMS.size, "--out", "run.jsonl"]);
    command.env("TUNESMITH_CUDA_SCRIPT", folder.path("script.json")).env("TUNESMITH_NVIDIA", libraries.path());
    command.env_remove("CUDA_HOME").env_remove("CUDA_PATH");
    let ran = common::Ran::of(command.env("XDG_CACHE_HOME", folder.path("cache")).output().unwrap());
    assert_ne!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("`nvidia-cuda-cccl`"), "{ran:#?}");
}
