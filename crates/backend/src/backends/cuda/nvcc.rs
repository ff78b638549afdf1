//! nvcc, the compiler of an installed toolkit. Unlike NVRTC, it also compiles code of the host, so
//! that a kernel may include headers of the standard library and libraries of other makers.
//!
//! It compiles in two steps. The first one makes PTX of the source, followed by a variable for each
//! requested name. Their initial values are the mangled names. The second step makes machine code
//! of the PTX without these variables, so that the code is the same as without them.

use crate::backends::compiling::{CompileOutcome, Compiled, Made, line_directive};
use crate::backends::cuda::cubin::Spills;
use crate::backends::gpu::{GpuApi, GpuMade, GpuTask, failed};
use crate::host::{CudaSetup, Ended, Tool, WorkerCommand, faults};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};
use tunesmith_kernel::{DeviceError, Language};

/// The folders in which toolkits install themselves.
const USUAL: [&str; 2] = ["/usr/local/cuda", "/opt/cuda"];

/// The depth of the search below a folder. A Python package has `nvidia/cu13/bin/nvcc`.
const DEPTH: usize = 4;

/// The variables whose initial values are names, each followed by its number.
const NAME: &str = "tunesmith_name_";

/// Explains how to get the compiler.
const REMEDY: &str = "install the CUDA toolkit 12 or 13 and set CUDA_HOME to its folder, or unpack the Python packages \
    `nvidia-cuda-nvcc`, `nvidia-nvvm`, `nvidia-cuda-crt` and `nvidia-cuda-runtime` into the folder \
    that TUNESMITH_NVIDIA names, or write `compiler = \"nvrtc\"`";

/// The compiler.
pub(crate) struct Nvcc {
    tool: Tool,
    /// Its name with its version: `nvcc 13.0.88`.
    pub(crate) name: String,
    clock: Arc<dyn Clock>,
}

/// The files of one compilation, which end with it.
struct Files {
    source: PathBuf,
    ptx: PathBuf,
}

impl Drop for Files {
    fn drop(&mut self) {
        for file in [&self.source, &self.ptx] {
            // A step that failed has not written its file.
            let _ = std::fs::remove_file(file);
        }
    }
}

impl Nvcc {
    /// Finds the compiler and asks it for its version.
    ///
    /// # Errors
    /// There is none, or it does not work.
    pub(crate) fn find(setup: &CudaSetup, worker: &WorkerCommand, clock: Arc<dyn Clock>) -> Result<Self, DeviceError> {
        let error = |program: String, problem: String| DeviceError::Compiler {
            language: Language::Cuda,
            program,
            problem,
            remedy: REMEDY.to_owned(),
        };
        let program = place(setup).ok_or_else(|| error("nvcc".to_owned(), "is not installed".to_owned()))?;
        let program = program.display().to_string();
        let tool = Tool::new(vec![program.clone()], worker, Arc::clone(&clock))?;
        match tool.ask(&["--version".to_owned()])? {
            (Ended::Cancelled, _) => Err(DeviceError::Interrupted),
            (Ended::NotStarted, reason) => Err(error(program, format!("cannot be started: {reason}"))),
            (Ended::Exited(status), said) if status.success() => {
                let version = version(&said).unwrap_or("of unknown version");
                Ok(Self { name: format!("nvcc {version}"), tool, clock })
            }
            (_, said) => Err(error(program, format!("does not answer `--version`: {}", said.trim()))),
        }
    }

    /// Returns the option with which the compiler searches a folder for headers after its own.
    pub(crate) fn headers(folder: &Path) -> String {
        format!("--system-include={}", folder.display())
    }

    /// Returns the command that compiles with `options`, for users.
    pub(crate) fn command(&self, options: &[String]) -> Vec<String> {
        let kind = if GpuApi::makes_ptx(options) { "-ptx" } else { "-cubin" };
        self.tool.words(&[&[kind.to_owned()], options].concat())
    }

    /// Compiles one configuration within `limit`. Called from several threads at once.
    ///
    /// # Errors
    /// The compiler's supervisor cannot be started, or the disk fails.
    pub(crate) fn compile(
        &self,
        task: &GpuTask,
        limit: Duration,
        cancel: &Interrupt,
    ) -> Result<CompileOutcome, DeviceError> {
        let compilation = Compilation { nvcc: self, task, end: self.clock.now() + limit, cancel };
        match compilation.run()? {
            Ok(made) => Ok(CompileOutcome::Compiled(Compiled::Built(Made::new(&made, false)))),
            Err(outcome) => Ok(outcome),
        }
    }
}

