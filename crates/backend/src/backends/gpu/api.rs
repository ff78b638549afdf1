//! The APIs for GPUs. Each names the same functions in its own way.

use crate::backends::Absent;
use crate::host::GpuSetup;
use serde::{Deserialize, Serialize};
use std::path::Path;
use tunesmith_kernel::Language;

/// An API for GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GpuApi {
    /// CUDA, with the compiler NVRTC.
    Cuda,
    /// HIP, with the compiler hiprtc.
    Hip,
}

impl GpuApi {
    /// Returns the API that a setup is for.
    pub(crate) fn of(setup: &GpuSetup) -> Self {
        match setup {
            GpuSetup::Cuda(_) => Self::Cuda,
            GpuSetup::Hip(_) => Self::Hip,
        }
    }

    /// Returns the name of the API for users.
    pub fn title(self) -> &'static str {
        match self {
            Self::Cuda => "CUDA",
            Self::Hip => "HIP",
        }
    }

    /// Returns what `--device` calls the API's devices.
    pub fn device(self) -> &'static str {
        self.language().device()
    }

    /// Returns the language that the API is made for.
    pub(crate) fn language(self) -> Language {
        match self {
            Self::Cuda => Language::Cuda,
            Self::Hip => Language::Hip,
        }
    }

    /// Returns true if the API's devices run kernels in `language`.
    pub(crate) fn runs(self, language: Language) -> bool {
        self.language() == language || self.language().also_runs() == Some(language)
    }

    /// Returns the name of the library that compiles.
    pub(crate) fn compiler(self) -> &'static str {
        match self {
            Self::Cuda => "nvrtc",
            Self::Hip => "hiprtc",
        }
    }

    /// Returns the suffix of sources.
    pub(super) fn source_suffix(self) -> &'static str {
        match self {
            Self::Cuda => "cu",
            Self::Hip => "hip",
        }
    }

    /// Returns the word for machine code, which is also the suffix of its files.
    pub(super) fn binary(self) -> &'static str {
        match self {
            Self::Cuda => "cubin",
            Self::Hip => "hsaco",
        }
    }

    /// Returns true if the option selects the architecture to compile for.
    pub(crate) fn is_architecture(self, option: &str) -> bool {
        match self {
            Self::Cuda => option.starts_with("--gpu-architecture") || option.starts_with("-arch"),
            Self::Hip => option.starts_with("--offload-arch") || option.starts_with("--gpu-architecture"),
        }
    }

    /// Returns the option that selects the architecture to compile for.
    pub(super) fn architecture(self, name: &str) -> String {
        match self {
            Self::Cuda => format!("--gpu-architecture={name}"),
            Self::Hip => format!("--offload-arch={name}"),
        }
    }

    /// Returns the option that adds a folder to those searched for included files.
    pub(super) fn include(self, folder: &Path) -> String {
        match self {
            Self::Cuda => format!("--include-path={}", folder.display()),
            Self::Hip => format!("-I{}", folder.display()),
        }
    }

    /// Returns the option that defines a macro, `NAME=VALUE`.
    pub(super) fn define(self, define: &str) -> String {
        format!("{}{define}", self.define_prefix())
    }

    /// Returns the macro, `NAME=VALUE`, that an option of [`define`](Self::define) defines.
    pub(in crate::backends) fn defined(self, option: &str) -> Option<&str> {
        option.strip_prefix(self.define_prefix())
    }

    /// Returns true if an option defines a macro for the source alone. Compilers that read headers
    /// of their own before the source get such macros in the text, because users' names occur in
    /// the headers. The API's own macros are meant for the headers.
    pub(in crate::backends) fn is_own_macro(self, option: &str) -> bool {
        let own = self.title();
        self.defined(option).is_some_and(|define| {
            !define.is_empty() && !["__", own].iter().any(|beginning| define.starts_with(beginning))
        })
    }

    /// Returns the line that defines the macro of an option. A name without a value means 1.
    pub(in crate::backends) fn definition(self, option: &str) -> Option<String> {
        let define = self.defined(option)?;
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        Some(format!("#define {name} {value}\n"))
    }

    /// Returns true if the options of a compiler for CUDA name an architecture of PTX, such as
    /// `compute_90`, instead of a device's.
    pub(in crate::backends) fn makes_ptx(options: &[String]) -> bool {
        let is_architecture = |option: &&String| Self::Cuda.is_architecture(option);
        options.iter().rev().find(is_architecture).is_some_and(|option| option.contains("compute_"))
    }

    fn define_prefix(self) -> &'static str {
        match self {
            Self::Cuda => "--define-macro=",
            Self::Hip => "-D",
        }
    }

    /// Returns options that every compilation gets.
    pub(super) fn constant_options(self) -> &'static [&'static str] {
        match self {
            // Profilers use the first option to show lines. The second reports spilled registers.
            // Neither changes the machine code.
            Self::Cuda => &["-lineinfo", "--ptxas-options=-v"],
            // Otherwise the code contains a digest of the source, and equal code looks different.
            Self::Hip => &["-cuid=tunesmith"],
        }
    }

    /// Returns the form in which this API's compiler takes an option that was written for
    /// `language`: HIP's compiler is clang, which spells some of NVRTC's options differently.
    /// Returns `None` for an option without a meaning there.
    pub(super) fn option(self, language: Language, option: String) -> Option<String> {
        if self != Self::Hip || language != Language::Cuda {
            return Some(option);
        }
        let renamed = |(cuda, hip): &(&str, &str)| option.strip_prefix(cuda).map(|rest| format!("{hip}{rest}"));
        match option.as_str() {
            _ if option.starts_with("--maxrregcount") || option.starts_with("-maxrregcount") => None,
            "-lineinfo" | "--generate-line-info" | "-default-device" | "--device-as-default-execution-space" => None,
            "-use_fast_math" | "--use_fast_math" => Some("-ffast-math".to_owned()),
            "--fmad=true" | "-fmad=true" => Some("-ffp-contract=fast".to_owned()),
            "--fmad=false" | "-fmad=false" => Some("-ffp-contract=off".to_owned()),
            _ => CLANG_OPTIONS.iter().find_map(renamed).or(Some(option)),
        }
    }

    /// Returns the name of the library that drives devices.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    pub(crate) fn driver(self) -> &'static str {
        match self {
            Self::Cuda => "the NVIDIA driver",
            Self::Hip => "the HIP runtime",
        }
    }

    /// Explains how to get a driver that is missing for this reason.
    pub(crate) fn missing_driver(self, reason: &str) -> Absent {
        let remedy = match self {
            Self::Cuda => "install NVIDIA's driver (on a machine with an NVIDIA GPU `nvidia-smi` then lists it)",
            Self::Hip => {
                "install ROCm 5.2 or later (on a machine with an AMD GPU `rocminfo` then lists it), and add the user \
                 to the groups `render` and `video`, which may open /dev/kfd"
            }
        };
        Absent { reason: reason.to_owned(), remedy: remedy.to_owned() }
    }
}

