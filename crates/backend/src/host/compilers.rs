//! The system's compilers.

use crate::host::{Ended, Tool, WorkerCommand, dependencies};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};
use tunesmith_kernel::{DeviceError, Language};

/// The commands of the compilers. Each text may contain arguments, quoted as in a shell: `ccache
/// gcc -m32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilers {
    /// The C compiler.
    pub cc: String,
    /// The C++ compiler.
    pub cxx: String,
    /// The places of NVIDIA's compiler and of the kernels that it has compiled.
    pub cuda: CudaSetup,
    /// The places of AMD's compiler and of the kernels that it has compiled.
    pub hip: HipSetup,
}

impl Default for Compilers {
    /// Returns the system's compilers, `cc` and `c++`.
    fn default() -> Self {
        let (cuda, hip) = (CudaSetup::default(), HipSetup::default());
        Self { cc: "cc".to_owned(), cxx: "c++".to_owned(), cuda, hip }
    }
}

/// The places of NVIDIA's libraries and of compiled kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CudaSetup {
    /// A folder to search for NVRTC before the system's places, including its sub-folders. It is
    /// the place where a toolkit or a Python package was unpacked.
    pub libraries: Option<PathBuf>,
    /// The folder of an installed toolkit. Its headers and NVRTC are searched for after `libraries`
    /// and what the system's loader knows.
    pub toolkit: Option<PathBuf>,
    /// The folder in which cubins are kept between runs. `None` keeps none.
    pub cache: Option<PathBuf>,
    /// Nsight Compute's command line, for counters when CUPTI cannot be opened. `None` searches the
    /// usual places.
    pub ncu: Option<PathBuf>,
    /// A script in place of the driver (JSON, see `docs/cuda.md`): a device without hardware, for
    /// tests.
    pub script: Option<PathBuf>,
}

/// The places of AMD's libraries and of compiled kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HipSetup {
    /// A folder to search for hiprtc and the HIP runtime before the system's places, including its
    /// sub-folders.
    pub libraries: Option<PathBuf>,
    /// The folder in which machine code is kept between runs. `None` keeps none.
    pub cache: Option<PathBuf>,
    /// A script in place of the HIP runtime (JSON, see `docs/cuda.md`): a device without hardware,
    /// for tests.
    pub script: Option<PathBuf>,
}

/// The places of the libraries of one of the APIs for GPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GpuSetup {
    /// Those of CUDA.
    Cuda(CudaSetup),
    /// Those of HIP.
    Hip(HipSetup),
}

impl GpuSetup {
    /// Returns the folder to search first.
    pub fn libraries(&self) -> Option<&Path> {
        match self {
            Self::Cuda(setup) => setup.libraries.as_deref(),
            Self::Hip(setup) => setup.libraries.as_deref(),
        }
    }

    /// Returns the folder of an installed toolkit.
    pub fn toolkit(&self) -> Option<&Path> {
        match self {
            Self::Cuda(setup) => setup.toolkit.as_deref(),
            Self::Hip(_) => None,
        }
    }

    /// Returns the folder in which machine code is kept between runs.
    pub fn cache(&self) -> Option<&Path> {
        match self {
            Self::Cuda(setup) => setup.cache.as_deref(),
            Self::Hip(setup) => setup.cache.as_deref(),
        }
    }

    /// Returns the script in place of a driver.
    pub fn script(&self) -> Option<&Path> {
        match self {
            Self::Cuda(setup) => setup.script.as_deref(),
            Self::Hip(setup) => setup.script.as_deref(),
        }
    }
}

/// A compiler that was found to work.
#[derive(Clone)]
pub struct Compiler {
    pub(crate) language: Language,
    tool: Tool,
    /// The first line of its version message.
    pub(crate) version: String,
}

