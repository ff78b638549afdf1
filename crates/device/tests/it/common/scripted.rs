//! GPUs without hardware: drivers that follow a script, for CUDA and for HIP.

use super::{buffer, options, scalar, spec, worker};
use std::path::{Path, PathBuf};
use tunesmith_backend::Target;
use tunesmith_backend::gpu::{GpuApi, GpuDevice};
use tunesmith_backend::host::{CudaSetup, HipSetup};
use tunesmith_device::{LiveEvaluator, LiveOptions, cuda_devices, hip_devices};
use tunesmith_kernel::{Access, Argument, CudaCompiler, Extent, Fill, KernelSpec, WorkSize};
use tunesmith_space::{Expr, Space};

/// The number of elements of the buffers of [`ScriptedLab::copy`].
pub const N: u64 = 1024;

/// A scripted device, and a folder for sources and its log.
pub struct ScriptedLab {
    folder: tempfile::TempDir,
    pub api: GpuApi,
    /// The setup of CUDA. [`hip`](Self::hip) has the same of HIP.
    pub setup: CudaSetup,
    /// True if problems ask for nvcc in the place of NVRTC.
    pub nvcc: bool,
}

/// The two APIs.
pub const APIS: [GpuApi; 2] = [GpuApi::Cuda, GpuApi::Hip];

impl ScriptedLab {
    /// Creates a device with the kernels' behaviour in `kernels`, a JSON list of rules. The script
    /// compiles as well.
    pub fn new(kernels: &str) -> Self {
        Self::with(kernels, true, (9, 0))
    }

    /// Creates a device of each API whose kernels behave as `kernels`, which is called with the
    /// API's name of an error.
    pub fn of_both(kernels: impl Fn(fn(&str) -> String) -> String) -> [Self; 2] {
        [
            Self::new(&kernels(|error| format!("CUDA_ERROR_{error}"))),
            Self::hip_device(&kernels(hip_error), true, "gfx90a"),
        ]
    }

    /// Creates a HIP device of this architecture. If `compiles` is false, hiprtc in `libraries`
    /// compiles instead of the script.
    pub fn hip_device(kernels: &str, compiles: bool, architecture: &str) -> Self {
        let lab = Self::with(kernels, compiles, (9, 0));
        let script = lab.folder.path().join("script.json");
        let warp = if architecture.starts_with("gfx9") { 64 } else { 32 };
        let text = std::fs::read_to_string(&script).unwrap();
        let text = text.replace("\"memory\"", &format!("\"architecture\": \"{architecture}\", \"memory\""));
        let text = text.replace("\"WARP_SIZE\": 32", &format!("\"WARP_SIZE\": {warp}"));
        std::fs::write(&script, text.replacen('{', "{\"version\": \"6.2.41133\",", 1)).unwrap();
        Self { api: GpuApi::Hip, ..lab }
    }

