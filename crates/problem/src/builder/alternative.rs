//! A way to compute the result, of which the search chooses one.

use super::code::Code;
use super::maker::Maker;
use std::io;
use tunesmith_space::Value;
use tunesmith_spec::{AlternativeDraft, Key};

/// One of several ways to compute the result: a kernel, or kernels that run in order, with tuning
/// parameters and constraints of its own.
///
/// ```
/// use tunesmith_kernel::ScalarType::F32;
/// use tunesmith_problem::{Alternative, Arg, Code, Problem};
///
/// let plain = Code::c("plain", "void plain(float *x) { for (int i = 0; i < N; i++) x[i] *= 2; }");
/// let steps = "void steps(float *x) {
///     for (int i = 0; i < N; i += STEP) for (int j = i; j < i + STEP; j++) x[j] *= 2;
/// }";
/// let problem = Problem::builder("twice")
///     .size("N", 1024)
///     .alternative(Alternative::new("plain", plain))
///     .alternative(Alternative::new("steps", Code::c("steps", steps)).parameter("STEP", [2, 4, 8]))
///     .argument(Arg::inout("x", F32, ["N"]))
///     .build()?;
/// assert_eq!(problem.space(&[])?.space.size(), 4_u32.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Alternative {
    name: String,
    kernels: Vec<Code>,
    parameters: Vec<(String, Vec<Value>)>,
    constraints: Vec<(String, String)>,
}

impl Alternative {
    /// Returns the alternative `name`, which runs `kernel`.
    pub fn new(name: impl Into<String>, kernel: Code) -> Self {
        Self { name: name.into(), kernels: vec![kernel], parameters: Vec::new(), constraints: Vec::new() }
    }

    /// Adds a kernel that runs behind those before it.
    #[must_use]
    pub fn kernel(mut self, kernel: Code) -> Self {
        self.kernels.push(kernel);
        self
    }

    /// Adds a tuning parameter of this alternative. Another alternative may have the same one, with
    /// the same values.
    #[must_use]
    pub fn parameter<V: Into<Value>>(mut self, name: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        self.parameters.push((name.into(), values.into_iter().map(Into::into).collect()));
        self
    }

    /// Adds a constraint on this alternative: its meaning, and an expression that is true for valid
    /// configurations.
    #[must_use]
    pub fn constraint(mut self, meaning: impl Into<String>, expression: impl Into<String>) -> Self {
        self.constraints.push((meaning.into(), expression.into()));
        self
    }

    /// Returns the name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the part `key` of a problem. Writes its sources among the texts of `maker`.
    pub(super) fn draft(&self, key: Key, maker: &Maker<'_>) -> io::Result<AlternativeDraft> {
        let kernels = self.kernels.iter().enumerate();
        let kernels = kernels.map(|(at, code)| code.draft(key.field("kernel").at(at), maker));
        let kernels = kernels.collect::<io::Result<Vec<_>>>()?;
        Ok(AlternativeDraft {
            name: self.name.clone(),
            kernels: kernels.into_iter().flatten().collect(),
            parameters: self.parameters.iter().map(|(name, values)| super::parameter(name, values)).collect(),
            constraints: maker.constraints(&self.constraints, &key.field("constraints")),
            key,
        })
    }
}
