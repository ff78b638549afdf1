//! The tuner's side: from a configuration to a shared library.

use crate::backends::KernelSource;
use crate::backends::c::diagnose::{CompiledCall, Diagnosis, judge, wrong_elements};
use crate::backends::c::session::{NAME, session};
use crate::backends::c::shim;
use crate::backends::compiling::{Aliases, NamePlace, SourceFiles};
use crate::backends::{Backend, BuildError, BuildPlan, Built, Program, SessionKind};
use crate::host::{Compiler, Ended, faults, processor_name};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tunesmith_core::{Clock, CompileData, Interrupt};
use tunesmith_files::TEXT;
use tunesmith_kernel::data::Fields;
use tunesmith_kernel::measure::limits::human;
use tunesmith_kernel::{Argument, ArgumentKind, DeviceError, Language, Scope};

/// Compiles one function together with its shim.
pub(crate) struct CBackend {
    source: KernelSource,
    /// The file's path as passed to the compiler.
    absolute: PathBuf,
    aliases: Aliases,
    compiler: Compiler,
    shim: String,
    shim_path: PathBuf,
    limit: Duration,
    clock: Arc<dyn Clock>,
    built: AtomicU64,
    files: SourceFiles,
}

impl CBackend {
    /// Creates a backend and writes its shim into `folder`, which also gets the libraries. `name`
    /// keeps the files of one backend apart from those of another.
    pub(crate) fn new(
        source: KernelSource,
        compiler: Compiler,
        folder: &Path,
        name: &str,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeviceError> {
        let kernel = &source.kernel;
        let file = match &kernel.generator {
            None => Some(kernel.file.canonicalize().map_err(|error| source.unreadable(&kernel.file, error))?),
            Some(_) => None,
        };
        for path in &kernel.sources {
            tunesmith_files::open(path).map_err(|error| source.unreadable(path, error))?;
        }
        check_objects(&source)?;
        let files = file.iter().chain(&kernel.sources).map(PathBuf::as_path);
        let include = kernel.include.iter().map(PathBuf::as_path);
        let aliases = Aliases::new((folder, name), NamePlace::Source, files, include)?;
        let generated = || folder.join(format!("{name}-generated.c"));
        let absolute = file.map_or_else(generated, |file| aliases.of(&file));
        let suffix = if kernel.language == Language::Cpp { "cpp" } else { "c" };
        let shim_path = folder.join(format!("{name}.{suffix}"));
        let shim =
            shim::source(kernel.language, (&shim_path, &absolute), kernel.function.in_source(), &source.arguments);
        faults::write(&shim_path, &shim)?;
        Ok(Self {
            source,
            absolute,
            aliases,
            compiler,
            shim,
            shim_path,
            limit,
            clock,
            built: AtomicU64::new(0),
            files: SourceFiles::default(),
        })
    }

    /// Returns the problem's options, the include folders and the configuration's defines, in this
    /// order. Generated sources get no defines: they contain the numbers, and their names would
    /// clash with the macros. An option that silences all warnings is left out, because warnings tell
    /// the types of the function's parameters.
    fn problem_options(&self, scope: &Scope) -> Vec<String> {
        let options = self.source.kernel.expanded_options(scope).filter(|option| option != "-w");
        let include = self.source.kernel.include.iter().map(|folder| self.aliases.of(folder));
        let include = include.map(|folder| format!("-I{}", folder.display()));
        let beside = self.aliases.beside().iter().map(|folder| format!("-iquote{}", folder.display()));
        let is_file = self.source.kernel.generator.is_none();
        let defines = scope.iter().filter(|_| is_file).map(|(name, value)| format!("-D{name}={}", value.define()));
        let function = self.source.kernel.function.define(scope).map(|define| format!("-D{define}"));
        options.chain(beside).chain(include).chain(defines).chain(function).collect()
    }

    /// Returns the files to compile together with the shim at this path.
    fn inputs(&self, shim: &Path) -> Vec<String> {
        let sources = self.source.kernel.sources.iter().map(|file| self.aliases.of(file));
        std::iter::once(shim.to_owned()).chain(sources).map(|path| path.display().to_string()).collect()
    }

    fn arguments(&self, scope: &Scope, shim: &Path, output: &Path) -> Vec<String> {
        let mut arguments = self.compiler.default_options();
        arguments.extend(self.problem_options(scope));
        arguments.extend(self.inputs(shim));
        arguments.extend(["-o".to_owned(), output.display().to_string(), "-lm".to_owned()]);
        arguments
    }

    /// Returns the files that a compilation of `scope` reads, each once: the user's files and the
    /// files they include.
    fn files(&self, scope: &Scope) -> Result<Vec<PathBuf>, DeviceError> {
        let kernel = &self.source.kernel;
        let (mut files, mut read) = (Vec::new(), Vec::new());
        if kernel.generator.is_none() {
            let inputs = self.inputs(&self.shim_path);
            let rules = self.shim_path.with_extension("rules");
            read = self.compiler.dependencies(&self.problem_options(scope), &inputs, &rules)?;
            files.push(self.absolute.clone());
        }
        for file in read.into_iter().chain(kernel.sources.iter().map(|file| self.aliases.of(file))) {
            if file != self.shim_path && !files.contains(&file) {
                files.push(file);
            }
        }
        Ok(files)
    }

    /// Returns the contents of the files that other configurations may include beside these `texts`, and remembers
    /// them: the compiler names those of one configuration.
    fn files_of_others(&self, texts: Vec<(String, PathBuf)>) -> Vec<String> {
        let kernel = &self.source.kernel;
        let beside = [&kernel.file].into_iter().chain(&kernel.sources).filter_map(|file| file.parent());
        let folders: Vec<&Path> = beside.chain(kernel.include.iter().map(PathBuf::as_path)).collect();
        let read = SourceFiles::default().read_included(texts, &folders);
        let new = read.into_iter().filter(|(path, _)| !self.files.knows(path));
        new.filter_map(|(path, content)| self.files.read(&path).ok().map(|_| content)).collect()
    }

    /// Returns the error for a file that the compiler names and that cannot be read.
    fn unreadable(&self, file: &Path, error: std::io::Error) -> DeviceError {
        self.source.unreadable(Path::new(&self.aliases.restored(&file.to_string_lossy())), error)
    }

    fn fresh_library(&self) -> PathBuf {
        let number = self.built.fetch_add(1, Ordering::Relaxed);
        self.shim_path.with_extension(format!("{number}.so"))
    }

    /// Returns the shim and the source that it includes, for the program at `library`. All
    /// configurations share one pair, except with a generator.
    fn sources(&self, scope: &Scope, library: &Path) -> Result<(PathBuf, PathBuf), BuildError> {
        let kernel = &self.source.kernel;
        let Some(generator) = &kernel.generator else { return Ok((self.shim_path.clone(), self.absolute.clone())) };
        let made = generator.generate(scope).map_err(BuildError::Refused)?;
        let (shim, source) = (library.with_extension("c"), library.with_extension("generated.c"));
        let text = shim::source(kernel.language, (&shim, &source), kernel.function.in_source(), &self.source.arguments);
        for (path, text) in [(&source, &made.text), (&shim, &text)] {
            faults::write(path, text).map_err(BuildError::Broken)?;
        }
        Ok((shim, source))
    }

    /// Describes the call of `function` in `absolute`, for messages.
    fn call<'a>(&'a self, function: &'a str, (shim, absolute): (&'a Path, &'a Path)) -> CompiledCall<'a> {
        CompiledCall { file: &self.source.kernel.file, absolute, shim, function, arguments: &self.source.arguments }
    }

    /// Runs the compiler. Runs it again if it complains about a machine with which nothing is wrong
    /// any more.
    ///
    /// # Errors
    /// The machine is to blame that the compiler failed.
    fn compile(&self, arguments: &[String], cancel: &Interrupt) -> Result<(Ended, String), BuildError> {
        let run = || self.compiler.run(arguments, self.limit, cancel).map_err(BuildError::Broken);
        let (ended, log) = run()?;
        if !matches!(ended, Ended::Exited(status) if !status.success()) {
            return Ok((ended, log));
        }
        let folder = self.shim_path.parent().unwrap_or(Path::new("."));
        match faults::of_compilation(&log, folder, || self.compiles_plain_source(folder, cancel)) {
            Some(fault) => Err(BuildError::Broken(fault)),
            None if faults::complains(&log) => run(),
            None => Ok((ended, log)),
        }
    }

    /// Returns false if the compiler fails on a source that has no fault.
    fn compiles_plain_source(&self, folder: &Path, cancel: &Interrupt) -> bool {
        let Ok(folder) = tempfile::tempdir_in(folder) else { return false };
        let source = folder.path().join(self.shim_path.file_name().unwrap_or_default());
        if tunesmith_files::write(&source, faults::PLAIN_SOURCE).is_err() {
            return false;
        }
        let mut arguments = self.compiler.default_options();
        let output = source.with_extension("so");
        arguments.extend(["-o".to_owned(), output.display().to_string(), source.display().to_string()]);
        match self.compiler.run(&arguments, self.limit, cancel) {
            Ok((Ended::Exited(status), _)) => status.success(),
            // The source that failed before tells more than a machine that is too slow.
            Ok((Ended::TimedOut | Ended::Cancelled, _)) => true,
            Ok((Ended::NotStarted, _)) | Err(_) => false,
        }
    }

    /// Returns the reason why the compiler ended without a library.
    fn judge(&self, log: &str, call: CompiledCall<'_>) -> BuildError {
        let source = tunesmith_files::read_text(call.absolute, TEXT).unwrap_or_default();
        match judge(log, &source, call) {
            Diagnosis::Code(message) => BuildError::Failed(self.aliases.restored(&message)),
            Diagnosis::Signature(mut mismatch) => {
                mismatch.log = self.aliases.restored(&mismatch.log);
                BuildError::Signature(mismatch)
            }
        }
    }

    fn broken(&self, reason: &str) -> BuildError {
        BuildError::Broken(DeviceError::Compiler {
            language: self.source.kernel.language,
            program: self.compiler.words(&[]).join(" "),
            problem: format!("cannot be started any more: {reason}"),
            remedy: "see whether the system is out of memory or processes".to_owned(),
        })
    }
}

/// Refuses objects passed by value in C. Only C++ finds the type of a function's parameter.
fn check_objects(source: &KernelSource) -> Result<(), DeviceError> {
    let is_object = |argument: &&Argument| matches!(argument.kind, ArgumentKind::Object(_));
    match source.arguments.iter().find(is_object).filter(|_| source.kernel.language == Language::C) {
        None => Ok(()),
        Some(argument) => Err(DeviceError::Scalar {
            argument: argument.name.clone(),
            problem: "C cannot pass an object whose type the problem does not know; write language = \"cpp\", or make \
                      the parameter a pointer to the object and the argument a buffer"
                .to_owned(),
            source: None,
        }),
    }
}

/// Returns the program in a shared library that exports `tunesmith_call`.
fn library(path: PathBuf) -> Program {
    Program::new(NAME, path)
}

impl Backend for CBackend {
    fn shares_processor(&self) -> bool {
        true
    }

