//! hiprtc, AMD's run-time compiler. Called only in workers.

use crate::backends::Absent;
use crate::backends::gpu::GpuApi;
use crate::backends::gpu::native::{Binary, Compilation, ImageFunctions, Rtc, RuntimeCompiler, libraries};
use crate::backends::hip::native::driver::runtime_version;
use crate::host::GpuSetup;
use libloading::os::unix::Library;
use std::path::Path;

/// Explains how to get a compiler that is missing for this reason.
pub(super) fn missing_compiler(reason: &str) -> Absent {
    let remedy = "install ROCm 5.2 or later (Debian: libamdhip64-5 and libhiprtc-builtins5), or put its libraries into \
                  a folder (scripts/rocm-wheel fetches some) and set TUNESMITH_ROCM to it";
    Absent { reason: reason.to_owned(), remedy: remedy.to_owned() }
}

/// The versions to search for by name, newest first.
const VERSIONS: [&str; 3] = ["7", "6", "5"];

/// The libraries that may have the compiler's functions. Releases before 5.3 have them in the
/// runtime.
const STEMS: [&str; 2] = ["libhiprtc", "libamdhip64"];

/// The compiler's library.
pub(crate) struct Hiprtc {
    rtc: Rtc,
    code: ImageFunctions,
    /// The version of HIP.
    version: String,
}

impl Hiprtc {
    /// Opens the compiler's library in `folder`, or else in the system's places.
    ///
    /// # Errors
    /// The library is missing or too old.
    pub(super) fn find(folder: Option<&Path>) -> Result<Self, Absent> {
        let place = folder.map(|folder| format!(" in {}", folder.display())).unwrap_or_default();
        let mut lacking = None;
        for stem in STEMS {
            let Some((library, _)) = libraries::open(folder, stem, &VERSIONS, &[]) else { continue };
            match Self::of(library, folder) {
                Ok(found) => return Ok(found),
                Err(reason) => lacking = Some(format!("hiprtc{place} does not work: {reason}")),
            }
        }
        let reason = lacking.unwrap_or_else(|| format!("there is no hiprtc (libhiprtc.so.7, .6 or .5){place}"));
        Err(missing_compiler(&reason))
    }

    fn of(library: Library, folder: Option<&Path>) -> Result<Self, String> {
        let old = |symbol: String| format!("it has no `{symbol}`");
        let rtc = Rtc::find(library, "hiprtc").map_err(old)?;
        let code = rtc.image_functions("hiprtcGetCodeSize", "hiprtcGetCode").map_err(old)?;
        let (major, minor) = rtc.version()?;
        // The compiler's own version never changes. The runtime beside it tells that of HIP.
        let version = runtime_version(folder).unwrap_or_else(|| format!("{major}.{minor}"));
        Ok(Self { rtc, code, version })
    }

    /// Returns the compiler's name with its version.
    pub(super) fn name(&self) -> String {
        format!("hiprtc {}", self.version)
    }
}

impl RuntimeCompiler for Hiprtc {
    fn open(setup: &GpuSetup) -> Result<Self, Absent> {
        Self::find(setup.libraries())
    }

    fn compile(&self, wanted: &Compilation<'_>) -> Result<Binary, String> {
        let (macros, options): (Vec<String>, Vec<String>) =
            wanted.options.iter().cloned().partition(|option: &String| GpuApi::Hip.is_own_macro(option));
        let macros: String = macros.iter().filter_map(|option| GpuApi::Hip.definition(option)).collect();
        // hiprtc writes the text to a file of its own. The line says what messages should call it.
        let name = wanted.name.replace('\\', "\\\\").replace('"', "\\\"");
        let source = format!("{macros}#line 1 \"{name}\"\n{}", wanted.source);
        self.rtc.compile(&Compilation { source: &source, options: &options, ..*wanted }, &self.code)
    }
}
