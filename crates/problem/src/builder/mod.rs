//! Problems that are built in code.
//!
//! [`ProblemBuilder`] makes the same document as a problem file in TOML. Every check and every
//! meaning is therefore the same as that of problem files.

mod alternative;
mod argument;
mod code;
mod contents;
mod entries;
mod texts;

pub use alternative::Alternative;
pub use argument::Arg;
pub use code::Code;
pub use contents::Contents;

use crate::item::{Content, Item, Located, Table};
use crate::{Problem, ProblemError, SourceFile, document};
use entries::{Entries, Listing, text, value};
use std::io;
use std::path::PathBuf;
use texts::Texts;
use tunesmith_space::Value;

/// Builds a [`Problem`] in code.
///
/// ```
/// use tunesmith_device::ScalarType::F32;
/// use tunesmith_problem::{Arg, Code, Problem};
///
/// let problem = Problem::builder("scale")
///     .size("N", 1024)
///     .kernel(Code::c("scale", "void scale(float *x) { for (int i = 0; i < N; i += STEP) x[i] *= 2; }"))
///     .parameter("STEP", [1, 2, 4])
///     .constraint("steps divide N", "N % STEP == 0")
///     .argument(Arg::inout("x", F32, ["N"]))
///     .build()?;
/// assert_eq!(problem.space(&[])?.space.size(), 3_u32.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProblemBuilder {
    name: String,
    folder: PathBuf,
    sizes: Vec<(String, Value)>,
    flops: Option<Value>,
    bytes: Option<Value>,
    kernels: Vec<Code>,
    choice: Option<String>,
    alternatives: Vec<Alternative>,
    parameters: Vec<(String, Vec<Value>)>,
    constraints: Vec<(String, String)>,
    arguments: Vec<Arg>,
    reference: Option<Code>,
    expected: Vec<(String, Contents)>,
    relative: Option<f64>,
    absolute: Option<f64>,
    compare: Vec<(String, String)>,
    verify_at: Vec<Vec<(String, Value)>>,
    default: Vec<(String, Value)>,
}

impl Problem {
    /// Returns a builder of the problem `name`.
    pub fn builder(name: impl Into<String>) -> ProblemBuilder {
        ProblemBuilder {
            name: name.into(),
            folder: PathBuf::from("."),
            sizes: Vec::new(),
            flops: None,
            bytes: None,
            kernels: Vec::new(),
            choice: None,
            alternatives: Vec::new(),
            parameters: Vec::new(),
            constraints: Vec::new(),
            arguments: Vec::new(),
            reference: None,
            expected: Vec::new(),
            relative: None,
            absolute: None,
            compare: Vec::new(),
            verify_at: Vec::new(),
            default: Vec::new(),
        }
    }
}

