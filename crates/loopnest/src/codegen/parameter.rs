//! The parameters of generated functions.

use crate::ir::{ArrayId, Memory, Nest, SizeId};

/// A parameter of a generated function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeParameter {
    /// The cells of an array in their [layout](crate::Layout).
    Array(ArrayId),
    /// A number.
    Argument(ArrayId),
    /// A size.
    Size(SizeId),
}

/// Returns the parameters of the function of a nest: arrays and arguments as declared, then the
/// sizes.
pub(super) fn parameters(nest: &Nest) -> Vec<CodeParameter> {
    let declared = nest.array_ids().filter_map(|id| match nest.array(id).memory {
        Memory::Global => Some(CodeParameter::Array(id)),
        Memory::Argument => Some(CodeParameter::Argument(id)),
        Memory::Local | Memory::Private => None,
    });
    declared.chain((0..nest.sizes.len()).map(|size| CodeParameter::Size(SizeId(size)))).collect()
}
