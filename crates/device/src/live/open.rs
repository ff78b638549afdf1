//! From a problem and a device to backends.

use crate::backend::Backend;
use crate::c::{CBackend, Compiler};
use crate::compiling::{CompileWorkers, Workshop};
use crate::cuda::{CudaBackend, CudaDevice};
use crate::error::DeviceError;
use crate::live::programs::{Part, Programs};
use crate::live::{LiveOptions, Source};
use crate::opencl::{OpenClBackend, OpenClDevice};
use crate::problem::{Language, Reference};
use std::path::Path;
use std::sync::Arc;

/// What kernels run on.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The processor of this machine, through its C and C++ compilers.
    Processor,
    /// One of the [`opencl_devices`](crate::opencl_devices).
    OpenCl(Box<OpenClDevice>),
    /// One of the [`cuda_devices`](crate::cuda_devices).
    Cuda(Box<CudaDevice>),
}

impl Target {
    /// Whether kernels in `language` run on it.
    fn runs(&self, language: Language) -> bool {
        match self {
            Self::Processor => !language.has_work_items(),
            Self::OpenCl(_) => language == Language::OpenCl,
            Self::Cuda(_) => language == Language::Cuda,
        }
    }
}

/// The reference function with what compiles it.
pub(super) type WithReference = (Reference, Box<dyn Backend>);

/// Opens the backends of one problem.
pub(super) struct Opener<'a> {
    options: &'a LiveOptions,
    /// Where programs and their sources go.
    folder: &'a Path,
    /// Where drivers compile.
    workers: Arc<CompileWorkers>,
}

impl<'a> Opener<'a> {
    /// Nothing is opened yet.
    pub(super) fn new(options: &'a LiveOptions, folder: &'a Path) -> Self {
        let workers = Arc::new(CompileWorkers::new(options.worker.clone(), Arc::clone(&options.clock)));
        Self { options, folder, workers }
    }

    /// All kernels of the problem with their backends.
    ///
    /// # Errors
    /// A kernel in a language that the device does not run, a source that cannot be read, a missing compiler.
    pub(super) fn programs(&self) -> Result<Programs, DeviceError> {
        let spec = &self.options.spec;
        let part = |(number, kernel): (usize, &crate::Kernel)| {
            let source = Source::kernel(spec, kernel);
            if !self.options.target.runs(kernel.language) {
                return Err(self.wrong_language(&source));
            }
            let backend = self.backend(source, &format!("kernel-{}", number + 1))?;
            Ok(Part { kernel: kernel.clone(), backend })
        };
        let parts = spec.kernels.iter().enumerate().map(part).collect::<Result<_, _>>()?;
        Ok(Programs::new(parts))
    }

    /// The reference function with its backend, which may be another than the kernels'.
    ///
    /// # Errors
    /// As [`programs`](Self::programs).
    pub(super) fn reference(&self) -> Result<Option<WithReference>, DeviceError> {
        let spec = &self.options.spec;
        let Some(reference) = &spec.verify.reference else { return Ok(None) };
        let backend = self.backend(Source::reference(spec, reference), "reference")?;
        Ok(Some((reference.clone(), backend)))
    }

    fn backend(&self, source: Source, name: &str) -> Result<Box<dyn Backend>, DeviceError> {
        let LiveOptions { target, compilers, policy, clock, .. } = self.options;
        let (limit, clock) = (policy.limits.compile, Arc::clone(clock));
        let language = source.kernel.language;
        let workshop = |clock| Workshop::new(Arc::clone(&self.workers), self.folder, name, limit, clock);
        match target {
            // A reference in C serves kernels of every language.
            _ if !language.has_work_items() => {
                let compiler = Compiler::find(compilers, language, clock.as_ref())?;
                Ok(Box::new(CBackend::new(source, compiler, self.folder, name, limit, clock)?))
            }
            Target::OpenCl(device) if target.runs(language) => {
                Ok(Box::new(OpenClBackend::new(source, device.as_ref().clone(), workshop(clock))?))
            }
            Target::Cuda(device) if target.runs(language) => {
                Ok(Box::new(CudaBackend::new(source, device.as_ref().clone(), workshop(clock))?))
            }
            _ => Err(self.wrong_language(&source)),
        }
    }

    fn wrong_language(&self, source: &Source) -> DeviceError {
        let device = match &self.options.target {
            Target::Processor => "the device `c`".to_owned(),
            Target::OpenCl(device) => format!("OpenCL device {} ({})", device.index, device.name),
            Target::Cuda(device) => format!("CUDA device {} ({})", device.index, device.name),
        };
        let remedy = match source.kernel.language {
            Language::C | Language::Cpp => "choose `--device c`",
            Language::OpenCl => "choose `--device opencl`",
            Language::Cuda => "choose `--device cuda`",
        };
        DeviceError::Language {
            what: source.what,
            name: source.kernel.function.clone(),
            language: source.kernel.language,
            device,
            remedy: remedy.to_owned(),
        }
    }
}
