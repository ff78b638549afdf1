//! The processor that C and C++ kernels run on.

use crate::c::compiler::{Compiler, Compilers};
use crate::devices::{DeviceInfo, Missing};
use crate::problem::Language;
use std::collections::BTreeMap;
use std::thread::available_parallelism;
use tunesmith_core::SystemClock;

/// The processor's name as the system tells it.
pub(crate) fn processor_name() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let model = fields.into_iter().find(|(key, _)| key.trim() == "model name");
    let model = model.map(|(_, name)| name.split_whitespace().collect::<Vec<_>>().join(" "));
    model.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// The number of threads that run at once.
pub(crate) fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

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
        limits: BTreeMap::from([("threads".to_owned(), threads() as f64)]),
    });
    (device.into_iter().collect(), missing)
}