/// One configuration on its way through the compiler.
struct Compilation<'a> {
    nvcc: &'a Nvcc,
    task: &'a GpuTask,
    /// The time at which the compilation has taken too long.
    end: Duration,
    cancel: &'a Interrupt,
}

impl Compilation<'_> {
    /// Returns the description of the code, or the end of the compilation without one.
    fn run(&self) -> Result<Result<GpuMade, CompileOutcome>, DeviceError> {
        let GpuTask { binary, options, .. } = self.task;
        let files = Files { source: binary.with_extension("nvcc.cu"), ptx: binary.with_extension("nvcc.ptx") };
        let text = tunesmith_files::read_text(&self.task.source, tunesmith_files::TEXT)
            .map_err(|error| gone(&self.task.source, &error))?;
        let (macros, options): (Vec<String>, Vec<String>) =
            options.iter().cloned().partition(|option| GpuApi::Cuda.is_own_macro(option));
        let source = self.source(&text, &macros);
        tunesmith_files::write(&files.source, source).map_err(|error| gone(&files.source, &error))?;
        if let Err(ended) = self.step("-ptx", &options, &files.source, &files.ptx)? {
            return Ok(Err(ended));
        }
        let ptx =
            tunesmith_files::read_text(&files.ptx, tunesmith_files::TEXT).map_err(|error| gone(&files.ptx, &error))?;
        let (ptx, names) = without_names(&ptx);
        let Some((function, symbols)) = names.split_first().filter(|_| names.len() > self.task.symbols.len()) else {
            let reason = format!("{} gives no names", self.nvcc.name);
            return Ok(Err(CompileOutcome::Compiled(Compiled::Unusable(reason))));
        };
        let (function, symbols) = (function.clone(), symbols.to_vec());
        if GpuApi::makes_ptx(&options) {
            tunesmith_files::write(binary, ptx).map_err(|error| gone(binary, &error))?;
            return Ok(Ok(GpuMade { function, symbols, spills: None }));
        }
        tunesmith_files::write(&files.ptx, ptx).map_err(|error| gone(&files.ptx, &error))?;
        let log = self.step("-cubin", &options, &files.ptx, binary)?;
        Ok(log.map(|log| GpuMade { spills: Spills::of(&log, &function), function, symbols }))
    }

    /// Returns the text that is compiled: the macros, the source, and a variable for each name.
    ///
    /// The macros stand in the text because nvcc reads CUDA's headers before it, in which users'
    /// names occur.
    fn source(&self, text: &str, macros: &[String]) -> String {
        let mut source: String = macros.iter().filter_map(|option| GpuApi::Cuda.definition(option)).collect();
        source += &format!("{}{text}\n", line_directive(&self.task.name));
        for (number, name) in [&self.task.function].into_iter().chain(&self.task.symbols).enumerate() {
            source += &format!("__device__ decltype(&{name}) {NAME}{number} = &{name};\n");
        }
        source
    }

    /// Runs the compiler. Returns its log, or the end of the compilation.
    fn step(
        &self,
        kind: &str,
        options: &[String],
        from: &Path,
        to: &Path,
    ) -> Result<Result<String, CompileOutcome>, DeviceError> {
        let path = |path: &Path| path.display().to_string();
        let mut arguments = vec![kind.to_owned(), "-o".to_owned(), path(to)];
        arguments.extend_from_slice(options);
        arguments.push(path(from));
        let Nvcc { tool, name, clock } = self.nvcc;
        let left = self.end.saturating_sub(clock.now());
        let (ended, log) = tool.run(&arguments, left, self.cancel)?;
        Ok(match ended {
            Ended::Exited(status) if status.success() => Ok(log),
            Ended::Exited(_) => match faults::of_compilation(&log, to.parent().unwrap_or(Path::new(".")), || {
                self.compiles_plain_source(to)
            }) {
                Some(fault) => return Err(fault),
                // The user knows the source by its own name.
                None => Err(CompileOutcome::Compiled(failed(log.replace(&path(from), &self.task.name)))),
            },
            Ended::NotStarted => {
                Err(CompileOutcome::Compiled(Compiled::Unusable(format!("{name} cannot be started: {log}"))))
            }
            Ended::TimedOut => Err(CompileOutcome::TimedOut),
            Ended::Cancelled => Err(CompileOutcome::Cancelled),
        })
    }

    /// Returns false if the compiler fails on a source that has no fault, beside the file `to`.
    fn compiles_plain_source(&self, to: &Path) -> bool {
        let (source, ptx) = (to.with_extension("plain.cu"), to.with_extension("plain.ptx"));
        let arguments = ["-ptx", "-o"].map(str::to_owned).into_iter();
        let arguments: Vec<_> = arguments.chain([&ptx, &source].map(|path| path.display().to_string())).collect();
        let Nvcc { tool, clock, .. } = self.nvcc;
        let written = tunesmith_files::write(&source, faults::PLAIN_SOURCE);
        let left = self.end.saturating_sub(clock.now());
        let ran = written.is_ok().then(|| tool.run(&arguments, left, self.cancel));
        for path in [&source, &ptx] {
            // A file that is not there needs no removal.
            let _ = std::fs::remove_file(path);
        }
        match ran {
            Some(Ok((Ended::Exited(status), _))) => status.success(),
            Some(Ok((Ended::TimedOut | Ended::Cancelled, _))) => true,
            Some(Ok((Ended::NotStarted, _)) | Err(_)) | None => false,
        }
    }
}

