//! The tuner's side: from a configuration to a cubin.

use crate::backend::{Backend, BuildError, BuildPlan, Built, Program, SessionKind};
use crate::compiling::{
    CompileTask, CompileWorkers, Compiled, Fields, Made, Outcome, SourceText, Verdict, defines, include_folders,
    refusal,
};
use crate::cuda::cache::CubinCache;
use crate::cuda::diagnose::{Finding, diagnose};
use crate::cuda::task::is_architecture;
use crate::cuda::{CudaDevice, CudaProgram, CudaTask, signature};
use crate::data::{hex, passed};
use crate::error::DeviceError;
use crate::live::Source;
use crate::problem::{Argument, Scope};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tunesmith_core::{Clock, CompileData, Interrupt};

/// Compiles one kernel for one device.
pub(crate) struct CudaBackend {
    source: Source,
    device: CudaDevice,
    workers: Arc<CompileWorkers>,
    text: SourceText,
    /// A digest of the text and of what it includes.
    text_digest: String,
    cache: Option<CubinCache>,
    limit: Duration,
    clock: Arc<dyn Clock>,
    built: AtomicU64,
}

impl CudaBackend {
    /// Writes the source into `folder`, where the binaries will go as well. `name` tells the files of one kernel from
    /// those of another.
    ///
    /// # Errors
    /// A source cannot be read, or the kernel has no blocks of threads.
    pub(crate) fn new(
        source: Source,
        device: CudaDevice,
        workers: Arc<CompileWorkers>,
        folder: &Path,
        name: &str,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeviceError> {
        let kernel = &source.kernel;
        if kernel.generator.is_none() && kernel.work.as_ref().is_none_or(|work| work.local.is_none()) {
            return Err(DeviceError::NoBlocks { what: source.what, name: kernel.function.clone() });
        }
        let assertions = signature::assertions(&kernel.function, &source.arguments);
        let text = SourceText::write(&source, folder.join(format!("{name}.cu")), &assertions)?;
        let text_digest = text.digest(&source);
        let cache = device.setup.cache.as_deref().filter(|_| text.tells_what_it_includes()).and_then(CubinCache::open);
        Ok(Self { source, device, workers, text, text_digest, cache, limit, clock, built: AtomicU64::new(0) })
    }

    /// The options of NVRTC.
    fn options(&self, scope: &Scope) -> Vec<String> {
        let mut options: Vec<String> = self.source.kernel.options.iter().map(|option| option.expand(scope)).collect();
        if !options.iter().any(|option| is_architecture(option)) {
            options.insert(0, format!("--gpu-architecture={}", self.device.architecture));
        }
        // Profilers show lines by it; the machine code is the same.
        options.push("-lineinfo".to_owned());
        let folders = include_folders(&self.source).into_iter().chain(self.device.headers.clone());
        options.extend(folders.map(|folder| format!("--include-path={}", folder.display())));
        options.extend(defines(&self.source, scope).map(|define| format!("--define-macro={define}")));
        options
    }

    fn task(&self, scope: &Scope, text: &str, binary: &Path) -> Result<CudaTask, BuildError> {
        let refused = |error: &dyn std::error::Error| BuildError::Refused(error.to_string());
        let kernel = &self.source.kernel;
        let grid = kernel.grid(scope).map_err(|error| refused(&error))?;
        let grid = grid.ok_or_else(|| BuildError::Refused("it has no blocks".to_owned()))?;
        let passed = passed(&self.source.arguments, scope).map_err(|error| refused(&error))?;
        if let Some(reason) = refusal(&self.device.limits, &self.device.name, &grid, &passed) {
            return Err(BuildError::Refused(reason));
        }
        Ok(CudaTask {
            setup: self.device.setup.clone(),
            source: self.text.file(&self.source, text, binary).map_err(BuildError::Broken)?,
            name: kernel.file.display().to_string(),
            options: self.options(scope),
            function: kernel.function.clone(),
            symbols: self.source.arguments.iter().filter_map(|argument| argument.symbol.clone()).collect(),
            binary: binary.to_owned(),
        })
    }

    /// What a cubin depends on.
    fn key(&self, task: &CudaTask, text: &str) -> String {
        let mut key = Fields::default();
        key.add(&self.text_digest);
        key.add(text);
        key.add(&self.device.compiler);
        task.options.iter().chain(&task.symbols).for_each(|text| key.add(text));
        key.digest()
    }

    fn compile(&self, task: CudaTask, text: &str, cancel: &Interrupt) -> Result<Made, BuildError> {
        let outcome = self.workers.compile(&CompileTask::Cuda(task), self.limit, cancel).map_err(BuildError::Broken)?;
        let outcome = match outcome {
            Outcome::Compiled(Compiled::Failed(log)) => match diagnose(&log, &self.source, text) {
                Finding::Code(log) => return Err(BuildError::Failed(log)),
                Finding::Signature(mismatch) => return Err(BuildError::Signature(mismatch)),
                Finding::NoFunction(known) => Outcome::Compiled(Compiled::NoFunction(known)),
            },
            other => other,
        };
        let verdict = Verdict {
            source: &self.source,
            qualifier: "__global__",
            limit: self.limit,
            readable: &|log: &str| log.to_owned(),
        };
        let other = || DeviceError::Worker { problem: "speaks another protocol".to_owned() };
        verdict.judge(outcome)?.ok_or_else(|| BuildError::Broken(other()))
    }
}

impl Backend for CudaBackend {
    fn shares_processor(&self) -> bool {
        false
    }

