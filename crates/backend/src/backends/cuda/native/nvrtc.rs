//! NVRTC, NVIDIA's run-time compiler. Called only in workers.

#![allow(unsafe_code)]

use crate::backends::Absent;
use crate::backends::gpu::GpuApi;
use crate::backends::gpu::native::{Binary, Compilation, ImageFunctions, Rtc, RuntimeCompiler, libraries};
use crate::host::GpuSetup;
use std::ffi::c_int;
use std::path::{Path, PathBuf};

/// Explains how to get a compiler that is missing for this reason.
pub(super) fn missing_compiler(reason: &str) -> Absent {
    let remedy = "install the CUDA toolkit 12 or 13, or unpack the Python package `nvidia-cuda-nvrtc` into a folder \
                  and set TUNESMITH_NVIDIA to it";
    Absent { reason: reason.to_owned(), remedy: remedy.to_owned() }
}

/// The versions to search for by name, newest first.
const VERSIONS: [&str; 3] = ["13", "12", "11.2"];

/// The compiler's library.
pub(crate) struct Nvrtc {
    rtc: Rtc,
    cubin: ImageFunctions,
    ptx: ImageFunctions,
    /// The major and minor version.
    pub(super) version: (i32, i32),
    /// The architectures that it compiles for: 90 is sm_90.
    pub(super) architectures: Vec<u32>,
    /// The folder of the library, unless the system's loader found it by its name.
    pub(super) folder: Option<PathBuf>,
}

/// A function that returns numbers of architectures, or their count.
type Numbers = unsafe extern "C" fn(*mut c_int) -> c_int;

impl Nvrtc {
    /// Opens the compiler's library in the folder `folder`, or else in the system's places and in
    /// the folder `toolkit`.
    ///
    /// # Errors
    /// The library is missing or too old.
    pub(super) fn find(folder: Option<&Path>, toolkit: Option<&Path>) -> Result<Self, Absent> {
        let place = folder.map(|folder| format!(" in {}", folder.display())).unwrap_or_default();
        let missing = || missing_compiler(&format!("there is no NVRTC (libnvrtc.so.13 or .12){place}"));
        let open = |folder| libraries::open(folder, "libnvrtc", &VERSIONS, &["libnvrtc-builtins"]);
        let in_toolkit = || open(Some(toolkit.filter(|_| folder.is_none())?));
        let (library, found) = open(folder).or_else(in_toolkit).ok_or_else(missing)?;
        let old = |symbol| missing_compiler(&format!("NVRTC{place} has no `{symbol}`: it is too old"));
        let rtc = Rtc::find(library, "nvrtc").map_err(old)?;
        let cubin = rtc.image_functions("nvrtcGetCUBINSize", "nvrtcGetCUBIN").map_err(old)?;
        let ptx = rtc.image_functions("nvrtcGetPTXSize", "nvrtcGetPTX").map_err(old)?;
        let fails = |error: String| missing_compiler(&format!("NVRTC{place} does not work: {error}"));
        let version = rtc.version().map_err(fails)?;
        let architectures = architectures(&rtc).map_err(fails)?;
        Ok(Self { rtc, cubin, ptx, version, architectures, folder: found })
    }
}

impl RuntimeCompiler for Nvrtc {
    fn open(setup: &GpuSetup) -> Result<Self, Absent> {
        Self::find(setup.libraries(), setup.toolkit())
    }

    fn compile(&self, wanted: &Compilation<'_>) -> Result<Binary, String> {
        self.rtc.compile(wanted, if GpuApi::makes_ptx(wanted.options) { &self.ptx } else { &self.cubin })
    }
}

/// Returns the numbers of the architectures that the library compiles for.
fn architectures(rtc: &Rtc) -> Result<Vec<u32>, String> {
    let mut count = 0;
    // SAFETY: NVRTC documents the functions with this type. The pointer of the first is of a live
    // integer, and the array of the second is as long as the library says.
    let numbers = unsafe {
        let missing = |error: libloading::Error| format!("it is too old: {error}");
        let count_of = rtc.library().get::<Numbers>(b"nvrtcGetNumSupportedArchs").map_err(missing)?;
        let all = rtc.library().get::<Numbers>(b"nvrtcGetSupportedArchs").map_err(missing)?;
        rtc.done(count_of(&mut count))?;
        let mut numbers = vec![0; usize::try_from(count).unwrap_or_default()];
        rtc.done(all(numbers.as_mut_ptr()))?;
        numbers
    };
    Ok(numbers.into_iter().map(c_int::unsigned_abs).collect())
}
