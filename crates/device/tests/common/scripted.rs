//! A CUDA device without hardware: a driver that follows a script.

use super::{buffer, options, scalar, spec, worker};
use std::path::{Path, PathBuf};
use tunesmith_device::{
    Access, Argument, CudaSetup, Extent, Fill, KernelSpec, LiveEvaluator, LiveOptions, Target, WorkSize, cuda_devices,
};
use tunesmith_space::{Expr, Space};

/// The number of elements of the buffers of [`ScriptedLab::copy`].
pub const N: u64 = 1024;

/// A scripted device, and a folder for sources and its log.
pub struct ScriptedLab {
    folder: tempfile::TempDir,
    pub setup: CudaSetup,
}

impl ScriptedLab {
    /// Creates a device with the kernels' behaviour in `kernels`, a JSON list of rules. The script
    /// compiles as well.
    pub fn new(kernels: &str) -> Self {
        Self::with(kernels, true, (9, 0))
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
        Self { folder, setup }
    }

    /// Returns the same device with another key in its script.
    pub fn and(self, key: &str) -> Self {
        let script = self.folder.path().join("script.json");
        let text = std::fs::read_to_string(&script).unwrap();
        std::fs::write(&script, text.replacen('{', &format!("{{{key},"), 1)).unwrap();
        self
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

    pub fn target(&self) -> Target {
        let devices = cuda_devices(&self.setup, &worker()).unwrap();
        Target::Gpu(Box::new(devices.into_iter().next().unwrap()))
    }

    pub fn open(&self, space: &Space, options: LiveOptions) -> LiveEvaluator {
        LiveEvaluator::new(space, LiveOptions { target: self.target(), ..options }).unwrap()
    }

    pub fn evaluator(&self, space: &Space, spec: KernelSpec) -> LiveEvaluator {
        self.open(space, options(spec))
    }

    /// Returns a problem with one kernel in blocks of 256 threads.
    pub fn spec(&self, function: &str, source: &str, arguments: Vec<Argument>) -> KernelSpec {
        let mut spec = spec(self.file("kernel.cu", source), function, arguments);
        spec.kernels[0].work = Some(work(&N.to_string(), "256"));
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