impl ProblemBuilder {
    /// Sets the folder that relative paths start from. Without it, they start from the current one.
    #[must_use]
    pub fn folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ..self }
    }

    /// Adds a size: a named number for every expression, and a macro for kernel and reference.
    #[must_use]
    pub fn size(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.sizes.push((name.into(), value.into()));
        self
    }

    /// Sets the floating-point operations of one launch: an expression over sizes and parameters.
    #[must_use]
    pub fn flops(self, expression: impl Into<Value>) -> Self {
        Self { flops: Some(expression.into()), ..self }
    }

    /// Sets the bytes that one launch moves: an expression over sizes and parameters.
    #[must_use]
    pub fn bytes(self, expression: impl Into<Value>) -> Self {
        Self { bytes: Some(expression.into()), ..self }
    }

    /// Adds a kernel. Several kernels run in the order in which they were added.
    #[must_use]
    pub fn kernel(mut self, code: Code) -> Self {
        self.kernels.push(code);
        self
    }

    /// Adds a way to compute the result, in place of kernels. The search chooses one of them.
    #[must_use]
    pub fn alternative(mut self, alternative: Alternative) -> Self {
        self.alternatives.push(alternative);
        self
    }

    /// Names the parameter that chooses among the alternatives. Without a name, it is `alternative`.
    #[must_use]
    pub fn choice(self, parameter: impl Into<String>) -> Self {
        Self { choice: Some(parameter.into()), ..self }
    }

    /// Adds a tuning parameter with its possible values.
    #[must_use]
    pub fn parameter<V: Into<Value>>(mut self, name: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        self.parameters.push((name.into(), values.into_iter().map(Into::into).collect()));
        self
    }

    /// Adds a constraint: its meaning, and an expression that is true for valid configurations.
    #[must_use]
    pub fn constraint(mut self, meaning: impl Into<String>, expression: impl Into<String>) -> Self {
        self.constraints.push((meaning.into(), expression.into()));
        self
    }

    /// Adds an argument, in the order of the kernels' signatures.
    #[must_use]
    pub fn argument(mut self, argument: Arg) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Sets the function that computes the right results. It takes the same arguments as the
    /// kernels, unless its code names [its own](Code::arguments). It gets the sizes as macros, but
    /// not the parameters.
    #[must_use]
    pub fn reference(self, code: Code) -> Self {
        Self { reference: Some(code), ..self }
    }

    /// Adds the right contents of an argument, in place of a reference.
    #[must_use]
    pub fn expected(mut self, argument: impl Into<String>, contents: impl Into<Contents>) -> Self {
        self.expected.push((argument.into(), contents.into()));
        self
    }

    /// Sets the relative tolerance of all arguments.
    #[must_use]
    pub fn relative(self, tolerance: f64) -> Self {
        Self { relative: Some(tolerance), ..self }
    }

    /// Sets the absolute tolerance of all arguments.
    #[must_use]
    pub fn absolute(self, tolerance: f64) -> Self {
        Self { absolute: Some(tolerance), ..self }
    }

    /// Compares only these elements of an output: ranges such as `0..N, M..M + 8`, over sizes.
    #[must_use]
    pub fn compare(mut self, argument: impl Into<String>, ranges: impl Into<String>) -> Self {
        self.compare.push((argument.into(), ranges.into()));
        self
    }

    /// Verifies the winner at these sizes as well. A size without a value keeps its own.
    #[must_use]
    pub fn verify_at<S: Into<String>, V: Into<Value>>(mut self, sizes: impl IntoIterator<Item = (S, V)>) -> Self {
        self.verify_at.push(sizes.into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        self
    }

    /// Sets the configuration that speed-ups refer to. A parameter without a value takes its first
    /// one.
    #[must_use]
    pub fn default<S: Into<String>, V: Into<Value>>(self, values: impl IntoIterator<Item = (S, V)>) -> Self {
        Self { default: values.into_iter().map(|(name, value)| (name.into(), value.into())).collect(), ..self }
    }

    /// Builds the problem. Sources and data that were given as values are written to a temporary
    /// folder. The folder is removed with the problem and its clones.
    ///
    /// # Errors
    /// The problem is wrong: every fault has a message with the call that it concerns. Or the
    /// temporary folder cannot be written.
    pub fn build(&self) -> Result<Problem, ProblemError> {
        let path = self.folder.join(&self.name);
        let unwritten = |error: io::Error| {
            if error.kind() == io::ErrorKind::InvalidInput {
                let remedy = "rename it; only the problem's folder may have such a name".to_string();
                return ProblemError::unreadable(&path, format!("the name {error}"), Some(remedy));
            }
            let text = format!("cannot write the problem's sources and data: {error}");
            ProblemError::unreadable(&path, text, Some("make room in the temporary folder".to_string()))
        };
        let texts = Texts::new().map_err(unwritten)?;
        let mut listing = Listing { text: format!("Problem::builder({:?})\n", self.name), calls: Vec::new() };
        let document = self.document(&mut listing, &texts).map_err(unwritten)?;
        let source_file = SourceFile { calls: Some(listing.calls.into()), ..SourceFile::new(&*path, listing.text) };
        let problem = document::read_document(&document, source_file, &[])?;
        Ok(Problem { texts: Some(texts.folder()), ..problem })
    }

    /// Returns the document, the same as from TOML for this problem.
    fn document(&self, listing: &mut Listing, texts: &Texts) -> io::Result<Table> {
        let mut document = Table::default();
        let mut section = |name: &str, item: Item| document.entries.push((unplaced(name), item));
        section("problem", table(self.head(listing)));
        section("parameters", table(self.parameter_entries(listing)));
        section("constraints", table(self.constraint_entries(listing)));
        if let Some(kernel) = self.kernel_item(listing, texts)? {
            section("kernel", kernel);
        }
        if !self.alternatives.is_empty() {
            let alternatives = self.alternatives.iter();
            let alternatives =
                alternatives.map(|one| Ok(listing.table("alternative", one.name(), one.entries(texts)?)));
            let alternatives = alternatives.collect::<io::Result<Vec<Item>>>()?;
            section("alternative", Located { value: Content::List(alternatives), span: 0..0 });
        }
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|one| Ok(listing.table("argument", one.label(), one.entries(texts)?)));
        let arguments = arguments.collect::<io::Result<Vec<Item>>>()?;
        section("arguments", Located { value: Content::List(arguments), span: 0..0 });
        let verify = self.verify_entries(listing, texts)?;
        if !verify.is_empty() {
            section("verify", table(verify));
        }
        if !self.default.is_empty() {
            let mut entries = Entries::default();
            self.default.iter().for_each(|(name, one)| entries.some(name, Some(value(one.clone()))));
            section("tuning", table(vec![(unplaced("default"), listing.named("default", entries))]));
        }
        Ok(document)
    }

    fn head(&self, listing: &mut Listing) -> Vec<Entry> {
        let sizes = self.sizes.iter().map(|(name, size)| listing.pair("size", name, value(size.clone()))).collect();
        let mut head = vec![(unplaced("name"), text(&self.name)), (unplaced("sizes"), table(sizes))];
        for (key, expression) in [("flops", &self.flops), ("bytes", &self.bytes)] {
            let item = expression.clone().map(|expression| listing.single(key, value(expression)));
            head.extend(item.map(|item| (unplaced(key), item)));
        }
        head
    }

    fn parameter_entries(&self, listing: &mut Listing) -> Vec<Entry> {
        let entry = |(name, values): &(String, Vec<Value>)| {
            listing.pair("parameter", name, entries::list(values.iter().cloned()))
        };
        self.parameters.iter().map(entry).collect()
    }

    fn constraint_entries(&self, listing: &mut Listing) -> Vec<Entry> {
        let constraints = self.constraints.iter();
        constraints.map(|(meaning, expression)| listing.pair("constraint", meaning, text(expression))).collect()
    }

    /// Returns the only kernel, or the list of several. With alternatives, returns the name of the
    /// choice.
    fn kernel_item(&self, listing: &mut Listing, texts: &Texts) -> io::Result<Option<Item>> {
        if let (Some(choice), true) = (&self.choice, self.kernels.is_empty()) {
            return Ok(Some(table(vec![(unplaced("alternative"), listing.single("choice", text(choice)))])));
        }
        let kernels = self.kernels.iter();
        let kernels = kernels.map(|code| Ok(listing.table("kernel", code.label(), code.entries(texts)?)));
        let mut kernels = kernels.collect::<io::Result<Vec<Item>>>()?;
        match kernels.len() {
            0 | 1 => Ok(kernels.pop()),
            _ => Ok(Some(Located { value: Content::List(kernels), span: 0..0 })),
        }
    }

    fn verify_entries(&self, listing: &mut Listing, texts: &Texts) -> io::Result<Vec<Entry>> {
        let mut verify = Vec::new();
        if let Some(code) = &self.reference {
            let item = listing.table("reference", code.label(), code.entries(texts)?);
            verify.push((unplaced("reference"), item));
        }
        let expected = self.expected.iter().map(|(name, contents)| {
            let path = contents.path(&format!("{name}_expected"), texts)?;
            Ok(listing.pair("expected", name, value(entries::path_value(&path)?)))
        });
        let expected = expected.collect::<io::Result<Vec<Entry>>>()?;
        if !expected.is_empty() {
            verify.push((unplaced("expected"), table(expected)));
        }
        let compare = self.compare.iter().map(|(name, ranges)| listing.pair("compare", name, text(ranges)));
        let compare: Vec<Entry> = compare.collect();
        if !compare.is_empty() {
            verify.push((unplaced("compare"), table(compare)));
        }
        let sizes = self.verify_at.iter().map(|sizes| {
            let mut entries = Entries::default();
            sizes.iter().for_each(|(name, one)| entries.some(name, Some(value(one.clone()))));
            listing.named("verify_at", entries)
        });
        let sizes: Vec<Item> = sizes.collect();
        if !sizes.is_empty() {
            verify.push((unplaced("sizes"), Located { value: Content::List(sizes), span: 0..0 }));
        }
        for (key, tolerance) in [("relative", self.relative), ("absolute", self.absolute)] {
            let item = tolerance.map(|tolerance| listing.single(key, value(tolerance)));
            verify.extend(item.map(|item| (unplaced(key), item)));
        }
        Ok(verify)
    }
}

/// A key of a document with its value.
type Entry = (Located<String>, Item);

fn unplaced(key: &str) -> Located<String> {
    Located { value: key.to_string(), span: 0..0 }
}

fn table(entries: Vec<Entry>) -> Item {
    Located { value: Content::Table(Table { entries }), span: 0..0 }
}
