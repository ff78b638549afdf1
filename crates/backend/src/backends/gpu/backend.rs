//! The tuner's side: from a configuration to machine code.

use crate::backends::KernelSource;
use crate::backends::compiling::{
    Aliases, CompileOutcome, CompileVerdict, Compiled, NamePlace, SourceText, Workshop, defines, include_folders,
    launchable,
};
use crate::backends::cuda::cubin::{self, Spills};
use crate::backends::cuda::{Nvcc, headers};
use crate::backends::gpu::cache::BinaryCache;
use crate::backends::gpu::diagnose::{Finding, diagnose};
use crate::backends::gpu::{GpuApi, GpuDevice, GpuMade, GpuPlace, GpuProgram, GpuTask, signature};
use crate::backends::hip::code_object;
use crate::backends::{
    Backend, BackendMessage, BuildError, BuildPlan, Built, Opening, Program, Resources, SessionKind,
};
use crate::host::GpuSetup;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tunesmith_core::{CompileData, Interrupt};
use tunesmith_kernel::data::Fields;
use tunesmith_kernel::{Argument, CudaCompiler, DeviceError, Scope};
use tunesmith_space::hex;

/// Compiles one kernel for one device.
pub(crate) struct GpuBackend {
    source: KernelSource,
    device: GpuDevice,
    workshop: Workshop,
    /// nvcc, if the kernel asks for it in place of the library that compiles.
    nvcc: Option<Nvcc>,
    text: SourceText,
    /// The folders to search for included files, under names that the options take.
    include: Vec<PathBuf>,
    aliases: Aliases,
    /// A digest of the text and of the files it includes.
    text_digest: String,
    cache: Option<BinaryCache>,
    /// The state of the maker's headers, which the digest of the text does not cover.
    headers: String,
}

/// Machine code and its description.
struct Code {
    image: Vec<u8>,
    made: GpuMade,
}

impl Code {
    /// Returns the kernel's use of its device, by name. Empty if the driver finishes the compilation.
    fn resources(&self) -> Resources {
        let mut resources = cubin::resources(&self.image, &self.made.function);
        resources.extend(code_object::resources(&self.image, &self.made.function));
        if let Some(Spills { store_bytes, load_bytes }) = self.made.spills.filter(|_| !resources.is_empty()) {
            resources.insert("spill_store_bytes".to_owned(), store_bytes as f64);
            resources.insert("spill_load_bytes".to_owned(), load_bytes as f64);
        }
        resources
    }
}

impl GpuBackend {
    /// Creates a backend. Writes the source and the assertions into the workshop's folder.
    ///
    /// # Errors
    /// A source cannot be read, nvcc is wanted but missing, or the kernel has no blocks of threads.
    pub(crate) fn new(source: KernelSource, device: GpuDevice, opening: Opening<'_>) -> Result<Self, DeviceError> {
        let kernel = &source.kernel;
        if kernel.generator.is_none() && kernel.work.as_ref().is_none_or(|work| work.local.is_none()) {
            return Err(DeviceError::NoBlocks { what: source.what, name: kernel.function.to_string() });
        }
        let nvcc = match (&device.setup, kernel.cuda_compiler) {
            (GpuSetup::Cuda(setup), CudaCompiler::Nvcc) => {
                Some(Nvcc::find(setup, opening.worker, Arc::clone(&opening.clock))?)
            }
            _ => None,
        };
        let workshop = Workshop::new(opening);
        let assertions = signature::assertions(kernel.function.in_source(), &source.arguments);
        let text = SourceText::write(&source, workshop.file(device.api().source_suffix()), &assertions)?;
        let text_digest = text.digest(&source);
        let cache = device.setup.cache().filter(|_| text.tells_what_it_includes()).and_then(BinaryCache::open);
        let headers = headers::stamp(&device.headers);
        let include = include_folders(&source);
        let folders = include.iter().map(PathBuf::as_path);
        let aliases = Aliases::new(workshop.place(), NamePlace::Options, [], folders)?;
        let include = include.iter().map(|folder| aliases.of(folder)).collect();
        Ok(Self { source, device, workshop, nvcc, text, include, aliases, text_digest, cache, headers })
    }