    fn session(&self) -> SessionKind {
        session()
    }

    fn plan(&self, scope: &Scope) -> BuildPlan {
        let output = self.shim_path.with_extension("so");
        let generated = self.source.kernel.generator.as_ref().map(|generator| generator.generate(scope));
        let source = match generated {
            None => self.shim.clone(),
            Some(Ok(made)) => made.text,
            Some(Err(reason)) => format!("// {reason}\n"),
        };
        BuildPlan { source, command: self.compiler.words(&self.arguments(scope, &self.shim_path, &output)) }
    }

    fn identity(&self) -> Vec<(String, String)> {
        vec![
            ("backend".to_owned(), "c".to_owned()),
            ("device".to_owned(), processor_name()),
            ("compiler".to_owned(), self.compiler.version.clone()),
        ]
    }

    /// Digests everything that determines the compiled code: the files read for `scope` (without
    /// system headers), the options of the compiler and of the problem, the function, and the types
    /// of its arguments.
    fn digest(&self, scope: &Scope) -> Result<String, DeviceError> {
        let mut hash = Fields::default();
        self.source.kernel.generator.iter().for_each(|generator| hash.add(generator.identity()));
        let mut texts = Vec::new();
        for file in self.files(scope)? {
            let content = self.files.read(&file).map_err(|error| self.unreadable(&file, error))?;
            hash.add(&content);
            let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
            texts.extend(String::from_utf8(content).ok().map(|text| (text, folder)));
        }
        self.files_of_others(texts).iter().for_each(|content| hash.add(content));
        self.compiler.words(&self.compiler.default_options()).iter().for_each(|word| hash.add(word));
        self.source.kernel.options.iter().for_each(|option| hash.add(option.to_string()));
        self.source.arguments.iter().for_each(|argument| hash.add(argument.type_text()));
        hash.add(self.source.kernel.function.as_str());
        Ok(hash.digest())
    }