impl Compiler {
    /// Finds the compiler for a language and asks it for its version. Supervisors are started as
    /// `worker` says, whose interrupt ends the question.
    pub fn find(
        compilers: &Compilers,
        worker: &WorkerCommand,
        language: Language,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeviceError> {
        let cpp = language == Language::Cpp;
        let (text, variable) = if cpp { (&compilers.cxx, "CXX") } else { (&compilers.cc, "CC") };
        let error = |problem: String| DeviceError::Compiler {
            language,
            program: text.clone(),
            problem,
            remedy: format!("install one (`apt install build-essential`, `dnf install gcc-c++`) or set {variable}"),
        };
        let words = shlex::split(text).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| error("is no command".to_owned()))?;
        let tool = Tool::new(words, worker, clock)?;
        match tool.version()? {
            Ok(version) => Ok(Self { language, tool, version }),
            Err((Ended::Cancelled, _)) => Err(DeviceError::Interrupted),
            Err((Ended::NotStarted, said)) => Err(error(format!("cannot be started: {said}"))),
            Err((_, said)) => Err(error(format!("does not answer `--version`: {}", said.trim()))),
        }
    }

    /// Returns the words of a command with further `arguments`.
    pub fn words(&self, arguments: &[String]) -> Vec<String> {
        self.tool.words(arguments)
    }

    /// Runs the compiler with `arguments`. Returns its end and both outputs.
    ///
    /// # Errors
    /// The supervisor cannot be started.
    pub fn run(
        &self,
        arguments: &[String],
        limit: Duration,
        cancel: &Interrupt,
    ) -> Result<(Ended, String), DeviceError> {
        self.tool.run(arguments, limit, cancel)
    }

    /// Returns the error for an input whose files the compiler does not tell in time.
    fn endless(&self, input: &str) -> DeviceError {
        DeviceError::Compiler {
            language: self.language,
            program: self.words(&[]).join(" "),
            problem: format!("does not come to the end of the files that `{input}` reads"),
            remedy: "see whether one of them is a pipe or includes itself".to_owned(),
        }
    }

    /// Returns the options of every compilation. They stand before the problem's options, so that
    /// the problem can change them.
    ///
    /// - Hidden visibility lets the compiler inline the kernel's own functions as in a program. It
    ///   also keeps their names apart from those of the worker.
    /// - Undefined symbols become errors now instead of when the kernel is loaded.
    /// - By default, GCC makes static data of C++ templates unique within the process, and
    ///   configurations would share them. An option turns that off.
    pub(crate) fn default_options(&self) -> Vec<String> {
        let options = ["-O3", "-march=native", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-z,defs"];
        let separate = (self.language == Language::Cpp && !self.is_clang()).then_some("-fno-gnu-unique");
        options.into_iter().chain(separate).map(str::to_owned).collect()
    }

    fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }

    /// Returns the files that a compilation of `inputs` with `options` reads, without system headers. Empty
    /// if the compiler cannot tell. The compiler writes them to the file `rules`, which is removed: its
    /// outputs may hold remarks, too. Each input is a question of its own, because the compiler would
    /// write the file again for the next one.
    ///
    /// # Errors
    /// The run was interrupted, or the compiler does not end.
    pub(crate) fn dependencies(
        &self,
        options: &[String],
        inputs: &[String],
        rules: &Path,
    ) -> Result<Vec<PathBuf>, DeviceError> {
        let mut files = Vec::new();
        for input in inputs {
            let rule = ["-MM", "-w", "-MT", dependencies::TARGET, "-MF"].into_iter().map(str::to_owned);
            let question = rule.chain([rules.display().to_string()]).chain(options.iter().cloned());
            let (ended, _) = self.tool.ask(&question.chain([input.clone()]).collect::<Vec<_>>())?;
            let written = tunesmith_files::read(rules, tunesmith_files::DATA);
            // No file is there if the input is not for the preprocessor.
            let _ = std::fs::remove_file(rules);
            match ended {
                Ended::Exited(status) if status.success() => {
                    files.extend(dependencies::prerequisites(&written.unwrap_or_default()));
                }
                Ended::Cancelled => return Err(DeviceError::Interrupted),
                Ended::TimedOut => return Err(self.endless(input)),
                _ => return Ok(Vec::new()),
            }
        }
        Ok(files)
    }
}