fn gone(path: &Path, error: &std::io::Error) -> DeviceError {
    DeviceError::Machine { problem: format!("`{}` cannot be used: {error}; resume the run", path.display()) }
}

/// Returns the place of the compiler.
fn place(setup: &CudaSetup) -> Option<PathBuf> {
    let toolkits = setup.toolkit.clone().into_iter().chain(USUAL.map(PathBuf::from));
    let installed = || toolkits.map(|toolkit| toolkit.join("bin/nvcc")).find(|program| program.is_file());
    setup.libraries.as_deref().and_then(|folder| below(folder, DEPTH)).or_else(installed)
}

/// Returns the compiler in `folder` or below it. Among several, the first one by path.
fn below(folder: &Path, depth: usize) -> Option<PathBuf> {
    let program = folder.join("bin/nvcc");
    if program.is_file() {
        return Some(program);
    }
    if depth == 0 {
        return None;
    }
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<PathBuf> = entries.filter(is_folder).map(|entry| entry.path()).collect();
    folders.sort();
    folders.iter().find_map(|folder| below(folder, depth - 1))
}

/// Returns the version in the compiler's answer, `... release 13.0, V13.0.88`.
fn version(said: &str) -> Option<&str> {
    said.split_whitespace().find_map(|word| word.strip_prefix('V').filter(|rest| rest.starts_with(char::is_numeric)))
}

/// Returns PTX without the variables for names, and their initial values by number:
/// `.global .align 8 .u64 tunesmith_name_0 = _Z1fPf;`, or `generic(table)` for a variable.
fn without_names(ptx: &str) -> (String, Vec<String>) {
    let mut names = std::collections::BTreeMap::new();
    let mut rest = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        match name_of(line) {
            Some((number, name)) => drop(names.insert(number, name)),
            None => rest.push_str(line),
        }
    }
    (rest, names.into_values().collect())
}

fn name_of(line: &str) -> Option<(usize, String)> {
    let (number, value) = line.split_once(NAME)?.1.split_once('=')?;
    let value = value.trim().trim_end_matches(';').trim();
    let name = value.strip_prefix("generic(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(value);
    Some((number.trim().parse().ok()?, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_initial_values_of_variables_that_are_taken_out() {
        let ptx = ".version 9.0\n.global .align 8 .u64 tunesmith_name_1 = generic(_ZN1a5tableE);\n.entry _Z1fPf()\n\
                   .visible .global .align 8 .u64 tunesmith_name_0 = _Z1fPf;\n{ }\n";
        let (rest, names) = without_names(ptx);
        assert_eq!(rest, ".version 9.0\n.entry _Z1fPf()\n{ }\n");
        assert_eq!(names, ["_Z1fPf", "_ZN1a5tableE"]);
    }

    #[test]
    fn the_version_is_found_in_the_answer() {
        let said = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\nBuild x/V\n";
        assert_eq!(version(said), Some("13.0.88"));
        assert_eq!(version("Very new"), None);
    }

    #[test]
    fn the_compiler_is_found_in_packages_before_an_installed_toolkit() {
        let (packages, toolkit) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [packed, installed] = [packages.path().join("nvidia/cu13/bin"), toolkit.path().join("bin")];
        for folder in [&packed, &installed] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("nvcc"), "").unwrap();
        }
        let toolkit = Some(toolkit.path().to_owned());
        let both = CudaSetup { libraries: Some(packages.path().to_owned()), toolkit, ..CudaSetup::default() };
        assert_eq!(place(&both), Some(packed.join("nvcc")));
        assert_eq!(place(&CudaSetup { libraries: None, ..both }), Some(installed.join("nvcc")));
    }
}
