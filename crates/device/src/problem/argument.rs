//! The arguments of a kernel.

use crate::problem::ElementType;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tunesmith_space::Expr;

/// One argument of the kernel, in the order of its signature.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name that messages, fills and tolerances use.
    pub name: String,
    /// The type of the scalar or of the buffer's elements.
    pub element: ElementType,
    /// A scalar or a buffer.
    pub kind: ArgumentKind,
    /// The variable in constant memory, as C++ names it, that a CUDA kernel reads in place of a
    /// parameter.
    pub symbol: Option<String>,
}

/// The kind of an argument.
#[derive(Clone, Debug)]
pub enum ArgumentKind {
    /// A value passed by value: an expression over sizes and parameters. A vector type gets it in
    /// every lane.
    Scalar(Expr),
    /// A pointer to elements.
    Buffer {
        /// The extents, outermost first; the last one is contiguous.
        shape: Vec<u64>,
        /// The contents before a launch. Of no effect for `out`.
        fill: Fill,
        /// The use that the kernel makes of it.
        access: Access,
        /// The memory that holds it.
        memory: Memory,
    },
    /// Memory of a work-group: no data, only extents, which may depend on the parameters.
    Local {
        /// The extents, expressions over sizes and parameters.
        shape: Vec<Expr>,
    },
}

/// The use that a kernel makes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// Reads it; writing to it is an error that is found.
    In,
    /// Writes every element that counts; holds poison before each launch.
    Out,
    /// Reads and writes it; filled anew before each launch.
    InOut,
}

/// The memory that holds a buffer. In C the global and the constant memory are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Memory {
    /// The device's main memory.
    Global,
    /// Constant memory.
    Constant,
}

/// What a buffer holds at first. Vectors are filled lane by lane; the padding lane of three-lane
/// vectors is zero.
#[derive(Clone, Debug)]
pub enum Fill {
    /// Uniform in [-1, 1) for floats, in 0..100 for integers and bytes; the same for ever for the
    /// same argument name and seed.
    Random,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// 0, 1, 2, ...; integers wrap around.
    Iota,
    /// One number everywhere.
    Constant(f64),
    /// An expression over `i`, the running number of the lane from 0, and the problem's sizes.
    Generator(Expr),
    /// A file: NumPy's `.npy`, checked for type and shape, or else raw bytes of the exact length.
    File(PathBuf),
}

impl Argument {
    /// Returns the number of bytes of a buffer: `None` when it exceeds the address space; 0 for
    /// what is no buffer.
    pub fn bytes(&self) -> Option<usize> {
        match &self.kind {
            ArgumentKind::Scalar(_) | ArgumentKind::Local { .. } => Some(0),
            ArgumentKind::Buffer { shape, .. } => self.size(shape.iter().copied()),
        }
    }

    /// Returns the bytes of so many elements; `None` when they exceed the address space.
    pub(crate) fn size(&self, mut shape: impl Iterator<Item = u64>) -> Option<usize> {
        let bytes = shape
            .try_fold(self.element.size(), |product, extent| product.checked_mul(usize::try_from(extent).ok()?))?;
        Some(bytes).filter(|bytes| *bytes <= isize::MAX as usize)
    }

    /// Returns whether the kernel's result is in it.
    pub fn is_output(&self) -> bool {
        matches!(self.kind, ArgumentKind::Buffer { access: Access::Out | Access::InOut, .. })
    }
}
