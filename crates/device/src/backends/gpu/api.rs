//! The APIs for GPUs. Each names the same functions in its own way.

use crate::backends::Absent;
use crate::host::GpuSetup;
use crate::problem::Language;
use serde::{Deserialize, Serialize};
use std::path::Path;

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
    #[cfg(any(feature = "cuda", feature = "hip"))]
    pub(in crate::backends) fn defined(self, option: &str) -> Option<&str> {
        option.strip_prefix(self.define_prefix())
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
}
