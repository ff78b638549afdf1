//! The parts of a C text that cannot be read, with their places.

use std::fmt;
use tree_sitter::Node;

/// A part of a C function that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its line, counted from 1.
    pub line: usize,
    /// Its column in bytes, counted from 1.
    pub column: usize,
    /// The fault and its reason.
    pub text: String,
    /// A correction to suggest.
    pub remedy: Option<String>,
}

impl Finding {
    pub(crate) fn at(node: Node<'_>, text: impl Into<String>, remedy: Option<&str>) -> Self {
        let place = node.start_position();
        Self { line: place.row + 1, column: place.column + 1, text: text.into(), remedy: remedy.map(str::to_string) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.text)?;
        match &self.remedy {
            Some(remedy) => write!(formatter, "; {remedy}"),
            None => Ok(()),
        }
    }
}

/// The refusal of an import: everything that cannot be read, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.lines())]
pub struct ImportError {
    /// The parts that cannot be read. There is at least one.
    pub findings: Vec<Finding>,
}

impl ImportError {
    pub(crate) fn of(finding: Finding) -> Self {
        Self { findings: vec![finding] }
    }

    fn lines(&self) -> String {
        self.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }
}
