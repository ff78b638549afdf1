//! The name of the function to call, which may depend on the configuration.

use crate::problem::{Scope, Template, TemplateError};
use std::fmt;

/// The macro that stands for the name in sources that call the function.
const MACRO: &str = "TUNESMITH_FUNCTION";

/// The name of a kernel's function: a name, or a template with parameters and sizes such as
/// `gemm_{VW}`. In C++ the name may be qualified and have template arguments.
///
/// ```
/// # use tunesmith_kernel::{FunctionName, Scope};
/// # use tunesmith_space::Value;
/// let name = FunctionName::parse("gemm_{VW}")?;
/// assert_eq!(name.of(&Scope::new([("VW".to_owned(), Value::Int(4))])), "gemm_4");
/// # Ok::<(), tunesmith_kernel::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionName {
    text: String,
    template: Template,
}

impl FunctionName {
    /// Parses a name with `{NAME}` for values, as in [`Template`].
    ///
    /// # Errors
    /// A brace has no partner.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        Ok(Self { text: text.to_owned(), template: Template::parse(text)? })
    }

    /// Returns the name as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Returns the name in the configuration that `scope` describes.
    pub fn of(&self, scope: &Scope) -> String {
        self.template.expand(scope)
    }

    /// Returns the word that stands for the name in a source that all configurations share: the
    /// name itself, or a macro if it depends on the configuration.
    pub fn in_source(&self) -> &str {
        if self.depends() { MACRO } else { &self.text }
    }

    /// Returns the definition of the macro in [`in_source`](Self::in_source), if it is one.
    pub fn define(&self, scope: &Scope) -> Option<String> {
        self.depends().then(|| format!("{MACRO}={}", self.of(scope)))
    }

    fn depends(&self) -> bool {
        self.template.names().next().is_some()
    }
}

/// Takes a name as it is, without placeholders.
impl From<&str> for FunctionName {
    fn from(name: &str) -> Self {
        Self { text: name.to_owned(), template: Template::plain(name) }
    }
}

impl From<String> for FunctionName {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

/// Writes the name as it was written.
impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
