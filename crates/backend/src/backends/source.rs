//! A kernel and its arguments.

use std::io;
use std::path::Path;
use tunesmith_kernel::{Argument, ArgumentKind, CudaCompiler, DeviceError, Kernel, KernelSpec, Reference, Scope};

/// The input of a backend's compilation.
#[derive(Clone, Debug)]
pub struct KernelSource {
    /// The role of the function, for messages.
    pub(crate) what: &'static str,
    /// The kernel.
    pub kernel: Kernel,
    /// The arguments, in the order of the kernel's signature.
    pub(crate) arguments: Vec<Argument>,
}

impl KernelSource {
    /// Creates the input for one of the problem's kernels.
    pub fn kernel(spec: &KernelSpec, kernel: &Kernel) -> Self {
        let arguments = kernel.arguments.iter().filter_map(|position| spec.arguments.get(*position).cloned());
        Self { what: "the kernel", kernel: kernel.clone(), arguments: arguments.collect() }
    }

    /// Creates the input for the reference function.
    pub fn reference(spec: &KernelSpec, reference: &Reference) -> Self {
        let positions = reference.arguments.clone().unwrap_or_else(|| (0..spec.arguments.len()).collect());
        let Reference { language, file, generator, sources, mut include, function, options, work, .. } =
            reference.clone();
        include.extend(spec.kernels.iter().take(1).flat_map(|kernel| kernel.include.clone()));
        let known = reference_arguments(spec);
        let kernel = Kernel {
            name: function.clone(),
            function: function.into(),
            language,
            file,
            generator,
            reading: tunesmith_kernel::Reading::default(),
            sources,
            include,
            options,
            arguments: positions.clone(),
            repeat: None,
            work,
            cuda_compiler: CudaCompiler::default(),
            alternative: None,
        };
        let arguments = positions.iter().filter_map(|position| known.get(*position).cloned()).collect();
        Self { what: "the reference", kernel, arguments }
    }

    /// Returns the source with the function's name in the configuration of `scope`, for messages.
    pub(crate) fn named(&self, scope: &Scope) -> Self {
        let function = self.kernel.function.of(scope).into();
        Self { kernel: Kernel { function, ..self.kernel.clone() }, ..self.clone() }
    }

    /// Returns the error for one of its files that cannot be read.
    pub(crate) fn unreadable(&self, path: &Path, source: io::Error) -> DeviceError {
        DeviceError::Source { what: self.what, path: path.to_owned(), source }
    }
}

/// Returns all of the problem's arguments as a reference gets them. Drops the extents of local
/// memory that depend on the parameters, because a reference neither knows the parameters nor uses
/// this memory.
pub fn reference_arguments(spec: &KernelSpec) -> Vec<Argument> {
    let scope = Scope::new(spec.sizes.iter().cloned());
    let mut arguments = spec.arguments.clone();
    for argument in &mut arguments {
        if let ArgumentKind::Local { shape } = &mut argument.kind {
            shape.retain(|expr| expr.names().iter().all(|name| scope.get(&name.text).is_some()));
        }
    }
    arguments
}