    fn adopt(&self, program: Program, _: &Scope) -> Result<Program, BuildError> {
        if program.is_of(NAME) { Ok(library(self.fresh_library())) } else { Err(BuildError::foreign()) }
    }

    fn require_unchanged(&self) -> Result<(), DeviceError> {
        self.files.require_unchanged(|path| self.aliases.restored(&path.to_string_lossy()))
    }

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        let path = self.fresh_library();
        let start = self.clock.now();
        let (shim, source) = self.sources(scope, &path)?;
        let (ended, log) = self.compile(&self.arguments(scope, &shim, &path), cancel)?;
        let time_ms = (self.clock.now() - start).as_secs_f64() * 1e3;
        self.require_unchanged().map_err(BuildError::Broken)?;
        // Dropping this value removes the file, if there is one.
        let mut built = Built::new(library(path.clone()));
        let function = self.source.kernel.function.of(scope);
        let call = self.call(&function, (&shim, &source));
        match ended {
            Ended::Cancelled => Err(BuildError::Cancelled),
            Ended::NotStarted => Err(self.broken(&log)),
            Ended::TimedOut => {
                Err(BuildError::Failed(format!("the compilation did not end within {}", human(self.limit))))
            }
            Ended::Exited(status) if status.success() => {
                if let Some(mismatch) = wrong_elements(&log, call) {
                    return Err(BuildError::Signature(mismatch));
                }
                let Ok(library) = std::fs::metadata(&path) else {
                    return Err(BuildError::Failed("the compiler reported success but wrote no library".to_owned()));
                };
                built.compile = CompileData { time_ms, binary_bytes: Some(library.len()), ..CompileData::default() };
                built.digest_file();
                Ok(built)
            }
            Ended::Exited(_) => Err(self.judge(&log, call)),
        }
    }
}
