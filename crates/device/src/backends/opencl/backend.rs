//! The tuner's side: from a configuration to a driver's binary.

use crate::backends::KernelSource;
use crate::backends::compiling::{
    CompileOutcome, CompileVerdict, SourceText, Workshop, defines, include_folders, launchable,
};
use crate::backends::opencl::TaskArgument;
use crate::backends::opencl::driver_cache::DriverCache;
use crate::backends::opencl::{OpenClDevice, OpenClKind, OpenClProgram, OpenClTask, log, signature};
use crate::backends::{Backend, BuildError, BuildPlan, Built, CompileTask, Made, Program, SessionKind};
use crate::data::layout::Passed;
use crate::error::DeviceError;
use crate::problem::Scope;
use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;
use tunesmith_core::{CompileData, Interrupt};

/// Compiles one kernel for one device.
pub(crate) struct OpenClBackend {
    source: KernelSource,
    device: OpenClDevice,
    workshop: Workshop,
    text: SourceText,
    cache: DriverCache,
}

impl OpenClBackend {
    /// Creates a backend. Writes the source into the workshop's folder.
    ///
    /// # Errors
    /// A source cannot be read, or the kernel has no work-items.
    pub(crate) fn new(source: KernelSource, device: OpenClDevice, workshop: Workshop) -> Result<Self, DeviceError> {
        if source.kernel.work.is_none() && source.kernel.generator.is_none() {
            return Err(DeviceError::NoWorkItems { what: source.what, name: source.kernel.function.clone() });
        }
        let text = SourceText::write(&source, workshop.file("cl"), "")?;
        let cache = DriverCache::new(device.kind == OpenClKind::Cpu);
        Ok(Self { source, device, workshop, text, cache })
    }

    /// Returns the options of `clBuildProgram`.
    fn options(&self, scope: &Scope) -> Vec<String> {
        let own = self.source.kernel.expanded_options(scope);
        let include = include_folders(&self.source).into_iter();
        let include = include.map(|folder| format!("-I{}", quoted(&folder.display().to_string())));
        let defines = defines(&self.source, scope).map(|define| format!("-D{}", quoted(&define)));
        own.chain(include).chain(defines).chain(["-cl-kernel-arg-info".to_owned()]).collect()
    }

    fn task(&self, scope: &Scope, binary: &Path) -> Result<OpenClTask, BuildError> {
        let OpenClDevice { index, name, limits, .. } = &self.device;
        let (grid, passed) = launchable(&self.source, scope, limits, name)?;
        let arguments = self.source.arguments.iter().zip(passed).map(|(argument, passed)| match passed {
            Passed::Buffer => TaskArgument::Buffer(argument.bytes().unwrap_or_default()),
            Passed::Sized(shape) => TaskArgument::Buffer(argument.size(shape.into_iter()).unwrap_or_default()),
            Passed::Scalar(bytes) => TaskArgument::Scalar(bytes),
            Passed::Local(bytes) => TaskArgument::Local(bytes),
        });
        let text = self.text.of(&self.source, scope).map_err(BuildError::Refused)?;
        Ok(OpenClTask {
            device: *index,
            source: self.text.file(&self.source, &text, binary).map_err(BuildError::Broken)?,
            options: self.options(scope).join(" "),
            function: self.source.kernel.function.clone(),
            arguments: arguments.collect(),
            grid,
            binary: binary.to_owned(),
        })
    }

    /// Returns the program of `task`, which is not compiled yet.
    fn unbuilt(&self, task: &OpenClTask) -> Built {
        Built::new(Program::OpenCl(OpenClProgram {
            binary: task.binary.clone(),
            source: task.source.clone(),
            options: task.options.clone(),
            function: task.function.clone(),
        }))
    }

    fn judge(&self, outcome: CompileOutcome) -> Result<(), BuildError> {
        let KernelSource { kernel, arguments: declared, .. } = &self.source;
        let readable = |log: &str| log::readable(log, &kernel.file);
        let verdict = CompileVerdict {
            source: &self.source,
            qualifier: "kernel",
            limit: self.workshop.limit,
            readable: &readable,
        };
        match verdict.judge(outcome)? {
            Some(Made::OpenCl { arguments, .. }) => {
                let declared: Vec<_> = declared.iter().collect();
                signature::judge(&kernel.function, &declared, &arguments).map_err(BuildError::Signature)
            }
            Some(Made::Cuda { .. }) | None => Ok(()),
        }
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
        let source = self.text.of(&self.source, scope).map_or_else(|reason| format!("// {reason}\n"), Cow::into_owned);
        BuildPlan { source, command }
    }

    fn identity(&self) -> Vec<(String, String)> {
        vec![
            ("backend".to_owned(), "opencl".to_owned()),
            ("device".to_owned(), self.device.name.clone()),
            ("compiler".to_owned(), format!("{}, driver {}", self.device.platform, self.device.driver)),
        ]
    }

    fn digest(&self, _: &Scope) -> Result<String, DeviceError> {
        Ok(self.text.digest(&self.source))
    }

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        if !self.cache.is_warm() {
            return self.build_apart(scope, cancel);
        }
        let binary = self.workshop.fresh_file("bin");
        let task = self.task(scope, &binary)?;
        let mut built = self.unbuilt(&task);
        built.is_postponed = true;
        Ok(built)
    }

    fn build_apart(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        let start = self.workshop.now();
        let binary = self.workshop.fresh_file("bin");
        let task = self.task(scope, &binary)?;
        // Dropping this value removes the file, if there is one.
        let mut built = self.unbuilt(&task);
        self.judge(self.workshop.compile(&CompileTask::OpenCl(task), cancel)?)?;
        let time = self.workshop.now() - start;
        self.cache.compiled_in(time);
        let binary_bytes = std::fs::metadata(&binary).ok().map(|file| file.len());
        built.compile = CompileData { time_ms: time.as_secs_f64() * 1e3, binary_bytes, ..CompileData::default() };
        Ok(built)
    }

    fn loaded_in(&self, load: Duration) {
        self.cache.loaded_in(load);
    }
}

/// Quotes a word, because the options are words of one text.
fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word.to_owned() }
}
