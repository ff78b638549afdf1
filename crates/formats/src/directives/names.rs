//! The names of directives.

use tunesmith_space::did_you_mean;

/// The meaning of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A named number.
    Variable,
    /// A tuning parameter.
    Parameter,
    /// The strategy.
    Technique,
    /// The stop condition.
    Abort,
    /// A part of a kernel's launch.
    Launch(Api, Part),
    /// The file of the kernel, if it is another one.
    Source,
    /// The command of a run.
    Run,
    /// The command that builds a configuration.
    Compile,
    /// The file that a run writes its cost to.
    CostFile,
}

/// The interface by which a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    OpenCl,
    Cuda,
}

/// A part of a kernel's launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The kernel's function.
    Name,
    /// One argument or several.
    Inputs,
    /// Work-items in OpenCL, blocks in CUDA.
    Extent,
    /// Work-items of a work-group, threads of a block.
    Group,
    /// Options of the compiler.
    Flags,
    /// The OpenCL platform.
    Platform,
    /// The device.
    Device,
    /// Platform, kind and number of the device.
    DeviceInfo,
    /// The function that computes the correct results.
    CheckResult,
    /// Runs before those that count.
    Warmups,
    /// Runs that count.
    Evaluations,
}

use Api::{Cuda, OpenCl};
use Meaning::Launch;

/// The directives by the names of ATF's papers, of its C++ interface and of programs that write
/// directives.
const NAMES: &[(&str, Meaning)] = &[
    ("var", Meaning::Variable),
    ("tp", Meaning::Parameter),
    ("search_technique", Meaning::Technique),
    ("abort_condition", Meaning::Abort),
    ("source", Meaning::Source),
    ("run_script", Meaning::Run),
    ("run_command", Meaning::Run),
    ("compile_script", Meaning::Compile),
    ("compile_command", Meaning::Compile),
    ("cost_file", Meaning::CostFile),
    ("costfile", Meaning::CostFile),
    ("ocl::kernel_name", Launch(OpenCl, Part::Name)),
    ("ocl::name", Launch(OpenCl, Part::Name)),
    ("ocl::input", Launch(OpenCl, Part::Inputs)),
    ("ocl::inputs", Launch(OpenCl, Part::Inputs)),
    ("ocl::global_size", Launch(OpenCl, Part::Extent)),
    ("ocl::gs", Launch(OpenCl, Part::Extent)),
    ("ocl::local_size", Launch(OpenCl, Part::Group)),
    ("ocl::ls", Launch(OpenCl, Part::Group)),
    ("ocl::flags", Launch(OpenCl, Part::Flags)),
    ("ocl::platform_id", Launch(OpenCl, Part::Platform)),
    ("ocl::platform_name", Launch(OpenCl, Part::Platform)),
    ("ocl::device_id", Launch(OpenCl, Part::Device)),
    ("ocl::device_name", Launch(OpenCl, Part::Device)),
    ("ocl::device_info", Launch(OpenCl, Part::DeviceInfo)),
    ("ocl::check_result", Launch(OpenCl, Part::CheckResult)),
    ("ocl::warmups", Launch(OpenCl, Part::Warmups)),
    ("ocl::evaluations", Launch(OpenCl, Part::Evaluations)),
    ("cuda::kernel_name", Launch(Cuda, Part::Name)),
    ("cuda::name", Launch(Cuda, Part::Name)),
    ("cuda::input", Launch(Cuda, Part::Inputs)),
    ("cuda::inputs", Launch(Cuda, Part::Inputs)),
    ("cuda::grid_dim", Launch(Cuda, Part::Extent)),
    ("cuda::block_dim", Launch(Cuda, Part::Group)),
    ("cuda::flags", Launch(Cuda, Part::Flags)),
    ("cuda::device_id", Launch(Cuda, Part::Device)),
    ("cuda::check_result", Launch(Cuda, Part::CheckResult)),
    ("cuda::warmups", Launch(Cuda, Part::Warmups)),
    ("cuda::evaluations", Launch(Cuda, Part::Evaluations)),
];

impl Meaning {
    /// Returns the meaning of a directive's name, which may have a type (`var<int>`) or, for a
    /// variable, its name (`var::N`). Returns the remedy for an unknown name.
    pub(super) fn of(name: &str) -> Result<Self, String> {
        let plain = name.split('<').next().unwrap_or(name);
        let plain = if plain.starts_with("var::") { "var" } else { plain };
        // The C++ interface writes the name out.
        let plain = plain.replacen("opencl::", "ocl::", 1);
        let known = NAMES.iter().find(|(known, _)| *known == plain);
        known.map(|(_, meaning)| *meaning).ok_or_else(|| remedy(&plain))
    }
}

/// Returns the remedy for an unknown name: a similar one, or all with the same first part.
fn remedy(name: &str) -> String {
    let parts = |name: &'static str| name.split_once("::").unwrap_or(("", name));
    let (family, own) = name.split_once("::").unwrap_or(("", name));
    let all = || NAMES.iter().map(|(known, _)| *known);
    let mut family: Vec<&str> = all().filter(|known| parts(known).0 == family).collect();
    // A shared first part must not make every name similar.
    let is_similar = did_you_mean(own, family.iter().map(|known| parts(known).1)).is_some();
    if let Some(similar) = did_you_mean(name, all()).filter(|_| is_similar || family.is_empty()) {
        return similar;
    }
    if family.is_empty() {
        family = all().filter(|known| !known.contains("::")).collect();
    }
    format!("directives are #atf::{}", family.join(", #atf::"))
}

impl Api {
    /// Returns the first part of the interface's directives.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::OpenCl => "ocl",
            Self::Cuda => "cuda",
        }
    }

    /// Returns the name of the directive for work-items or blocks.
    pub(super) fn extent(self) -> &'static str {
        match self {
            Self::OpenCl => "global_size",
            Self::Cuda => "grid_dim",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_meaning_with_or_without_a_type() {
        assert_eq!(Meaning::of("var::N"), Ok(Meaning::Variable));
        assert_eq!(Meaning::of("var<std::size_t>"), Ok(Meaning::Variable));
        assert_eq!(Meaning::of("opencl::gs"), Ok(Launch(OpenCl, Part::Extent)));
        assert_eq!(Meaning::of("cuda::block_dim"), Ok(Launch(Cuda, Part::Group)));
    }

    #[test]
    fn an_unknown_name_has_a_remedy() {
        assert_eq!(Meaning::of("ocl::kernel_nam").unwrap_err(), "did you mean `ocl::kernel_name`?");
        assert_eq!(Meaning::of("serch_technique").unwrap_err(), "did you mean `search_technique`?");
        let listed = Meaning::of("cuda::concurrent_streams").unwrap_err();
        assert!(listed.contains("#atf::cuda::grid_dim") && !listed.contains("ocl::"), "{listed}");
        assert!(Meaning::of("no::such").unwrap_err().contains("#atf::run_script"));
    }
}
