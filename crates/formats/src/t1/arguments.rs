//! Reads the kernel's arguments.

use super::json::Item;
use super::reader::Reader;
use crate::element_type::element_type;
use std::ops::Range;
use std::path::PathBuf;
use tunesmith_kernel::{Access, ElementType, Fill, Memory, Number, ScalarType};
use tunesmith_space::Expr;
use tunesmith_spec::{ArgumentDraft, ArgumentKindDraft, Key};

const KEYS: &[&str] = &[
    "Name",
    "Type",
    "TypeSize",
    "MemoryType",
    "MemType",
    "AccessType",
    "Size",
    "FillType",
    "FillValue",
    "DataSource",
    "Output",
];

/// The types in T1 files, with ours: first the schema's names, then NumPy's, which users of Kernel
/// Tuner write.
const TYPES: &[(&str, &str)] = &[
    ("bool", "u8"),
    ("int8", "i8"),
    ("uint8", "u8"),
    ("int16", "i16"),
    ("uint16", "u16"),
    ("int32", "i32"),
    ("uint32", "u32"),
    ("int64", "i64"),
    ("uint64", "u64"),
    ("half", "f16"),
    ("float", "f32"),
    ("double", "f64"),
    ("custom", "bytes"),
    ("int", "i32"),
    ("uint", "u32"),
    ("float32", "f32"),
    ("float64", "f64"),
];

/// Advice for a fill that is not supported.
const BY_FILE: &str = "write the values to a file and use \"FillType\": \"BinaryRaw\" with the file as DataSource";

/// Returns the arguments with their places, in the order of the kernel's signature.
pub(super) fn read(reader: &Reader<'_>) -> Vec<(ArgumentDraft, Range<usize>)> {
    let mut arguments: Vec<(ArgumentDraft, Range<usize>)> = Vec::new();
    let items = reader.item.get("Arguments").map(|list| list.items()).unwrap_or_default();
    for (position, item) in items.iter().enumerate() {
        let name = item.get("Name").and_then(|name| name.string()).map(str::to_string);
        let name = name.unwrap_or_else(|| format!("argument{}", position + 1));
        let one = One { reader, item, name: &name };
        if arguments.iter().any(|(known, _)| known.name == name) {
            one.obstacle("Name", "there is another argument of this name", "give each a Name of its own");
            continue;
        }
        one.report_unread();
        if let Some((element, kind)) = one.element().and_then(|element| Some((element, one.kind(element)?))) {
            arguments.push((argument(arguments.len(), &name, element, kind), item.span.clone()));
        }
    }
    arguments
}

/// Returns an argument at `position` of the signature.
pub(super) fn argument(position: usize, name: &str, element: ElementType, kind: ArgumentKindDraft) -> ArgumentDraft {
    let key = Key::of("arguments").at(position);
    ArgumentDraft { key, name: name.to_string(), element, kind, symbol: None, align: None, tolerance: None }
}

/// One argument, or the reference of one.
pub(super) struct One<'a> {
    pub(super) reader: &'a Reader<'a>,
    pub(super) item: &'a Item<'a>,
    pub(super) name: &'a str,
}

