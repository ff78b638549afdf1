//! The processor that C and C++ kernels run on.

use crate::backends::{DeviceInfo, Missing};
use crate::host::{Compiler, Compilers, WorkerCommand, limits, processor_name};
use crate::problem::Language;
use std::sync::Arc;
use tunesmith_core::{Clock, SystemClock};

/// Returns the processor, as one device for all languages with a usable compiler, and the compilers
/// that are missing.
pub(crate) fn devices(compilers: &Compilers, worker: &WorkerCommand) -> (Vec<DeviceInfo>, Vec<Missing>) {
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
