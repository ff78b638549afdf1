//! Problems that are built in code.
//!
//! [`ProblemBuilder`] makes the same draft as a problem file in TOML. Every check and every
//! meaning is therefore the same as that of problem files.

mod alternative;
mod argument;
mod code;
mod contents;
mod maker;
mod texts;

pub use alternative::Alternative;
pub use argument::Arg;
pub use code::Code;
pub use contents::Contents;

use crate::{Problem, ProblemError, SourceFile, Tuning};
use maker::Maker;
use std::io;
use std::path::PathBuf;
use texts::Texts;
use tunesmith_kernel::{Fill, PartialTolerance};
use tunesmith_space::Value;
use tunesmith_spec::{
    AlternativesDraft, Draft, Faults, FurtherDraft, Key, Measure, ParameterDraft, Places, SpaceDraft, SubjectDraft,
    ValuesDraft, VerifyDraft,
};

/// Builds a [`Problem`] in code.
///
/// ```
/// use tunesmith_kernel::ScalarType::F32;
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
            let text = format!("cannot write the problem's sources and data: {error}");
            ProblemError::unreadable(&path, text, Some("make room in the temporary folder".to_string()))
        };
        let texts = Texts::new().map_err(unwritten)?;
        let faults = Faults::default();
        let maker = Maker { folder: &self.folder, texts: &texts, faults: &faults };
        let draft = self.draft(&maker).map_err(unwritten)?;
        let problem = Problem::checked(&draft, faults, SourceFile::new(&*path, ""), self.calls());
        Ok(Problem { texts: Some(texts.folder()), ..problem? })
    }

    /// Returns the parts of the problem, as far as their expressions can be read.
    fn draft(&self, maker: &Maker<'_>) -> io::Result<Draft> {
        let problem = Key::of("problem");
        let expression = |value: &Option<Value>, key: &str| {
            value.as_ref().and_then(|value| maker.expression(value, &problem.field(key)))
        };
        let arguments = self.arguments.iter().enumerate();
        let arguments = arguments.map(|(at, one)| one.draft(Key::of("arguments").at(at), maker));
        self.refuse_twins(maker.faults);
        if self.parameters.is_empty() && self.alternatives.is_empty() {
            let remedy = "write `.parameter(\"TILE\", [8, 16, 32])`".to_string();
            maker.faults.error(Key::of("parameters"), "there is no tuning parameter", Some(remedy));
        }
        Ok(Draft {
            name: self.name.clone(),
            sizes: self.sizes.clone(),
            measure: Measure {
                flops: expression(&self.flops, "flops"),
                bytes: expression(&self.bytes, "bytes"),
                ..Measure::default()
            },
            space: SpaceDraft {
                parameters: self.parameters.iter().map(|(name, values)| parameter(name, values)).collect(),
                constraints: maker.constraints(&self.constraints, &Key::of("constraints")),
                ..SpaceDraft::default()
            },
            subject: self.subject(maker)?,
            arguments: arguments.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect(),
            verify: self.verification(maker)?,
            tuning: Tuning { default: (!self.default.is_empty()).then(|| self.default.clone()), ..Tuning::default() },
            ..Draft::default()
        })
    }

    /// Returns the kernels, or the alternatives.
    fn subject(&self, maker: &Maker<'_>) -> io::Result<SubjectDraft> {
        let kernel = Key::of("kernel");
        if self.alternatives.is_empty() {
            return match &self.kernels[..] {
                [] => Ok(SubjectDraft::None),
                [nest] if nest.is_nest() => Ok(SubjectDraft::Nest(nest.nest_draft(&kernel, maker)?)),
                several => {
                    let kernels = several.iter().enumerate().map(|(at, code)| code.draft(kernel.at(at), maker));
                    let kernels = kernels.collect::<io::Result<Vec<_>>>()?;
                    Ok(SubjectDraft::Kernels(kernels.into_iter().flatten().collect()))
                }
            };
        }
        if !self.kernels.is_empty() {
            let remedy = "add every kernel to its alternative".to_string();
            maker.faults.error(kernel, "a problem has either kernels or alternatives", Some(remedy));
        }
        let key = Key::of("alternative");
        let entries = self.alternatives.iter().enumerate().map(|(at, one)| one.draft(key.at(at), maker));
        let choice = self.choice.clone().unwrap_or_else(|| CHOICE.to_string());
        Ok(SubjectDraft::Alternatives(AlternativesDraft { choice, entries: entries.collect::<io::Result<_>>()? }))
    }

    fn verification(&self, maker: &Maker<'_>) -> io::Result<VerifyDraft> {
        let section = Key::of("verify");
        let reference = match &self.reference {
            Some(code) => code.draft(section.field("reference"), maker)?,
            None => None,
        };
        let expected = self.expected.iter().map(|(name, contents)| {
            let path = contents.path(&format!("{name}_expected"), maker.texts)?;
            Ok((name.clone(), Fill::File(maker.folder.join(path))))
        });
        let further = |(at, sizes): (usize, &Vec<(String, Value)>)| FurtherDraft {
            key: section.field("sizes").at(at),
            sizes: sizes.clone(),
        };
        Ok(VerifyDraft {
            reference,
            expected: expected.collect::<io::Result<_>>()?,
            tolerance: PartialTolerance { relative: self.relative, absolute: self.absolute },
            compare: self.compare.iter().map(|(output, ranges)| maker.compared(output, ranges)).collect(),
            sizes: self.verify_at.iter().enumerate().map(further).collect(),
        })
    }

    fn refuse_twins(&self, faults: &Faults) {
        fn names<T>(pairs: &[(String, T)]) -> impl Iterator<Item = &str> {
            pairs.iter().map(|(name, _)| name.as_str())
        }
        faults.refuse_twins(&Key::of("verify").field("expected"), names(&self.expected));
        faults.refuse_twins(&Key::of("verify").field("compare"), names(&self.compare));
        faults.refuse_twins(&Key::of("tuning").field("default"), names(&self.default));
    }

    /// Returns the calls that state the parts.
    fn calls(&self) -> Places {
        let mut places = Places::default();
        let mut add = |key: Key, method: &str, name: Option<&str>| {
            let name = name.map_or_else(String::new, |name| format!("{name:?}"));
            places.add_call(key, format!(".{method}({name})"));
        };
        for (name, _) in &self.sizes {
            add(Key::of("problem").field("sizes").field(name), "size", Some(name));
        }
        for (name, _) in &self.parameters {
            add(Key::of("parameters").field(name), "parameter", Some(name));
        }
        for (name, _) in &self.constraints {
            add(Key::of("constraints").field(name), "constraint", Some(name));
        }
        for (at, code) in self.kernels.iter().enumerate() {
            add(Key::of("kernel").at(at), "kernel", Some(code.label()));
        }
        for (at, one) in self.alternatives.iter().enumerate() {
            add(Key::of("alternative").at(at), "alternative", Some(one.name()));
        }
        for (at, one) in self.arguments.iter().enumerate() {
            add(Key::of("arguments").at(at), "argument", Some(one.label()));
        }
        let verify = Key::of("verify");
        for (name, _) in &self.expected {
            add(verify.field("expected").field(name), "expected", Some(name));
        }
        for (name, _) in &self.compare {
            add(verify.field("compare").field(name), "compare", Some(name));
        }
        if let Some(code) = &self.reference {
            add(verify.field("reference"), "reference", Some(code.label()));
        }
        for (key, method) in [
            (Key::of("problem").field("flops"), "flops"),
            (Key::of("problem").field("bytes"), "bytes"),
            (Key::of("kernel").field("alternative"), "choice"),
            (Key::of("kernel").field("file"), "kernel"),
            (verify.field("relative"), "relative"),
            (verify.field("absolute"), "absolute"),
            (verify.field("sizes"), "verify_at"),
            (Key::of("tuning").field("default"), "default"),
        ] {
            add(key, method, None);
        }
        places
    }
}

/// The parameter that chooses among alternatives, unless it is named.
const CHOICE: &str = "alternative";

/// Returns the tuning parameter `name`.
fn parameter(name: &str, values: &[Value]) -> ParameterDraft {
    ParameterDraft { name: name.to_string(), values: ValuesDraft::List(values.to_vec()) }
}
