//! The table of backends, and what reads it.

use crate::backends::compiling::Compiled;
use crate::backends::kind::{BackendKind, DriverCompiler};
use crate::backends::{Backend, BackendMessage, KernelSource, Opening, Session, SessionKind, Target};
use crate::backends::{c, cuda, hip, opencl};
use serde_json::Value;
use std::collections::BTreeMap;
use tunesmith_kernel::{DeviceError, Language};

/// All backends, in the order of lists. The first one is the processor's.
static BACKENDS: [&dyn BackendKind; 4] = [&c::Processors, &opencl::OpenClDevices, &cuda::CudaDevices, &hip::HipDevices];

/// A backend that runs kernels.
#[derive(Clone, Copy, Debug)]
pub struct KernelBackend(&'static dyn BackendKind);

impl KernelBackend {
    /// Returns all backends, in the order of lists.
    pub fn all() -> impl Iterator<Item = Self> {
        BACKENDS.into_iter().map(Self)
    }

    /// Returns the backend that `--device` calls `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|backend| backend.name() == name)
    }

    /// Returns what `--device` calls the backend's devices.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns true if some of its devices are the processors of this machine.
    pub fn may_use_processor(self) -> bool {
        self.0.may_use_processor()
    }

    /// Returns true if users can choose among several devices.
    pub fn has_several(self) -> bool {
        !self.form().is_empty()
    }

    /// Returns the text that may follow the name in `--device`, for messages. Empty if nothing may.
    pub fn form(self) -> &'static str {
        self.0.form()
    }

    /// Returns the backend itself.
    pub fn kind(self) -> &'static dyn BackendKind {
        self.0
    }
}

impl Default for KernelBackend {
    /// Returns the backend of the processor.
    fn default() -> Self {
        Self(BACKENDS[0])
    }
}

impl From<Language> for KernelBackend {
    /// Returns the backend whose devices are made for the language.
    fn from(language: Language) -> Self {
        Self::named(language.device()).unwrap_or_default()
    }
}

/// Opens the backend that compiles `source` for a device. A function in C can be the reference on every device.
///
/// # Errors
/// The device does not run the language, a source cannot be read, or a compiler is missing.
pub fn open_backend(
    target: &Target,
    source: KernelSource,
    opening: Opening<'_>,
) -> Result<Box<dyn Backend>, DeviceError> {
    let runs_everywhere = !source.kernel.language.has_work_items();
    if runs_everywhere { Target::processor().open(source, opening) } else { target.open(source, opening) }
}

/// Opens a device, in a worker.
///
/// # Errors
/// The reason why the device cannot be used.
pub fn open_session(session: &SessionKind) -> Result<Box<dyn Session>, String> {
    let SessionKind { device, .. } = session;
    let backend = KernelBackend::named(device.backend()).ok_or_else(|| unknown(device))?;
    backend.0.open(device.value())
}

/// Returns a device of another machine from its [description](Target::description).
///
/// # Errors
/// No backend of this version describes a device so.
pub fn described(description: &BackendMessage) -> Result<Target, String> {
    let backend = KernelBackend::named(description.backend()).ok_or_else(|| unknown(description))?;
    let target = backend.0.described(description.value());
    target.ok_or_else(|| format!("no device of `{}` is described so", backend.name()))
}

/// Asks a driver, in a worker. Returns `None` if no backend understands the question.
pub fn answer(question: &BackendMessage) -> Option<Value> {
    KernelBackend::named(question.backend())?.0.answer(question.value())
}

/// The compilers of a compile worker. Each is opened at its first task.
#[derive(Default)]
pub struct DriverCompilers(BTreeMap<&'static str, Box<dyn DriverCompiler>>);

impl DriverCompilers {
    /// Compiles one configuration. Calls `launching` before a kernel runs, because a later crash
    /// need not be the compiler's fault.
    pub fn compile(&mut self, task: &BackendMessage, launching: &mut dyn FnMut()) -> Compiled {
        match self.of(task.backend()) {
            Some(compiler) => compiler.compile(task.value(), launching),
            None => Compiled::Unusable(unknown(task)),
        }
    }

    fn of(&mut self, backend: &str) -> Option<&mut Box<dyn DriverCompiler>> {
        let backend = KernelBackend::named(backend)?;
        if !self.0.contains_key(backend.name()) {
            self.0.insert(backend.name(), backend.0.compiler()?);
        }
        self.0.get_mut(backend.name())
    }
}

fn unknown(message: &BackendMessage) -> String {
    format!("there is no backend `{}`", message.backend())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_for_one_backend() {
        for (at, backend) in KernelBackend::all().enumerate() {
            let first = KernelBackend::all().position(|other| other.name() == backend.name());
            assert_eq!(first, Some(at));
        }
    }

    #[test]
    fn messages_to_no_backend_and_of_no_backend_are_refused() {
        let stranger = BackendMessage::new("none", &1);
        assert_eq!(answer(&stranger), None);
        assert!(open_session(&SessionKind::of_driver(stranger.clone())).is_err());
        assert!(described(&stranger).is_err());
        assert!(matches!(DriverCompilers::default().compile(&stranger, &mut || ()), Compiled::Unusable(_)));
        for backend in KernelBackend::all() {
            let garbled = BackendMessage::new(backend.name(), &"a text");
            assert_eq!(answer(&garbled), None);
            assert!(described(&garbled).is_err());
            assert!(matches!(DriverCompilers::default().compile(&garbled, &mut || ()), Compiled::Unusable(_)));
        }
    }
}
