//! The arguments of a kernel.

use crate::problem::{ElementType, Image};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tunesmith_space::Expr;

/// One argument of the kernel, in the order of its signature.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name used in messages, fills and tolerances.
    pub name: String,
    /// The type of the scalar or of the buffer's elements.
    pub element: ElementType,
    /// A scalar or a buffer.
    pub kind: ArgumentKind,
    /// The C++ name of a variable in constant memory. A CUDA kernel reads this variable in place of
    /// a parameter.
    pub symbol: Option<String>,
    /// The alignment of a buffer in bytes, a power of two. In C, the buffer begins at a multiple of
    /// it, but not of twice as much: a kernel must not profit from an alignment that its callers
    /// do not provide.
    pub align: usize,
}

/// The alignment of buffers unless the user states another: a line of most caches, and the width
/// of the widest vectors.
pub const ALIGN: usize = 64;

/// The kind of an argument.
#[derive(Clone, Debug)]
pub enum ArgumentKind {
    /// A value passed by value: an expression over sizes and parameters. A vector type holds the
    /// value in every lane.
    Scalar(Expr),
    /// The bytes of an object passed by value, such as a struct. Only the kernel knows its type.
    Object(Vec<u8>),
    /// A pointer to elements.
    Buffer {
        /// The extents, outermost first. The last extent is contiguous.
        shape: Shape,
        /// The contents before a launch. Ignored for `out`.
        fill: Fill,
        /// The kernel's use of the buffer.
        access: Access,
        /// The memory that holds the buffer.
        memory: Memory,
    },
    /// Memory of a work-group. It has extents but no data. The extents may depend on the
    /// parameters.
    Local {
        /// The extents, expressions over sizes and parameters.
        shape: Vec<Expr>,
    },
}

/// The extents of a buffer.
#[derive(Clone, Debug)]
pub enum Shape {
    /// The same in every configuration.
    Fixed(Vec<u64>),
    /// Expressions over sizes and parameters.
    Varying(Vec<Expr>),
}

impl From<Vec<u64>> for Shape {
    fn from(extents: Vec<u64>) -> Self {
        Self::Fixed(extents)
    }
}

/// The kernel's use of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// The kernel only reads it. A write is detected and is an error.
    In,
    /// The kernel writes every element that counts. The buffer holds poison before each launch.
    Out,
    /// The kernel reads and writes it. The buffer is refilled before each launch.
    InOut,
    /// The kernel's workspace. It holds poison before a configuration's first launch, and anything
    /// later. It is not compared.
    Scratch,
}

/// The memory that holds a buffer. In C, global and constant memory are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Memory {
    /// The device's main memory.
    Global,
    /// Constant memory.
    Constant,
    /// An image of one to three dimensions. In C, it is a buffer.
    Image(Image),
}

/// The initial contents of a buffer. Vectors are filled lane by lane. The padding lane of a
/// three-lane vector is zero.
#[derive(Clone, Debug)]
pub enum Fill {
    /// Uniform in [-1, 1) for floats, and in 0..100 for integers and bytes. The same argument name
    /// and seed give the same contents in every version.
    Random,
    /// Uniform in [low, high) for floats, and from low to high, both included, for integers and
    /// bytes. Depends on name and seed as [`Random`](Self::Random) does.
    Between(f64, f64),
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// 0, 1, 2, ... Integers wrap around.
    Iota,
    /// One number everywhere.
    Constant(f64),
    /// An expression over the problem's sizes and `i`, the index of the lane, counted from 0.
    Generator(Expr),
    /// A file. An `.npy` file of NumPy is checked for type and shape. Any other file holds raw
    /// bytes and must have the exact length.
    File(PathBuf),
}

impl From<PathBuf> for Fill {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl Argument {
    /// Creates an argument with the usual alignment: [`ALIGN`], or that of a larger element.
    pub fn new(name: impl Into<String>, element: ElementType, kind: ArgumentKind) -> Self {
        let align = element.size().next_power_of_two().max(ALIGN);
        Self { name: name.into(), element, kind, symbol: None, align }
    }

    /// Returns the size of a buffer in bytes. Returns `None` if the size exceeds the address space,
    /// and 0 if the argument is not a buffer or if its size depends on the parameters.
    pub fn bytes(&self) -> Option<usize> {
        match &self.kind {
            ArgumentKind::Buffer { shape: Shape::Fixed(shape), .. } => self.size(shape.iter().copied()),
            _ => Some(0),
        }
    }

    /// Returns the expressions over parameters in the argument.
    pub fn expressions(&self) -> &[Expr] {
        match &self.kind {
            ArgumentKind::Scalar(expr) => std::slice::from_ref(expr),
            ArgumentKind::Local { shape } | ArgumentKind::Buffer { shape: Shape::Varying(shape), .. } => shape,
            ArgumentKind::Object(_) | ArgumentKind::Buffer { shape: Shape::Fixed(_), .. } => &[],
        }
    }

    /// Returns the size in bytes of the elements of `shape`. Returns `None` if it exceeds the
    /// address space.
    pub fn size(&self, mut shape: impl Iterator<Item = u64>) -> Option<usize> {
        let bytes = shape
            .try_fold(self.element.size(), |product, extent| product.checked_mul(usize::try_from(extent).ok()?))?;
        Some(bytes).filter(|bytes| *bytes <= isize::MAX as usize)
    }

    /// Returns true if the argument is passed by value.
    pub fn is_value(&self) -> bool {
        matches!(self.kind, ArgumentKind::Scalar(_) | ArgumentKind::Object(_))
    }

    /// Returns the type in the words of messages: `f32`, or that of an object by its size.
    pub fn type_text(&self) -> String {
        match &self.kind {
            ArgumentKind::Object(bytes) => format!("an object of {} bytes", bytes.len()),
            _ => self.element.to_string(),
        }
    }

    /// Returns true if the argument is an image.
    pub fn is_image(&self) -> bool {
        matches!(self.kind, ArgumentKind::Buffer { memory: Memory::Image(_), .. })
    }

    /// Returns true if the kernel writes a result to the argument.
    pub fn is_output(&self) -> bool {
        matches!(self.kind, ArgumentKind::Buffer { access: Access::Out | Access::InOut, .. })
    }
}