/// The beginnings of options of NVRTC that clang spells differently.
const CLANG_OPTIONS: [(&str, &str); 4] =
    [("--std=", "-std="), ("--define-macro=", "-D"), ("--include-path=", "-I"), ("--undefine-macro=", "-U")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_for_nvrtc_become_those_of_clang_on_hip_alone() {
        let hip = |option: &str| GpuApi::Hip.option(Language::Cuda, option.to_owned());
        assert_eq!(hip("--std=c++17").as_deref(), Some("-std=c++17"));
        assert_eq!(hip("--use_fast_math").as_deref(), Some("-ffast-math"));
        assert_eq!(hip("--define-macro=A=1").as_deref(), Some("-DA=1"));
        assert_eq!(hip("-O1").as_deref(), Some("-O1"));
        assert_eq!(hip("-lineinfo"), None);
        let cuda = |option: &str| GpuApi::Cuda.option(Language::Cuda, option.to_owned());
        assert_eq!(cuda("--std=c++17").as_deref(), Some("--std=c++17"));
        assert_eq!(GpuApi::Hip.option(Language::Hip, "--std=x".to_owned()).as_deref(), Some("--std=x"));
    }

    #[test]
    fn macros_of_the_source_are_told_from_those_of_the_headers() {
        let is_own = |option| GpuApi::Hip.is_own_macro(option);
        assert!(is_own("-DTILE=4") && is_own("-DFAST") && is_own("-DCUDA=1"));
        assert!(!is_own("-DHIP_ENABLE_WARP_SYNC_BUILTINS") && !is_own("-D__HIP_X=1") && !is_own("-O3"));
        assert!(!GpuApi::Cuda.is_own_macro("--define-macro=CUDA_NO_HALF"));
        let definition = |option| GpuApi::Hip.definition(option);
        assert_eq!(definition("-DTILE=4").as_deref(), Some("#define TILE 4\n"));
        assert_eq!(definition("-DFAST").as_deref(), Some("#define FAST 1\n"));
        assert_eq!(definition("-O3"), None);
    }

    #[test]
    fn the_last_architecture_says_what_is_made() {
        let ptx = |options: &[&str]| GpuApi::makes_ptx(&options.iter().map(|one| one.to_string()).collect::<Vec<_>>());
        assert!(ptx(&["--gpu-architecture=sm_90", "-arch=compute_90"]));
        assert!(!ptx(&["--gpu-architecture=sm_90a", "-lineinfo"]));
        assert!(!ptx(&[]));
    }
}
