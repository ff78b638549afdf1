//! Arguments of a problem that is built in code.

use super::contents::Contents;
use super::maker::Maker;
use std::io;
use tunesmith_kernel::{Access, ElementType, Fill, Memory, PartialTolerance, ScalarType};
use tunesmith_space::Value;
use tunesmith_spec::{ArgumentDraft, ArgumentKindDraft, Faults, Key};

/// An argument of the kernels: a scalar, an object, a buffer, or memory of a work-group.
///
/// Extents are numbers or expressions over sizes.
///
/// ```
/// use tunesmith_kernel::{Fill, ScalarType::F32};
/// use tunesmith_problem::Arg;
///
/// let a = Arg::input("a", F32, ["M", "K"]);
/// let c = Arg::inout("c", F32, ["M", "N"]).fill(Fill::Ones).relative(1e-5);
/// let alpha = Arg::scalar("alpha", F32, 1.5);
/// ```
#[derive(Clone, Debug)]
pub struct Arg {
    name: String,
    element: ElementType,
    kind: Kind,
    fill: Option<FillWith>,
    is_constant: bool,
    symbol: Option<String>,
    align: Option<u64>,
    relative: Option<f64>,
    absolute: Option<f64>,
}

#[derive(Clone, Debug)]
enum Kind {
    Scalar(Value),
    Object(Vec<u8>),
    Buffer { access: Access, shape: Vec<Value> },
    Local { shape: Vec<Value> },
}

#[derive(Clone, Debug)]
enum FillWith {
    Rule(Fill),
    Contents(Contents),
}

impl Arg {
    /// Passes a value: a number, or an expression over sizes and parameters.
    pub fn scalar(name: impl Into<String>, element: impl Into<ElementType>, value: impl Into<Value>) -> Self {
        Self::of(name.into(), element.into(), Kind::Scalar(value.into()))
    }

    /// Passes an object by value, such as a struct, given as its bytes. In C, kernels cannot take one.
    pub fn object(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(name.into(), ScalarType::Byte.into(), Kind::Object(bytes.into()))
    }

    /// Passes a buffer that the kernels read.
    pub fn input<V: Into<Value>>(
        name: impl Into<String>,
        element: impl Into<ElementType>,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        Self::buffer(name.into(), element.into(), Access::In, shape)
    }

    /// Passes a buffer that the kernels write. It holds poison before each run.
    pub fn output<V: Into<Value>>(
        name: impl Into<String>,
        element: impl Into<ElementType>,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        Self::buffer(name.into(), element.into(), Access::Out, shape)
    }

    /// Passes a buffer that the kernels read and write. It is filled anew before each run.
    pub fn inout<V: Into<Value>>(
        name: impl Into<String>,
        element: impl Into<ElementType>,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        Self::buffer(name.into(), element.into(), Access::InOut, shape)
    }

    /// Passes a workspace of the kernels. It holds poison before a configuration's first run, and
    /// is not compared.
    pub fn scratch<V: Into<Value>>(
        name: impl Into<String>,
        element: impl Into<ElementType>,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        Self::buffer(name.into(), element.into(), Access::Scratch, shape)
    }

    /// Passes memory of a work-group. Its extents may also depend on the parameters.
    pub fn local<V: Into<Value>>(
        name: impl Into<String>,
        element: impl Into<ElementType>,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        let shape = shape.into_iter().map(Into::into).collect();
        Self::of(name.into(), element.into(), Kind::Local { shape })
    }

    fn buffer<V: Into<Value>>(
        name: String,
        element: ElementType,
        access: Access,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        let shape = shape.into_iter().map(Into::into).collect();
        Self::of(name, element, Kind::Buffer { access, shape })
    }

    fn of(name: String, element: ElementType, kind: Kind) -> Self {
        let (fill, is_constant, symbol, align, relative, absolute) = (None, false, None, None, None, None);
        Self { name, element, kind, fill, is_constant, symbol, align, relative, absolute }
    }