impl One<'_> {
    /// Reports an obstacle at `key`, or at the argument if it lacks the key.
    pub(super) fn obstacle(&self, key: &str, text: &str, remedy: &str) {
        let text = format!("argument `{}`: {text}", self.name);
        self.reader.findings.obstacle(self.place(key), text, Some(remedy.to_string()));
    }

    pub(super) fn note(&self, key: &str, text: &str, remedy: &str) {
        let text = format!("argument `{}`: {text}", self.name);
        self.reader.findings.note(self.place(key), text, Some(remedy.to_string()));
    }

    fn place(&self, key: &str) -> Range<usize> {
        self.item.get(key).map_or_else(|| self.item.span.clone(), |item| item.span)
    }

    pub(super) fn string(&self, key: &str) -> Option<&str> {
        self.item.get(key)?.string()
    }

    fn element(&self) -> Option<ElementType> {
        let name = self.string("Type").unwrap_or_default();
        let Some(element) = element_type(name, TYPES) else {
            let known: Vec<&str> = TYPES.iter().map(|(theirs, _)| *theirs).collect();
            let remedy = format!("types are {}, and half2, float4, double8 and the like", known.join(", "));
            self.obstacle("Type", &format!("there is no type `{name}`"), &remedy);
            return None;
        };
        if name == "bool" {
            self.note("Type", "a bool is passed as a byte of 0 or 1", "declare it as unsigned char in the kernel");
        }
        let stated = self.item.get("TypeSize").and_then(|size| size.json.as_u64());
        if name != "custom" && stated.is_some_and(|size| size != element.size() as u64) {
            let text = format!("its TypeSize is not that of {name}, which has {} bytes", element.size());
            self.obstacle("TypeSize", &text, "correct one of the two");
        }
        Some(element)
    }

    fn kind(&self, element: ElementType) -> Option<ArgumentKindDraft> {
        let is_sized = self.item.get("Size").is_some();
        match self.string("MemoryType").unwrap_or(if is_sized { "Vector" } else { "Scalar" }) {
            "Scalar" => self.scalar(element),
            "Vector" => self.buffer(element, self.string("MemType") == Some("Constant")),
            "Constant" => self.buffer(element, true),
            "Local" => Some(ArgumentKindDraft::Local(self.extents(element)?)),
            "Symbol" => {
                let remedy = "pass it as a `__constant` pointer: \"MemoryType\": \"Vector\", \"MemType\": \"Constant\"";
                self.obstacle("MemoryType", "memory that is named in the kernel (Symbol) cannot be filled", remedy);
                None
            }
            other => {
                let text = format!("there is no MemoryType `{other}`");
                self.obstacle("MemoryType", &text, "it is Scalar, Vector, Local or Symbol");
                None
            }
        }
    }

    fn scalar(&self, element: ElementType) -> Option<ArgumentKindDraft> {
        if self.is_custom(element) {
            self.obstacle("Type", "a scalar of a custom type cannot be passed", "pass it as a Vector of one element");
            return None;
        }
        if let Some(fill) = self.string("FillType").filter(|fill| *fill != "Constant") {
            let text = format!("a scalar cannot be filled by {fill}");
            self.obstacle("FillType", &text, "give its FillValue, and \"FillType\": \"Constant\"");
            return None;
        }
        let Some(value) = self.item.get("FillValue") else {
            self.obstacle("FillValue", "it has no FillValue", "a scalar takes its value from FillValue");
            return None;
        };
        self.expression(&value, "FillValue").map(ArgumentKindDraft::Scalar)
    }

    fn buffer(&self, element: ElementType, is_constant: bool) -> Option<ArgumentKindDraft> {
        let (shape, fill) = (self.shape(element), self.fill(element));
        let access = self.access();
        let memory = if is_constant { Memory::Constant } else { Memory::Global };
        let (shape, fill) = (shape?, fill?);
        if let (true, Fill::File(_)) = (shape.iter().any(varies), &fill) {
            let remedy = "write max(PARAMETER), the largest of its values";
            self.obstacle("Size", "its Size depends on the parameters, but its contents are a file", remedy);
            return None;
        }
        Some(ArgumentKindDraft::Buffer { shape, fill, access: access?, memory })
    }

    /// Returns the extents of a buffer.
    fn shape(&self, element: ElementType) -> Option<Vec<Expr>> {
        let extents = self.extents(element)?;
        let is_right = extents.iter().any(varies) || extents.iter().all(|extent| self.is_positive(extent));
        is_right.then_some(extents)
    }

    fn extents(&self, element: ElementType) -> Option<Vec<Expr>> {
        let size = self.expression(&self.required_size()?, "Size")?;
        if !self.is_custom(element) {
            return Some(vec![size]);
        }
        // The bytes of an element of a custom type are one more extent.
        let bytes = Expr::parse(&self.type_size()?.to_string()).ok();
        Some(std::iter::once(size).chain(bytes).collect())
    }

    fn required_size(&self) -> Option<Item<'_>> {
        let size = self.item.get("Size");
        if size.is_none() {
            self.obstacle("Size", "it has no Size", "write the number of its elements, \"Size\": \"ProblemSize[0]\"");
        }
        size
    }

    /// Returns true if an extent that names no parameter is a number of at least 1.
    fn is_positive(&self, expr: &Expr) -> bool {
        match expr.evaluate_int(&|_| None) {
            Ok(size) if size > 0 => true,
            Ok(size) => {
                self.obstacle("Size", &format!("it has {size} elements"), "at least 1 is needed");
                false
            }
            Err(error) => {
                self.obstacle("Size", &format!("in `{}`: {error}", expr.text()), "Size is a number of elements");
                false
            }
        }
    }

    fn is_custom(&self, element: ElementType) -> bool {
        element.scalar() == ScalarType::Byte
    }

    /// Returns the size in bytes of a custom type.
    fn type_size(&self) -> Option<u64> {
        let size = self.item.get("TypeSize").and_then(|size| size.json.as_u64()).filter(|size| *size > 0);
        if size.is_none() {
            self.obstacle("TypeSize", "its custom type has no TypeSize", "write the bytes of one element");
        }
        size
    }

    /// Reads an expression over the parameters.
    fn expression(&self, item: &Item<'_>, key: &str) -> Option<Expr> {
        let what = format!("the {key} of argument `{}`", self.name);
        self.reader.terms.expression(item, &what, self.reader.findings)
    }

    fn access(&self) -> Option<Access> {
        let output = self.item.get("Output").and_then(|output| output.scalar()?.as_int());
        let is_output = output.is_some_and(|output| output != 0);
        match self.string("AccessType") {
            Some("ReadOnly") if is_output => {
                self.obstacle("AccessType", "it is ReadOnly and an Output", "make it ReadWrite or WriteOnly");
                None
            }
            Some("ReadOnly") => Some(Access::In),
            Some("WriteOnly") => Some(Access::Out),
            Some("ReadWrite") => Some(Access::InOut),
            None => {
                let remedy =
                    "write ReadOnly, WriteOnly or ReadWrite: restoring an argument that is only read takes time";
                self.note("AccessType", "it has no AccessType and is taken as ReadWrite", remedy);
                Some(Access::InOut)
            }
            Some(other) => {
                let text = format!("there is no AccessType `{other}`");
                self.obstacle("AccessType", &text, "it is ReadOnly, WriteOnly or ReadWrite");
                None
            }
        }
    }

    /// Returns the contents of elements of this type.
    pub(super) fn fill(&self, element: ElementType) -> Option<Fill> {
        let value = self.item.get("FillValue");
        match self.string("FillType").unwrap_or(if value.is_some() { "Constant" } else { "Random" }) {
            "Constant" => self.constant(value.as_ref()),
            "Random" => self.random(element.scalar(), value.as_ref()),
            "Generator" => self.generator(),
            "BinaryRaw" => self.file().map(Fill::File),
            "Script" | "BinaryHDF" => {
                let fill = self.string("FillType").unwrap_or_default();
                self.obstacle("FillType", &format!("a fill by {fill} is not supported"), BY_FILE);
                None
            }
            other => {
                let remedy = "it is Constant, Random, Generator or BinaryRaw";
                self.obstacle("FillType", &format!("there is no FillType `{other}`"), remedy);
                None
            }
        }
    }

    fn constant(&self, value: Option<&Item<'_>>) -> Option<Fill> {
        let Some(value) = value else {
            self.note("FillValue", "it has no FillValue and is filled with zeros", "write \"FillValue\": 0");
            return Some(Fill::Zeros);
        };
        let number = value.json.as_f64();
        if number.is_none() {
            self.obstacle("FillValue", "its FillValue is not a number", "write a number");
        }
        number.map(Fill::Constant)
    }

    /// Returns random numbers from 0 to below the FillValue, which are KTT's.
    fn random(&self, scalar: ScalarType, value: Option<&Item<'_>>) -> Option<Fill> {
        if self.item.get("RandomSeed").is_some() {
            let text = "its RandomSeed is not used: random numbers are the same in every run";
            self.note("RandomSeed", text, &format!("else {BY_FILE}"));
        }
        let Some(value) = value else { return Some(Fill::Random) };
        let Some(bound) = value.json.as_f64().filter(|bound| *bound >= 0.0) else {
            let text = "its FillValue is not a number of at least 0";
            self.obstacle("FillValue", text, "random numbers lie between 0 and FillValue");
            return None;
        };
        let most = if scalar.is_float() { bound } else { (bound.ceil() - 1.0).max(0.0) };
        if !holds(scalar, most) {
            let text = format!("{} cannot hold random numbers up to {most}", scalar.name());
            self.obstacle("FillValue", &text, "random numbers lie between 0 and FillValue; write a smaller one");
            return None;
        }
        if most == 0.0 {
            let text = format!("it is filled with zeros: no other {} lies in [0, {bound})", scalar.name());
            self.note("FillValue", &text, "write a larger FillValue");
        }
        Some(Fill::Between(0.0, most))
    }

    fn generator(&self) -> Option<Fill> {
        let source = self.required_source()?;
        let what = format!("the DataSource of argument `{}`", self.name);
        let expr = self.reader.terms.parse(&source, &what, self.reader.findings)?;
        if let Some(name) = expr.names().iter().find(|name| name.text != "i") {
            let text = format!("`{}` in {what} is not known", name.text);
            self.obstacle("DataSource", &text, "a generator knows only `i`, the number of the element");
            return None;
        }
        Some(Fill::Generator(expr))
    }

    fn required_source(&self) -> Option<Item<'_>> {
        let source = self.item.get("DataSource").filter(|source| source.string().is_some());
        if source.is_none() {
            self.obstacle("DataSource", "its FillType needs a DataSource", "write \"DataSource\": \"...\"");
        }
        source
    }

    fn file(&self) -> Option<PathBuf> {
        let source = self.required_source()?;
        Some(self.reader.folder.join(source.string()?))
    }

    fn report_unread(&self) {
        for (key, place) in self.item.keys() {
            // A seed is reported with its fill.
            if !KEYS.contains(&key.as_ref()) && key != "RandomSeed" {
                let text = format!("argument `{}`: `{key}` is not read", self.name);
                self.reader.findings.note(place, text, Some("remove it".to_string()));
            }
        }
    }
}

/// Returns true if an extent depends on the parameters.
fn varies(extent: &Expr) -> bool {
    !extent.names().is_empty()
}

/// Returns true if the type has a finite number next to `value`.
fn holds(scalar: ScalarType, value: f64) -> bool {
    let number = scalar.encode_float(value).map(|bytes| scalar.decode(&bytes));
    number.is_some_and(|number| !matches!(number, Number::Float(rounded) if !rounded.is_finite()))
}
