//! The processor that C and C++ kernels run on, as the table of backends lists it.

use crate::backends::c::backend::CBackend;
use crate::backends::c::counters::missing_counters;
use crate::backends::c::session::{CSession, NAME};
use crate::backends::kind::{BackendKind, Means};
use crate::backends::target::KernelDevice;
use crate::backends::{Backend, DeviceInfo, KernelSource, Missing, Opening, Session, Target, WhichDevice};
use crate::host::{Compiler, Compilers, WorkerCommand, is_of_threads, limits, processor_name};
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;
use tunesmith_core::counters::Hardware;
use tunesmith_core::{Clock, SystemClock};
use tunesmith_kernel::{DeviceError, Language};

/// The backend.
#[derive(Debug)]
pub(crate) struct Processors;

/// The processor of this machine, through its C and C++ compilers.
#[derive(Debug, PartialEq)]
struct Processor;

impl Target {
    /// Returns the processor of this machine, through its C and C++ compilers.
    pub fn processor() -> Self {
        Self::of(Processor)
    }
}

impl BackendKind for Processors {
    fn name(&self) -> &'static str {
        NAME
    }

    fn form(&self) -> &'static str {
        ""
    }

    fn may_use_processor(&self) -> bool {
        true
    }

    fn list(&self, means: Means<'_>) -> (Vec<DeviceInfo>, Vec<Missing>) {
        let (devices, mut missing) = devices(means.compilers, means.worker);
        if !devices.is_empty() {
            missing.extend(missing_counters());
        }
        (devices, missing)
    }

    fn find(&self, _: &WhichDevice, _: Means<'_>) -> Result<Target, DeviceError> {
        Ok(Target::processor())
    }

    fn open(&self, _: &Value) -> Result<Box<dyn Session>, String> {
        Ok(Box::new(CSession::new()))
    }
}

impl KernelDevice for Processor {
    fn title(&self) -> String {
        "the device `c`".to_owned()
    }

    fn index(&self) -> usize {
        0
    }

    fn language(&self) -> Language {
        Language::C
    }

    fn runs(&self, language: Language) -> bool {
        !language.has_work_items()
    }

    fn info(&self, compilers: &Compilers, worker: &WorkerCommand) -> Option<DeviceInfo> {
        devices(compilers, worker).0.into_iter().next()
    }

    fn is_processor(&self) -> bool {
        true
    }

    fn reads_variable(&self, name: &str) -> bool {
        is_of_threads(name)
    }

    fn counted_hardware(&self) -> Option<Hardware> {
        // No bottleneck depends on the size of the processor.
        self.missing_counters().is_none().then(Hardware::default)
    }

    fn missing_counters(&self) -> Option<Missing> {
        missing_counters()
    }

    fn open(&self, source: KernelSource, opening: Opening<'_>) -> Result<Box<dyn Backend>, DeviceError> {
        let Opening { folder, name, limit, clock, compilers, worker, .. } = opening;
        let compiler = Compiler::find(compilers, worker, source.kernel.language, Arc::clone(&clock))?;
        Ok(Box::new(CBackend::new(source, compiler, folder, name, limit, clock)?))
    }

    fn compiled_here(&self, _: Means<'_>) -> Result<Target, DeviceError> {
        Ok(Target::processor())
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// Returns the processor, as one device for all languages with a usable compiler, and the compilers
/// that are missing.
fn devices(compilers: &Compilers, worker: &WorkerCommand) -> (Vec<DeviceInfo>, Vec<Missing>) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let (mut drivers, mut missing) = (Vec::new(), Vec::new());
    for language in [Language::C, Language::Cpp] {
        match Compiler::find(compilers, worker, language, Arc::clone(&clock)) {
            Ok(compiler) => drivers.push(format!("{language}: {}", compiler.version)),
            Err(error) => missing.push(Missing::of("c", error)),
        }
    }
    let device = (!drivers.is_empty()).then(|| DeviceInfo {
        id: "c".to_owned(),
        name: processor_name(),
        backend: "c".to_owned(),
        driver: drivers.join("; "),
        limits: limits(),
    });
    (device.into_iter().collect(), missing)
}