    /// Sets the rule that fills the buffer. Without a rule, the buffer holds random numbers.
    #[must_use]
    pub fn fill(self, fill: Fill) -> Self {
        Self { fill: Some(FillWith::Rule(fill)), ..self }
    }

    /// Sets the initial contents of the buffer: numbers, or a file.
    #[must_use]
    pub fn contents(self, contents: impl Into<Contents>) -> Self {
        Self { fill: Some(FillWith::Contents(contents.into())), ..self }
    }

    /// Places the buffer in constant memory.
    #[must_use]
    pub fn constant_memory(self) -> Self {
        Self { is_constant: true, ..self }
    }

    /// Copies the buffer to the `__constant__` variable `symbol` of a CUDA source. The kernel has
    /// no parameter for it.
    #[must_use]
    pub fn symbol(self, symbol: impl Into<String>) -> Self {
        Self { symbol: Some(symbol.into()), ..self.constant_memory() }
    }

    /// Sets the alignment of the buffer in bytes, a power of two. Without it, the buffer is aligned
    /// to 64 bytes.
    #[must_use]
    pub fn align(self, bytes: u64) -> Self {
        Self { align: Some(bytes), ..self }
    }

    /// Sets the relative tolerance of this argument.
    #[must_use]
    pub fn relative(self, tolerance: f64) -> Self {
        Self { relative: Some(tolerance), ..self }
    }

    /// Sets the absolute tolerance of this argument.
    #[must_use]
    pub fn absolute(self, tolerance: f64) -> Self {
        Self { absolute: Some(tolerance), ..self }
    }

    /// Returns the name by which messages call the argument.
    pub(super) fn label(&self) -> &str {
        &self.name
    }

    /// Returns the part `key` of a problem, unless an expression of it is wrong. Writes its contents among the texts of
    /// `maker`.
    pub(super) fn draft(&self, key: Key, maker: &Maker<'_>) -> io::Result<Option<ArgumentDraft>> {
        let fill = self.filled(maker)?;
        let kind = match &self.kind {
            Kind::Scalar(value) => maker.expression(value, &key.field("value")).map(ArgumentKindDraft::Scalar),
            Kind::Object(bytes) => Some(ArgumentKindDraft::Object(bytes.clone())),
            Kind::Local { shape } => {
                self.refuse_contents(&key, maker.faults);
                maker.expressions(shape, &key.field("shape")).map(ArgumentKindDraft::Local)
            }
            Kind::Buffer { access, shape } => {
                let memory = if self.is_constant { Memory::Constant } else { Memory::Global };
                let shape = maker.expressions(shape, &key.field("shape"));
                shape.map(|shape| ArgumentKindDraft::Buffer { shape, fill, access: *access, memory })
            }
        };
        let tolerance = PartialTolerance { relative: self.relative, absolute: self.absolute };
        Ok(kind.map(|kind| ArgumentDraft {
            key,
            name: self.name.clone(),
            element: self.element,
            kind,
            symbol: self.symbol.clone(),
            align: self.align,
            tolerance: self.relative.or(self.absolute).map(|_| tolerance),
        }))
    }

    /// Returns the rule that fills a buffer.
    fn filled(&self, maker: &Maker<'_>) -> io::Result<Fill> {
        Ok(match &self.fill {
            None => Fill::Random,
            Some(FillWith::Rule(Fill::File(path))) => Fill::File(maker.folder.join(path)),
            Some(FillWith::Rule(rule)) => rule.clone(),
            Some(FillWith::Contents(contents)) => {
                Fill::File(maker.folder.join(contents.path(&self.name, maker.texts)?))
            }
        })
    }

    fn refuse_contents(&self, key: &Key, faults: &Faults) {
        if self.fill.is_some() {
            let remedy = "remove it: local memory holds nothing before a kernel runs".to_string();
            faults.named(key.field("fill"), "", " has no meaning for local memory", Some(remedy));
        }
    }
}
