//! The processor that C and C++ kernels run on.

use crate::c::compiler::{Compiler, Compilers};
use crate::c::processor::{limits, processor_name};
use crate::devices::{DeviceInfo, Missing};
use crate::problem::Language;
use tunesmith_core::SystemClock;

/// The processor, once for all languages that can be compiled for it, and the compilers that are missing.
pub(crate) fn devices(compilers: &Compilers) -> (Vec<DeviceInfo>, Vec<Missing>) {
    let clock = SystemClock::new();
    let found: Vec<_> =
        [Language::C, Language::Cpp].map(|language| Compiler::find(compilers, language, &clock)).into_iter().collect();
    let missing = found.iter().filter_map(|found| found.as_ref().err()).map(Missing::compiler).collect();
    let working = found.iter().filter_map(|found| found.as_ref().ok());
    let drivers: Vec<String> = working.map(|compiler| format!("{}: {}", compiler.language, compiler.version)).collect();
    let device = (!drivers.is_empty()).then(|| DeviceInfo {
        id: "c".to_owned(),
        name: processor_name(),
        backend: "c".to_owned(),
        driver: drivers.join("; "),
        limits: limits(),
    });
    (device.into_iter().collect(), missing)
}
