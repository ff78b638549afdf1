//! The tuner's side: from a configuration to a driver's binary.

use crate::backends::KernelSource;
use crate::backends::compiling::{
    Aliases, CompileOutcome, CompileVerdict, NamePlace, SourceText, Workshop, defines, include_folders, launchable,
};
use crate::backends::opencl::TaskArgument;
use crate::backends::opencl::device::NAME;
use crate::backends::opencl::driver_cache::DriverCache;
use crate::backends::opencl::object_sizes::assertions;
use crate::backends::opencl::{OpenClDevice, OpenClKind, OpenClMade, OpenClProgram, OpenClTask, log, signature};
use crate::backends::{Backend, BackendMessage, BuildError, BuildPlan, Built, Origin, Program, SessionKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_core::{CompileData, Interrupt};
use tunesmith_kernel::data::Passed;
use tunesmith_kernel::{DeviceError, Scope};

/// Compiles one kernel for one device.
pub(crate) struct OpenClBackend {
    source: KernelSource,
    device: OpenClDevice,
    workshop: Workshop,
    text: SourceText,
    /// The folders to search for included files, under names that the options take.
    include: Vec<PathBuf>,
    aliases: Aliases,
    cache: DriverCache,
}

impl OpenClBackend {
    /// Creates a backend. Writes the source into the workshop's folder.
    ///
    /// # Errors
    /// A source cannot be read, or the kernel has no work-items.
    pub(crate) fn new(source: KernelSource, device: OpenClDevice, workshop: Workshop) -> Result<Self, DeviceError> {
        if source.kernel.work.is_none() && source.kernel.generator.is_none() {
            return Err(DeviceError::NoWorkItems { what: source.what, name: source.kernel.function.to_string() });
        }
        let text = SourceText::write(&source, workshop.file("cl"), "")?;
        let include = include_folders(&source);
        let folders = include.iter().map(PathBuf::as_path);
        let aliases = Aliases::new(workshop.place(), NamePlace::Options, [], folders)?;
        let include = include.iter().map(|folder| aliases.of(folder)).collect();
        let cache = DriverCache::new(device.kind == OpenClKind::Cpu);
        Ok(Self { source, device, workshop, text, include, aliases, cache })
    }

    /// Returns the options of `clBuildProgram`.
    fn options(&self, scope: &Scope) -> Vec<String> {
        let own = self.source.kernel.expanded_options(scope);
        let include = self.include.iter().map(|folder| format!("-I{}", folder.display()));
        own.chain(include).chain(["-cl-kernel-arg-info".to_owned()]).collect()
    }

    /// Returns the source with a macro for every size and parameter, or the reason why there is none.
    ///
    /// Options would define the macros for the driver's own header as well. Its declarations break if a
    /// parameter is called `x` or `read_only`.
    fn text(&self, scope: &Scope) -> Result<String, String> {
        let mut text = self.text.of(&self.source, scope)?;
        let sizes = assertions(&text, &self.source.kernel.function.of(scope), &self.source.arguments);
        if !sizes.is_empty() {
            text.to_mut().push_str(&sizes);
        }
        let macros = defines(&self.source, scope).map(|define| format!("#define {}\n", define.replacen('=', " ", 1)));
        let macros: String = macros.collect();
        // Messages count the lines of the source alone.
        Ok(if macros.is_empty() { text.into_owned() } else { format!("{macros}#line 1\n{text}") })
    }

    fn task(&self, scope: &Scope, binary: &Path) -> Result<OpenClTask, BuildError> {
        let OpenClDevice { index, name, limits, .. } = &self.device;
        let (grid, passed) = launchable(&self.source, scope, limits, name)?;
        let arguments = self.source.arguments.iter().zip(passed).map(|(argument, passed)| match passed {
            Passed::Buffer | Passed::Sized(_) if argument.is_image() => TaskArgument::Image,
            Passed::Buffer => TaskArgument::Buffer(argument.bytes().unwrap_or_default()),
            Passed::Sized(shape) => TaskArgument::Buffer(argument.size(shape.into_iter()).unwrap_or_default()),
            Passed::Scalar(bytes) => TaskArgument::Scalar(bytes),
            Passed::Local(bytes) => TaskArgument::Local(bytes),
        });
        let text = self.text(scope).map_err(BuildError::Refused)?;
        Ok(OpenClTask {
            device: *index,
            source: self.text.file(&text, binary).map_err(BuildError::Broken)?,
            options: self.options(scope).join(" "),
            function: self.source.kernel.function.of(scope),
            arguments: arguments.collect(),
            grid,
            binary: binary.to_owned(),
        })
    }

    /// Returns the program of `task`, which is not compiled yet.
    fn program(task: &OpenClTask) -> Program {
        Program::from(OpenClProgram {
            binary: task.binary.clone(),
            source: task.source.clone(),
            options: task.options.clone(),
            function: task.function.clone(),
        })
    }

    /// Returns the time of the compilation alone, if the compile worker could tell it.
    fn judge(&self, outcome: CompileOutcome, scope: &Scope) -> Result<Option<Duration>, BuildError> {
        let source = self.source.named(scope);
        let KernelSource { kernel, arguments: declared, .. } = &source;
        let readable = |log: &str| log::readable(&self.aliases.restored(log), &kernel.file);
        let verdict =
            CompileVerdict { source: &source, qualifier: "kernel", limit: self.workshop.limit, readable: &readable };
        match verdict.judge(outcome)?.and_then(|made| made.description()) {
            Some(OpenClMade { arguments, took }) => {
                let declared: Vec<_> = declared.iter().collect();
                signature::judge(kernel.function.as_str(), &declared, &arguments).map_err(BuildError::Signature)?;
                Ok(Some(took))
            }
            None => Ok(None),
        }
    }
}

impl Backend for OpenClBackend {
    fn shares_processor(&self) -> bool {
        self.device.kind == OpenClKind::Cpu
    }

    fn session(&self) -> SessionKind {
        SessionKind::of_driver(BackendMessage::new(NAME, &self.device.index))
    }

    fn plan(&self, scope: &Scope) -> BuildPlan {
        let mut command = vec!["clBuildProgram".to_owned()];
        command.extend(self.options(scope));
        let source = self.text(scope).unwrap_or_else(|reason| format!("// {reason}\n"));
        BuildPlan { source, command }
    }

    fn identity(&self) -> Vec<(String, String)> {
        vec![
            ("backend".to_owned(), NAME.to_owned()),
            ("device".to_owned(), self.device.name.clone()),
            ("compiler".to_owned(), format!("{}, driver {}", self.device.platform, self.device.driver)),
        ]
    }

    fn digest(&self, _: &Scope) -> Result<String, DeviceError> {
        Ok(self.text.digest(&self.source))
    }

    fn require_unchanged(&self) -> Result<(), DeviceError> {
        self.text.require_unchanged()
    }

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        if !self.cache.is_warm() {
            return self.build_apart(scope, cancel);
        }
        let binary = self.workshop.fresh_file("bin");
        let task = self.task(scope, &binary)?;
        self.require_unchanged().map_err(BuildError::Broken)?;
        let mut built = Built::new(Self::program(&task));
        built.origin = Origin::Postponed;
        Ok(built)
    }

    fn build_apart(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        let start = self.workshop.now();
        let binary = self.workshop.fresh_file("bin");
        let task = self.task(scope, &binary)?;
        // Dropping this value removes the file, if there is one.
        let mut built = Built::new(Self::program(&task));
        let outcome = self.workshop.compile(&BackendMessage::new(NAME, &task), cancel)?;
        self.require_unchanged().map_err(BuildError::Broken)?;
        let took = self.judge(outcome, scope)?;
        let time = self.workshop.now() - start;
        self.cache.compiled_in(took.unwrap_or(time));
        built.digest_file();
        let binary_bytes = std::fs::metadata(&binary).ok().map(|file| file.len());
        built.compile = CompileData { time_ms: time.as_secs_f64() * 1e3, binary_bytes, ..CompileData::default() };
        Ok(built)
    }

    fn adopt(&self, program: Program, scope: &Scope) -> Result<Program, BuildError> {
        OpenClProgram::of(&program).ok_or_else(BuildError::foreign)?;
        let task = self.task(scope, &self.workshop.fresh_file("bin"))?;
        Ok(Self::program(&task))
    }

    fn loaded_in(&self, load: Duration) {
        self.cache.loaded_in(load);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::Opening;
    use crate::backends::compiling::{CompileService, Compiled, Made};
    use crate::host::{Compilers, WorkerCommand};
    use std::sync::Arc;
    use tunesmith_core::{Clock, ManualClock};
    use tunesmith_kernel::{CudaCompiler, Extent, Kernel, Language, WorkSize};
    use tunesmith_space::Expr;

    /// A compile worker that takes a second to start and 30 ms to compile.
    struct SlowStart(Arc<ManualClock>);

    impl CompileService for SlowStart {
        fn compile(&self, _: &BackendMessage, _: Duration, _: &Interrupt) -> Result<CompileOutcome, DeviceError> {
            let took = Duration::from_millis(30);
            self.0.advance(Duration::from_secs(1) + took);
            Ok(CompileOutcome::Compiled(Compiled::Built(Made::new(&OpenClMade { arguments: Vec::new(), took }, false))))
        }
    }

    fn backend(folder: &Path) -> OpenClBackend {
        let file = folder.join("f.cl");
        std::fs::write(&file, "kernel void f() {}").unwrap();
        let work = WorkSize { extent: Extent::Global(vec![Expr::parse("1").unwrap()]), local: None };
        let kernel = Kernel {
            name: "f".to_owned(),
            language: Language::OpenCl,
            file,
            generator: None,
            reading: tunesmith_kernel::Reading::default(),
            sources: Vec::new(),
            include: Vec::new(),
            function: "f".into(),
            options: Vec::new(),
            arguments: Vec::new(),
            repeat: None,
            work: Some(work),
            cuda_compiler: CudaCompiler::default(),
            alternative: None,
        };
        let device = OpenClDevice {
            index: 0,
            name: "a processor".to_owned(),
            platform: String::new(),
            driver: String::new(),
            kind: OpenClKind::Cpu,
            limits: std::collections::BTreeMap::new(),
        };
        let clock = Arc::new(ManualClock::default());
        let workshop = Workshop::new(Opening {
            folder,
            name: "kernel",
            limit: Duration::MAX,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            compilers: &Compilers::default(),
            worker: &WorkerCommand::current(),
            service: Arc::new(SlowStart(clock)),
        });
        let source = KernelSource { what: "the kernel", kernel, arguments: Vec::new() };
        OpenClBackend::new(source, device, workshop).unwrap()
    }

    #[test]
    fn the_start_of_a_compile_worker_does_not_make_the_drivers_cache_look_cold() {
        let folder = tempfile::tempdir().unwrap();
        let backend = backend(folder.path());
        let build = || backend.build(&Scope::new([]), &Interrupt::default()).unwrap();
        assert_eq!(build().origin, Origin::Here, "nothing is known yet");
        assert_eq!(build().origin, Origin::Postponed, "the driver compiled in 30 ms");
    }
}