    /// Creates the same device with a given compute capability. If `compiles` is false, NVRTC in
    /// `libraries` compiles instead of the script.
    pub fn with(kernels: &str, compiles: bool, capability: (u32, u32)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let (major, minor) = capability;
        let text = format!(
            r#"{{
                "devices": [{{
                    "name": "Scripted GPU",
                    "memory": 67108864,
                    "attributes": {{
                        "COMPUTE_CAPABILITY_MAJOR": {major}, "COMPUTE_CAPABILITY_MINOR": {minor},
                        "MULTIPROCESSOR_COUNT": 132, "CLOCK_RATE": 1980000, "WARP_SIZE": 32, "L2_CACHE_SIZE": 1048576,
                        "MAX_THREADS_PER_BLOCK": 1024, "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
                        "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64,
                        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448, "MAX_SHARED_MEMORY_PER_BLOCK": 49152
                    }}
                }}],
                "compiles": {compiles},
                "log": {log:?},
                "kernels": {kernels}
            }}"#
        );
        let script = folder.path().join("script.json");
        std::fs::write(&script, text).unwrap();
        let setup = CudaSetup { script: Some(script), ..CudaSetup::default() };
        Self { folder, api: GpuApi::Cuda, setup, nvcc: false }
    }

    /// Returns the same device with so many bytes of memory.
    pub fn with_memory(self, bytes: usize) -> Self {
        let script = self.folder.path().join("script.json");
        let text = std::fs::read_to_string(&script).unwrap();
        std::fs::write(&script, text.replace("67108864", &bytes.to_string())).unwrap();
        self
    }

    /// Returns the same device with another key in its script.
    pub fn and(self, key: &str) -> Self {
        let script = self.folder.path().join("script.json");
        let text = std::fs::read_to_string(&script).unwrap();
        std::fs::write(&script, text.replacen('{', &format!("{{{key},"), 1)).unwrap();
        self
    }

    /// Returns the same device with clocks and power limits that can be set. `more` are further keys of
    /// the script of its power.
    pub fn steered(self, more: &str) -> Self {
        let (state, log) = (self.folder.path().join("state"), self.folder.path().join("power-log"));
        let text = format!(
            r#"{{"clocks_mhz": [600, 750, 900, 1050, 1200, 1350, 1500, 1650, 1800],
                "power_w": {{"lowest": 100, "highest": 400, "default": 350}}, "state": {state:?}, "log": {log:?},
                "power": {{"idle_w": 60, "alpha": 0.12, "ridge_mhz": 1000, "beta": 0.0008}}{more}}}"#
        );
        let script = self.file("power.json", &text);
        self.and(&format!("\"power\": {script:?}"))
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Returns the lines of the driver's log.
    pub fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the number of lines in the log with this beginning.
    pub fn count(&self, beginning: &str) -> usize {
        self.log().iter().filter(|line| line.starts_with(beginning)).count()
    }

    /// Returns the setup of HIP.
    pub fn hip(&self) -> HipSetup {
        let CudaSetup { libraries, cache, script, .. } = self.setup.clone();
        HipSetup { libraries, cache, script }
    }

    /// Returns the device as its driver describes it.
    pub fn device(&self) -> GpuDevice {
        let devices = match self.api {
            GpuApi::Cuda => cuda_devices(&self.setup, &worker()),
            GpuApi::Hip => hip_devices(&self.hip(), &worker()),
        };
        devices.unwrap().into_iter().next().unwrap()
    }

    pub fn target(&self) -> Target {
        self.device().into()
    }

    pub fn open(&self, space: &Space, options: LiveOptions) -> LiveEvaluator {
        LiveEvaluator::new(space, LiveOptions { target: self.target(), ..options }).unwrap()
    }

    pub fn evaluator(&self, space: &Space, spec: KernelSpec) -> LiveEvaluator {
        self.open(space, options(spec))
    }

    /// Returns a problem with one kernel in blocks of 256 threads.
    pub fn spec(&self, function: &str, source: &str, arguments: Vec<Argument>) -> KernelSpec {
        let suffix = if self.api == GpuApi::Hip { "hip" } else { "cu" };
        let mut spec = spec(self.file(&format!("kernel.{suffix}"), source), function, arguments);
        spec.kernels[0].work = Some(work(&N.to_string(), "256"));
        if self.nvcc {
            spec.kernels[0].cuda_compiler = CudaCompiler::Nvcc;
        }
        spec
    }

    /// Returns a problem whose result is correct if `b` holds the contents of `a`. Rules find the
    /// kernel under the name `copy`.
    pub fn copy(&self) -> KernelSpec {
        let source = "extern \"C\" __global__ void copy(const float *a, float *b, int n)\n{\n    \
            int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) b[i] = a[i];\n}\n";
        let arguments = vec![
            buffer("a", "f32", N, Access::In, Fill::Random),
            buffer("b", "f32", N, Access::Out, Fill::Zeros),
            scalar("n", "i32", &N.to_string()),
        ];
        let mut spec = self.spec("copy", source, arguments);
        let reference = "void r(const float *a, float *b, int n) { for (int i = 0; i < n; i++) b[i] = a[i]; }\n";
        spec.verify = super::reference(self.file("reference.c", reference), "r");
        spec
    }
}

/// Returns `global` threads in blocks of `local`, both expressions.
pub fn work(global: &str, local: &str) -> WorkSize {
    let expr = |text: &str| vec![Expr::parse(text).unwrap()];
    WorkSize { extent: Extent::Global(expr(global)), local: Some(expr(local)) }
}

/// Returns HIP's name of an error of CUDA.
fn hip_error(cuda: &str) -> String {
    let name = match cuda {
        "LAUNCH_OUT_OF_RESOURCES" => "LaunchOutOfResources",
        "OUT_OF_MEMORY" => "OutOfMemory",
        "ILLEGAL_ADDRESS" => "IllegalAddress",
        "LAUNCH_FAILED" => "LaunchFailure",
        "ASSERT" => "Assert",
        other => panic!("{other}"),
    };
    format!("hipError{name}")
}

/// Writes the 4096 bytes of `a` to `b`, as [`ScriptedLab::copy`] expects.
pub const COPIES: &str = r#""writes": [{"to": 1, "from": {"parameter": 0}, "bytes": 4096}]"#;

/// Returns rules for `copy`: first those of `MODE`, then one that is correct.
pub fn rules(special: &[(i64, &str)]) -> String {
    let special = special.iter().map(|(mode, what)| format!(r#"{{"defines": {{"MODE": "{mode}"}}, {what}}}"#));
    let right = format!(r#"{{"times_us": [90, 50, 52, 51], "attributes": {{"NUM_REGS": 40}}, {COPIES}}}"#);
    let rules: Vec<String> = special.chain([right]).collect();
    format!("[{}]", rules.join(", "))
}
