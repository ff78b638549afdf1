//! The languages of kernels.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// A language of kernels and references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Language {
    /// C, compiled by the system's C compiler.
    C,
    /// C++, compiled by the system's C++ compiler.
    Cpp,
    /// OpenCL C, compiled by a device's driver.
    OpenCl,
    /// CUDA C++, compiled by NVRTC, or for HIP devices by hiprtc.
    Cuda,
    /// HIP C++, compiled by hiprtc.
    Hip,
}

impl Language {
    /// Returns the language of a file by its suffix: `.c` is C; `.cpp`, `.cc` and `.cxx` are C++;
    /// `.cl` and `.opencl` are OpenCL C; `.cu` is CUDA C++; `.hip` is HIP C++.
    pub fn from_suffix(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "c" => Some(Self::C),
            "cpp" | "cc" | "cxx" => Some(Self::Cpp),
            "cl" | "opencl" => Some(Self::OpenCl),
            "cu" => Some(Self::Cuda),
            "hip" => Some(Self::Hip),
            _ => None,
        }
    }

    /// Returns the name of the language in problem files.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::OpenCl => "opencl",
            Self::Cuda => "cuda",
            Self::Hip => "hip",
        }
    }

    /// Returns the language that problem files call `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "c" => Some(Self::C),
            "cpp" | "c++" | "cxx" => Some(Self::Cpp),
            "opencl" | "cl" => Some(Self::OpenCl),
            "cuda" | "cu" => Some(Self::Cuda),
            "hip" => Some(Self::Hip),
            _ => None,
        }
    }

    /// Returns what `--device` calls the devices that run the language.
    pub fn device(self) -> &'static str {
        match self {
            Self::C | Self::Cpp => "c",
            Self::OpenCl => "opencl",
            Self::Cuda => "cuda",
            Self::Hip => "hip",
        }
    }

    /// Returns the other language whose kernels the devices of this one run as well. HIP C++ has the
    /// words of CUDA C++, so its compiler takes both.
    pub fn also_runs(self) -> Option<Self> {
        (self == Self::Hip).then_some(Self::Cuda)
    }

    /// Returns true if a launch must state the work-items of a group.
    pub fn needs_blocks(self) -> bool {
        matches!(self, Self::Cuda | Self::Hip)
    }

    /// Returns true if the language's kernels have work-items.
    pub fn has_work_items(self) -> bool {
        matches!(self, Self::OpenCl | Self::Cuda | Self::Hip)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::C => "C",
            Self::Cpp => "C++",
            Self::OpenCl => "OpenCL C",
            Self::Cuda => "CUDA C++",
            Self::Hip => "HIP C++",
        })
    }
}
