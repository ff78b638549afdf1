//! What `about.toml` says about a problem of the suite.

use crate::refused;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use tunesmith::Error;
use tunesmith_space::Value;

/// The contents of `about.toml`. See docs/suite.md.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The computation, in a few words.
    pub title: String,
    /// The paper and section it comes from.
    #[serde(default)]
    pub paper: String,
    /// The problem file of each backend, by the backend's name.
    pub problems: BTreeMap<String, String>,
    /// The number of configurations of each problem file at its own sizes, without the limits of a
    /// device.
    #[serde(default)]
    pub configurations: BTreeMap<String, Count>,
    /// Sizes for a GPU, in place of the file's.
    #[serde(default)]
    pub gpu_sizes: BTreeMap<String, Number>,
    /// The problem file of the naive loop, which has one configuration.
    pub naive: Option<String>,
    /// The libraries that one would use instead.
    #[serde(default)]
    pub against: Vec<String>,
    /// The product of matrices that those libraries compute.
    pub product: Option<Product>,
}

/// A number of configurations. Beyond 64 bits it is a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// A number.
    Number(u64),
    /// Decimal digits.
    Text(String),
}

impl Count {
    /// Returns the decimal digits.
    pub fn digits(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.chars().filter(|c| *c != '_').collect(),
        }
    }
}

/// A size.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Real(f64),
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Whole(number) => Self::Int(number),
            Number::Real(number) => Self::Float(number),
        }
    }
}

/// A product of matrices in single precision, C = A B. The extents are expressions over the
/// problem's sizes: A has `m` rows and `k` columns, B `k` rows and `n` columns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// The rows of A and C.
    pub m: Extent,
    /// The columns of B and C.
    pub n: Extent,
    /// The inner dimension.
    pub k: Extent,
    /// True if A is stored transposed.
    #[serde(default)]
    pub a_transposed: bool,
    /// True if B is stored transposed.
    #[serde(default)]
    pub b_transposed: bool,
    /// True if the columns are contiguous instead of the rows.
    #[serde(default)]
    pub column_major: bool,
}

/// An extent: a number, or an expression over the problem's sizes.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Extent {
    /// A number.
    Number(i64),
    /// An expression.
    Expression(String),
}

impl Extent {
    /// Returns the text of the expression.
    pub fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Expression(text) => text.clone(),
        }
    }
}

/// The backends that a suite knows, in the order in which they are tried.
pub(crate) const BACKENDS: [&str; 3] = ["c", "opencl", "cuda"];

impl About {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, it has an unknown key or a wrong value, or it names no problem file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display();
        let text = tunesmith_files::read_text(path, tunesmith_files::TEXT)
            .map_err(|error| refused(format!("cannot read `{name}`: {error}"), None))?;
        let about: Self = toml::from_str(&text).map_err(|error| {
            let remedy = "docs/suite.md lists the keys of about.toml".to_string();
            refused(format!("`{name}`: {}", error.to_string().trim_end()), Some(remedy))
        })?;
        let wrong = about.problems.keys().find(|backend| !BACKENDS.contains(&backend.as_str()));
        if let Some(wrong) = wrong {
            let text = format!("`{name}`: there is no backend `{wrong}` of problems");
            return Err(refused(text, Some(format!("backends are {}", BACKENDS.join(", ")))));
        }
        if about.problems.is_empty() {
            let remedy = "write problems = { opencl = \"name.toml\" }".to_string();
            return Err(refused(format!("`{name}`: `problems` names no file"), Some(remedy)));
        }
        Ok(about)
    }
}
