//! Opens the backends of a problem on a device.

use crate::live::LiveOptions;
use crate::live::programs::{KernelPart, Programs};
use crate::worker::CompileWorkers;
use std::path::Path;
use std::sync::Arc;
use tunesmith_backend::compiling::CompileService;
use tunesmith_backend::host::{Suspension, WorkerCommand};
use tunesmith_backend::table::open_backend;
use tunesmith_backend::{Backend, KernelSource, Opening};
use tunesmith_core::Clock;
use tunesmith_kernel::{DeviceError, Kernel, Reference};

/// The reference function and the backend that compiles it.
pub(super) type WithReference = (Reference, Box<dyn Backend>);

/// Opens the backends of one problem.
pub(super) struct Opener<'a> {
    options: &'a LiveOptions,
    /// The folder of programs and their sources.
    folder: &'a Path,
    /// Stops what compiles during measurements.
    suspension: &'a Arc<Suspension>,
    /// The command of processes that compile.
    worker: WorkerCommand,
    /// The processes in which drivers compile.
    service: Arc<dyn CompileService>,
}

impl<'a> Opener<'a> {
    /// Creates an opener. Opens nothing yet.
    pub(super) fn new(options: &'a LiveOptions, folder: &'a Path, suspension: &'a Arc<Suspension>) -> Self {
        let worker = options.worker.suspended_by(suspension);
        let service = Arc::new(CompileWorkers::new(
            Arc::clone(&options.processes),
            worker.clone(),
            Arc::clone(suspension) as Arc<dyn Clock>,
        ));
        Self { options, folder, suspension, worker, service }
    }

    /// Opens the backends of all kernels of the problem.
    ///
    /// # Errors
    /// - The device does not run the language of a kernel.
    /// - A source cannot be read.
    /// - A compiler is missing.
    pub(super) fn programs(&self) -> Result<Programs, DeviceError> {
        let spec = &self.options.spec;
        let part = |(number, kernel): (usize, &Kernel)| {
            let source = KernelSource::kernel(spec, kernel);
            if !self.options.target.runs(kernel.language) {
                return Err(self.options.target.wrong_language(&source));
            }
            let backend = self.backend(source, &format!("kernel-{}", number + 1))?;
            Ok(KernelPart { kernel: kernel.clone(), backend })
        };
        let parts = spec.kernels.iter().enumerate().map(part).collect::<Result<_, _>>()?;
        Ok(Programs::new(parts))
    }

    /// Opens the backend of the reference function. It may differ from the kernels' backend.
    ///
    /// # Errors
    /// See [`programs`](Self::programs).
    pub(super) fn reference(&self) -> Result<Option<WithReference>, DeviceError> {
        let spec = &self.options.spec;
        let Some(reference) = &spec.verify.reference else { return Ok(None) };
        let backend = self.backend(KernelSource::reference(spec, reference), "reference")?;
        Ok(Some((reference.clone(), backend)))
    }

    fn backend(&self, source: KernelSource, name: &str) -> Result<Box<dyn Backend>, DeviceError> {
        let LiveOptions { target, compilers, policy, .. } = self.options;
        let opening = Opening {
            folder: self.folder,
            name,
            limit: policy.limits.compile,
            clock: Arc::clone(self.suspension) as Arc<dyn Clock>,
            compilers,
            worker: &self.worker,
            service: Arc::clone(&self.service),
        };
        open_backend(target, source, opening)
    }
}