    /// Returns the options of the compiler.
    fn options(&self, scope: &Scope) -> Vec<String> {
        let (api, kernel) = (self.device.api(), &self.source.kernel);
        let own = kernel.expanded_options(scope).filter_map(|option| api.option(kernel.language, option));
        let mut options: Vec<String> = own.collect();
        if !options.iter().any(|option| api.is_architecture(option)) {
            options.insert(0, api.architecture(&self.device.architecture));
        }
        options.extend(api.constant_options().iter().map(|option| (*option).to_owned()));
        options.extend(self.include.iter().map(|folder| api.include(folder)));
        let headers = self.device.headers.iter();
        options.extend(headers.map(|folder| match &self.nvcc {
            Some(_) => Nvcc::headers(folder),
            None => api.include(folder),
        }));
        options.extend(defines(&self.source, scope).map(|define| api.define(&define)));
        options
    }

    /// Returns the compiler's name with its version.
    fn compiler(&self) -> &str {
        self.nvcc.as_ref().map_or(&self.device.compiler, |nvcc| &nvcc.name)
    }

    fn task(&self, scope: &Scope, text: &str, binary: &Path) -> Result<GpuTask, BuildError> {
        let GpuDevice { name, limits, .. } = &self.device;
        launchable(&self.source, scope, limits, name)?;
        let kernel = &self.source.kernel;
        Ok(GpuTask {
            setup: self.device.setup.clone(),
            source: self.text.file(text, binary).map_err(BuildError::Broken)?,
            name: kernel.file.display().to_string(),
            options: self.options(scope),
            function: kernel.function.of(scope),
            symbols: self.source.arguments.iter().filter_map(|argument| argument.symbol.clone()).collect(),
            binary: binary.to_owned(),
        })
    }

    /// Returns the cache key of machine code. `text_digest` covers the text, except a text generated for
    /// the configuration.
    fn key(&self, task: &GpuTask, text: &str) -> String {
        let mut key = Fields::default();
        key.add(&self.text_digest);
        if self.source.kernel.generator.is_some() {
            key.add(text);
        }
        key.add(self.compiler());
        key.add(&self.headers);
        // An alias lies in the run's folder, which the next run does not have.
        task.options.iter().for_each(|option| key.add(self.aliases.restored(option)));
        [&task.function].into_iter().chain(&task.symbols).for_each(|text| key.add(text));
        key.digest()
    }

    /// Returns the compiler's log, with the remedy if a header of NVIDIA's is missing.
    fn explained(&self, log: String) -> String {
        let remedy = headers::remedy(&log, &self.device.headers).filter(|_| self.device.api() == GpuApi::Cuda);
        remedy.map_or_else(|| log.clone(), |remedy| format!("{log}\n{remedy}"))
    }

    /// Returns the program in a file. The names are those in the file.
    fn program(&self, binary: PathBuf, function: String, symbols: Vec<Option<String>>) -> Program {
        GpuProgram { binary, function, symbols }.of_api(self.device.api())
    }

    /// Compiles `task` to machine code at the place it names. Returns its description.
    fn compile(&self, task: &GpuTask, text: &str, scope: &Scope, cancel: &Interrupt) -> Result<GpuMade, BuildError> {
        let source = self.source.named(scope);
        let ended = match &self.nvcc {
            Some(nvcc) => nvcc.compile(task, self.workshop.limit, cancel).map_err(BuildError::Broken)?,
            None => self.workshop.compile(&BackendMessage::new(self.device.api().device(), task), cancel)?,
        };
        let outcome = match ended {
            CompileOutcome::Compiled(Compiled::Failed(log)) => {
                match diagnose(&self.aliases.restored(&log), &source, text) {
                    Finding::Code(log) => return Err(BuildError::Failed(self.explained(log))),
                    Finding::Signature(mismatch) => return Err(BuildError::Signature(mismatch)),
                    Finding::NoFunction(known) => CompileOutcome::Compiled(Compiled::NoFunction(known)),
                }
            }
            other => other,
        };
        let verdict = CompileVerdict {
            source: &source,
            qualifier: "__global__",
            limit: self.workshop.limit,
            readable: &|log: &str| log.to_owned(),
        };
        verdict.judge(outcome)?.and_then(|made| made.description()).ok_or_else(|| {
            let problem = "speaks another protocol".to_owned();
            BuildError::Broken(DeviceError::Worker { problem })
        })
    }

