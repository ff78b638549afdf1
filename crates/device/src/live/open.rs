//! From a problem and a device to backends.

use crate::backend::Backend;
use crate::c::{CBackend, Compiler};
use crate::compiling::CompileWorkers;
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
}

/// The reference function with what compiles it.
pub(super) type WithReference = (Reference, Box<dyn Backend>);

/// Opens the backends of one problem.
pub(super) struct Opener<'a> {
    options: &'a LiveOptions,
    /// Where programs and their sources go.
    folder: &'a Path,
    opencl: Option<(&'a OpenClDevice, Arc<CompileWorkers>)>,
}

impl<'a> Opener<'a> {
    /// Nothing is opened yet.
    pub(super) fn new(options: &'a LiveOptions, folder: &'a Path) -> Self {
        let opencl = match &options.target {
            Target::Processor => None,
            Target::OpenCl(device) => {
                let workers = CompileWorkers::new(options.worker.clone(), Arc::clone(&options.clock));
                Some((device.as_ref(), Arc::new(workers)))
            }
        };
        Self { options, folder, opencl }
    }

    /// All kernels of the problem with their backends.
    ///
    /// # Errors
    /// A kernel in a language that the device does not run, a source that cannot be read, a missing compiler.
    pub(super) fn programs(&self) -> Result<Programs, DeviceError> {
        let spec = &self.options.spec;
        let part = |(number, kernel): (usize, &crate::Kernel)| {
            let source = Source::kernel(spec, kernel);
            if self.opencl.is_some() != (kernel.language == Language::OpenCl) {
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
        let LiveOptions { compilers, policy, clock, .. } = self.options;
        let (limit, clock) = (policy.limits.compile, Arc::clone(clock));
        if source.kernel.language != Language::OpenCl {
            let compiler = Compiler::find(compilers, source.kernel.language, clock.as_ref())?;
            return Ok(Box::new(CBackend::new(source, compiler, self.folder, name, limit, clock)?));
        }
        let Some((device, workers)) = &self.opencl else { return Err(self.wrong_language(&source)) };
        let (device, workers) = ((*device).clone(), Arc::clone(workers));
        Ok(Box::new(OpenClBackend::new(source, device, workers, self.folder, name, limit, clock)?))
    }

    fn wrong_language(&self, source: &Source) -> DeviceError {
        let (device, remedy) = match &self.opencl {
            Some((device, _)) => (format!("OpenCL device {} ({})", device.index, device.name), "choose `--device c`"),
            None => ("the device `c`".to_owned(), "choose `--device opencl`"),
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