    fn session(&self) -> SessionKind {
        SessionKind::Cuda { device: self.device.index, setup: self.device.setup.clone() }
    }

    fn plan(&self, scope: &Scope) -> BuildPlan {
        let mut command = vec!["nvrtc".to_owned()];
        command.extend(self.options(scope));
        let source = self.text.of(&self.source, scope).map_or_else(|reason| format!("// {reason}\n"), Cow::into_owned);
        BuildPlan { source, command }
    }

    fn identity(&self) -> Vec<(String, String)> {
        let CudaDevice { name, compiler, architecture, driver, .. } = &self.device;
        vec![
            ("backend".to_owned(), "cuda".to_owned()),
            ("device".to_owned(), name.clone()),
            ("compiler".to_owned(), format!("{compiler} for {architecture}, driver {driver}")),
        ]
    }

    fn digest(&self, _: &Scope) -> Result<String, DeviceError> {
        Ok(self.text_digest.clone())
    }

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError> {
        let number = self.built.fetch_add(1, Ordering::Relaxed);
        let binary = self.text.path.with_extension(format!("{number}.cubin"));
        let start = self.clock.now();
        let text = self.text.of(&self.source, scope).map_err(BuildError::Refused)?;
        let task = self.task(scope, &text, &binary)?;
        let key = self.key(&task, &text);
        // From here on the file, if there is one, is removed with this value.
        let mut built = Built {
            program: Program::Cuda(CudaProgram {
                binary: binary.clone(),
                function: String::new(),
                symbols: Vec::new(),
            }),
            compile: CompileData::default(),
            digest: None,
        };
        let kept = self.cache.as_ref().and_then(|cache| cache.get(&key, &binary));
        let is_kept = kept.is_some();
        let made = match kept {
            Some(made) => made,
            None => self.compile(task, &text, cancel)?,
        };
        let Made::Cuda { function, symbols } = made else {
            return Err(BuildError::Failed("another compiler's answer".to_owned()));
        };
        if let Some(cache) = self.cache.as_ref().filter(|_| !is_kept) {
            cache.put(&key, &binary, &function, &symbols);
        }
        let image =
            std::fs::read(&binary).map_err(|error| BuildError::Failed(format!("the cubin is gone: {error}")))?;
        built.digest = Some(hex(&Sha256::digest(&image)));
        built.program =
            Program::Cuda(CudaProgram { binary, function, symbols: by_argument(&self.source.arguments, symbols) });
        let time_ms = (self.clock.now() - start).as_secs_f64() * 1e3;
        built.compile = CompileData { time_ms, binary_bytes: Some(image.len() as u64), ..CompileData::default() };
        Ok(built)
    }
}

/// The mangled name of each argument's variable; none for arguments that are passed.
fn by_argument(arguments: &[Argument], symbols: Vec<String>) -> Vec<Option<String>> {
    let mut symbols = symbols.into_iter();
    arguments.iter().map(|argument| argument.symbol.as_ref().and_then(|_| symbols.next())).collect()
}