    /// Returns the machine code of a configuration and writes it to `binary`. Takes it from the cache, or
    /// compiles it and adds it to the cache.
    fn code(&self, scope: &Scope, binary: &Path, cancel: &Interrupt) -> Result<Code, BuildError> {
        let text = self.text.of(&self.source, scope).map_err(BuildError::Refused)?;
        let task = self.task(scope, &text, binary)?;
        let key = self.key(&task, &text);
        let kept = self.cache.as_ref().and_then(|cache| cache.get(&key, binary));
        let is_kept = kept.is_some();
        let made = kept.map_or_else(|| self.compile(&task, &text, scope, cancel), Ok)?;
        if let Some(cache) = self.cache.as_ref().filter(|_| !is_kept) {
            cache.put(&key, binary, &made);
        }
        let gone =
            |error| DeviceError::Machine { problem: format!("the machine code is gone: {error}; resume the run") };
        let image =
            tunesmith_files::read(binary, tunesmith_files::DATA).map_err(|error| BuildError::Broken(gone(error)))?;
        Ok(Code { image, made })
    }
}

impl Backend for GpuBackend {
    fn shares_processor(&self) -> bool {
        false
    }

    fn session(&self) -> SessionKind {
        let GpuDevice { index, setup, .. } = &self.device;
        let place = GpuPlace { device: *index, setup: setup.clone() };
        let device = BackendMessage::new(self.device.api().device(), &place);
        SessionKind { knows_troubles: true, ..SessionKind::of_driver(device) }
    }

    fn plan(&self, scope: &Scope) -> BuildPlan {
        let options = self.options(scope);
        let command = match &self.nvcc {
            Some(nvcc) => nvcc.command(&options),
            None => std::iter::once(self.device.api().compiler().to_owned()).chain(options).collect(),
        };
        let source = self.text.of(&self.source, scope).map_or_else(|reason| format!("// {reason}\n"), Cow::into_owned);
        BuildPlan { source, command }
    }

    fn identity(&self) -> Vec<(String, String)> {
        let GpuDevice { name, architecture, driver, .. } = &self.device;
        let compiler = self.compiler();
        vec![
            ("backend".to_owned(), self.device.api().device().to_owned()),
            ("device".to_owned(), name.clone()),
            ("compiler".to_owned(), format!("{compiler} for {architecture}, driver {driver}")),
        ]
    }

    fn digest(&self, _: &Scope) -> Result<String, DeviceError> {
        Ok(self.text_digest.clone())
    }

    fn adopt(&self, program: Program, scope: &Scope) -> Result<Program, BuildError> {
        let known = GpuProgram::of(&program).filter(|_| program.is_of(self.device.api().device()));
        let GpuProgram { function, symbols, .. } = known.ok_or_else(BuildError::foreign)?;
        let GpuDevice { name, limits, .. } = &self.device;
        launchable(&self.source, scope, limits, name)?;
        if symbols.len() != self.source.arguments.len() {
            return Err(BuildError::foreign());
        }
        let binary = self.workshop.fresh_file(self.device.api().binary());
        Ok(self.program(binary, function, symbols))
    }

    fn require_unchanged(&self) -> Result<(), DeviceError> {
        self.text.require_unchanged()
    }

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        let binary = self.workshop.fresh_file(self.device.api().binary());
        let start = self.workshop.now();
        // Dropping this value removes the file, if there is one.
        let mut built = Built::new(self.program(binary.clone(), String::new(), Vec::new()));
        let code = self.code(scope, &binary, cancel);
        self.require_unchanged().map_err(BuildError::Broken)?;
        let code = code?;
        let resources = code.resources();
        let Code { image, made: GpuMade { function, symbols, .. } } = code;
        built.program = self.program(binary, function, by_argument(&self.source.arguments, symbols));
        built.digest = Some(hex(&Sha256::digest(&image)));
        let time_ms = (self.workshop.now() - start).as_secs_f64() * 1e3;
        let binary_bytes = Some(image.len() as u64);
        built.compile = CompileData { time_ms, binary_bytes, resources, ..CompileData::default() };
        Ok(built)
    }
}

/// Returns the mangled name of each argument's variable. `None` for arguments that are passed as
/// parameters.
fn by_argument(arguments: &[Argument], symbols: Vec<String>) -> Vec<Option<String>> {
    let mut symbols = symbols.into_iter();
    arguments.iter().map(|argument| argument.symbol.as_ref().and_then(|_| symbols.next())).collect()
}
