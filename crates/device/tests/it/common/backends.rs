//! The backends of the conformance suite.
#![allow(clippy::print_stdout)] // prints the tests it leaves out

use super::scripted::ScriptedLab;
use super::{kernel_file, options, spec, worker};
use std::path::PathBuf;
use tunesmith_backend::Target;
use tunesmith_backend::gpu::{GpuApi, GpuDevice};
use tunesmith_backend::opencl::OpenClDevice;
use tunesmith_device::{LiveEvaluator, LiveOptions, opencl_devices};
use tunesmith_kernel::{Argument, ElementType, Extent, KernelSpec, WorkSize};
use tunesmith_space::{Expr, Space};

/// A backend and a folder for its sources.
pub struct Lab {
    target: Target,
    folder: tempfile::TempDir,
    /// The GPU that follows a script, if the target is one.
    _scripted: Option<ScriptedLab>,
}

/// Returns every backend: C always, the first OpenCL device, and scripted GPUs of CUDA and HIP, whose
/// kernels the processor computes. Without an OpenCL device, the function prints the reason and leaves
/// OpenCL out. In continuous integration, OpenCL must be there.
pub fn labs() -> Vec<Lab> {
    let mut labs = processors();
    labs.extend([cuda(), hip()]);
    labs
}

/// Returns a scripted GPU of CUDA.
pub fn cuda() -> Lab {
    Lab::scripted(ScriptedLab::new("[]"))
}

/// Returns a scripted GPU of HIP.
pub fn hip() -> Lab {
    Lab::scripted(ScriptedLab::hip_device("[]", true, "gfx90a"))
}

/// Returns the backends that run kernels on the processor.
pub fn processors() -> Vec<Lab> {
    std::iter::once(Target::processor()).chain(opencl()).map(Lab::new).collect()
}

/// Returns the first OpenCL device.
#[allow(clippy::disallowed_methods)] // tests learn from the environment whether they may skip
pub fn opencl() -> Option<Target> {
    match opencl_devices(&worker()) {
        Ok(devices) => Some(devices.into_iter().next().unwrap().into()),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "OpenCL tests must run here, but {error}");
            println!("skipped on OpenCL: {error}");
            None
        }
    }
}

impl Lab {
    pub fn new(target: Target) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(kernel_file("portable.h"), folder.path().join("portable.h")).unwrap();
        Self { target, folder, _scripted: None }
    }

    /// Creates the lab of a scripted GPU that compiles kernels for the processor.
    fn scripted(gpu: ScriptedLab) -> Self {
        // Every launch sends all of the device's memory to another process.
        let gpu = gpu.with_memory(16 << 20).and(&format!("\"host\": {:?}", kernel_file("host/compile")));
        let target = gpu.target();
        Self { _scripted: Some(gpu), ..Self::new(target) }
    }

    /// Returns the API of a GPU.
    pub fn gpu(&self) -> Option<GpuApi> {
        self.target.device().map(GpuDevice::api)
    }

    pub fn is_opencl(&self) -> bool {
        self.target.device::<OpenClDevice>().is_some()
    }

    /// Writes a file.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Removes a file.
    #[allow(dead_code)] // each test binary uses a part of this module
    pub fn remove(&self, name: &str) {
        std::fs::remove_file(self.folder.path().join(name)).unwrap();
    }

    /// Returns a problem with one kernel in the backend's language. Drops the work-items in
    /// languages without them.
    pub fn spec(&self, function: &str, source: &str, arguments: Vec<Argument>, work: WorkSize) -> KernelSpec {
        // A GPU's compiler looks for the word that marks kernels.
        let marked = source.replace("KERNEL", "extern \"C\" __global__ void");
        let source = if self.gpu().is_some() { &marked } else { source };
        let mut spec = spec(self.file(&format!("kernel.{}", self.suffix()), source), function, arguments);
        spec.kernels[0].work = (self.is_opencl() || self.gpu().is_some()).then_some(WorkSize {
            // GPUs have no blocks of their own choice.
            local: work.local.or_else(|| self.gpu().map(|_| blocks(&work.extent))),
            ..work
        });
        spec
    }

    /// Returns the suffix of sources.
    pub fn suffix(&self) -> &'static str {
        match self.gpu() {
            Some(GpuApi::Cuda) => "cu",
            Some(GpuApi::Hip) => "hip",
            None if self.is_opencl() => "cl",
            None => "c",
        }
    }

    pub fn evaluator(&self, space: &Space, spec: KernelSpec) -> LiveEvaluator {
        self.open(space, options(spec))
    }

    pub fn open(&self, space: &Space, options: LiveOptions) -> LiveEvaluator {
        LiveEvaluator::new(space, LiveOptions { target: self.target.clone(), ..options }).unwrap()
    }

    /// Returns a definition of the type `t_NAME`.
    pub fn typedef(&self, element: ElementType) -> String {
        let (c, opencl) = match element.scalar().name() {
            "i8" => ("signed char", "char"),
            "u8" | "bytes" => ("unsigned char", "uchar"),
            "i16" => ("short", "short"),
            "u16" => ("unsigned short", "ushort"),
            "i32" => ("int", "int"),
            "u32" => ("unsigned int", "uint"),
            "i64" => ("long", "long"),
            "u64" => ("unsigned long", "ulong"),
            "f16" => ("_Float16", "half"),
            "f32" => ("float", "float"),
            _ => ("double", "double"),
        };
        if self.gpu().is_some() && (element.lanes() > 1 || c == "_Float16") {
            let bytes = element.size();
            return format!("struct alignas({bytes}) t_{element} {{ unsigned char bytes[{bytes}]; }};\n");
        }
        match (self.is_opencl(), element.lanes()) {
            (true, 1) => format!("typedef {opencl} t_{element};\n"),
            (true, lanes) => format!("typedef {opencl}{lanes} t_{element};\n"),
            (false, 1) => format!("typedef {c} t_{element};\n"),
            (false, _) => format!("typedef {c} t_{element} __attribute__((vector_size({})));\n", element.size()),
        }
    }

    /// Writes a file with 0, 1, 2, ... in the lanes of `count` elements. All lanes of the element
    /// at `place` hold `other`, unless that is its regular value.
    pub fn iota(&self, element: ElementType, count: usize, place: usize, other: i128) -> PathBuf {
        let mut bytes = Vec::new();
        for index in 0..count {
            for lane in 0..element.lanes() {
                let number = (index * element.lanes() + lane) as i128;
                let value = if index == place { other } else { number };
                bytes.extend(element.scalar().encode_int(value).unwrap_or_default());
            }
            bytes.resize((index + 1) * element.size(), 0);
        }
        let path = self.folder.path().join(format!("{element}-{count}-{place}.bin"));
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Returns blocks of eight threads for a launch.
fn blocks(extent: &Extent) -> Vec<Expr> {
    let (Extent::Global(extents) | Extent::Groups(extents)) = extent;
    let threads = |dimension: usize| if dimension == 0 { "8" } else { "1" };
    (0..extents.len()).map(|dimension| Expr::parse(threads(dimension)).unwrap()).collect()
}
