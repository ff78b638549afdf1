//! The tuner's side: from a configuration to a driver's binary.

use crate::backend::{Backend, BuildError, BuildPlan, Built, Program, SessionKind};
use crate::data::passed;
use crate::error::DeviceError;
use crate::live::Source;
use crate::measure::limits::human;
use crate::opencl::compile::TaskArgument;
use crate::opencl::workers::Outcome;
use crate::opencl::{CompileTask, CompileWorkers, Compiled, OpenClDevice, OpenClKind, OpenClProgram, log, signature};
use crate::problem::{Grid, Scope, did_you_mean};
use crate::worker::layout::Passed;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tunesmith_core::{Clock, CompileData, Interrupt};
use tunesmith_space::closest;

/// Compiles one kernel for one device.
pub(crate) struct OpenClBackend {
    source: Source,
    device: OpenClDevice,
    workers: Arc<CompileWorkers>,
    /// All source files in one.
    text: String,
    text_path: PathBuf,
    limit: Duration,
    clock: Arc<dyn Clock>,
    built: AtomicU64,
}

impl OpenClBackend {
    /// Writes the source into `folder`, where the binaries will go as well. `name` tells the files of one kernel from
    /// those of another.
    ///
    /// # Errors
    /// A source cannot be read.
    pub(crate) fn new(
        source: Source,
        device: OpenClDevice,
        workers: Arc<CompileWorkers>,
        folder: &Path,
        name: &str,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeviceError> {
        if source.kernel.work.is_none() {
            return Err(DeviceError::NoWorkItems { what: source.what, name: source.kernel.function.clone() });
        }
        let text = joined(&source)?;
        let text_path = folder.join(format!("{name}.cl"));
        std::fs::write(&text_path, &text).map_err(|error| source.unreadable(&text_path, error))?;
        Ok(Self { source, device, workers, text, text_path, limit, clock, built: AtomicU64::new(0) })
    }

    /// The options of `clBuildProgram`.
    fn options(&self, scope: &Scope) -> Vec<String> {
        let kernel = &self.source.kernel;
        let own = kernel.options.iter().map(|option| option.expand(scope));
        let folder = kernel.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folders = kernel.include.iter().map(PathBuf::as_path).chain([folder.unwrap_or(Path::new("."))]);
        // Drivers compile somewhere else.
        let include = folders.map(|folder| {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            format!("-I{}", quoted(&folder.display().to_string()))
        });
        let defines = scope.iter().map(|(name, value)| format!("-D{name}={}", quoted(&value.define())));
        own.chain(include).chain(defines).chain(["-cl-kernel-arg-info".to_owned()]).collect()
    }

    /// Why the device cannot take the configuration, as far as that is known before it is compiled.
    fn refusal(&self, grid: &Grid, passed: &[Passed]) -> Option<String> {
        let local_memory: usize =
            passed.iter().map(|passed| if let Passed::Local(bytes) = passed { *bytes } else { 0 }).sum();
        let exceeds = |what: &str, used: usize, limit: &str| {
            let most = self.device.limit(limit)?;
            (used > most).then(|| format!("{what} is {used}, and {} has {limit} = {most}", self.device.name))
        };
        let sizes = grid.local.iter().flatten().enumerate().find_map(|(dimension, items)| {
            let what = format!("the work-group's size in dimension {dimension}");
            exceeds(&what, *items, &format!("max_work_item_size_{dimension}"))
        });
        let items = grid.local.iter().flatten().fold(1, |product: usize, items| product.saturating_mul(*items));
        sizes
            .or_else(|| exceeds("the work-group's size", items, "max_work_group_size"))
            .or_else(|| exceeds("local memory in bytes", local_memory, "local_memory"))
    }

    fn task(&self, scope: &Scope, binary: &Path) -> Result<CompileTask, BuildError> {
        let refused = |error: &dyn std::error::Error| BuildError::Refused(error.to_string());
        let kernel = &self.source.kernel;
        let grid = kernel.grid(scope).map_err(|error| refused(&error))?;
        let grid = grid.ok_or_else(|| BuildError::Refused("it has no work-items".to_owned()))?;
        let passed = passed(&self.source.arguments, scope).map_err(|error| refused(&error))?;
        if let Some(reason) = self.refusal(&grid, &passed) {
            return Err(BuildError::Refused(reason));
        }
        let arguments = self.source.arguments.iter().zip(passed).map(|(argument, passed)| match passed {
            Passed::Buffer => TaskArgument::Buffer(argument.bytes().unwrap_or_default()),
            Passed::Scalar(bytes) => TaskArgument::Scalar(bytes),
            Passed::Local(bytes) => TaskArgument::Local(bytes),
        });
        Ok(CompileTask {
            device: self.device.index,
            source: self.text_path.clone(),
            options: self.options(scope).join(" "),
            function: kernel.function.clone(),
            arguments: arguments.collect(),
            grid,
            binary: binary.to_owned(),
        })
    }

    fn judge(&self, outcome: Outcome) -> Result<(), BuildError> {
        let function = &self.source.kernel.function;
        match outcome {
            Outcome::Compiled(Compiled::Built { arguments, .. }) => {
                let declared: Vec<_> = self.source.arguments.iter().collect();
                signature::judge(function, &declared, &arguments).map_err(BuildError::Signature)
            }
            Outcome::Compiled(Compiled::Failed(log)) => {
                Err(BuildError::Failed(log::readable(&log, &self.source.kernel.file)))
            }
            Outcome::Compiled(Compiled::NoFunction(known)) => Err(self.no_function(&known)),
            Outcome::Compiled(Compiled::Refused(reason)) => Err(BuildError::Refused(reason)),
            Outcome::Compiled(Compiled::Unusable(reason)) => {
                Err(BuildError::Broken(DeviceError::Worker { problem: format!("cannot compile: {reason}") }))
            }
            Outcome::Crashed(how) => Err(BuildError::Failed(format!("the driver's compiler crashed: {how}"))),
            Outcome::CrashedLater => Ok(()),
            Outcome::TimedOut => {
                Err(BuildError::Failed(format!("the compilation did not end within {}", human(self.limit))))
            }
            Outcome::Cancelled => Err(BuildError::Cancelled),
        }
    }

    fn no_function(&self, known: &[String]) -> BuildError {
        let function = &self.source.kernel.function;
        let similar = closest(function, known.iter().map(String::as_str)).map(str::to_owned);
        let remedy = match (&similar, known) {
            (Some(_), _) => did_you_mean(&similar).trim_start_matches("; ").to_owned(),
            (None, []) => "it has no function with the qualifier `kernel`".to_owned(),
            (None, _) => format!("it has {}", known.join(", ")),
        };
        let message = format!("`{}` has no kernel `{function}`", self.source.kernel.file.display());
        BuildError::Signature(crate::backend::Mismatch { argument: None, message, remedy, log: String::new() })
    }
}

impl Backend for OpenClBackend {
    fn shares_processor(&self) -> bool {
        self.device.kind == OpenClKind::Cpu
    }

