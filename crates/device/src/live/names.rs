//! Unknown names in options and expressions.

use tunesmith_kernel::{Argument, DeviceError, Kernel, KernelSpec, Scope};

/// Reports unknown names in options and expressions.
pub(super) fn check(spec: &KernelSpec, scope: &Scope) -> Result<(), DeviceError> {
    for option in spec.kernels.iter().flat_map(|kernel| &kernel.options) {
        option.check(scope).map_err(|source| DeviceError::Template { option: option.to_string(), source })?;
    }
    for kernel in &spec.kernels {
        let unknown = |source| DeviceError::FunctionName { function: kernel.function.to_string(), source };
        kernel.function.template().check(scope).map_err(unknown)?;
    }
    let arguments = spec.arguments.iter().flat_map(Argument::expressions);
    let kernels = spec.kernels.iter().flat_map(Kernel::expressions);
    for expr in arguments.chain(kernels) {
        if let Some(name) = expr.names().iter().find(|name| scope.get(&name.text).is_none()) {
            let suggestion = scope.similar(&name.text);
            let expression = expr.text().to_owned();
            return Err(DeviceError::UnknownName { expression, name: name.text.clone(), suggestion });
        }
    }
    Ok(())
}
