//! Arguments of a problem that is built in code.

use super::contents::Contents;
use super::entries::{Entries, list, path_value, text, value};
use super::texts::Texts;
use std::io;
use tunesmith_device::{ElementType, Fill, ScalarType};
use tunesmith_space::Value;

/// An argument of the kernels: a scalar, an object, a buffer, or memory of a work-group.
///
/// Extents are numbers or expressions over sizes.
///
/// ```
/// use tunesmith_device::{Fill, ScalarType::F32};
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
    Buffer { access: &'static str, shape: Vec<Value> },
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
        Self::buffer(name.into(), element.into(), "in", shape)
    }

    /// Passes a buffer that the kernels write. It holds poison before each run.
    pub fn output<V: Into<Value>>(
        name: impl Into<String>,
        element: impl Into<ElementType>,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        Self::buffer(name.into(), element.into(), "out", shape)
    }

    /// Passes a buffer that the kernels read and write. It is filled anew before each run.
    pub fn inout<V: Into<Value>>(
        name: impl Into<String>,
        element: impl Into<ElementType>,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        Self::buffer(name.into(), element.into(), "inout", shape)
    }

    /// Passes a workspace of the kernels. It holds poison before a configuration's first run, and
    /// is not compared.
    pub fn scratch<V: Into<Value>>(
        name: impl Into<String>,
        element: impl Into<ElementType>,
        shape: impl IntoIterator<Item = V>,
    ) -> Self {
        Self::buffer(name.into(), element.into(), "scratch", shape)
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
        access: &'static str,
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

    /// Returns the keys of the argument's table in a document. Writes its contents among `texts`.
    pub(super) fn entries(&self, texts: &Texts) -> io::Result<Entries> {
        let mut entries = Entries::default();
        entries.some("name", Some(text(&self.name)));
        entries.some("type", Some(text(&self.element.to_string())));
        match &self.kind {
            Kind::Scalar(number) => entries.some("value", Some(value(number.clone()))),
            Kind::Object(bytes) => {
                entries.some("value", Some(list(bytes.iter().map(|byte| Value::Int((*byte).into())))));
            }
            Kind::Local { shape } => {
                entries.some("shape", Some(list(shape.iter().cloned())));
                entries.some("memory", Some(text("local")));
            }
            Kind::Buffer { access, shape } => {
                entries.some("shape", Some(list(shape.iter().cloned())));
                entries.some("access", Some(text(access)));
            }
        }
        entries.some("memory", self.is_constant.then(|| text("constant")));
        entries.some("symbol", self.symbol.as_deref().map(text));
        entries.some("align", self.align.map(|bytes| value(i64::try_from(bytes).unwrap_or(i64::MAX))));
        match &self.fill {
            None => {}
            Some(FillWith::Rule(fill)) => fill_entries(&mut entries, fill)?,
            Some(FillWith::Contents(contents)) => {
                fill_entries(&mut entries, &Fill::File(contents.path(&self.name, texts)?))?;
            }
        }
        entries.some("relative", self.relative.map(value));
        entries.some("absolute", self.absolute.map(value));
        Ok(entries)
    }
}

/// Adds the keys of a rule that fills a buffer.
fn fill_entries(entries: &mut Entries, fill: &Fill) -> io::Result<()> {
    if let Fill::Between(low, high) = fill {
        let mut between = Entries::default();
        between.some("random", Some(list([*low, *high].map(Value::from))));
        entries.some("fill", Some(between.into_table()));
        return Ok(());
    }
    let (word, detail) = match fill {
        Fill::Random | Fill::Between(..) => ("random", None),
        Fill::Zeros => ("zeros", None),
        Fill::Ones => ("ones", None),
        Fill::Iota => ("iota", None),
        Fill::Constant(number) => ("constant", Some(("constant", value(*number)))),
        Fill::Generator(expr) => ("generator", Some(("generator", text(expr.text())))),
        Fill::File(path) => ("file", Some(("path", value(path_value(path)?)))),
    };
    entries.some("fill", Some(text(word)));
    if let Some((key, item)) = detail {
        entries.some(key, Some(item));
    }
    Ok(())
}