    fn session(&self) -> SessionKind {
        SessionKind::OpenCl { device: self.device.index }
    }

    fn plan(&self, scope: &Scope) -> BuildPlan {
        let mut command = vec!["clBuildProgram".to_owned()];
        command.extend(self.options(scope));
        BuildPlan { source: self.text.clone(), command }
    }

    fn identity(&self) -> Vec<(String, String)> {
        vec![
            ("backend".to_owned(), "opencl".to_owned()),
            ("device".to_owned(), self.device.name.clone()),
            ("compiler".to_owned(), format!("{}, driver {}", self.device.platform, self.device.driver)),
        ]
    }

    fn digest(&self, _: &Scope) -> Result<String, DeviceError> {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(&self.text);
        for included in included(&self.text, &self.source) {
            add(&included);
        }
        let kernel = &self.source.kernel;
        kernel.options.iter().for_each(|option| add(&option.to_string()));
        kernel.expressions().for_each(|expr| add(expr.text()));
        self.source.arguments.iter().for_each(|argument| add(&argument.element.to_string()));
        add(&kernel.function);
        Ok(crate::data::hex(&hash.finalize()))
    }

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        let number = self.built.fetch_add(1, Ordering::Relaxed);
        let binary = self.text_path.with_extension(format!("{number}.bin"));
        let start = self.clock.now();
        let task = self.task(scope, &binary)?;
        // From here on the file, if there is one, is removed with this value.
        let mut built = Built {
            program: Program::OpenCl(OpenClProgram {
                binary: binary.clone(),
                source: self.text_path.clone(),
                options: task.options.clone(),
                function: task.function.clone(),
            }),
            compile: CompileData::default(),
        };
        let outcome = self.workers.compile(&task, self.limit, cancel).map_err(BuildError::Broken)?;
        self.judge(outcome)?;
        let time_ms = (self.clock.now() - start).as_secs_f64() * 1e3;
        let binary_bytes = std::fs::metadata(&binary).ok().map(|file| file.len());
        built.compile = CompileData { time_ms, binary_bytes };
        Ok(built)
    }
}

/// All source files in one, each with its name for messages where there are several.
fn joined(source: &Source) -> Result<String, DeviceError> {
    let kernel = &source.kernel;
    let mut text = String::new();
    for file in kernel.sources.iter().chain([&kernel.file]) {
        let contents = std::fs::read_to_string(file).map_err(|error| source.unreadable(file, error))?;
        if !kernel.sources.is_empty() {
            text += &format!("#line 1 \"{}\"\n", file.display());
        }
        text += &contents;
        text += "\n";
    }
    Ok(text)
}

/// The files that `text` and what it includes name in quotes, as far as they are found: a driver does not tell which
/// ones it reads.
fn included(text: &str, source: &Source) -> Vec<String> {
    let folder = source.kernel.file.parent().unwrap_or(Path::new("."));
    let folders: Vec<&Path> =
        std::iter::once(folder).chain(source.kernel.include.iter().map(PathBuf::as_path)).collect();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut contents: Vec<String> = Vec::new();
    let mut waiting = vec![text.to_owned()];
    while let Some(text) = waiting.pop() {
        let names = text.lines().filter_map(|line| {
            let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
            rest.strip_prefix('"')?.split('"').next()
        });
        for path in names.filter_map(|name| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()))
        {
            let new = !seen.contains(&path);
            if let Some(text) = std::fs::read_to_string(&path).ok().filter(|_| new) {
                contents.push(text.clone());
                waiting.push(text);
                seen.push(path);
            }
        }
    }
    contents
}

/// Options are words of one text.
fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word.to_owned() }
}
